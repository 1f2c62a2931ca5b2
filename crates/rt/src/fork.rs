//! Fork and join inside a step: idle workers run some of its branches, and the step continues when all have run.
//!
//! A worker that forks offers `count` calls of one closure, the *branches*, in its own cell. It claims branches itself,
//! and any idle worker may claim some too. It comes back when all branches are done. A fork of a cell that is in use,
//! from inside a branch or by another thread, runs its branches alone: so no caller can break the table below.
//!
//! ```text
//!   owner   fork(4) ─┬─ branch 0 ─── branch 2 ───┬─ join, the step goes on
//!   helper           └─ branch 1 ─── branch 3 ───┘
//! ```
//!
//! # Who owns what
//!
//! The word is `round (32 bits) | next branch (16) | count (16)`. The *owner* is the thread that has set `is_forking`.
//!
//! | word | the job pointer | a branch |
//! |---|---|---|
//! | next == count | the owner's: nobody reads it | – |
//! | next < count | readable by each worker that claims a branch of this round | belongs to the worker that moved `next` past it |
//!
//! The word holds the round, so a claim that rests on an old look at it fails. Rounds wrap around. A look that is 2^32
//! rounds old and finds the same word claims a branch of the present round, which is as good as any: nothing was read
//! before the claim. The owner writes the job only between rounds: after every branch of the last round was counted in
//! `done`, which each helper does as its last act.

use crate::pad::CachePadded;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

type Branch = *const (dyn Fn(u32) + Sync);

/// The cell in which one worker offers branches.
pub struct ForkCell {
    /// round: 32 bits | next branch: 16 | count: 16.
    word: CachePadded<AtomicU64>,
    done: CachePadded<AtomicU32>,
    /// A thread owns the cell: it is in `fork`.
    is_forking: AtomicBool,
    panicked: AtomicU32,
    branch: UnsafeCell<Option<Branch>>,
}

// SAFETY: the table above says who may read and write `branch`; what it points to is `Sync`.
unsafe impl Sync for ForkCell {}
// SAFETY: the table above; between rounds the cell holds nothing.
unsafe impl Send for ForkCell {}

const MAX_BRANCHES: u64 = 0xffff;

fn next(word: u64) -> u32 {
    (word >> 16 & MAX_BRANCHES) as u32
}

fn count(word: u64) -> u32 {
    (word & MAX_BRANCHES) as u32
}

impl Default for ForkCell {
    fn default() -> Self {
        Self::new()
    }
}

impl ForkCell {
    /// A cell that offers nothing.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self::at_round(0)
    }

    /// A cell whose next round is the one after `round`.
    fn at_round(round: u32) -> Self {
        Self {
            word: CachePadded(AtomicU64::new(u64::from(round) << 32)),
            done: CachePadded(AtomicU32::new(0)),
            is_forking: AtomicBool::new(false),
            panicked: AtomicU32::new(0),
            branch: UnsafeCell::new(None),
        }
    }

    /// Runs `branch(0)` to `branch(count - 1)`, helped by all workers that call [`help`](Self::help), and returns when
    /// all have run. On the caller alone run more than 65535 branches, and those of a fork while the cell is in use (from
    /// inside a branch, or by another thread).
    ///
    /// # Panics
    ///
    /// A branch panicked, here or on another worker; all branches have ended then.
    ///
    /// Real-time: hot; the wait for branches that others run is part of the cycle's join.
    pub fn fork(&self, count: u32, branch: &(dyn Fn(u32) + Sync)) {
        // Acquire pairs with the Release in `run_round`: the last owner has finished with the cell.
        let is_alone = count <= 1 || u64::from(count) > MAX_BRANCHES;
        if is_alone || self.is_forking.swap(true, Ordering::Acquire) {
            return (0..count).for_each(branch);
        }
        let has_panicked = self.run_round(count, branch);
        assert!(!has_panicked, "a branch of a fork panicked");
    }

    /// Runs one round, for the thread that has set `is_forking`, which is clear again then. Returns true if a branch
    /// panicked.
    fn run_round(&self, count: u32, branch: &(dyn Fn(u32) + Sync)) -> bool {
        let branch: *const (dyn Fn(u32) + Sync + '_) = branch;
        // SAFETY: only the lifetime changes; this function does not return before every branch that may use it is done.
        let branch: Branch = unsafe { std::mem::transmute(branch) };
        // SAFETY: between rounds the pointer is the owner's, and `is_forking` makes this thread the only owner.
        self.branch.with_mut(|cell| unsafe { *cell = Some(branch) });
        // Relaxed: published by the word.
        self.done.store(0, Ordering::Relaxed);
        self.panicked.store(0, Ordering::Relaxed);
        // Relaxed: only the owner begins rounds.
        let round = (self.word.load(Ordering::Relaxed) >> 32).wrapping_add(1) & 0xffff_ffff;
        // pairs with the exchange in `claim`: the pointer is there before it can be claimed.
        self.word
            .store(round << 32 | u64::from(count), Ordering::Release);
        while self.help() {}
        // pairs with the `Release` of each branch's end: what they wrote is seen, and none reads the pointer any more.
        while self.done.load(Ordering::Acquire) < count {
            spin();
        }
        // Relaxed: ordered by `done`.
        let has_panicked = self.panicked.load(Ordering::Relaxed) != 0;
        // pairs with the exchange in `fork`: what this owner wrote to the cell is seen by the next.
        self.is_forking.store(false, Ordering::Release);
        has_panicked
    }

    /// Runs one branch, if one is offered; returns true if it did.
    ///
    /// Real-time: hot.
    pub fn help(&self) -> bool {
        let Some(index) = self.claim() else {
            return false;
        };
        let end = BranchEnd(self);
        // SAFETY: this worker has claimed a branch of this round and has not counted it as done, so the owner neither
        // writes the pointer nor returns from `fork`.
        let branch = self.branch.with(|cell| unsafe { (*cell).map(|b| &*b) });
        if let Some(branch) = branch {
            let run = std::panic::AssertUnwindSafe(|| branch(index));
            if let Err(payload) = std::panic::catch_unwind(run) {
                std::mem::forget(payload);
                // Relaxed: ordered by `done`, which `end` adds to.
                self.panicked.store(1, Ordering::Relaxed);
            }
        }
        drop(end);
        true
    }

    /// Returns true if a branch seems to be offered.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn has_branches(&self) -> bool {
        // Relaxed: a hint; the claim decides.
        let word = self.word.load(Ordering::Relaxed);
        next(word) < count(word)
    }

    fn claim(&self) -> Option<u32> {
        // Relaxed: the exchange decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while next(word) < count(word) {
            // Acquire pairs with the store in `fork`. The round in the word makes an old look fail.
            match self.word.compare_exchange_weak(
                word,
                word + (1 << 16),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(next(word)),
                Err(now) => word = now,
            }
        }
        None
    }
}

