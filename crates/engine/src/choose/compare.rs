//! Compares the candidates' times.

use super::choice::SchedulerTrial;
use units::Nanos;

/// Difference, in parts of a thousand and in nanoseconds, below which two times count as equal: readings are no more
/// exact.
const EQUAL_MILLE: u64 = 30;
const EQUAL_NS: u64 = 50;

/// CycleReadings of one candidate, in nanoseconds: for each cycle of a run, all repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct CycleReadings(Vec<Vec<u32>>);

impl CycleReadings {
    pub(super) fn new(cycles: usize) -> Self {
        Self(vec![Vec::new(); cycles])
    }

    pub(super) fn add(&mut self, cycle: usize, time: Nanos) {
        self.0[cycle].push(u32::try_from(time.0).unwrap_or(u32::MAX));
    }

    /// Longest cycle, each cycle taken at its shortest reading.
    pub(super) fn worst(&self) -> Nanos {
        let best = self.0.iter().filter_map(|all| all.iter().min());
        Nanos(best.max().copied().unwrap_or(0).into())
    }

    /// Mean over the cycles, each at the median of its readings.
    pub(super) fn mean(&self) -> Nanos {
        let medians = self.0.iter().filter_map(|all| {
            let mut all = all.clone();
            all.sort_unstable();
            all.get(all.len() / 2).copied()
        });
        let sum: u64 = medians.map(u64::from).sum();
        Nanos(sum / self.0.len().max(1) as u64)
    }
}

/// Returns true if `a` is not longer than `b` by more than readings can tell.
fn is_equal(a: Nanos, b: Nanos) -> bool {
    let slack = b.0.saturating_mul(EQUAL_MILLE) / 1000;
    a.0 <= b.0.saturating_add(slack).saturating_add(EQUAL_NS)
}

/// The best candidate: live by the worst cycle and then the mean one, offline the other way round. The first candidate,
/// the sequential one, wins unless another is clearly better.
pub(super) fn best(tried: &[SchedulerTrial], is_live: bool) -> Option<SchedulerTrial> {
    let first: fn(&SchedulerTrial) -> Nanos = if is_live { |t| t.worst } else { |t| t.mean };
    let then: fn(&SchedulerTrial) -> Nanos = if is_live { |t| t.mean } else { |t| t.worst };
    let min = tried.iter().map(first).min()?;
    let level: Vec<&SchedulerTrial> = tried.iter().filter(|t| is_equal(first(t), min)).collect();
    let best = level.iter().copied().min_by_key(|t| then(t))?;
    let stays = |t: &&SchedulerTrial| t.workers == 1 && is_equal(then(t), then(best));
    Some(*level.iter().copied().find(stays).unwrap_or(best))
}

/// Returns true if a candidate is so far behind the best that another try is a waste.
pub(super) fn is_hopeless(one: &CycleReadings, best: Nanos) -> bool {
    one.worst().0 > best.0.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheduler;

    fn tried(scheduler: Scheduler, workers: usize, worst: u64, mean: u64) -> SchedulerTrial {
        SchedulerTrial {
            scheduler,
            workers,
            worst: Nanos(worst),
            mean: Nanos(mean),
        }
    }

    #[test]
    fn live_the_worst_cycle_decides_and_offline_the_mean() {
        let all = [
            tried(Scheduler::Sequential, 1, 20_000, 19_000),
            tried(Scheduler::Stealing, 2, 15_000, 10_000),
            tried(Scheduler::Hlfet, 2, 12_000, 11_900),
        ];
        assert_eq!(best(&all, true).unwrap().scheduler, Scheduler::Hlfet);
        assert_eq!(best(&all, false).unwrap().scheduler, Scheduler::Stealing);
        assert_eq!(best(&[], true), None);
    }

    #[test]
    fn the_sequential_scheduler_wins_unless_another_is_clearly_better() {
        let sequential = tried(Scheduler::Sequential, 1, 10_000, 9000);
        let all = [sequential, tried(Scheduler::Stealing, 2, 9800, 8900)];
        assert_eq!(best(&all, true), Some(sequential));
        let tiny = [
            tried(Scheduler::Sequential, 1, 120, 100),
            tried(Scheduler::Stealing, 2, 80, 75),
        ];
        assert_eq!(best(&tiny, true), Some(tiny[0]));
    }

    #[test]
    fn a_disturbed_reading_counts_neither_for_the_worst_nor_for_the_mean() {
        let mut readings = CycleReadings::new(2);
        for (cycle, ns) in [(0, 10), (0, 5000), (0, 12), (1, 30), (1, 28), (1, 9000)] {
            readings.add(cycle, Nanos(ns));
        }
        assert_eq!((readings.worst(), readings.mean()), (Nanos(28), Nanos(21)));
        assert!(is_hopeless(&readings, Nanos(13)) && !is_hopeless(&readings, Nanos(14)));
    }
}
