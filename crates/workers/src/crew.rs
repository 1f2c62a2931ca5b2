//! The threads that play beside the callback's: one broadcast starts them, and between cycles they sleep.
//!
//! A crew outlives plans. Each plan's executor is a [`Job`] that is [posted](Crew::register) once, on a thread with time;
//! the callback thread then [starts](Posted::start) one posted job in each cycle. [`board`] says how a job is exchanged
//! for the next without a lock, and when it may be freed.

use std::fmt;
use std::io;
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use units::Nanos;

use crate::system::lower_priority;
use crate::{CoreId, Priority, Refusal, cores};
use board::Board;

mod board;
mod thread;

pub use board::{JobHandle, WorkerWaker};

/// What a crew does in a cycle.
pub trait Job: Send + Sync + 'static {
    /// Worker `worker`'s share of cycle `epoch`. Called at most once a start for each worker but 0, who is the thread
    /// that started the cycle, and again where the job calls workers back; perhaps late, when that cycle is over: the job
    /// must find out by itself.
    ///
    /// Real-time: hot.
    fn work(&self, worker: usize, epoch: u32, recall: WorkerWaker<'_>);
}

/// What workers do between cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Sleep; within a cycle the join spins.
    #[default]
    Hybrid,
    /// Sleep; within a cycle nothing spins either.
    Sleep,
    /// Spin, without real-time priority.
    Spin,
}

/// What a crew is wished to be.
#[derive(Clone)]
pub struct WorkerPoolOptions {
    /// How many workers, the caller's thread included.
    pub workers: usize,
    /// The priority of the threads that the crew starts.
    pub priority: Priority,
    /// Worker `w` stays on core `w` of these, counted round; none: the system decides.
    pub pin: Option<Vec<CoreId>>,
    /// What they do between cycles.
    pub wait: WaitPolicy,
    /// For so long who has worked looks for the next cycle before it sleeps, where they [wait](Wait) by both. Right where
    /// a cycle follows the other at once and each worker has a core; none by default.
    pub spin_before_sleep: Nanos,
    /// Whether there may be [floors](Crew::floors).
    pub low_priority_pool: bool,
    /// What they are called in the system's lists, with their number behind.
    pub name: String,
    /// Called by each of the threads, with its number, before its first cycle.
    pub on_thread_start: Option<Arc<dyn Fn(usize) + Send + Sync>>,
}

/// What a crew became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPoolStatus {
    /// The priority that every one of its threads has at least.
    pub granted: Priority,
    /// What was refused, each once.
    pub refused: Vec<Refusal>,
    /// Where workers 1, 2, … stay; `None` where they may run anywhere.
    pub pinned: Vec<Option<CoreId>>,
}

/// Threads that wait for cycles. Dropped, it [stops](Self::stop) them and waits 2 s at most.
pub struct WorkerPool {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
    status: WorkerPoolStatus,
    workers: usize,
    /// Where there may be any.
    low_priority_pool: Option<Floors>,
}

/// A crew's floors: how they are made, and they themselves once somebody has asked.
struct Floors {
    options: WorkerPoolOptions,
    crew: OnceLock<Option<Box<WorkerPool>>>,
}

/// How a crew ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a worker that is stuck keeps its job and its memory"]
pub struct StopResult {
    /// The workers that did not come back in time; they end by themselves if they ever do.
    pub stuck: Vec<usize>,
}

/// What a thread says of itself when it is ready.
struct Ready {
    worker: usize,
    granted: Priority,
    pinned: Option<CoreId>,
    refused: Vec<Refusal>,
}

impl Default for WorkerPoolOptions {
    fn default() -> Self {
        Self {
            workers: cores().len(),
            priority: Priority::Ordinary,
            pin: None,
            wait: WaitPolicy::Hybrid,
            spin_before_sleep: Nanos(0),
            low_priority_pool: false,
            name: "divisi".into(),
            on_thread_start: None,
        }
    }
}

