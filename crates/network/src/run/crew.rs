//! On a crew of workers: a node is a task that becomes ready, whenever a queue of it has moved.
//!
//! A worker takes a node that [`Ready`] says may have something to do, fires it for as long as it can (a quantum at
//! most), and tells its neighbours. Who finds all nodes at rest resolves it, alone. A worker without a node spins for a
//! moment, then sleeps until one is put into the set.

use crate::error::{RunError, RunOptions, RunSummary};
use crate::live::{Live, Step};
use crate::network::Network;
use crate::run::ready::{Ready, Rest};
use crate::started::{Started, failed};
use crate::stuck::{Circuit, Way};
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use rt::pad::CachePadded;
use rt::wake::Futex;
use std::sync::{Arc, Mutex, PoisonError};
use workers::{Job, JobHandle, WorkerPool, WorkerWaker};

/// So often a worker looks for a node before it sleeps.
const SPINS: u32 = 256;

/// A network that a crew plays.
struct Play {
    ready: Ready,
    nodes: Box<[CachePadded<UnsafeCell<Live>>]>,
    /// Touched by who has all nodes, and at the end.
    circuit: Mutex<Circuit>,
    outcome: Mutex<Option<Result<(), RunError>>>,
    /// Changes whenever a node was put into the set.
    bell: Futex,
    is_over: AtomicBool,
    /// Nodes without outputs that have not ended.
    sinks: AtomicUsize,
    wakes: AtomicU64,
    options: RunOptions,
}

// SAFETY: a node is `Send`, and is touched only by who has it in hand, or has all, as the table of `ready` says; all
// else is `Sync` by itself.
unsafe impl Sync for Play {}

/// Runs a network to its end on a crew; the caller is its worker 0.
///
/// # Errors
///
/// It did not come to its end.
///
/// Real-time: waits, on the nodes.
pub fn run_on_workers(
    crew: &WorkerPool,
    network: Network,
    options: &RunOptions,
) -> Result<RunSummary, RunError> {
    let started = Started::new(network, options)?;
    let play = Arc::new(Play::new(started));
    // All are the caller's before the first is told.
    (0..play.nodes.len()).for_each(|node| {
        play.ready.tell(node);
    });
    if play.nodes.is_empty() {
        play.end(Ok(()));
    }
    let posted = crew.register(play.clone(), crew.workers());
    posted.start(1);
    play.work_as(0);
    take_back(posted);
    let Ok(play) = Arc::try_unwrap(play) else {
        unreachable!("the crew has given the job back");
    };
    play.finish()
}

/// Waits until no worker is at the job.
fn take_back(mut posted: JobHandle) {
    while let Err(busy) = posted.retire() {
        posted = busy;
        std::thread::yield_now();
    }
}

impl Job for Play {
    fn work(&self, worker: usize, _epoch: u32, _recall: WorkerWaker<'_>) {
        self.work_as(worker);
    }
}

impl Play {
    fn new(started: Started) -> Self {
        let cell = |live| CachePadded(UnsafeCell::new(live));
        Self {
            ready: Ready::new(started.lives.len()),
            sinks: AtomicUsize::new(started.sinks()),
            wakes: AtomicU64::new(0),
            nodes: started.lives.into_iter().map(cell).collect(),
            circuit: Mutex::new(started.circuit),
            outcome: Mutex::new(None),
            bell: Futex::new(0),
            is_over: AtomicBool::new(false),
            options: started.options,
        }
    }

