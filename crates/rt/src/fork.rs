//! Fork and join inside a step: idle workers run some of its branches, and the step continues when all have run.
//!
//! A worker that forks offers `count` calls of one closure, the *branches*, in its own cell. It claims branches itself,
//! and any idle worker may claim some too. It comes back when all branches are done. A fork of a cell that is in use,
//! from inside a branch or by another thread, runs its branches alone: so no caller can break the table below.
//!
//! A helper can lose its core inside a branch, or never return. So the owner asks in each turn of its wait whether it is
//! to give up. Then the round is *abandoned*: the owner returns, and the helper still reads the [`ForkTask`]. That is why
//! a task is plain data in the cell, and leads to nothing that ends with the owner's step. The cell is free again when
//! every branch of the abandoned round has ended.
//!
//! ```text
//!   owner   fork(4) ─┬─ branch 0 ─── branch 2 ───┬─ join, the step goes on
//!   helper           └─ branch 1 ─── branch 3 ───┘
//! ```
//!
//! # Who owns what
//!
//! The word is `round (32 bits) | next branch (16) | count (16)`. The *owner* is the thread that has moved `state` to
//! `FORKING`: from `FREE`, or from `ABANDONED` when `done` has reached the count.
//!
//! | word | the task | a branch |
//! |---|---|---|
//! | next == count | the owner's: nobody reads it | – |
//! | next < count | readable by each worker that claims a branch of this round | belongs to the worker that moved `next` past it |
//!
//! The word holds the round, so a claim that rests on an old look at it fails. Rounds wrap around. A look that is 2^32
//! rounds old and finds the same word claims a branch of the present round, which is as good as any: nothing was read
//! before the claim. The owner writes the task only between rounds: after every branch of the last round was counted in
//! `done`, which each helper does as its last act.

use crate::pad::CachePadded;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::mem::MaybeUninit;

/// Room for the data of a task: 24 words.
type TaskData = [MaybeUninit<u64>; 24];

/// The branches of a fork: a closure whose data are copied into the cell. It can be copied there only, so that nobody
/// runs it later.
pub struct ForkTask {
    run: unsafe fn(*const TaskData, u32),
    data: TaskData,
}

// SAFETY: the closure in it is `Send`.
unsafe impl Send for ForkTask {}
// SAFETY: the closure in it is `Sync`, and branches only call it by reference.
unsafe impl Sync for ForkTask {}

impl ForkTask {
    /// A task whose branch `n` is `branch(n)`. The closure has at most 192 bytes; a larger one does not compile.
    ///
    /// # Safety
    ///
    /// As long as a copy of the task may run, what the closure leads to is alive, and nobody writes it except through
    /// the closure. A round that was abandoned may run until its helpers have left [`ForkCell::help`].
    ///
    /// Real-time: hot.
    #[inline]
    pub unsafe fn new<F: Fn(u32) + Copy + Send + Sync>(branch: F) -> Self {
        const {
            assert!(
                size_of::<F>() <= size_of::<TaskData>(),
                "a branch has at most 192 bytes"
            );
            assert!(
                align_of::<F>() <= align_of::<TaskData>(),
                "a branch is aligned to 8 bytes at most"
            );
        }
        /// # Safety
        ///
        /// `data` holds an `F`.
        unsafe fn run<F: Fn(u32)>(data: *const TaskData, index: u32) {
            // SAFETY: the caller's promise.
            unsafe { (*data.cast::<F>())(index) }
        }
        let mut data: TaskData = [MaybeUninit::uninit(); 24];
        // SAFETY: it has room for an `F`, as was asserted, and an `F` is plain data.
        unsafe { data.as_mut_ptr().cast::<F>().write(branch) };
        Self {
            run: run::<F>,
            data,
        }
    }

    fn copied(&self) -> Self {
        Self {
            run: self.run,
            data: self.data,
        }
    }

    /// Runs branch `index` on this thread.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn run(&self, index: u32) {
        // SAFETY: `new` wrote the closure that `run` expects, and its maker promised that it may be called now.
        unsafe { (self.run)(&raw const self.data, index) };
    }
}

/// The owner gave up a fork. Other workers may still be in its branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkAbandoned;

/// No thread uses the cell.
const FREE: u32 = 0;
/// A thread is in `fork`.
const FORKING: u32 = 1;
/// The last owner gave up. The cell is free when all branches of its round have ended.
const ABANDONED: u32 = 2;

/// The cell in which one worker offers branches.
pub struct ForkCell {
    /// round: 32 bits | next branch: 16 | count: 16.
    word: CachePadded<AtomicU64>,
    done: CachePadded<AtomicU32>,
    /// [`FREE`], [`FORKING`] or [`ABANDONED`].
    state: AtomicU32,
    panicked: AtomicU32,
    task: UnsafeCell<Option<ForkTask>>,
}

