//! The runs of the experiment *queues*.

use super::filter::{Filter, operations};
use super::peer::{self, Peer, PeerRole};
use super::transfer::{self, Disconnected, Endpoint};
use super::{CONTROL, FILTER, ONE_THREAD, PIPES, PROCESSES, ROUND_TRIP, THROUGHPUT, TWO_THREADS};
use super::{filtering, transfer::copying_pair, transfer::mirrored_pair};
use crate::calibration::Calibration;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use std::time::Duration;

/// Overlaps, in % of the FFT's length.
pub(super) const OVERLAPS: [usize; 5] = [10, 25, 50, 75, 90];

/// One comparison: the kinds of queue in turn, `turns` times.
struct QueueRun {
    what: &'static str,
    /// The FFT's length, or the bytes of a message.
    size: usize,
    /// In % of the FFT's length.
    overlap: usize,
    between: &'static str,
    turns: usize,
    duration: Duration,
}

/// Every run, the control first.
pub(super) fn runs(effort: Effort) -> Vec<Box<dyn Run>> {
    let mut all: Vec<Box<dyn Run>> = Vec::new();
    let mut add = |what, size, overlap, between| {
        all.push(Box::new(QueueRun {
            what,
            size,
            overlap,
            between,
            turns: effort.choose(10, 5, 2),
            duration: Duration::from_micros(effort.choose(30_000, 5_000, 200)),
        }));
    };
    let lengths: &[u32] = effort.choose(
        &[6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
        &[6, 8, 10, 12, 14, 17],
        &[6],
    );
    let bytes: &[u32] = effort.choose(&[6, 8, 10, 12, 14, 16, 18, 20], &[6, 10, 16, 20], &[6]);
    for size in lengths.iter().map(|power| 1 << power) {
        add(CONTROL, size, 50, ONE_THREAD);
        for overlap in effort.choose(&OVERLAPS[..], &[10, 50, 90], &[50]) {
            add(FILTER, size, *overlap, ONE_THREAD);
            add(FILTER, size, *overlap, TWO_THREADS);
        }
    }
    for size in bytes.iter().map(|power| 1 << power) {
        add(ROUND_TRIP, size, 0, TWO_THREADS);
        add(ROUND_TRIP, size, 0, PROCESSES);
        add(THROUGHPUT, size, 0, TWO_THREADS);
        add(ROUND_TRIP, size, 0, PIPES);
        add(THROUGHPUT, size, 0, PIPES);
    }
    all
}

/// Values of each kind of queue, a turn each.
#[derive(Default)]
struct Turns {
    mirrored: Vec<f64>,
    copying: Vec<f64>,
}

impl Run for QueueRun {
    fn key(&self) -> Vec<String> {
        vec![
            self.what.to_owned(),
            self.size.to_string(),
            self.overlap.to_string(),
            self.between.to_owned(),
            self.turns.to_string(),
        ]
    }

    fn duration(&self) -> Duration {
        2 * self.turns as u32 * self.duration
    }

    fn measure(&self, _: &mut Calibration, _: &Table, record: &mut Record) -> Result<(), LabError> {
        let mut turns = Turns::default();
        for _ in 0..self.turns {
            match (self.what, self.between) {
                (_, PROCESSES | PIPES) => self.between_processes(&mut turns)?,
                (ROUND_TRIP | THROUGHPUT, _) => self.between_threads(&mut turns),
                _ => self.filter(&mut turns),
            }
        }
        let unit = match self.what {
            ROUND_TRIP => "ns",
            THROUGHPUT => "MB/s",
            _ => "MFLOPS",
        };
        record.set("unit", unit);
        for (mean, sd, values) in [
            ("mirrored", "mirrored_sd", &turns.mirrored),
            ("copying", "copying_sd", &turns.copying),
        ] {
            if let Some(found) = mean_and_deviation(values) {
                record.set_number(mean, found.0, 2);
                record.set_number(sd, found.1, 2);
            }
        }
        Ok(())
    }
}

impl QueueRun {
    /// The other process lives for one turn only, so that the one with the other transport does not spin beside it.
    fn between_processes(&self, turns: &mut Turns) -> Result<(), LabError> {
        let Some(program) = peer::program() else {
            return Ok(());
        };
        let refused = |error: std::io::Error| LabError::Play(error.to_string());
        let mut rings = Peer::with_rings(&program, self.role(), self.size).map_err(refused)?;
        turns.mirrored.push(self.transfer(rings.end())?);
        drop(rings);
        if self.between == PIPES {
            let mut pipes = Peer::with_pipes(&program, self.role(), self.size).map_err(refused)?;
            turns.copying.push(self.transfer(pipes.end())?);
        }
        Ok(())
    }

    fn role(&self) -> PeerRole {
        match self.what {
            THROUGHPUT => PeerRole::Sink,
            _ => PeerRole::Echo,
        }
    }

    fn transfer(&self, end: &mut impl Endpoint) -> Result<f64, LabError> {
        let value = match self.role() {
            PeerRole::Sink => transfer::throughput(self.size, self.duration, end),
            PeerRole::Echo => transfer::round_trip_ns(self.size, self.duration, end),
        };
        value.map_err(|Disconnected| LabError::Play("the other process has ended".into()))
    }

    fn between_threads(&self, turns: &mut Turns) {
        let (size, time) = (self.size, self.duration);
        let role = self.role();
        let mirrored = transfer::between_threads(role, size, time, mirrored_pair(size));
        let copying = transfer::between_threads(role, size, time, copying_pair(size));
        turns.mirrored.push(mirrored);
        turns.copying.push(copying);
    }

    fn filter(&self, turns: &mut Turns) {
        let overlap = self.size * self.overlap / 100;
        let mut filter = Filter::new(self.size, overlap);
        let mflops = operations(self.size) / 1e6;
        let (feed, run) = filtering::copying(self.size, overlap);
        turns
            .copying
            .push(mflops * self.blocks_per_s(&mut filter, feed, run));
        let mirrored = if self.what == CONTROL {
            let (feed, run) = filtering::copying(self.size, overlap);
            self.blocks_per_s(&mut filter, feed, run)
        } else {
            let (feed, run) = filtering::mirrored(self.size, overlap);
            self.blocks_per_s(&mut filter, feed, run)
        };
        turns.mirrored.push(mflops * mirrored);
    }

    fn blocks_per_s(
        &self,
        filter: &mut Filter,
        feed: impl FnMut(&[f32]) -> bool + Send,
        run: impl FnMut(&mut Filter) -> bool,
    ) -> f64 {
        match self.between {
            TWO_THREADS => filtering::on_two_threads(filter, self.duration, feed, run),
            _ => filtering::on_one_thread(filter, self.duration, feed, run),
        }
    }
}

/// Mean and sample standard deviation; none of no value.
fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (count > 0.0).then(|| (mean, (squares / (count - 1.0).max(1.0)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_deviation() {
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0]), Some((2.0, 1.0)));
        assert_eq!(mean_and_deviation(&[5.0]), Some((5.0, 0.0)));
        assert_eq!(mean_and_deviation(&[]), None);
    }
}
