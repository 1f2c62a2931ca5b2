//! One thread of ordinary priority that polls all [`BackgroundTask`]s: disks, decoding, recording.
//!
//! No audio thread touches it. It locks: the list of tasks for a moment, each task while it is polled.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rt::background::{BackgroundTask, PollRequest, TaskStatus};
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

/// A task as it was added.
#[derive(Clone)]
struct AddedTask {
    id: BackgroundTaskId,
    cell: TaskCell,
    /// The request by which it is polled; `None` if it is polled always.
    request: Option<PollRequest>,
}

struct Tasks {
    list: Mutex<Vec<AddedTask>>,
    /// Number of changes of the list, which are made under its lock.
    version: AtomicU64,
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
            list: Mutex::default(),
            version: AtomicU64::new(0),
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
        let task = AddedTask {
            id,
            request: task.poll_request(),
            cell: Arc::new(Mutex::new(Some(task))),
        };
        self.tasks.change(|list| list.push(task));
        id
    }

    /// Ends and removes a task. Returns false if it had ended before.
    ///
    /// Real-time: waits, on the task if it is being polled.
    pub fn remove(&self, id: BackgroundTaskId) -> bool {
        let cell = self.tasks.remove(id);
        cell.is_some_and(|cell| end(&mut lock(&cell)))
    }

    /// As [`BackgroundPoller::run_until_idle`], once.
    ///
    /// Real-time: waits, on the tasks; for ever if one always has more to do.
    pub fn run_until_idle(&self) {
        let mut polled = PolledTasks::default();
        while polled.poll_all(&self.tasks) {}
    }
}

/// Polls the tasks of a [`BackgroundThread`] on the thread that has it, again and again: for offline rendering, where nothing may
/// be late.
pub struct BackgroundPoller {
    thread: Arc<BackgroundThread>,
    polled: PolledTasks,
}

impl BackgroundPoller {
    /// A poller of the tasks of `thread`.
    ///
    /// Real-time: setup.
    pub fn new(thread: Arc<BackgroundThread>) -> Self {
        Self {
            thread,
            polled: PolledTasks::default(),
        }
    }

    /// Polls all tasks on this thread until none has more to do.
    ///
    /// Real-time: waits, on the tasks; for ever if one always has more to do.
    #[inline]
    pub fn run_until_idle(&mut self) {
        while self.polled.poll_all(&self.thread.tasks) {}
    }
}

/// The tasks as a thread that polls them knows them.
#[derive(Default)]
struct PolledTasks {
    list: Vec<PolledTask>,
    /// Version of the list, plus 1; 0 before the first look.
    next_version: u64,
}

struct PolledTask {
    task: AddedTask,
    /// Its last poll was not its last piece of work, or it was never polled here.
    has_more: bool,
}

impl PolledTasks {
    /// Polls each task once that wants to be polled. Returns true if one has more to do.
    #[inline]
    fn poll_all(&mut self, tasks: &Tasks) -> bool {
        // Acquire pairs with `Tasks::change`. A change that is not seen yet is seen at the next poll.
        if tasks.version.load(Ordering::Acquire) + 1 != self.next_version {
            self.follow(tasks);
        }
        let mut any = false;
        for polled in &mut self.list {
            let request = polled.task.request.as_ref();
            if request.is_none_or(PollRequest::take) | polled.has_more {
                polled.has_more = tasks.poll(&polled.task);
                any |= polled.has_more;
            }
        }
        any
    }

    /// Takes the list as it is now.
    #[cold]
    fn follow(&mut self, tasks: &Tasks) {
        let list = lock(&tasks.list);
        // Relaxed: changed under the lock alone.
        self.next_version = tasks.version.load(Ordering::Relaxed) + 1;
        let polled = |task: &AddedTask| PolledTask {
            task: task.clone(),
            // A request may have been taken before the list was followed.
            has_more: true,
        };
        self.list = list.iter().map(polled).collect();
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
        for task in lock(&self.tasks.list).drain(..) {
            end(&mut lock(&task.cell));
        }
    }
}

impl Tasks {
    fn poll_until_stopped(&self) {
        // A thread inherits both from the one that started it, which may be an audio thread. If the system refuses to
        // change them, there was nothing to inherit.
        let _ = set_priority(Priority::Ordinary);
        let _ = unpin();
        let mut polled = PolledTasks::default();
        while self.stop.load() == 0 {
            if !polled.poll_all(self) {
                self.stop.wait_timeout(0, POLL_INTERVAL);
            }
        }
    }

    /// Changes the list.
    fn change<R>(&self, change: impl FnOnce(&mut Vec<AddedTask>) -> R) -> R {
        let mut list = lock(&self.list);
        let result = change(&mut list);
        // Release pairs with the load in `PolledTasks::poll_all`.
        self.version.fetch_add(1, Ordering::Release);
        result
    }

    /// Polls a task, and ends it if it is done or panics. Returns true if it has more to do.
    fn poll(&self, polled: &AddedTask) -> bool {
        let mut task = lock(&polled.cell);
        let Some(of_cell) = task.as_mut() else {
            return false;
        };
        match catch_unwind(AssertUnwindSafe(|| of_cell.poll())) {
            Ok(TaskStatus::More) => return true,
            Ok(TaskStatus::Idle) => return false,
            Ok(TaskStatus::Done) | Err(_) => {}
        }
        end(&mut task);
        self.remove(polled.id);
        false
    }

    fn remove(&self, id: BackgroundTaskId) -> Option<TaskCell> {
        self.change(|list| {
            let at = list.iter().position(|task| task.id == id)?;
            Some(list.remove(at).cell)
        })
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
    use super::{BackgroundPoller, BackgroundTask, BackgroundThread, PollRequest, TaskStatus};
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

    /// A task that is polled by request.
    struct Fed(Calls, PollRequest);
    impl BackgroundTask for Fed {
        fn poll(&mut self) -> TaskStatus {
            self.0.polls.fetch_add(1, Relaxed);
            TaskStatus::Idle
        }
        fn poll_request(&self) -> Option<PollRequest> {
            Some(self.1.clone())
        }
        fn end(&mut self) {
            self.0.ends.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn a_task_with_requests_is_polled_at_first_and_then_by_request() {
        let background = Arc::new(BackgroundThread::without_thread());
        let mut poller = BackgroundPoller::new(background.clone());
        let (calls, others) = (Calls::default(), Calls::default());
        let request = PollRequest::default();
        let id = background.add(Box::new(Fed(calls.clone(), request.clone())));
        for _ in 0..3 {
            poller.run_until_idle();
        }
        assert_eq!(calls.get(), (1, 0));
        request.send();
        request.send();
        poller.run_until_idle();
        poller.run_until_idle();
        assert_eq!(calls.get(), (2, 0));
        // Tasks that come and go are followed.
        let other = background.add(script(&others, &[]));
        poller.run_until_idle();
        assert_eq!(others.get(), (1, 0));
        assert!(background.remove(id) && background.remove(other));
        request.send();
        poller.run_until_idle();
        assert_eq!((calls.get().1, others.get()), (1, (1, 1)));
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
