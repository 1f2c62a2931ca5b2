//! A network on a pool of workers: a node becomes ready when one of its queues has moved.
//!
//! A worker takes a node that [`ReadySet`] says may be able to fire, fires it until it blocks (a quantum of firings at most), and
//! notifies its neighbours after each firing. The worker that finds all nodes idle resolves the network, alone. A worker
//! without a node spins for a moment, and then sleeps until a node is put into the set.

use crate::error::{RunError, RunOptions, RunSummary};
use crate::network::Network;
use crate::run::deadlock::Resolution;
use crate::run::instance::{NetworkInstance, run_error};
use crate::run::node::{FireOutcome, RunningNode};
use crate::run::queues::Queues;
use crate::run::ready_set::{ReadySet, Released};
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use rt::pad::CachePadded;
use rt::wake::Futex;
use std::sync::{Arc, Mutex, PoisonError};
use workers::{Job, JobHandle, WorkerPool, WorkerWaker};

/// Attempts to find a node before a worker sleeps.
const SPINS_BEFORE_SLEEP: u32 = 256;

/// A network that runs on a pool.
struct NetworkJob {
    ready: ReadySet,
    nodes: Box<[CachePadded<UnsafeCell<RunningNode>>]>,
    /// Touched by the worker that has all nodes, and at the end.
    queues: Mutex<Queues>,
    outcome: Mutex<Option<Result<(), RunError>>>,
    /// Changes whenever a node was put into the set; workers without a node sleep on it.
    wakeups: Futex,
    is_over: AtomicBool,
    /// Number of nodes without outputs that have not ended.
    sinks: AtomicUsize,
    wakes: AtomicU64,
    options: RunOptions,
}

// SAFETY: a node is `Send`, and is touched only by the worker that runs it, or that has all, as the table of `ready_set` says;
// all other fields are `Sync` by themselves.
unsafe impl Sync for NetworkJob {}

/// Runs a network to its end on a pool; the caller is its worker 0.
///
/// # Errors
///
/// The network did not run to its end.
///
/// Real-time: waits, on the actors.
pub fn run_on_workers(
    pool: &WorkerPool,
    network: Network,
    options: &RunOptions,
) -> Result<RunSummary, RunError> {
    let instance = NetworkInstance::new(network, options)?;
    let job = Arc::new(NetworkJob::new(instance));
    // Before the job starts, all nodes are the caller's.
    (0..job.nodes.len()).for_each(|node| {
        job.ready.notify(node);
    });
    if job.nodes.is_empty() {
        job.end(Ok(()));
    }
    let handle = pool.register(job.clone(), pool.workers());
    handle.start(1);
    job.work_as(0);
    wait_until_retired(handle);
    let Ok(job) = Arc::try_unwrap(job) else {
        unreachable!("the pool has dropped the job");
    };
    job.finish()
}

/// Waits until no worker is at the job.
fn wait_until_retired(mut handle: JobHandle) {
    while let Err(busy) = handle.retire() {
        handle = busy;
        std::thread::yield_now();
    }
}

impl Job for NetworkJob {
    fn work(&self, worker: usize, _epoch: u32, _waker: WorkerWaker<'_>) {
        self.work_as(worker);
    }
}

impl NetworkJob {
    fn new(instance: NetworkInstance) -> Self {
        let cell = |node| CachePadded(UnsafeCell::new(node));
        Self {
            ready: ReadySet::new(instance.nodes.len()),
            sinks: AtomicUsize::new(instance.sink_count()),
            wakes: AtomicU64::new(0),
            nodes: instance.nodes.into_iter().map(cell).collect(),
            queues: Mutex::new(instance.queues),
            outcome: Mutex::new(None),
            wakeups: Futex::new(0),
            is_over: AtomicBool::new(false),
            options: instance.options,
        }
    }

    /// Runs nodes until the network has ended.
    fn work_as(&self, worker: usize) {
        let mut next = worker;
        let mut spins = 0;
        loop {
            let seen = self.wakeups.load();
            // Relaxed: the outcome is under a lock.
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if let Some(node) = self.ready.take(next) {
                self.run_node(node);
                (next, spins) = (node + 1, 0);
            } else if spins < SPINS_BEFORE_SLEEP {
                spins += 1;
                std::hint::spin_loop();
            } else {
                self.wakeups.wait(seen);
                spins = 0;
            }
        }
    }

