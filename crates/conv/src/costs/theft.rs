//! Which runs others took time from: those are not the level's own and count for nothing.
//!
//! Two signs. The system counts how often the thread was put aside against its will; a run over which that count grew is
//! void. An interrupt, or another guest of the machine, leaves no count, but a gap: every run is stamped between its parts
//! (a transform, a group of multiply-adds), and a part that took far longer than the same part of the other runs, all of
//! them with swept caches, makes its run void too.

use std::fs;

/// A part may take this often its median
const TIMES: f64 = 2.0;
/// and this much more, in ns.
const MORE_NS: f64 = 2000.0;

/// Which of `runs` stand, by number. All have the same parts; each part is given as its time in ns.
pub(super) fn honest(runs: &[Vec<f64>]) -> Vec<usize> {
    let parts = runs.first().map_or(0, Vec::len);
    let medians: Vec<f64> = (0..parts)
        .map(|part| median(runs.iter().map(|run| run[part]).collect()))
        .collect();
    let stands = |run: &Vec<f64>| {
        let mut pairs = run.iter().zip(&medians);
        pairs.all(|(ns, median)| *ns <= TIMES * median + MORE_NS)
    };
    (0..runs.len()).filter(|i| stands(&runs[*i])).collect()
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
    fn a_gap_in_one_part_makes_the_run_void_however_long_the_run_is() {
        let mut runs = vec![vec![900.0, 1_000_000.0]; 9];
        runs[3][0] = 5000.0;
        runs[5][1] = 1_900_000.0;
        assert_eq!(honest(&runs), [0, 1, 2, 4, 5, 6, 7, 8]);
        assert!(honest(&[]).is_empty());
    }

    #[test]
    fn the_median_is_one_of_them() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![]), 0.0);
    }
}
