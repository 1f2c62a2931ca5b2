//! One thread of ordinary priority that polls all [`BackgroundTask`]s: disks, decoding, recording.
//!
//! No audio thread touches it. It locks: the list of tasks for a moment, each task while it is polled.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rt::background::{BackgroundTask, TaskStatus};
use rt::wake::Futex;
use units::Nanos;

use crate::{Priority, set_priority, unpin};

/// Time between two polls while every task is idle.
const POLL_INTERVAL: Nanos = Nanos(4_000_000);

/// Identifies a task of a [`BackgroundThread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackgroundTaskId(u64);

/// Background tasks, and the thread that polls them. Dropping it ends all tasks.
pub struct BackgroundThread {
    tasks: Arc<Tasks>,
    thread: Option<JoinHandle<()>>,
}

/// A task, or `None` once it has ended. Locked while the task is polled.
type TaskCell = Arc<Mutex<Option<Box<dyn BackgroundTask>>>>;

struct Tasks {
    cells: Mutex<Vec<(BackgroundTaskId, TaskCell)>>,
    next_id: AtomicU64,
    /// 0 until the thread is to end.
    stop: Futex,
}

impl BackgroundThread {
    /// Starts a thread without tasks.
    ///
    /// # Errors
    ///
    /// The system's, if no thread can be started.
    ///
    /// Real-time: setup.
    pub fn new(name: &str) -> io::Result<Self> {
        let mut this = Self::without_thread();
        let tasks = this.tasks.clone();
        let builder = std::thread::Builder::new().name(name.replace('\0', ""));
        this.thread = Some(builder.spawn(move || tasks.poll_until_stopped())?);
        Ok(this)
    }

    /// Makes an instance without tasks and without a thread: tasks are polled only by
    /// [`run_until_idle`](Self::run_until_idle).
    ///
    /// Real-time: setup.
    pub fn without_thread() -> Self {
        let tasks = Tasks {
            cells: Mutex::default(),
            next_id: AtomicU64::new(0),
            stop: Futex::new(0),
        };
        Self {
            tasks: Arc::new(tasks),
            thread: None,
        }
    }

    /// Adds a task. It is polled within a few milliseconds.
    ///
    /// Real-time: setup.
    pub fn add(&self, task: Box<dyn BackgroundTask>) -> BackgroundTaskId {
        // Relaxed: only the number matters.
        let id = BackgroundTaskId(self.tasks.next_id.fetch_add(1, Ordering::Relaxed));
        let cell = Arc::new(Mutex::new(Some(task)));
        lock(&self.tasks.cells).push((id, cell));
        id
    }

    /// Ends and removes a task. Returns false if it had ended before.
    ///
    /// Real-time: waits, on the task if it is being polled.
    pub fn remove(&self, id: BackgroundTaskId) -> bool {
        let cell = self.tasks.remove(id);
        cell.is_some_and(|cell| end(&mut lock(&cell)))
    }

    /// Polls all tasks on this thread until none has more to do: for offline rendering, where nothing may be late.
    ///
    /// Real-time: waits, on the tasks; for ever if one always has more to do.
    pub fn run_until_idle(&self) {
        while self.tasks.poll_all() {}
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.tasks.stop.store(1);
        self.tasks.stop.wake(1);
        if let Some(thread) = self.thread.take() {
            // The panics of tasks are caught. A panic of the thread itself has been printed by the panic hook.
            let _ = thread.join();
        }
        for (_, cell) in lock(&self.tasks.cells).drain(..) {
            end(&mut lock(&cell));
        }
    }
}

impl Tasks {
    fn poll_until_stopped(&self) {
        // A thread inherits both from the one that started it, which may be an audio thread. If the system refuses to
        // change them, there was nothing to inherit.
        let _ = set_priority(Priority::Ordinary);
        let _ = unpin();
        while self.stop.load() == 0 {
            if !self.poll_all() {
                self.stop.wait_timeout(0, POLL_INTERVAL);
            }
        }
    }

    /// Polls each task once. Returns true if one has more to do.
    fn poll_all(&self) -> bool {
        let cells = lock(&self.cells).clone();
        let polls = cells.iter().map(|(id, cell)| self.poll(*id, cell));
        polls.fold(false, |any, has_more| any | has_more)
    }

