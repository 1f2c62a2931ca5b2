//! What others took from a run is not the level's own, and does not count.
//!
//! Two signs. The system counts how often the thread was put aside against its will; a run over which that count grew is
//! void, unless nearly all are. An interrupt, or another guest of the machine, leaves no count, but a gap: every run is
//! stamped between its parts (a transform, a stretch of multiply-adds), and a part that took far longer than the same part
//! of the other runs, all of them with swept caches, counts as long as the longest of those others that did not.

use std::fs;

/// A part may take this often its median
const TIMES: f64 = 2.0;
/// and this much more, in ns.
const MORE_NS: f64 = 2000.0;

/// How long each of `runs` took in all, without gaps, and how many had any. All have the same parts, each given as its
/// time in ns.
pub(super) fn mended(runs: &[Vec<f64>]) -> (Vec<f64>, usize) {
    let parts = runs.first().map_or(0, Vec::len);
    let (mut sums, mut has_gap) = (vec![0.0; runs.len()], vec![false; runs.len()]);
    for part in 0..parts {
        let times = || runs.iter().map(|run| run[part]);
        let most = TIMES * median(times().collect()) + MORE_NS;
        let longest = times().filter(|ns| *ns <= most).fold(0.0, f64::max);
        for ((ns, sum), has_gap) in times().zip(&mut sums).zip(&mut has_gap) {
            *sum += ns.min(longest);
            *has_gap |= ns > most;
        }
    }
    (sums, has_gap.into_iter().filter(|gap| *gap).count())
}

/// The middle one, or the upper of the two.
pub(super) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// How often this thread has been put aside against its will; `None` where the system does not say.
pub(super) fn put_aside() -> Option<u64> {
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
        let (sums, gaps) = mended(&runs);
        assert_eq!(gaps, 2);
        assert_eq!(sums[0], 1_000_900.0);
        assert_eq!(sums[3], 1_001_000.0);
        assert_eq!(sums[5], 1_300_900.0);
        assert_eq!(sums[6], 1_301_000.0);
        assert_eq!(mended(&[]), (Vec::new(), 0));
    }

    #[test]
    fn the_median_is_one_of_them() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![]), 0.0);
    }
}
