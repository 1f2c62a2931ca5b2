//! Time that other threads took from a measured run, which must not count as the level's own.
//!
//! There are two signs. The system counts how often it preempted the thread: a run in which that count grew is void, unless
//! most runs are. An interrupt, or another guest of the machine, is not counted but leaves a gap: every run has a time stamp
//! between its parts (a transform, a stretch of multiply-adds). A part that took far longer than the same part of the other
//! runs counts as the longest of those that did not.

use std::fs;

/// A part has a gap if it took longer than its median times this
const GAP_FACTOR: f64 = 2.0;
/// plus this.
const GAP_NS: f64 = 2000.0;

/// Time of each of `runs` in ns without gaps, and the number of runs with gaps. Each run is the times of the same parts in ns.
pub(super) fn without_gaps(runs: &[Vec<f64>]) -> (Vec<f64>, usize) {
    let parts = runs.first().map_or(0, Vec::len);
    let (mut sums, mut has_gap) = (vec![0.0; runs.len()], vec![false; runs.len()]);
    for part in 0..parts {
        let times = || runs.iter().map(|run| run[part]);
        let max = GAP_FACTOR * median(times().collect()) + GAP_NS;
        let longest = times().filter(|ns| *ns <= max).fold(0.0, f64::max);
        for ((ns, sum), has_gap) in times().zip(&mut sums).zip(&mut has_gap) {
            *sum += ns.min(longest);
            *has_gap |= ns > max;
        }
    }
    (sums, has_gap.into_iter().filter(|gap| *gap).count())
}

/// Median; of an even number of values the upper of the two in the middle.
pub(super) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Number of times that the system has preempted this thread; `None` if the system does not report it.
pub(super) fn preemptions() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_one_part_does_not_count_however_long_the_run_is() {
        let mut runs = vec![vec![900.0, 1_000_000.0]; 9];
        runs[3][0] = 5000.0;
        runs[5][1] = 3_900_000.0;
        runs[6] = vec![1000.0, 1_300_000.0];
        let (sums, gaps) = without_gaps(&runs);
        assert_eq!(gaps, 2);
        assert_eq!(sums[0], 1_000_900.0);
        assert_eq!(sums[3], 1_001_000.0);
        assert_eq!(sums[5], 1_300_900.0);
        assert_eq!(sums[6], 1_301_000.0);
        assert_eq!(without_gaps(&[]), (Vec::new(), 0));
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![]), 0.0);
    }
}
