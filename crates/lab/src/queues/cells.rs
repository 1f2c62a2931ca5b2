//! Which runs the experiment *queues* has.

use super::filter::{Filter, operations};
use super::pass::{self, Gone, Post};
use super::peer::{self, Peer, PeerRole};
use super::streams::{self, Slices};
use super::{COLUMNS, CONTROL, FILTER, KEYS, ONE, PIPES, PROCESSES, STREAM, TRIP, TWO};
use crate::bench::Bench;
use crate::machine::now;
use crate::run::Cell;
use crate::threads::Spent;
use crate::{Effort, LabError, Table};
use std::time::{Duration, Instant};

/// The columns of the machine's state, which are filled in for us.
const STATE: usize = 3;

/// Overlaps, in % of the FFT's length.
pub(super) const OVERLAPS: [usize; 5] = [10, 25, 50, 75, 90];

/// One comparison: every kind of queue by turns, so many times.
pub(crate) struct QueueCell {
    what: &'static str,
    /// The FFT's length, or bytes.
    size: usize,
    /// In % of the FFT's length.
    overlap: usize,
    between: &'static str,
    runs: usize,
    time: Duration,
}

/// Every run, the control first.
pub(crate) fn cells(effort: Effort) -> Vec<QueueCell> {
    let cell = |what, size, overlap, between| QueueCell {
        what,
        size,
        overlap,
        between,
        runs: effort.choose(10, 5, 2),
        time: Duration::from_micros(effort.choose(30_000, 5_000, 200)),
    };
    let filters: &[u32] = effort.choose(
        &[6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
        &[6, 8, 10, 12, 14, 17],
        &[6],
    );
    let bytes: &[u32] = effort.choose(&[6, 8, 10, 12, 14, 16, 18, 20], &[6, 10, 16, 20], &[6]);
    let overlaps = effort.choose(&OVERLAPS[..], &[10, 50, 90], &[50]);
    let mut all = Vec::new();
    for size in filters.iter().map(|power| 1 << power) {
        all.push(cell(CONTROL, size, 50, ONE));
        for overlap in overlaps {
            all.extend([ONE, TWO].map(|between| cell(FILTER, size, *overlap, between)));
        }
    }
    for size in bytes.iter().map(|power| 1 << power) {
        all.extend([TWO, PROCESSES].map(|between| cell(TRIP, size, 0, between)));
        all.push(cell(STREAM, size, 0, TWO));
        all.extend([TRIP, STREAM].map(|what| cell(what, size, 0, PIPES)));
    }
    all
}

/// What each kind of queue came to, run by run.
#[derive(Default)]
struct Found {
    mirrored: Vec<f64>,
    copying: Vec<f64>,
    slices: Vec<f64>,
}

impl Cell for QueueCell {
    fn key(&self) -> Vec<String> {
        let key = [
            self.what.to_owned(),
            self.size.to_string(),
            self.overlap.to_string(),
            self.between.to_owned(),
            self.runs.to_string(),
        ];
        debug_assert_eq!(key.len(), KEYS);
        key.into()
    }

    fn is_loaded(&self) -> bool {
        false
    }

    fn lasts(&self) -> Duration {
        3 * self.runs as u32 * self.time
    }

    fn run(&self, _: &mut Bench, _: &Table) -> Result<Vec<String>, LabError> {
        let (date, before, begin) = (now(), Spent::so_far(|_| false), Instant::now());
        let found = self.found()?;
        let stolen = Spent::so_far(|_| false).since(before).stolen;
        let unit = match self.what {
            TRIP => "ns",
            STREAM => "MB/s",
            _ => "MFLOPS",
        };
        let mut cells = vec![date, unit.into()];
        for values in [&found.mirrored, &found.copying, &found.slices] {
            cells.extend(told(values));
        }
        cells.push(begin.elapsed().as_millis().to_string());
        cells.push(format!("{:.0}", stolen as f64 / 1e6));
        debug_assert_eq!(cells.len(), COLUMNS.len() - KEYS - STATE);
        Ok(cells)
    }
}

impl QueueCell {
    fn found(&self) -> Result<Found, LabError> {
        let mut found = Found::default();
        for _ in 0..self.runs {
            match (self.what, self.between) {
                (_, PROCESSES | PIPES) => self.between_processes(&mut found)?,
                (TRIP, _) => self.trip(&mut found),
                (STREAM, _) => self.stream(&mut found),
                _ => self.filter(&mut found),
            }
        }
        Ok(found)
    }

    /// The other process lives for a turn only: so that of the other way does not spin beside it.
    fn between_processes(&self, found: &mut Found) -> Result<(), LabError> {
        let Some(program) = peer::program() else {
            return Ok(());
        };
        let refused = |error: std::io::Error| LabError::Play(error.to_string());
        let (size, role) = (self.size, self.role());
        let mut rings = Peer::by_rings(&program, role, size).map_err(refused)?;
        found.mirrored.push(self.pass(rings.end())?);
        drop(rings);
        if self.between == PIPES {
            let mut pipes = Peer::by_pipes(&program, role, size).map_err(refused)?;
            found.copying.push(self.pass(pipes.end())?);
        }
        Ok(())
    }

    fn role(&self) -> PeerRole {
        match self.what {
            STREAM => PeerRole::Sink,
            _ => PeerRole::Echo,
        }
    }

    fn pass(&self, end: &mut impl Post) -> Result<f64, LabError> {
        let done = match self.role() {
            PeerRole::Sink => pass::sent(self.size, self.time, end),
            PeerRole::Echo => pass::trips(self.size, self.time, end),
        };
        done.map_err(|Gone| LabError::Play("the other process has gone".into()))
    }

    fn trip(&self, found: &mut Found) {
        let (size, time) = (self.size, self.time);
        found
            .mirrored
            .push(pass::trip(size, time, pass::mirrored(size)));
        found
            .copying
            .push(pass::trip(size, time, pass::copying(size)));
    }

    fn stream(&self, found: &mut Found) {
        let (size, time) = (self.size, self.time);
        found
            .mirrored
            .push(pass::stream(size, time, pass::mirrored(size)));
        found
            .copying
            .push(pass::stream(size, time, pass::copying(size)));
    }

    fn filter(&self, found: &mut Found) {
        let overlap = self.size * self.overlap / 100;
        let mut filter = Filter::new(self.size, overlap);
        let speed = operations(self.size) / 1e6;
        let (feed, run) = streams::copying(self.size, overlap);
        let copying = self.play(&mut filter, feed, run);
        found.copying.push(copying * speed);
        if self.what == CONTROL {
            let (feed, run) = streams::copying(self.size, overlap);
            let again = self.play(&mut filter, feed, run);
            return found.mirrored.push(again * speed);
        }
        let (feed, run) = streams::mirrored(self.size, overlap);
        let mirrored = self.play(&mut filter, feed, run);
        found.mirrored.push(mirrored * speed);
        if self.between == ONE {
            let slices = Slices::new(self.size, overlap);
            let slices = streams::alone_by_slices(&mut filter, self.time, slices);
            found.slices.push(slices * speed);
        }
    }

    fn play(
        &self,
        filter: &mut Filter,
        feed: impl FnMut(&[f32]) -> bool + Send,
        run: impl FnMut(&mut Filter) -> bool,
    ) -> f64 {
        match self.between {
            TWO => streams::together(filter, self.time, feed, run),
            _ => streams::alone(filter, self.time, feed, run),
        }
    }
}

/// The mean and the standard deviation, as a table has them; nothing of nothing.
fn told(values: &[f64]) -> [String; 2] {
    if values.is_empty() {
        return Default::default();
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>();
    [mean, (squares / (count - 1.0).max(1.0)).sqrt()].map(|value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_runs_have_one_key() {
        for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
            let all = cells(effort);
            let keys: HashSet<_> = all.iter().map(QueueCell::key).collect();
            assert_eq!(keys.len(), all.len());
            // A table keeps its commas for itself: with one in it no run would be found again.
            assert!(keys.iter().flatten().all(|cell| !cell.contains(',')));
        }
    }

    #[test]
    fn means_have_their_spread() {
        assert_eq!(told(&[1.0, 2.0, 3.0]), ["2.00", "1.00"]);
        assert_eq!(told(&[5.0]), ["5.00", "0.00"]);
        assert_eq!(told(&[]), ["", ""]);
    }
}
