//! Who of those that were tried is best.

use super::choice::SchedulerTrial;
use units::Nanos;

/// So much better, in parts of a thousand and in nanoseconds, is not better: readings are no more exact.
const DRAW_MILLE: u64 = 30;
const DRAW_NS: u64 = 50;

/// The readings of one candidate: for each cycle of a run all repeats, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings(Vec<Vec<u32>>);

impl Readings {
    pub(super) fn new(cycles: usize) -> Self {
        Self(vec![Vec::new(); cycles])
    }

    pub(super) fn add(&mut self, cycle: usize, time: Nanos) {
        self.0[cycle].push(u32::try_from(time.0).unwrap_or(u32::MAX));
    }

    /// The dearest cycle, each cycle taken at its best.
    pub(super) fn worst(&self) -> Nanos {
        let best = self.0.iter().filter_map(|all| all.iter().min());
        Nanos(best.max().copied().unwrap_or(0).into())
    }

    /// The mean over the cycles, each at its median.
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

/// Whether `a` is not worse than `b` by more than what is told apart.
fn is_level(a: Nanos, b: Nanos) -> bool {
    let slack = b.0.saturating_mul(DRAW_MILLE) / 1000;
    a.0 <= b.0.saturating_add(slack).saturating_add(DRAW_NS)
}

/// The best: live by the worst cycle and then the mean one, offline the other way round. The first, which is the
/// sequential one, needs only not to be beaten.
pub(super) fn best(tried: &[SchedulerTrial], is_live: bool) -> Option<SchedulerTrial> {
    let first: fn(&SchedulerTrial) -> Nanos = if is_live { |t| t.worst } else { |t| t.mean };
    let then: fn(&SchedulerTrial) -> Nanos = if is_live { |t| t.mean } else { |t| t.worst };
    let least = tried.iter().map(first).min()?;
    let level: Vec<&SchedulerTrial> = tried.iter().filter(|t| is_level(first(t), least)).collect();
    let best = level.iter().copied().min_by_key(|t| then(t))?;
    let stays = |t: &&SchedulerTrial| t.workers == 1 && is_level(then(t), then(best));
    Some(*level.iter().copied().find(stays).unwrap_or(best))
}

/// Whether a candidate is so far behind the best that trying it again is a waste.
pub(super) fn is_out(one: &Readings, best: Nanos) -> bool {
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
    fn the_sequential_code_stays_where_nothing_is_clearly_better() {
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
        let mut readings = Readings::new(2);
        for (cycle, ns) in [(0, 10), (0, 5000), (0, 12), (1, 30), (1, 28), (1, 9000)] {
            readings.add(cycle, Nanos(ns));
        }
        assert_eq!((readings.worst(), readings.mean()), (Nanos(28), Nanos(21)));
        assert!(is_out(&readings, Nanos(13)) && !is_out(&readings, Nanos(14)));
    }
}
