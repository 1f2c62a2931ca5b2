//! A fixed-size work-stealing deque: its owner pushes and pops at the bottom (LIFO), other workers (*thieves*) steal at
//! the top (FIFO).
//!
//! After Chase and Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the memory orderings of Lê, Pop, Cohen
//! and Zappa Nardelli, "Correct and Efficient Work-Stealing for Weak Memory Models" (PPoPP 2013).
//!
//! ```text
//!              top                          bottom
//!   (epoch,index)│                            │
//!                ▼                            ▼
//!   ┌──────┬──────┬──────┬──────┬──────┬──────┬──────┬──────┐
//!   │taken │taken │ task │ task │ task │ task │      │      │   capacity: all tasks of a cycle
//!   └──────┴──────┴──────┴──────┴──────┴──────┴──────┴──────┘
//!             thieves steal ▶            ◀ owner pops
//!                                          owner pushes ▶
//! ```
//!
//! It differs from the paper in two ways. It never wraps or grows: within a cycle each task is pushed at most once, so
//! `capacity` tasks are all that can come, and each cycle ([`Deque::begin`]) starts again from index 0. And the top
//! holds the epoch of the cycle: a thief names the epoch for which it steals, and its exchange fails on any other. A
//! thief that lost its core in an old cycle takes nothing of a newer one.
//!
//! # Who may do what
//!
//! | call | who | when |
//! |---|---|---|
//! | `begin` | the owner | once a cycle, when the deque is empty: every task of the cycle before was taken |
//! | `push`, `pop` | the owner | after `begin` |
//! | `steal` | anyone else | any time |
//!
//! Only the last task is disputed: owner and thief then both try to move `top`, and the exchange decides.
//!
//! A task is an index. The data behind it is published by the worker that makes it ready: every store of `bottom` is
//! `Release` and pairs with the `Acquire` in `steal`.

use crate::epoch;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Number of epochs after which what an owner left behind is thrown away: a quarter of all.
const MAX_AGE: u32 = 1 << 30;

/// A fixed-size work-stealing deque of tasks, emptied and used anew in each cycle.
pub struct Deque {
    /// One past the newest task. Only the owner writes it.
    bottom: CachePadded<AtomicU32>,
    /// 1 while the deque may hold tasks. Only the owner writes it, when that changes.
    may_have_tasks: CachePadded<AtomicU32>,
    /// epoch (32 bits) | index of the oldest task (32). The worker that takes that task advances it.
    top: CachePadded<AtomicU64>,
    tasks: Box<[AtomicU32]>,
}

/// Result of an attempt to take tasks that others may take too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal {
    /// The attempt succeeded. Holds the task that was stolen from a [`Deque`], or the number of tasks that were taken
    /// from a [`ReadyQueue`](crate::ready_queue::ReadyQueue).
    Success(u32),
    /// There was no task of this epoch.
    Empty,
    /// Another worker was faster; there may be more tasks.
    Retry,
}

