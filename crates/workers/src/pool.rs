//! [`WorkerPool`]: the audio threads beside the callback's. One broadcast starts them, and between cycles they sleep.
//!
//! ```text
//!              start, or wake                 job returns
//!   asleep ──────────────────────> working ───────────────> spinning ──┐
//!     ^                               ^                        │       │
//!     │                               └── start, or wake ──────┘       │
//!     └──────────────── after `spin_before_sleep` ─────────────────────┘
//! ```
//!
//! A pool outlives plans. The executor of each plan is a [`Job`] that is [registered](WorkerPool::register) once, on a
//! thread that may allocate. The callback thread then [starts](JobHandle::start) one registered job in each cycle.
//! [`job_board`] has the protocol by which one job replaces another without a lock, and by which it is freed.
//! [`thread`] is what a worker runs.

use std::io;
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::{CoreId, Priority, Refusal};
use job_board::JobBoard;
use thread::ThreadGrants;

mod job_board;
mod options;
mod thread;

pub use job_board::{Job, JobHandle, WorkerWaker};
pub use options::{WaitPolicy, WorkerPoolOptions};

/// Options of a pool that the system granted and refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPoolStatus {
    /// Priority that every thread of the pool has, or exceeds.
    pub granted: Priority,
    /// Requests that the system refused, each once.
    pub refused: Vec<Refusal>,
    /// Cores of workers 1, 2, …; `None` for one that may run on any.
    pub pinned: Vec<Option<CoreId>>,
}

/// Threads that wait for cycles. When it is dropped, it [stops](Self::stop) them and waits 2 s at most.
pub struct WorkerPool {
    board: Arc<JobBoard>,
    threads: Vec<JoinHandle<()>>,
    status: WorkerPoolStatus,
    workers: usize,
    /// `None` if the options do not allow it.
    low_priority_pool: Option<LowPriorityPool>,
}

/// The pool of low priority: its options, and the pool itself after the first call.
struct LowPriorityPool {
    options: WorkerPoolOptions,
    pool: OnceLock<Option<Box<WorkerPool>>>,
}

/// Result of [`WorkerPool::stop`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a worker that is stuck keeps its job and its memory"]
pub struct StopResult {
    /// Workers that did not return in time. They end by themselves if they ever do.
    pub stuck: Vec<usize>,
}

impl WorkerPool {
    /// Starts the threads and waits until they are ready. Real-time priority is given up, and listed as refused, if
    /// workers outnumber cores or spin between cycles.
    ///
    /// # Errors
    ///
    /// The system's, if a thread cannot be started: ask for fewer workers.
    ///
    /// Real-time: setup.
    pub fn new(mut options: WorkerPoolOptions) -> io::Result<Self> {
        let refused = options.remove_conflicts();
        let workers = options.workers.max(1);
        let mut pool = Self {
            board: Arc::new(JobBoard::new(workers)),
            threads: Vec::with_capacity(workers - 1),
            status: WorkerPoolStatus {
                granted: options.priority,
                refused,
                pinned: vec![None; workers - 1],
            },
            workers,
            low_priority_pool: options.low_priority_pool.then(|| LowPriorityPool {
                options: options.for_low_priority(),
                pool: OnceLock::new(),
            }),
        };
        let (sender, ready) = mpsc::channel();
        for worker in 1..workers {
            let thread = thread::spawn(worker, &options, pool.board.clone(), sender.clone())?;
            pool.threads.push(thread);
        }
        drop(sender);
        ready.iter().for_each(|grants| pool.status.add(grants));
        Ok(pool)
    }

    /// Number of workers, the caller's thread included.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// A second pool, for work without a deadline in this cycle: one thread per core, of the lowest ordinary priority.
    /// Its worker 0, which starts its cycles, is the same thread as this pool's. The first call starts the threads.
    /// `None` if the options do not allow it or the system refuses threads.
    ///
    /// Real-time: setup.
    pub fn low_priority_pool(&self) -> Option<&WorkerPool> {
        let LowPriorityPool { options, pool } = self.low_priority_pool.as_ref()?;
        let start = || WorkerPool::new(options.clone()).ok().map(Box::new);
        pool.get_or_init(start).as_deref()
    }

    /// Options that were granted and refused.
    pub fn status(&self) -> &WorkerPoolStatus {
        &self.status
    }

    /// Registers `job`, for workers below `workers`. Nothing happens before it is started.
    ///
    /// Real-time: setup.
    pub fn register(&self, job: Arc<dyn Job>, workers: usize) -> JobHandle {
        JobBoard::register(&self.board, job, workers)
    }

    /// Frees the jobs of handles that were dropped while a worker was still in them, of those that no worker is in any more. It is done with each
    /// registration too.
    ///
    /// Real-time: setup.
    pub fn free_unused(&self) {
        self.board.free_unprotected();
        let second = self.low_priority_pool.as_ref();
        if let Some(Some(pool)) = second.and_then(|second| second.pool.get()) {
            pool.free_unused();
        }
    }

    /// Ends the threads. One that is stuck in a job for longer than `limit` is left alone.
    ///
    /// Real-time: waits, on the workers, for `limit`.
    pub fn stop(mut self, limit: Duration) -> StopResult {
        self.end(limit)
    }

    fn end(&mut self, limit: Duration) -> StopResult {
        self.board.stop();
        let until = Instant::now() + limit;
        while Instant::now() < until && !self.threads.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut stuck = Vec::new();
        for (thread, worker) in self.threads.drain(..).zip(1..) {
            if thread.is_finished() {
                // A worker catches the panics of its jobs. A panic of its own has been printed by the panic hook.
                let _ = thread.join();
            } else {
                stuck.push(worker);
            }
        }
        StopResult { stuck }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        let _ = self.end(Duration::from_secs(2));
    }
}

impl WorkerPoolStatus {
    fn add(&mut self, thread: ThreadGrants) {
        if thread.granted == Priority::Ordinary {
            self.granted = Priority::Ordinary;
        }
        self.pinned[thread.worker - 1] = thread.pinned;
        for refusal in thread.refused {
            if !self.refused.contains(&refusal) {
                self.refused.push(refusal);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
