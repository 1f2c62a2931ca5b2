//! Work that may wait (disks, decoding): one thread of ordinary priority gives every task a turn now and then.
//!
//! No audio thread touches this; it locks.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rt::background::{BackgroundTask, TaskStatus};
use rt::wake::Futex;
use units::Nanos;

use crate::{Priority, set_priority, unpin};

/// How long the thread rests when no task has more to do.
const REST: Nanos = Nanos(4_000_000);

/// Names a task in its [`BackgroundThread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackgroundTaskId(u64);

/// The tasks, and the thread that gives them turns.
pub struct BackgroundThread {
    tasks: Arc<Tasks>,
    thread: Option<JoinHandle<()>>,
}

/// A task, or nothing where it has ended. Locked for each turn.
type Seat = Arc<Mutex<Option<Box<dyn BackgroundTask>>>>;

#[derive(Default)]
struct Tasks {
    seats: Mutex<Vec<(BackgroundTaskId, Seat)>>,
    next: AtomicU64,
    panics: AtomicU64,
    stop: Stop,
}

/// 0 until the thread is to end.
struct Stop(Futex);

impl Default for Stop {
    fn default() -> Self {
        Self(Futex::new(0))
    }
}

impl BackgroundThread {
    /// No tasks, and a thread that waits for some.
    ///
    /// # Errors
    ///
    /// The system's, if no thread can be started.
    ///
    /// Real-time: setup.
    pub fn new(name: &str) -> io::Result<Self> {
        let tasks = Arc::new(Tasks::default());
        let turns = tasks.clone();
        let builder = std::thread::Builder::new().name(name.replace('\0', ""));
        let thread = builder.spawn(move || turns.live())?;
        Ok(Self {
            tasks,
            thread: Some(thread),
        })
    }

    /// No tasks and no thread: they have turns only in [`turn_all_until_settled`](Self::turn_all_until_settled).
    ///
    /// Real-time: setup.
    pub fn without_thread() -> Self {
        Self {
            tasks: Arc::default(),
            thread: None,
        }
    }

    /// Takes a task in; it has its first turn within a few milliseconds.
    ///
    /// Real-time: setup.
    pub fn add(&self, task: Box<dyn BackgroundTask>) -> BackgroundTaskId {
        // Relaxed: only a number that no other task has.
        let id = BackgroundTaskId(self.tasks.next.fetch_add(1, Ordering::Relaxed));
        let seat = Arc::new(Mutex::new(Some(task)));
        lock(&self.tasks.seats).push((id, seat));
        id
    }

    /// Ends a task; whether it was still there.
    ///
    /// Real-time: waits, on the turn that the task may be having.
    pub fn remove(&self, id: BackgroundTaskId) -> bool {
        let seat = self.tasks.leave(id);
        seat.is_some_and(|seat| self.tasks.end(&mut lock(&seat)))
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        lock(&self.tasks.seats).len()
    }

    /// Whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tasks were lost by a panic.
    pub fn panics(&self) -> u64 {
        // Relaxed: only a count.
        self.tasks.panics.load(Ordering::Relaxed)
    }

    /// Gives all tasks turns, on this thread, until none wants another at once: for rendering without a beat, where
    /// nothing may come late.
    ///
    /// Real-time: waits, on the tasks; for ever, if one always wants more.
    pub fn run_until_idle(&self) {
        while self.tasks.turn_all() {}
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.tasks.stop.0.store(1);
        self.tasks.stop.0.wake(1);
        if let Some(thread) = self.thread.take() {
            // The panics of tasks are caught; its own has been printed.
            let _ = thread.join();
        }
        for (_, seat) in lock(&self.tasks.seats).drain(..) {
            self.tasks.end(&mut lock(&seat));
        }
    }
}

impl Tasks {
    fn live(&self) {
        // It inherits from whoever started it, perhaps a thread that plays. Where this is refused it had none to lose.
        let _ = set_priority(Priority::Ordinary);
        let _ = unpin();
        while self.stop.0.load() == 0 {
            if !self.turn_all() {
                self.stop.0.wait_timeout(0, REST);
            }
        }
    }

    /// A turn for each task; whether one wants another at once.
    fn turn_all(&self) -> bool {
        let seats = lock(&self.seats).clone();
        let turns = seats.iter().map(|(id, seat)| self.turn(*id, seat));
        turns.fold(false, |any, wants| any | wants)
    }

