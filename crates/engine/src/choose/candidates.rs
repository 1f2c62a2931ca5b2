//! Who is tried.

use crate::{EngineOptions, Scheduler};

/// The schedulers that may win, by name: those that are there only for comparison are left out.
const LIVE: [&str; 5] = ["stealing", "hlfet", "etf", "cpfd", "weighted"];
/// Nobody hears offline that the output is some blocks late, so there pipelines may win too.
const OFFLINE: &str = "pipelined";

/// How one candidate plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) scheduler: Scheduler,
    pub(super) workers: usize,
    pub(super) ahead: Option<u32>,
}

impl Candidate {
    /// The sequential code, which every contest begins with.
    pub(super) const SEQUENTIAL: Self = Self {
        scheduler: Scheduler::Sequential,
        workers: 1,
        ahead: None,
    };

    /// What an engine is told.
    pub(super) fn options(self, wished: &EngineOptions) -> EngineOptions {
        let mut options = wished.clone();
        options.scheduler = self.scheduler;
        options.workers = self.workers;
        options.latency_blocks = self.ahead;
        options
    }
}

/// All of them, the sequential one first: each scheduler on 2, 4, 8, … workers and on as many as are wished. Where
/// workers are forced, only on as many as are wished.
pub(super) fn candidates(wished: &EngineOptions) -> Vec<Candidate> {
    let most = wished.workers;
    let doubled = std::iter::successors(Some(2), |w: &usize| w.checked_mul(2));
    let fewer = doubled.take_while(|w| *w < most && !wished.use_all_workers);
    let alone = (!wished.use_all_workers).then_some(Candidate::SEQUENTIAL);
    let mut all = Vec::from_iter(alone);
    for workers in fewer.chain([most]) {
        for scheduler in Scheduler::all() {
            let name = scheduler.name();
            let pipelines =
                name == OFFLINE && (!wished.is_live() || wished.latency_blocks.is_some());
            if LIVE.contains(&name) || pipelines {
                let usual = (workers as u32).saturating_sub(1);
                let ahead = pipelines.then(|| wished.latency_blocks.unwrap_or(usual));
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
    fn the_sequential_code_comes_first_and_what_only_compares_not_at_all() {
        let mut wished = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
        wished.workers = 6;
        let live = candidates(&wished);
        assert_eq!(live[0], Candidate::SEQUENTIAL);
        let names =
            |all: &[Candidate]| -> Vec<_> { all.iter().map(|c| c.scheduler.name()).collect() };
        assert!(names(&live).contains(&"stealing") && !names(&live).contains(&"mutex"));
        assert!(!names(&live).contains(&"pipelined"));
        let mut counts: Vec<usize> = live.iter().map(|c| c.workers).collect();
        counts.dedup();
        assert_eq!(counts, [1, 2, 4, 6]);
        wished.mode = Mode::Offline;
        let offline = candidates(&wished);
        assert!(names(&offline).contains(&"pipelined"));
    }

    #[test]
    fn forced_workers_all_take_part() {
        let mut wished = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
        (wished.workers, wished.use_all_workers) = (6, true);
        let all = candidates(&wished);
        assert!(all.len() > 3 && all.iter().all(|c| c.workers == 6));
        assert!(all.iter().any(|c| c.scheduler == Scheduler::Cpfd));
    }
}
