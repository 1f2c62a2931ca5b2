//! The ready tasks of a cycle, oldest first, for all workers: a queue that never wraps, since each task comes at most
//! once a cycle.
//!
//! A ticket queue in the manner of Vyukov's bounded MPMC queue (2010): a place is given out first and filled then, and
//! a cell tells by the number in it whether it is filled. There the number is a lap of the ring, here it is the epoch.
//!
//! ```text
//!              head                    tail
//!    (epoch,place)│                      │  gives out places
//!                 ▼                      ▼
//!   ┌──────┬──────┬──────┬──────┬──────┬──────┬──────┐
//!   │first │first │e, 17 │e, 4  │e-1,9 │e-3,2 │e-1,6 │
//!   └──────┴──────┴──────┴──────┴──────┴──────┴──────┘
//!   ready at the    filled in    given out,  not given out:
//!   start of each   this cycle   not filled  an old epoch
//!   cycle           (epoch e)    yet         is empty
//! ```
//!
//! | word | written by | holds |
//! |---|---|---|
//! | `tail` | the host begins; `push` adds | the number of places that were given out |
//! | a cell | the thread that was given its place | epoch and task; a cell of another epoch is empty |
//! | `head` | the host begins; `pop` moves it | epoch and the first place that was not taken |
//!
//! | call | thread | when |
//! |---|---|---|
//! | `begin` | the host | the cycle before is over: no worker is in a task of it, so none pushes; some may still look |
//! | `push` | a worker that ran a task of the epoch and has not counted it yet | the cycle cannot end before |
//! | `pop`, `pop_batch` | anyone | any time |
//!
//! A place that was given out and is not filled yet holds up those behind it, for as long as its owner takes to write
//! one word. The owner is inside a task, without which the cycle does not end either. A worker that is still in an old
//! cycle takes nothing of a newer one: its exchange of `head` fails, and what it read from cells is a copy. What was
//! done to make a task ready travels by its cell: a `Release` store, seen by the `Acquire` load of the thread that takes it.

use crate::epoch;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A queue of ready tasks for all workers, emptied and filled anew in each cycle.
pub struct ReadyQueue {
    /// epoch (32 bits) | first place that was not taken (32).
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU32>,
    /// Tasks that are ready at the start of each cycle, in the first places.
    first: Box<[u32]>,
    /// The places behind: epoch (32 bits) | task (32).
    cells: Box<[AtomicU64]>,
}

/// Distance to the epoch that is furthest from another.
const FAR: u32 = 1 << 31;

pub use crate::deque::Steal;

impl ReadyQueue {
    /// A queue in which each cycle begins with `first`, and at most `more` tasks are pushed. It is in epoch 0, and
    /// empty.
    ///
    /// Real-time: setup.
    pub fn new(first: Box<[u32]>, more: usize) -> Self {
        Self {
            head: CachePadded(AtomicU64::new(first.len() as u64)),
            tail: CachePadded(AtomicU32::new(0)),
            first,
            cells: (0..more)
                .map(|_| AtomicU64::new(epoch::pack(FAR, 0)))
                .collect(),
        }
    }