    /// Polls a task, and ends it if it is done or panics. Returns true if it has more to do.
    fn poll(&self, id: BackgroundTaskId, cell: &TaskCell) -> bool {
        let mut task = lock(cell);
        let Some(polled) = task.as_mut() else {
            return false;
        };
        match catch_unwind(AssertUnwindSafe(|| polled.poll())) {
            Ok(TaskStatus::More) => return true,
            Ok(TaskStatus::Idle) => return false,
            Ok(TaskStatus::Done) | Err(_) => {}
        }
        end(&mut task);
        self.remove(id);
        false
    }

    fn remove(&self, id: BackgroundTaskId) -> Option<TaskCell> {
        let mut cells = lock(&self.cells);
        let at = cells.iter().position(|(other, _)| *other == id)?;
        Some(cells.remove(at).1)
    }
}

/// Ends the task of a cell and drops it. Returns false if there was none. A panic in `BackgroundTask::end` is caught.
fn end(cell: &mut Option<Box<dyn BackgroundTask>>) -> bool {
    let ended = cell.take();
    ended.is_some_and(|mut task| {
        let _ = catch_unwind(AssertUnwindSafe(move || task.end()));
        true
    })
}

/// Locks, also a poisoned mutex: panics are caught while a lock is held, so the guarded data is consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BackgroundTask, BackgroundThread, TaskStatus};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Clone, Default)]
    struct Calls {
        polls: Arc<AtomicU32>,
        ends: Arc<AtomicU32>,
    }

    impl Calls {
        fn get(&self) -> (u32, u32) {
            (self.polls.load(Relaxed), self.ends.load(Relaxed))
        }
    }

    /// Answers its polls from a list, and with `Idle` after that.
    struct Script(Calls, Vec<TaskStatus>);
    impl BackgroundTask for Script {
        fn poll(&mut self) -> TaskStatus {
            let poll = self.0.polls.fetch_add(1, Relaxed) as usize;
            self.1.get(poll).copied().unwrap_or(TaskStatus::Idle)
        }
        fn end(&mut self) {
            self.0.ends.fetch_add(1, Relaxed);
        }
    }

    fn script(calls: &Calls, answers: &[TaskStatus]) -> Box<dyn BackgroundTask> {
        Box::new(Script(calls.clone(), answers.to_vec()))
    }

    #[test]
    fn without_a_thread_every_task_is_polled_until_all_are_idle() {
        use TaskStatus::{Done, Idle, More};
        let background = BackgroundThread::without_thread();
        let [short, long, done] = std::array::from_fn(|_| Calls::default());
        background.add(script(&short, &[]));
        background.add(script(&long, &[More, More, Idle]));
        background.add(script(&done, &[Done]));
        background.run_until_idle();
        assert_eq!(
            [&short, &long, &done].map(Calls::get),
            [(3, 0), (3, 0), (1, 1)]
        );
        drop(background);
        assert_eq!(
            [&short, &long, &done].map(Calls::get),
            [(3, 1), (3, 1), (1, 1)]
        );
    }

    #[test]
    fn the_thread_polls_and_a_removed_task_is_not_polled_again() {
        let background = BackgroundThread::new("test").unwrap();
        let calls = Calls::default();
        let id = background.add(script(&calls, &[]));
        while calls.get().0 < 3 {
            std::thread::yield_now();
        }
        assert!(background.remove(id) && !background.remove(id));
        let after = calls.get();
        background.run_until_idle();
        drop(background);
        assert_eq!((after.1, calls.get()), (1, after));
    }

    struct Panics(Calls);
    impl BackgroundTask for Panics {
        fn poll(&mut self) -> TaskStatus {
            self.0.polls.fetch_add(1, Relaxed);
            let _silent = crate::AudioThread::enter();
            panic!("on purpose");
        }
    }

    #[test]
    fn a_task_that_panics_is_removed_and_the_others_continue() {
        let background = BackgroundThread::without_thread();
        let (broken, calls) = (Calls::default(), Calls::default());
        background.add(Box::new(Panics(broken.clone())));
        background.add(script(&calls, &[]));
        background.run_until_idle();
        background.run_until_idle();
        assert_eq!((broken.get(), calls.get()), ((1, 0), (2, 0)));
    }
}