    /// Fires a node that was just taken, until it blocks or its quantum is used up.
    fn run_node(&self, node: usize) {
        let mut left = self.options.quantum.max(1);
        loop {
            self.ready.begin_check(node);
            // SAFETY: this worker runs the node.
            match self.nodes[node].with_mut(|node| unsafe { (*node).try_fire() }) {
                outcome @ (FireOutcome::Fired | FireOutcome::Ended) => {
                    if matches!(outcome, FireOutcome::Ended) && self.was_last_sink(node) {
                        return self.end(Ok(()));
                    }
                    self.notify_neighbours(node);
                    left -= 1;
                    if left == 0 || self.options.is_stopped() {
                        return self.yield_node(node);
                    }
                }
                FireOutcome::Failed(failure) => {
                    let topology = &self.queues().topology;
                    return self.end(Err(run_error(topology, node, failure)));
                }
                FireOutcome::Blocked => match self.ready.release(node) {
                    Released::Notified => {}
                    Released::Idle => return,
                    Released::LastIdle => return self.resolve_all_idle(),
                },
            }
        }
    }

    /// Returns true if this node, which has ended, was the last one without outputs.
    fn was_last_sink(&self, node: usize) -> bool {
        // SAFETY: this worker runs the node, as in `run_node`.
        let is_sink = self.nodes[node].with_mut(|node| unsafe { (*node).is_sink });
        // Relaxed: it only counts; nobody looks at the nodes before all workers have left.
        is_sink && self.sinks.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Puts the node back into the set, so that others come first.
    fn yield_node(&self, node: usize) {
        if self.options.is_stopped() {
            return self.end(Err(RunError::Interrupted));
        }
        let has_others = self.ready.seems_nonempty();
        self.ready.requeue(node);
        if has_others {
            self.wake(1);
        }
    }

    fn notify_neighbours(&self, node: usize) {
        let notified = self.nodes[node].with_mut(|node| {
            // SAFETY: this worker runs the node, as in `run_node`.
            let neighbours = unsafe { &(*node).neighbours };
            neighbours
                .iter()
                .filter(|other| self.ready.notify(**other))
                .count()
        });
        if notified > 0 {
            self.wake(notified as u32);
        }
    }

    /// Wakes up to `workers` sleeping workers.
    fn wake(&self, workers: u32) {
        self.wakeups.fetch_add(1);
        let woken = self.wakeups.wake(workers);
        if woken > 0 {
            // Relaxed: it only counts.
            self.wakes.fetch_add(woken.into(), Ordering::Relaxed);
        }
    }

    /// Resolves a network all of whose nodes are idle: they are this worker's.
    #[cold]
    fn resolve_all_idle(&self) {
        loop {
            let node = |node: &CachePadded<UnsafeCell<RunningNode>>| {
                // SAFETY: all nodes are idle, and this worker's `release` found it; so all are its own until it notifies one.
                node.with_mut(|node| unsafe { &mut *node })
            };
            let mut nodes: Vec<&mut RunningNode> = self.nodes.iter().map(node).collect();
            let resolution = self.queues().resolve(&mut nodes);
            match resolution {
                Ok(Resolution::Resume(nodes)) => {
                    let is_last = self.ready.notify_all(&nodes);
                    self.wake(nodes.len() as u32);
                    if !is_last {
                        return;
                    }
                }
                Ok(Resolution::Finished) => return self.end(Ok(())),
                Err(error) => return self.end(Err(error)),
            }
        }
    }

    fn queues(&self) -> std::sync::MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the network; the first outcome counts. A node that is running stays so.
    fn end(&self, outcome: Result<(), RunError>) {
        let mut first = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(outcome);
        drop(first);
        // Relaxed: as in `work_as`.
        self.is_over.store(true, Ordering::Relaxed);
        self.wake(u32::MAX);
    }

    fn finish(self) -> Result<RunSummary, RunError> {
        let outcome = self
            .outcome
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        outcome.unwrap_or(Ok(()))?;
        let nodes = self.nodes.into_iter().map(|node| node.0.into_inner());
        let instance = NetworkInstance {
            nodes: nodes.collect(),
            queues: self
                .queues
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
            options: self.options,
        };
        Ok(RunSummary {
            // Relaxed: all workers have left.
            wakes: self.wakes.load(Ordering::Relaxed),
            ..instance.summary()
        })
    }
}