    fn turn(&self, id: BackgroundTaskId, seat: &Seat) -> bool {
        let mut task = lock(seat);
        let Some(running) = task.as_mut() else {
            return false;
        };
        match self.contain(|| running.poll()) {
            Some(TaskStatus::More) => return true,
            Some(TaskStatus::Idle) => return false,
            Some(TaskStatus::Done) | None => {}
        }
        self.end(&mut task);
        self.leave(id);
        false
    }

    fn leave(&self, id: BackgroundTaskId) -> Option<Seat> {
        let mut seats = lock(&self.seats);
        let place = seats.iter().position(|(other, _)| *other == id)?;
        Some(seats.remove(place).1)
    }

    /// Ends the task in a seat and empties it; whether one was there.
    fn end(&self, seat: &mut Option<Box<dyn BackgroundTask>>) -> bool {
        let ended = seat.take().map(|mut task| self.contain(move || task.end()));
        ended.is_some()
    }

    /// `work`, or `None` and a count if it panics.
    fn contain<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let result = catch_unwind(AssertUnwindSafe(work)).ok();
        if result.is_none() {
            // Relaxed: only a count.
            self.panics.fetch_add(1, Ordering::Relaxed);
        }
        result
    }
}

/// Panics are caught inside every lock, so what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BackgroundTask, BackgroundThread, TaskStatus};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Clone, Default)]
    struct Seen {
        turns: Arc<AtomicU32>,
        ends: Arc<AtomicU32>,
    }

    impl Seen {
        fn of(&self) -> (u32, u32) {
            (self.turns.load(Relaxed), self.ends.load(Relaxed))
        }
    }

    /// Answers by what it is told for each turn; afterwards later, for ever.
    struct Script(Seen, Vec<TaskStatus>);
    impl BackgroundTask for Script {
        fn poll(&mut self) -> TaskStatus {
            let turn = self.0.turns.fetch_add(1, Relaxed);
            self.1
                .get(turn as usize)
                .copied()
                .unwrap_or(TaskStatus::Idle)
        }
        fn end(&mut self) {
            self.0.ends.fetch_add(1, Relaxed);
        }
    }

    fn script(seen: &Seen, answers: &[TaskStatus]) -> Box<dyn BackgroundTask> {
        Box::new(Script(seen.clone(), answers.to_vec()))
    }

    #[test]
    fn by_hand_every_task_has_turns_until_none_wants_more() {
        let background = BackgroundThread::without_thread();
        let [short, long, over] = std::array::from_fn(|_| Seen::default());
        background.add(script(&short, &[]));
        background.add(script(
            &long,
            &[TaskStatus::More, TaskStatus::More, TaskStatus::Idle],
        ));
        background.add(script(&over, &[TaskStatus::Done]));
        background.run_until_idle();
        assert_eq!((short.of(), long.of(), over.of()), ((3, 0), (3, 0), (1, 1)));
        assert_eq!(background.len(), 2);
        drop(background);
        assert_eq!((short.of(), long.of(), over.of()), ((3, 1), (3, 1), (1, 1)));
    }

    #[test]
    fn the_thread_gives_turns_and_a_removed_task_has_no_more() {
        let background = BackgroundThread::new("test").unwrap();
        let seen = Seen::default();
        let id = background.add(script(&seen, &[]));
        while seen.of().0 < 3 {
            std::thread::yield_now();
        }
        assert!(background.remove(id) && !background.remove(id));
        let after = seen.of();
        background.run_until_idle();
        drop(background);
        assert_eq!((after.1, seen.of()), (1, after));
    }

    struct Panics;
    impl BackgroundTask for Panics {
        fn poll(&mut self) -> TaskStatus {
            let _silent = crate::AudioThread::enter();
            panic!("on purpose");
        }
    }

    #[test]
    fn a_task_that_panics_costs_only_itself() {
        let background = BackgroundThread::without_thread();
        let seen = Seen::default();
        background.add(Box::new(Panics));
        background.add(script(&seen, &[]));
        background.run_until_idle();
        background.run_until_idle();
        assert_eq!(
            (background.len(), background.panics(), seen.of()),
            (1, 1, (2, 0))
        );
    }
}