/// Counts a branch as done when it ends.
struct BranchEnd<'a>(&'a ForkCell);

impl Drop for BranchEnd<'_> {
    fn drop(&mut self) {
        // pairs with the owner's load at the end of `fork`.
        self.0.done.fetch_add(1, Ordering::Release);
    }
}

fn spin() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::ForkCell;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn each_branch_runs_once_and_none_outlives_the_fork() {
        loom::model(|| {
            let cell = Arc::new(ForkCell::new());
            let helper = {
                let cell = cell.clone();
                loom::thread::spawn(move || {
                    cell.help();
                    cell.help();
                })
            };
            for _ in 0..2 {
                let runs = [AtomicU32::new(0), AtomicU32::new(0)];
                cell.fork(2, &|branch| {
                    runs[branch as usize].fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(runs.map(|r| r.load(Ordering::Relaxed)), [1, 1]);
            }
            helper.join().unwrap();
        });
    }

    #[test]
    fn two_threads_that_fork_one_cell_run_each_branch_of_both_once() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cell = Arc::new(ForkCell::new());
            let fork = |cell: &ForkCell| {
                let runs = [AtomicU32::new(0), AtomicU32::new(0)];
                cell.fork(2, &|branch| {
                    runs[branch as usize].fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(runs.map(|r| r.load(Ordering::Relaxed)), [1, 1]);
            };
            let other = {
                let cell = cell.clone();
                loom::thread::spawn(move || fork(&cell))
            };
            fork(&cell);
            other.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ForkCell;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn every_lane_runs_once() {
        let cell = ForkCell::new();
        let sum = AtomicU32::new(0);
        cell.fork(5, &|lane| {
            sum.fetch_add(lane, Ordering::Relaxed);
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
        assert!(!cell.has_branches() && !cell.help());
    }

    #[test]
    fn a_fork_inside_a_branch_runs_its_branches_alone() {
        let cell = ForkCell::new();
        let runs = AtomicU32::new(0);
        cell.fork(3, &|_| {
            cell.fork(3, &|_| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(runs.load(Ordering::Relaxed), 9);
        assert!(!cell.has_branches() && !cell.help());
    }

    #[test]
    fn forks_of_one_cell_by_several_threads_run_every_branch_once() {
        let cell = ForkCell::new();
        let runs = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        cell.fork(4, &|_| {
                            runs.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(runs.load(Ordering::Relaxed), 3 * 500 * 4);
    }

    #[test]
    fn rounds_wrap_around() {
        let cell = ForkCell::at_round(u32::MAX - 1);
        let runs = AtomicU32::new(0);
        for _ in 0..4 {
            cell.fork(2, &|_| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(runs.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn a_panic_in_a_lane_reaches_the_owner_after_all_lanes() {
        let cell = ForkCell::new();
        let runs = AtomicU32::new(0);
        let forked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.fork(3, &|lane| {
                runs.fetch_add(1, Ordering::Relaxed);
                assert_ne!(lane, 1);
            });
        }));
        assert!(forked.is_err());
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }
}