impl fmt::Debug for WorkerPoolOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrewOptions")
            .field("workers", &self.workers)
            .field("priority", &self.priority)
            .field("pin", &self.pin)
            .field("wait", &self.wait)
            .field("linger", &self.spin_before_sleep)
            .field("floors", &self.low_priority_pool)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl WorkerPool {
    /// Starts the threads and waits until they are ready. Real-time priority is given up, and listed as refused, where
    /// the workers outnumber the cores or spin between cycles.
    ///
    /// # Errors
    ///
    /// The system's, if a thread cannot be started: ask for fewer workers.
    ///
    /// Real-time: setup.
    pub fn new(options: WorkerPoolOptions) -> io::Result<Self> {
        let mut options = options;
        let refused = options.give_up_real_time();
        let workers = options.workers.max(1);
        let mut crew = Self {
            board: Arc::new(Board::new(workers)),
            threads: Vec::with_capacity(workers - 1),
            status: WorkerPoolStatus {
                granted: options.priority,
                refused,
                pinned: vec![None; workers - 1],
            },
            workers,
            low_priority_pool: options.low_priority_pool.then(|| Floors {
                options: options.beneath(),
                crew: OnceLock::new(),
            }),
        };
        let (sender, ready) = mpsc::channel();
        for worker in 1..workers {
            let thread = thread::spawn(worker, &options, crew.board.clone(), sender.clone())?;
            crew.threads.push(thread);
        }
        drop(sender);
        ready.iter().for_each(|ready| crew.status.add(ready));
        Ok(crew)
    }

    /// How many workers there are, the caller's thread included.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// A crew below this one: a thread for each core, of the lowest ordinary priority, for what may take as long as it
    /// likes. Its worker 0, who starts its cycles, is this crew's. Started when first asked for; `None` where the
    /// options have none or the system refuses threads.
    ///
    /// Real-time: setup.
    pub fn low_priority_pool(&self) -> Option<&WorkerPool> {
        let Floors { options, crew } = self.low_priority_pool.as_ref()?;
        let start = || WorkerPool::new(options.clone()).ok().map(Box::new);
        crew.get_or_init(start).as_deref()
    }

    /// What was granted and refused.
    pub fn status(&self) -> &WorkerPoolStatus {
        &self.status
    }

    /// Shows `job` to the crew, for workers below `workers`. Nothing happens before it is started.
    ///
    /// Real-time: setup.
    pub fn register(&self, job: Arc<dyn Job>, workers: usize) -> JobHandle {
        Board::post(&self.board, job, workers)
    }

    /// How many times a job panicked in a worker's hands.
    ///
    /// Real-time: hot.
    pub fn panics(&self) -> u32 {
        self.board.panics()
    }

    /// Ends the threads. One that is stuck in a job for longer than `limit` is left to itself.
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
                // A worker catches its jobs' panics; one of its own has been printed.
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

impl WorkerPoolOptions {
    /// What this crew's floors are: on each core one.
    fn beneath(&self) -> Self {
        let start = self.on_thread_start.clone();
        Self {
            workers: cores().len() + 1,
            priority: Priority::Ordinary,
            pin: Some(cores().to_vec()),
            wait: WaitPolicy::Hybrid,
            spin_before_sleep: Nanos(0),
            low_priority_pool: false,
            name: format!("{}-floor", self.name),
            on_thread_start: Some(Arc::new(move |thread| {
                lower_priority();
                if let Some(start) = &start {
                    start(thread);
                }
            })),
        }
    }

    /// Takes back a wish for real-time priority that does not go with the others, and says why.
    fn give_up_real_time(&mut self) -> Vec<Refusal> {
        let mut refused = Vec::new();
        let Priority::RealTime(level) = self.priority else {
            return refused;
        };
        self.priority = Priority::RealTime(level.clamp(1, 99));
        let (workers, cores) = (self.workers, cores().len());
        if workers > cores {
            refused.push(Refusal::MoreWorkersThanCores { workers, cores });
        }
        if self.wait == WaitPolicy::Spin {
            refused.push(Refusal::SpinAtRealTime);
        }
        if !refused.is_empty() {
            self.priority = Priority::Ordinary;
        }
        refused
    }
}

impl WorkerPoolStatus {
    fn add(&mut self, ready: Ready) {
        if ready.granted == Priority::Ordinary {
            self.granted = Priority::Ordinary;
        }
        self.pinned[ready.worker - 1] = ready.pinned;
        for refusal in ready.refused {
            if !self.refused.contains(&refusal) {
                self.refused.push(refusal);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