    /// Begins the cycle `epoch`, which is not 0. Host only, when the cycle before is over.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        // One cell a cycle is emptied for good, so that none keeps an epoch until the numbers have wrapped around to
        // it.
        if let Some(cell) = self.cells.get(epoch as usize % self.cells.len().max(1)) {
            // Relaxed: no thread pushes now; a thread that pushes in this cycle was started after.
            cell.store(epoch::pack(epoch.wrapping_add(FAR), 0), Ordering::Relaxed);
        }
        // Relaxed: no thread pushes now.
        self.tail.store(0, Ordering::Relaxed);
        // Release pairs with `pop`: what the host prepared travels to the thread that finds the first tasks by this word alone.
        self.head.store(epoch::pack(epoch, 0), Ordering::Release);
    }

    /// Pushes a task of the cycle `epoch`. There is room: no task comes twice.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn push(&self, epoch: u32, task: u32) {
        // Relaxed: it only gives out places.
        let place = self.tail.fetch_add(1, Ordering::Relaxed);
        // pairs with the load in `task_at`: what was done to make the task ready travels.
        self.cells[place as usize].store(epoch::pack(epoch, task), Ordering::Release);
    }

    /// Pops the oldest tasks of the cycle `epoch`, all with one exchange: at least one, and more for as long as `wants`
    /// returns true for the next. Each is shown to `wants` in turn, also the first, for which the answer does not
    /// matter. The tasks it wanted are the caller's if the result is [`Steal::Success`].
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop_batch(&self, epoch: u32, mut wants: impl FnMut(u32) -> bool) -> Steal {
        // Acquire pairs with `begin`.
        let head = self.head.load(Ordering::Acquire);
        if epoch::of(head) != epoch {
            return Steal::Empty;
        }
        let mut count = 0;
        while let Some(task) = self.task_at(head as u32 + count, epoch) {
            if !wants(task) && count > 0 {
                break;
            }
            count += 1;
        }
        if count == 0 {
            return Steal::Empty;
        }
        // AcqRel: nothing travels by it but the order of takers. Within an epoch a place is never filled twice, so an
        // unchanged head means that what was read is still there, and nobody else's.
        let moved = self.head.compare_exchange(
            head,
            head + u64::from(count),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        moved.map_or(Steal::Retry, |_| Steal::Success(count))
    }

    /// Pops the oldest task of the cycle `epoch`; `None` if there is none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop(&self, epoch: u32) -> Option<u32> {
        // Acquire pairs with `begin`.
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if epoch::of(head) != epoch {
                return None;
            }
            let task = self.task_at(head as u32, epoch)?;
            // AcqRel as in `pop_batch`. If it fails, another worker has taken the task.
            match self.head.compare_exchange_weak(
                head,
                head + 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(task),
                Err(now) => head = now,
            }
        }
    }

    /// Returns true if there seems to be a task to pop.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn has_tasks(&self, epoch: u32) -> bool {
        // Relaxed: a hint; `pop` decides.
        let head = self.head.load(Ordering::Relaxed);
        epoch::of(head) == epoch && self.task_at(head as u32, epoch).is_some()
    }

    /// The task in a place, once it is there.
    #[inline]
    fn task_at(&self, place: u32, epoch: u32) -> Option<u32> {
        let place = place as usize;
        if let Some(task) = self.first.get(place) {
            return Some(*task);
        }
        // pairs with the store in `push`.
        let cell = self.cells.get(place - self.first.len())?;
        let cell = cell.load(Ordering::Acquire);
        (epoch::of(cell) == epoch).then_some(cell as u32)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{ReadyQueue, Steal};
    use crate::progress::CycleProgress;
    use crate::sync::{Arc, UnsafeCell};

    /// Takes at max `max` at a time; what it took.
    fn take(ready: &ReadyQueue, epoch: u32, max: usize) -> Vec<u32> {
        if max == 1 {
            return ready.pop(epoch).into_iter().collect();
        }
        let mut shown = Vec::new();
        let result = ready.pop_batch(epoch, |task| {
            let wants = shown.len() < max;
            if wants {
                shown.push(task);
            }
            wants
        });
        match result {
            Steal::Success(count) => assert_eq!(count as usize, shown.len()),
            _ => shown.clear(),
        }
        shown
    }

    struct Shared {
        ready: ReadyQueue,
        progress: CycleProgress,
        /// Number of runs of each task. Loom reports two that touch one at once.
        runs: Vec<UnsafeCell<u32>>,
    }

    /// Pops tasks and runs them. Tasks 0 and 1 release t + 2, so two threads can push while two others pop.
    fn play(s: &Shared, epoch: u32, max: usize) -> bool {
        let tasks = take(&s.ready, epoch, max);
        for &task in &tasks {
            // SAFETY: taken for this epoch.
            s.runs[task as usize].with_mut(|n| unsafe { *n += 1 });
            if task < 2 {
                s.ready.push(epoch, task + 2);
            }
            s.progress.finish(1);
        }
        !tasks.is_empty()
    }

    fn check(bound: usize, model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(bound);
        builder.check(model);
    }

    fn set_up() -> Arc<Shared> {
        Arc::new(Shared {
            ready: ReadyQueue::new(Box::new([0, 1]), 2),
            progress: CycleProgress::new(),
            runs: (0..4).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    fn begin(s: &Shared, epoch: u32) {
        s.progress.begin(epoch, 4);
        s.ready.begin(epoch);
    }

    fn all_have_run(s: &Shared, times: u32) {
        assert!(s.progress.is_complete());
        for cell in &s.runs {
            // SAFETY: all cycles are complete.
            assert_eq!(cell.with(|n| unsafe { *n }), times);
        }
    }

    /// A worker that came for the first cycle, and may stay in it for long.
    fn worker(s: &Arc<Shared>, max: usize) -> loom::thread::JoinHandle<()> {
        let s = s.clone();
        loom::thread::spawn(move || {
            play(&s, 1, max);
            play(&s, 1, max);
        })
    }

    fn three_workers_share_a_cycle(max: usize) {
        check(2, move || {
            let shared = set_up();
            begin(&shared, 1);
            let others = [worker(&shared, max), worker(&shared, max)];
            play(&shared, 1, max);
            others.into_iter().for_each(|t| t.join().unwrap());
            while play(&shared, 1, max) {}
            all_have_run(&shared, 1);
        });
    }

    #[test]
    fn three_workers_push_and_pop_one_by_one() {
        three_workers_share_a_cycle(1);
    }

    #[test]
    fn three_workers_pop_several_at_once() {
        three_workers_share_a_cycle(2);
    }

    #[test]
    fn a_worker_in_an_old_cycle_takes_nothing_of_a_newer_one() {
        check(3, || {
            let shared = set_up();
            begin(&shared, 1);
            let late = worker(&shared, 2);
            while play(&shared, 1, 2) {}
            if shared.progress.is_complete() {
                begin(&shared, 2);
                // Wherever the other worker lost its core, no thread waits for it.
                while play(&shared, 2, 1) {}
                all_have_run(&shared, 2);
            }
            late.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ReadyQueue, Steal};

    #[test]
    fn tasks_come_in_order_and_several_at_once() {
        let ready = ReadyQueue::new(Box::new([7, 8]), 3);
        assert_eq!(ready.pop_batch(0, |_| true), Steal::Empty);
        ready.begin(1);
        ready.push(1, 9);
        assert_eq!(ready.pop_batch(2, |_| true), Steal::Empty);
        let mut shown = Vec::new();
        let at_most_two = |task| {
            shown.push(task);
            shown.len() <= 2
        };
        assert_eq!(ready.pop_batch(1, at_most_two), Steal::Success(2));
        assert_eq!(shown, [7, 8, 9]);
        assert!(ready.has_tasks(1));
        // The first is taken whether it is wanted or not.
        assert_eq!(ready.pop_batch(1, |_| false), Steal::Success(1));
        assert_eq!(
            (ready.pop_batch(1, |_| true), ready.pop(1)),
            (Steal::Empty, None)
        );
        ready.push(1, 4);
        assert_eq!((ready.pop(2), ready.pop(1)), (None, Some(4)));
        ready.begin(2);
        assert!(!ready.has_tasks(1) && ready.has_tasks(2));
        assert_eq!(ready.pop_batch(2, |_| true), Steal::Success(2));
        assert_eq!(ready.pop_batch(2, |_| true), Steal::Empty);
    }

    #[test]
    fn no_cell_is_mistaken_for_full_when_epochs_have_gone_round() {
        let ready = ReadyQueue::new(Box::new([0]), 2);
        ready.begin(5);
        [1, 2].into_iter().for_each(|task| ready.push(5, task));
        // As many cycles as there are cells, and then the same number again.
        [6, 7, 5].into_iter().for_each(|epoch| ready.begin(epoch));
        assert_eq!(ready.pop_batch(5, |_| true), Steal::Success(1));
        assert_eq!(ready.pop_batch(5, |_| true), Steal::Empty);
    }

    #[test]
    fn epochs_wrap_around() {
        let queue = ReadyQueue::new(Box::new([7]), 3);
        for epoch in [u32::MAX - 1, u32::MAX, 0, 1] {
            queue.begin(epoch);
            queue.push(epoch, 8);
            assert_eq!(
                (queue.pop(epoch.wrapping_sub(1)), queue.pop(epoch)),
                (None, Some(7))
            );
            assert_eq!((queue.pop(epoch), queue.pop(epoch)), (Some(8), None));
        }
        // 2^32 cycles after a place was filled for the last time, its task is not found again.
        for quarter in [1_u32, 2, 3] {
            (0..3).for_each(|cycle| queue.begin((quarter << 30) + cycle));
        }
        queue.begin(1);
        assert_eq!((queue.pop(1), queue.pop(1)), (Some(7), None));
    }
}
