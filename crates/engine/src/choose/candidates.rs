//! [`Candidate`]: the schedulers and numbers of workers that are tried.

use super::choice::SchedulerTrial;
use super::compare::CycleTimes;
use crate::{EngineOptions, Scheduler};

/// The schedulers that may win, by name. Those that exist for comparison only are left out.
const LIVE: [&str; 5] = ["stealing", "hlfet", "etf", "cpfd", "weighted"];
/// Offline a latency of some blocks does not matter, so pipelines may win too.
const OFFLINE: &str = "pipelined";

/// A scheduler on a number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) scheduler: Scheduler,
    pub(super) workers: usize,
    pub(super) ahead: Option<u32>,
}

impl Candidate {
    /// The sequential scheduler, which is always tried first.
    pub(super) const SEQUENTIAL: Self = Self {
        scheduler: Scheduler::Sequential,
        workers: 1,
        ahead: None,
    };

    /// Options of an engine for this candidate.
    pub(super) fn options(self, requested: &EngineOptions) -> EngineOptions {
        let mut options = requested.clone();
        options.scheduler = self.scheduler;
        options.workers = self.workers;
        options.latency_blocks = self.ahead;
        // What is stopped would cost nothing.
        options.transport = None;
        options
    }

    /// Its result, from the times of its cycles.
    pub(super) fn trial(self, times: &CycleTimes) -> SchedulerTrial {
        let (mean, upper) = times.summary();
        SchedulerTrial {
            scheduler: self.scheduler,
            workers: self.workers,
            mean,
            upper,
        }
    }
}

/// All candidates, the sequential one first: each scheduler on 2, 4, 8, … workers and on as many as are requested. If
/// all workers must be used, only on as many as are requested.
pub(super) fn candidates(requested: &EngineOptions) -> Vec<Candidate> {
    let max = requested.workers;
    let doubled = std::iter::successors(Some(2), |w: &usize| w.checked_mul(2));
    let fewer = doubled.take_while(|w| *w < max && !requested.use_all_workers);
    let alone = (!requested.use_all_workers).then_some(Candidate::SEQUENTIAL);
    let mut all = Vec::from_iter(alone);
    for workers in fewer.chain([max]) {
        for scheduler in Scheduler::all() {
            let name = scheduler.name();
            let pipelines =
                name == OFFLINE && (!requested.is_live() || requested.latency_blocks.is_some());
            if LIVE.contains(&name) || pipelines {
                let usual = (workers as u32).saturating_sub(1);
                let ahead = pipelines.then(|| requested.latency_blocks.unwrap_or(usual));
                all.push(Candidate {
                    scheduler,
                    workers,
                    ahead,
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::Mode;
    use units::{Frames, SampleRate};

    #[test]
    fn the_sequential_scheduler_comes_first_and_those_for_comparison_are_left_out() {
        let mut requested = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
        requested.workers = 6;
        let live = candidates(&requested);
        assert_eq!(live[0], Candidate::SEQUENTIAL);
        let names =
            |all: &[Candidate]| -> Vec<_> { all.iter().map(|c| c.scheduler.name()).collect() };
        assert!(names(&live).contains(&"stealing") && !names(&live).contains(&"mutex"));
        assert!(!names(&live).contains(&"pipelined"));
        let mut counts: Vec<usize> = live.iter().map(|c| c.workers).collect();
        counts.dedup();
        assert_eq!(counts, [1, 2, 4, 6]);
        requested.mode = Mode::Offline;
        let offline = candidates(&requested);
        assert!(names(&offline).contains(&"pipelined"));
    }

    #[test]
    fn forced_workers_all_take_part() {
        let mut requested = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
        (requested.workers, requested.use_all_workers) = (6, true);
        let all = candidates(&requested);
        assert!(all.len() > 3 && all.iter().all(|c| c.workers == 6));
        assert!(all.iter().any(|c| c.scheduler == Scheduler::Cpfd));
    }
}