impl Deque {
    /// An empty deque for `capacity` tasks a cycle, in epoch 0.
    ///
    /// Real-time: setup.
    pub fn new(capacity: usize) -> Self {
        Self {
            bottom: CachePadded(AtomicU32::new(0)),
            may_have_tasks: CachePadded(AtomicU32::new(0)),
            top: CachePadded(AtomicU64::new(0)),
            tasks: (0..capacity).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Begins the cycle `epoch`. Owner only, and only while the deque is empty.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        // Bottom first: with the old top the deque is empty, whatever a thief sees. Release, as every store of it.
        self.bottom.store(0, Ordering::Release);
        // Release pairs with the Acquire in `steal`: a thread that sees the new epoch sees the bottom of it too.
        self.top.store(epoch::pack(epoch, 0), Ordering::Release);
    }

    /// Empties the deque if its owner has not begun a cycle for a quarter of all epochs. Tasks that it left behind in an
    /// abandoned cycle would belong to a new one when the epochs have wrapped around. Host only, before it tells other
    /// workers of the cycle `epoch`.
    ///
    /// Real-time: hot.
    pub fn expire(&self, epoch: u32) {
        // Relaxed: the exchange decides.
        let top = self.top.load(Ordering::Relaxed);
        if epoch.wrapping_sub(epoch::of(top)) > MAX_AGE {
            // No index is below this one, so no thief of whatever epoch finds a task. If the exchange fails, the owner
            // has just begun. Relaxed: nothing travels.
            let empty = epoch::pack(epoch.wrapping_sub(1), u32::MAX);
            let _ = (self.top).compare_exchange(top, empty, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Pushes a task. There is room: no task comes twice in a cycle. Owner only.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn push(&self, task: u32) {
        // Relaxed: only the owner writes it.
        let bottom = self.bottom.load(Ordering::Relaxed);
        // Relaxed: published by the store below.
        self.tasks[bottom as usize].store(task, Ordering::Relaxed);
        // pairs with the Acquire load in `steal`: the task, and what was done to make it ready, travel.
        self.bottom.store(bottom + 1, Ordering::Release);
        self.set_may_have_tasks(1);
    }

    /// Pops the newest task. Owner only.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop(&self) -> Option<u32> {
        // Relaxed: only the owner writes it.
        let bottom = self.bottom.load(Ordering::Relaxed);
        // Relaxed: `top` only grows within a cycle, so an old value can only make us look further.
        if bottom == 0 || self.top.load(Ordering::Relaxed) as u32 >= bottom {
            self.set_may_have_tasks(0);
            return None;
        }
        let last = bottom - 1;
        self.lower_bottom(last);
        // SeqCst: see `lower_bottom`.
        let top = self.top.load(Ordering::SeqCst);
        if (top as u32) < last {
            // Relaxed: the owner wrote it.
            return Some(self.tasks[last as usize].load(Ordering::Relaxed));
        }
        let won = top as u32 == last
            && self
                .top
                .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
        // Release, as every store of bottom: a thief that reads it must see the tasks below it, from any thread that pushed them.
        // Bottom is back above the taken place, where top is now.
        self.bottom.store(bottom, Ordering::Release);
        // Relaxed: the owner wrote it.
        won.then(|| self.tasks[last as usize].load(Ordering::Relaxed))
    }

    /// Owner only. The line is not written where it says so already: all workers that wait look at it again and again,
    /// and each store would take it from all of them.
    #[inline]
    fn set_may_have_tasks(&self, value: u32) {
        // Relaxed, both: a hint for `has_tasks`.
        if self.may_have_tasks.load(Ordering::Relaxed) != value {
            self.may_have_tasks.store(value, Ordering::Relaxed);
        }
    }

    /// Pops the newest task where no other worker steals. Owner only.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop_unsync(&self) -> Option<u32> {
        // Relaxed throughout: there is no other thread.
        let last = self.bottom.load(Ordering::Relaxed).checked_sub(1)?;
        self.bottom.store(last, Ordering::Relaxed);
        Some(self.tasks[last as usize].load(Ordering::Relaxed))
    }

    /// Of a thief and the owner at least one sees the other's claim on the last task, by the exchange here (SeqCst) and
    /// the SeqCst fence in `steal`; then the exchange of `top` decides. One locked instruction is cheaper than a fence.
    #[cfg(not(loom))]
    fn lower_bottom(&self, last: u32) {
        self.bottom.swap(last, Ordering::SeqCst);
    }

    /// As above, for loom, which knows SeqCst for fences only.
    #[cfg(loom)]
    fn lower_bottom(&self, last: u32) {
        self.bottom.store(last, Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// Steals the oldest task of the cycle `epoch`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn steal(&self, epoch: u32) -> Steal {
        // Acquire pairs with `begin`.
        let top = self.top.load(Ordering::Acquire);
        if epoch::of(top) != epoch {
            return Steal::Empty;
        }
        // pairs with `lower_bottom`.
        fence(Ordering::SeqCst);
        // Acquire pairs with `push`.
        if top as u32 >= self.bottom.load(Ordering::Acquire) {
            return Steal::Empty;
        }
        // Relaxed: valid only if the exchange below succeeds, and then it was published by the bottom we read. The
        // bottom may be of a newer epoch, and the index beyond what was pushed there; then the exchange fails.
        let task = self.tasks[top as u32 as usize].load(Ordering::Relaxed);
        match self
            .top
            .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
        {
            Ok(_) => Steal::Success(task),
            Err(_) => Steal::Retry,
        }
    }

    /// Returns true if there seems to be a task to steal. Reads a word that the owner does not write at every task.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn has_tasks(&self) -> bool {
        // Relaxed: a hint; `steal` decides.
        self.may_have_tasks.load(Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{Deque, Steal};
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering};

    /// Tasks `0 .. first` in epoch 1, the rest of `all` in epoch 2; each is taken once, and by a thief of its epoch.
    fn each_task_is_taken_once(first: u32, all: u32) {
        // Two forced switches between the owner and two thieves; without a bound the model takes hours.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let deque = Arc::new(Deque::new(4));
            let taken: Arc<Vec<AtomicU32>> = Arc::new((0..4).map(|_| AtomicU32::new(0)).collect());
            let thief = |epoch, tries| {
                let (deque, taken) = (deque.clone(), taken.clone());
                loom::thread::spawn(move || {
                    for _ in 0..tries {
                        if let Steal::Success(task) = deque.steal(epoch) {
                            assert_eq!(task < first, epoch == 1);
                            taken[task as usize].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            };
            let thieves = [thief(1, 2), thief(2, 1)];
            for (epoch, tasks) in [(1, 0..first), (2, first..all)] {
                deque.begin(epoch);
                tasks.for_each(|task| deque.push(task));
                while let Some(task) = deque.pop() {
                    taken[task as usize].fetch_add(1, Ordering::Relaxed);
                }
            }
            for thief in thieves {
                thief.join().unwrap();
            }
            for task in 0..all {
                assert_eq!(taken[task as usize].load(Ordering::Relaxed), 1);
            }
        });
    }

    #[test]
    fn a_task_is_taken_once() {
        each_task_is_taken_once(3, 3);
    }

    #[test]
    fn a_thief_of_an_old_cycle_takes_nothing_of_a_new_one() {
        each_task_is_taken_once(1, 3);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Deque, Steal};

    #[test]
    fn owner_takes_the_newest_and_thief_the_oldest() {
        let deque = Deque::new(4);
        deque.begin(1);
        [7, 8, 9].into_iter().for_each(|t| deque.push(t));
        assert_eq!(deque.steal(2), Steal::Empty);
        assert_eq!(deque.steal(1), Steal::Success(7));
        assert_eq!(deque.pop(), Some(9));
        deque.push(10);
        assert_eq!(deque.pop(), Some(10));
        assert_eq!(deque.pop(), Some(8));
        assert_eq!(deque.pop(), None);
        assert_eq!(deque.steal(1), Steal::Empty);
        deque.begin(2);
        deque.push(1);
        assert_eq!(deque.steal(1), Steal::Empty);
        assert_eq!(deque.pop(), Some(1));
    }

    #[test]
    fn waiting_workers_read_a_word_that_a_busy_owner_does_not_share_with_its_tasks() {
        let deque = Deque::new(100);
        deque.begin(1);
        assert!(!deque.has_tasks());
        deque.push(0);
        for task in 1..100 {
            deque.push(task);
            assert!(deque.has_tasks());
            if task % 3 == 0 {
                assert_eq!(deque.pop(), Some(task));
            }
        }
        while deque.pop().is_some() {}
        assert!(!deque.has_tasks());
        let [hint, bottom] =
            [&deque.may_have_tasks, &deque.bottom].map(|word| (&raw const *word).addr());
        assert!(hint.abs_diff(bottom) >= 128);
    }

    #[test]
    fn tasks_of_an_abandoned_cycle_are_not_stolen_when_the_epochs_have_wrapped_around() {
        let deque = Deque::new(4);
        deque.begin(7);
        deque.push(1);
        // The owner never comes again. The host looks now and then.
        for epoch in [1_u32, 2, 3]
            .map(|quarter| quarter << 30)
            .into_iter()
            .chain([0, 6])
        {
            deque.expire(epoch);
            assert_eq!(deque.steal(epoch.wrapping_sub(1)), Steal::Empty);
        }
        assert_eq!((deque.steal(7), deque.pop()), (Steal::Empty, None));
        deque.begin(8);
        deque.push(2);
        assert_eq!(deque.steal(8), Steal::Success(2));
    }

    #[test]
    fn epochs_wrap_around() {
        let deque = Deque::new(4);
        for epoch in [u32::MAX - 1, u32::MAX, 0, 1] {
            deque.begin(epoch);
            [7, 8].into_iter().for_each(|task| deque.push(task));
            assert_eq!(deque.steal(epoch.wrapping_sub(1)), Steal::Empty);
            assert_eq!(
                (deque.steal(epoch), deque.pop()),
                (Steal::Success(7), Some(8))
            );
        }
    }
}
