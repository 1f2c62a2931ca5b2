//! Compares the candidates' times.

use super::choice::SchedulerTrial;
use units::Nanos;

/// Difference, in parts of a thousand and in nanoseconds, below which two times count as equal: readings are no more
/// exact.
const EQUAL_MILLE: u64 = 30;
const EQUAL_NS: u64 = 50;
/// Part of the sequential time (1/4) that a candidate must gain live. A machine is slower in some seconds than in others, by a
/// factor of two where it is a virtual one. In those, two workers gain what they lose in the others: a trial in them alone
/// would choose an executor that is slower most of the time.
const LIVE_GAIN_SHARE: u64 = 4;
/// Part of the cycles (1/20) that are above the upper time.
const UPPER_SHARE: usize = 20;

/// Times of a candidate's cycles, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct CycleTimes(Vec<u32>);

impl CycleTimes {
    pub(crate) fn add(&mut self, time: Nanos) {
        self.0.push(u32::try_from(time.0).unwrap_or(u32::MAX));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first and the second half of the cycles.
    pub(super) fn halves(&self) -> [Self; 2] {
        let (first, second) = self.0.split_at(self.0.len() / 2);
        [first, second].map(|half| Self(half.to_vec()))
    }

    /// Mean and upper time. The upper time is the 95th percentile. The mean is taken over the cycles up to it: the few
    /// beyond are those in which other programs had the core, and they would decide alone.
    pub(crate) fn summary(&self) -> (Nanos, Nanos) {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.truncate(sorted.len() - sorted.len() / UPPER_SHARE);
        let sum: u64 = sorted.iter().copied().map(u64::from).sum();
        let upper = sorted.last().copied().unwrap_or(0);
        (Nanos(sum / sorted.len().max(1) as u64), Nanos(upper.into()))
    }
}

/// Rank of a candidate before the final, lowest first: live by mean and upper time together, offline by the mean.
pub(super) fn rank(one: &SchedulerTrial, is_live: bool) -> u64 {
    match is_live {
        true => one.mean.0.saturating_add(one.upper.0),
        false => one.mean.0,
    }
}

/// Returns true if `candidate` is better than the sequential executor by more than readings can tell: offline in the mean; live
/// in the mean and in the upper time, by more than `wake`, and by a quarter.
pub(super) fn is_better(
    candidate: &SchedulerTrial,
    sequential: &SchedulerTrial,
    wake: Nanos,
    is_live: bool,
) -> bool {
    if !is_live {
        return gains(candidate.mean, sequential.mean, Nanos(0));
    }
    let gains =
        |one: Nanos, other: Nanos| gains(one, other, wake.max(Nanos(other.0 / LIVE_GAIN_SHARE)));
    gains(candidate.mean, sequential.mean) && gains(candidate.upper, sequential.upper)
}

/// Returns true if `one` is shorter than `other` by more than `margin`, and by more than readings can tell.
pub(super) fn gains(one: Nanos, other: Nanos, margin: Nanos) -> bool {
    let slack = other.0.saturating_mul(EQUAL_MILLE) / 1000;
    one.0.saturating_add(margin.0.max(slack + EQUAL_NS)) < other.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheduler;

    fn tried(mean: u64, upper: u64) -> SchedulerTrial {
        SchedulerTrial {
            scheduler: Scheduler::Stealing,
            workers: 2,
            mean: Nanos(mean),
            upper: Nanos(upper),
        }
    }

    #[test]
    fn live_both_times_must_be_better_by_a_wake_and_by_a_quarter_and_offline_the_mean() {
        let sequential = tried(16_000, 18_000);
        for (wake, mean, upper, live, offline) in [
            (2_900, 11_000, 13_000, true, true),
            (2_900, 12_100, 13_000, false, true),
            (2_900, 11_000, 13_600, false, true),
            (2_900, 11_000, 59_000, false, true),
            (2_900, 16_000, 18_000, false, false),
            (6_000, 11_000, 11_900, false, true),
            (6_000, 9_900, 11_900, true, true),
        ] {
            let one = tried(mean, upper);
            let better = |is_live| is_better(&one, &sequential, Nanos(wake), is_live);
            assert_eq!(better(true), live, "{mean} {upper}");
            assert_eq!(better(false), offline, "{mean} {upper}");
        }
    }

    #[test]
    fn a_difference_that_readings_cannot_tell_is_none() {
        let better = |one, other| is_better(&one, &other, Nanos(0), false);
        let sequential = tried(10_000, 11_000);
        assert!(!better(tried(9_800, 10_700), sequential));
        assert!(better(tried(9_500, 10_500), sequential));
        assert!(!better(tried(75, 80), tried(100, 120)));
    }

    #[test]
    fn one_disturbed_cycle_of_twenty_decides_nothing() {
        let mut times = CycleTimes::default();
        assert_eq!(times.summary(), (Nanos(0), Nanos(0)));
        (1..20).for_each(|ns| times.add(Nanos(ns)));
        times.add(Nanos(1_000_000));
        assert_eq!((times.len(), times.summary()), (20, (Nanos(10), Nanos(19))));
    }

    #[test]
    fn a_wake_in_every_second_cycle_counts() {
        let mut times = CycleTimes::default();
        (0..100).for_each(|cycle| times.add(Nanos(if cycle % 2 == 0 { 10 } else { 40 })));
        assert_eq!(times.summary().1, Nanos(40));
        assert!(times.summary().0 > Nanos(20));
    }
}
