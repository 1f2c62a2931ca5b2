//! The runs of the experiment *queues*.

use super::filter::{OverlapSave, operations};
use super::peer::{self, Peer, PeerRole};
use super::transfer::{self, Disconnected, Endpoint};
use super::{CONTROL, FILTER, ONE_THREAD, PIPES, PROCESSES, ROUND_TRIP, THROUGHPUT, TWO_THREADS};
use super::{filtering, transfer::copying_pair, transfer::mirrored_pair};
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError};
use std::fmt;
use std::time::Duration;

/// Overlaps, in % of the FFT's length.
pub(super) const OVERLAPS: [usize; 5] = [10, 25, 50, 75, 90];

/// A comparison of two kinds of queue.
#[derive(Clone, Copy)]
struct Comparison {
    what: &'static str,
    /// The FFT's length, or the bytes of a message.
    size: usize,
    /// In % of the FFT's length.
    overlap: usize,
    between: &'static str,
    /// Duration of one round of one kind.
    duration: Duration,
}

/// The cells of the key.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, size, overlap, between) = (self.what, self.size, self.overlap, self.between);
        write!(f, "{what},{size},{overlap},{between}")
    }
}

/// Every run, the control first.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let rounds = effort.choose(10, 5, 2);
    let duration = Duration::from_micros(effort.choose(30_000, 5_000, 200));
    let mut all = Vec::new();
    let mut add = |what, size, overlap, between| {
        let one = Comparison {
            what,
            size,
            overlap,
            between,
            duration,
        };
        let measure = move |_: &mut _, _: &_, record: &mut _| one.measure(rounds, record);
        all.push(Run::new(one, rounds, 2 * rounds * duration, measure));
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

/// Values of one round of each kind; none of a kind that was not run.
#[derive(Default)]
struct RoundFigures {
    mirrored: Option<f64>,
    copying: Option<f64>,
}

impl Comparison {
    /// Runs rounds, and records the mean of each kind with its standard deviation.
    fn measure(&self, rounds: u32, record: &mut Record) -> Result<(), LabError> {
        let rounds = (0..rounds).map(|_| match (self.what, self.between) {
            (_, PROCESSES | PIPES) => self.between_processes(),
            (ROUND_TRIP | THROUGHPUT, _) => Ok(self.between_threads()),
            _ => Ok(self.filter()),
        });
        let rounds = rounds.collect::<Result<Vec<RoundFigures>, _>>()?;
        let unit = match self.what {
            ROUND_TRIP => "ns",
            THROUGHPUT => "MB/s",
            _ => "MFLOPS",
        };
        record.set("unit", unit);
        let mirrored: Vec<f64> = rounds.iter().filter_map(|round| round.mirrored).collect();
        let copying: Vec<f64> = rounds.iter().filter_map(|round| round.copying).collect();
        for (mean, sd, values) in [
            ("mirrored", "mirrored_sd", &mirrored),
            ("copying", "copying_sd", &copying),
        ] {
            if let Some(found) = mean_and_deviation(values) {
                record.set_number(mean, found.0, 2);
                record.set_number(sd, found.1, 2);
            }
        }
        Ok(())
    }

    /// The other process lives for one round only, so that the one with the other transport does not spin beside it.
    fn between_processes(&self) -> Result<RoundFigures, LabError> {
        let mut round = RoundFigures::default();
        let Some(program) = peer::program() else {
            return Ok(round);
        };
        let refused = |error: std::io::Error| LabError::Play(error.to_string());
        let mut rings = Peer::with_rings(&program, self.role(), self.size).map_err(refused)?;
        round.mirrored = Some(self.transfer(rings.end())?);
        drop(rings);
        if self.between == PIPES {
            let mut pipes = Peer::with_pipes(&program, self.role(), self.size).map_err(refused)?;
            round.copying = Some(self.transfer(pipes.end())?);
        }
        Ok(round)
    }

    fn role(&self) -> PeerRole {
        match self.what {
            THROUGHPUT => PeerRole::Sink,
            _ => PeerRole::Echo,
        }
    }

    fn transfer(&self, end: &mut impl Endpoint) -> Result<f64, LabError> {
        let value = transfer::measure(self.role(), self.size, self.duration, end);
        value.map_err(|Disconnected| LabError::Play("the other process has ended".into()))
    }

    fn between_threads(&self) -> RoundFigures {
        let (size, time, role) = (self.size, self.duration, self.role());
        RoundFigures {
            mirrored: Some(transfer::between_threads(
                role,
                size,
                time,
                mirrored_pair(size),
            )),
            copying: Some(transfer::between_threads(
                role,
                size,
                time,
                copying_pair(size),
            )),
        }
    }

    fn filter(&self) -> RoundFigures {
        let overlap = self.size * self.overlap / 100;
        let mut filter = OverlapSave::new(self.size, overlap);
        let mflops = operations(self.size) / 1e6;
        let copying = filtering::copying(self.size, overlap);
        let copying = self.blocks_per_s(&mut filter, copying);
        let mirrored = if self.what == CONTROL {
            self.blocks_per_s(&mut filter, filtering::copying(self.size, overlap))
        } else {
            self.blocks_per_s(&mut filter, filtering::mirrored(self.size, overlap))
        };
        RoundFigures {
            mirrored: Some(mflops * mirrored),
            copying: Some(mflops * copying),
        }
    }

    fn blocks_per_s(
        &self,
        filter: &mut OverlapSave,
        (feed, run): (
            impl FnMut(&[f32]) -> bool + Send,
            impl FnMut(&mut OverlapSave) -> bool,
        ),
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