    /// Plays until all is over.
    fn work_as(&self, worker: usize) {
        let mut next = worker;
        let mut spins = 0;
        loop {
            let seen = self.bell.load();
            // Relaxed: what came of it is under a lock.
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if let Some(node) = self.ready.take(next) {
                self.turn(node);
                (next, spins) = (node + 1, 0);
            } else if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                self.bell.wait(seen);
                spins = 0;
            }
        }
    }

    /// A node's turn: it was just taken, so it is this worker's.
    fn turn(&self, node: usize) {
        let mut left = self.options.quantum.max(1);
        loop {
            self.ready.look(node);
            // SAFETY: this worker has it in hand.
            match self.nodes[node].with_mut(|live| unsafe { (*live).step() }) {
                step @ (Step::Fired | Step::Ended) => {
                    if matches!(step, Step::Ended) && self.was_last_sink(node) {
                        return self.end(Ok(()));
                    }
                    self.tell_neighbours(node);
                    left -= 1;
                    if left == 0 || self.options.is_stopped() {
                        return self.rest_awhile(node);
                    }
                }
                Step::Failed(failure) => {
                    let shape = &self.circuit().shape;
                    return self.end(Err(failed(shape, node, failure)));
                }
                Step::Held(_) => match self.ready.let_go(node) {
                    Rest::News => {}
                    Rest::Done => return,
                    Rest::Last => return self.all_are_at_rest(),
                },
            }
        }
    }

    /// Whether this node, which has ended, was the last without outputs.
    fn was_last_sink(&self, node: usize) -> bool {
        // SAFETY: this worker has it in hand, as in `turn`.
        let is_sink = self.nodes[node].with_mut(|live| unsafe { (*live).is_sink });
        // Relaxed: it only counts; what the nodes have done is not looked at before all workers have left.
        is_sink && self.sinks.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Others have their turn.
    fn rest_awhile(&self, node: usize) {
        if self.options.is_stopped() {
            return self.end(Err(RunError::Interrupted));
        }
        let has_others = self.ready.looks_full();
        self.ready.put_back(node);
        if has_others {
            self.ring(1);
        }
    }

    fn tell_neighbours(&self, node: usize) {
        let told = self.nodes[node].with_mut(|live| {
            // SAFETY: this worker has the node in hand, as in `turn`.
            let neighbours = unsafe { &(*live).neighbours };
            neighbours
                .iter()
                .filter(|other| self.ready.tell(**other))
                .count()
        });
        if told > 0 {
            self.ring(told as u32);
        }
    }

    /// Wakes so many workers, if they sleep.
    fn ring(&self, workers: u32) {
        self.bell.fetch_add(1);
        let woken = self.bell.wake(workers);
        if woken > 0 {
            // Relaxed: it only counts.
            self.wakes.fetch_add(woken.into(), Ordering::Relaxed);
        }
    }

    /// This worker has all nodes.
    #[cold]
    fn all_are_at_rest(&self) {
        loop {
            let live = |node: &CachePadded<UnsafeCell<Live>>| {
                // SAFETY: all are at rest, and this worker found out; so all are its own until it tells one.
                node.with_mut(|live| unsafe { &mut *live })
            };
            let mut lives: Vec<&mut Live> = self.nodes.iter().map(live).collect();
            let way = self.circuit().resolve(&mut lives);
            match way {
                Ok(Way::Go(nodes)) => {
                    let is_last = self.ready.tell_all(&nodes);
                    self.ring(nodes.len() as u32);
                    if !is_last {
                        return;
                    }
                }
                Ok(Way::Over) => return self.end(Ok(())),
                Err(error) => return self.end(Err(error)),
            }
        }
    }

    fn circuit(&self) -> std::sync::MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first outcome counts. The node in hand, if any, stays there.
    fn end(&self, outcome: Result<(), RunError>) {
        let mut told = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert(outcome);
        drop(told);
        // Relaxed: as in `work_as`.
        self.is_over.store(true, Ordering::Relaxed);
        self.ring(u32::MAX);
    }

    fn finish(self) -> Result<RunSummary, RunError> {
        let outcome = self
            .outcome
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        outcome.unwrap_or(Ok(()))?;
        let lives = self.nodes.into_iter().map(|node| node.0.into_inner());
        let started = Started {
            lives: lives.collect(),
            circuit: self
                .circuit
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
            options: self.options,
        };
        Ok(RunSummary {
            // Relaxed: all workers have left.
            wakes: self.wakes.load(Ordering::Relaxed),
            ..started.summary()
        })
    }
}