// SAFETY: the table above says who may read and write `task`, which is `Send` and `Sync`.
unsafe impl Sync for ForkCell {}

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
            state: AtomicU32::new(FREE),
            panicked: AtomicU32::new(0),
            task: UnsafeCell::new(None),
        }
    }

    /// Runs the branches 0 to `count - 1` of `task`, helped by all workers that call [`help`](Self::help), and returns
    /// when all have run. On the caller alone run more than 65535 branches, and those of a fork while the cell is in use
    /// (from inside a branch, by another thread, or since a round was abandoned).
    ///
    /// While it waits for branches that others run, it calls `gives_up` again and again.
    ///
    /// # Errors
    ///
    /// `gives_up` returned true: other workers are still in branches.
    ///
    /// # Panics
    ///
    /// A branch panicked, here or on another worker; all branches have ended then.
    ///
    /// Real-time: hot; the wait for branches that others run is part of the cycle's join.
    pub fn fork(
        &self,
        count: u32,
        task: &ForkTask,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> Result<(), ForkAbandoned> {
        let is_alone = count <= 1 || u64::from(count) > MAX_BRANCHES;
        if is_alone || !self.try_own() {
            (0..count).for_each(|index| task.run(index));
            return Ok(());
        }
        let has_panicked = self.run_round(count, task, gives_up)?;
        assert!(!has_panicked, "a branch of a fork panicked");
        Ok(())
    }

    /// Makes this thread the owner, if there is none and no branch is left of an abandoned round.
    fn try_own(&self) -> bool {
        // Acquire pairs with the Release at the end of `run_round`: the last owner has finished with the cell.
        let own = |state| {
            (self.state).compare_exchange(state, FORKING, Ordering::Acquire, Ordering::Acquire)
        };
        match own(FREE) {
            Ok(_) => true,
            // pairs with the `Release` of each branch's end: none reads the task any more. The word is that of the
            // abandoned round, because only an owner changes its count.
            Err(ABANDONED) => {
                let count = count(self.word.load(Ordering::Relaxed));
                self.done.load(Ordering::Acquire) >= count && own(ABANDONED).is_ok()
            }
            Err(_) => false,
        }
    }

    /// Runs one round, for the owner, which this thread is no more then. Returns true if a branch panicked.
    fn run_round(
        &self,
        count: u32,
        task: &ForkTask,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> Result<bool, ForkAbandoned> {
        // SAFETY: between rounds the task is the owner's.
        self.task
            .with_mut(|cell| unsafe { *cell = Some(task.copied()) });
        // Relaxed: published by the word.
        self.done.store(0, Ordering::Relaxed);
        self.panicked.store(0, Ordering::Relaxed);
        // Relaxed: only the owner begins rounds.
        let round = (self.word.load(Ordering::Relaxed) >> 32).wrapping_add(1) & 0xffff_ffff;
        // pairs with the exchange in `claim`: the task is there before it can be claimed.
        self.word
            .store(round << 32 | u64::from(count), Ordering::Release);
        while self.help() {}
        // pairs with the `Release` of each branch's end: what they wrote is seen, and none reads the task any more.
        while self.done.load(Ordering::Acquire) < count {
            if gives_up() {
                // pairs with the exchanges in `try_own`: the next owner sees the word of this round.
                self.state.store(ABANDONED, Ordering::Release);
                return Err(ForkAbandoned);
            }
            spin();
        }
        // Relaxed: ordered by `done`.
        let has_panicked = self.panicked.load(Ordering::Relaxed) != 0;
        // pairs with the exchange in `try_own`: what this owner wrote to the cell is seen by the next.
        self.state.store(FREE, Ordering::Release);
        Ok(has_panicked)
    }

    /// Runs one branch, if one is offered; returns true if it did.
    ///
    /// Real-time: hot.
    pub fn help(&self) -> bool {
        self.help_after(|| {})
    }

    /// As [`help`](Self::help). Calls `claimed` between the claim of a branch and its beginning: until the branch ends,
    /// its owner is in this fork, or has abandoned it.
    ///
    /// Real-time: hot.
    pub fn help_after(&self, claimed: impl FnOnce()) -> bool {
        let Some(index) = self.claim() else {
            return false;
        };
        let end = BranchEnd(self);
        claimed();
        // SAFETY: this worker has claimed a branch of this round and has not counted it as done, so no owner writes the
        // task: the round is not over, or it was abandoned and `try_own` waits for our count.
        let task = self.task.with(|cell| unsafe { (*cell).as_ref() });
        if let Some(task) = task {
            let run = std::panic::AssertUnwindSafe(|| task.run(index));
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
        // pairs with the owner's load at the end of `run_round`, and with the next owner's in `try_own`.
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
    use super::{ForkCell, ForkTask};
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering};

    type Runs = [AtomicU32; 2];

    /// A task that counts its branches.
    fn counting(runs: &Runs) -> ForkTask {
        let runs: *const Runs = runs;
        let runs = runs as usize;
        // SAFETY: each test keeps the counts until its threads have ended.
        unsafe {
            ForkTask::new(move |branch| {
                (*(runs as *const Runs))[branch as usize].fetch_add(1, Ordering::Relaxed);
            })
        }
    }

    fn fork_two_branches(cell: &ForkCell) {
        let runs = [AtomicU32::new(0), AtomicU32::new(0)];
        assert!(cell.fork(2, &counting(&runs), &mut || false).is_ok());
        assert_eq!(runs.map(|r| r.load(Ordering::Relaxed)), [1, 1]);
    }

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
            fork_two_branches(&cell);
            fork_two_branches(&cell);
            helper.join().unwrap();
        });
    }

    #[test]
    fn an_abandoned_round_ends_without_its_owner_and_no_other_overwrites_it() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cell = Arc::new(ForkCell::new());
            let runs = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let helper = {
                let cell = cell.clone();
                loom::thread::spawn(move || cell.help())
            };
            let _abandoned = cell.fork(2, &counting(&runs), &mut || true);
            // Alone, while the helper is still in the first round.
            fork_two_branches(&cell);
            helper.join().unwrap();
            assert_eq!(runs.each_ref().map(|r| r.load(Ordering::Relaxed)), [1, 1]);
            fork_two_branches(&cell);
        });
    }

    #[test]
    fn two_threads_that_fork_one_cell_run_each_branch_of_both_once() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let cell = Arc::new(ForkCell::new());
            let other = {
                let cell = cell.clone();
                loom::thread::spawn(move || fork_two_branches(&cell))
            };
            fork_two_branches(&cell);
            other.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ForkAbandoned, ForkCell, ForkTask};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Forks and waits for all branches.
    fn fork<F: Fn(u32) + Copy + Send + Sync>(cell: &ForkCell, count: u32, branch: F) {
        // SAFETY: the fork is never abandoned, so no branch runs after it has returned.
        let task = unsafe { ForkTask::new(branch) };
        cell.fork(count, &task, &mut || false).unwrap();
    }

    #[test]
    fn every_lane_runs_once() {
        let cell = ForkCell::new();
        let sum = &AtomicU32::new(0);
        fork(&cell, 5, |lane| {
            sum.fetch_add(lane, Ordering::Relaxed);
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
        assert!(!cell.has_branches() && !cell.help());
    }

    #[test]
    fn a_fork_inside_a_branch_runs_its_branches_alone() {
        let cell = &ForkCell::new();
        let runs = &AtomicU32::new(0);
        fork(cell, 3, |_| {
            fork(cell, 3, |_| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(runs.load(Ordering::Relaxed), 9);
        assert!(!cell.has_branches() && !cell.help());
    }

    #[test]
    fn forks_of_one_cell_by_several_threads_run_every_branch_once() {
        let cell = &ForkCell::new();
        let runs = &AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        fork(cell, 4, |_| {
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
        let runs = &AtomicU32::new(0);
        for _ in 0..4 {
            fork(&cell, 2, |_| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(runs.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn an_owner_that_gives_up_leaves_the_cell_to_the_helper_until_that_has_ended() {
        let cell = &ForkCell::new();
        let (runs, trapped, end) = (&AtomicU32::new(0), &Barrier::new(2), &Barrier::new(2));
        let owner = std::thread::current().id();
        std::thread::scope(|scope| {
            // SAFETY: all that it leads to outlives the scope, in which its branches end.
            let task = unsafe {
                ForkTask::new(move |_| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    let is_helper = std::thread::current().id() != owner;
                    trapped.wait();
                    if is_helper {
                        end.wait();
                    }
                })
            };
            let helper = scope.spawn(|| {
                while !cell.help() {
                    std::thread::yield_now();
                }
            });
            assert_eq!(cell.fork(2, &task, &mut || true), Err(ForkAbandoned));
            // The helper is still in its branch: these are run here.
            let host = std::thread::current().id();
            fork(cell, 3, |_| {
                assert_eq!(std::thread::current().id(), host);
                runs.fetch_add(1, Ordering::Relaxed);
            });
            assert!(!cell.has_branches());
            end.wait();
            helper.join().unwrap();
            assert_eq!(runs.load(Ordering::Relaxed), 5);
            fork(cell, 2, |_| {});
        });
    }

    #[test]
    fn a_panic_in_a_lane_reaches_the_owner_after_all_lanes() {
        let cell = ForkCell::new();
        let runs = &AtomicU32::new(0);
        let forked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            fork(&cell, 3, |lane| {
                runs.fetch_add(1, Ordering::Relaxed);
                assert_ne!(lane, 1);
            });
        }));
        assert!(forked.is_err());
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }
}
