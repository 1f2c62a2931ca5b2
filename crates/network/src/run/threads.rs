//! A thread for each node, which sleeps in its queues: for comparison.
//!
//! A node that has waited too long in a queue comes to the [`Gate`] and leaves all it has there. So whoever comes last,
//! when all wait, has every node in hand and can find out why, without a lock on any queue.
//!
//! | who comes to the gate | who gives or takes frames |
//! |---|---|
//! | counts itself | moves the queue's count |
//! | full fence | full fence |
//! | looks at its queues once more | looks whether anybody is counted; if so, calls its neighbours |
//!
//! By the fences one of the two sees the other.

use crate::error::{RunError, RunOptions, RunSummary};
use crate::live::{Hold, Live, Step};
use crate::network::Network;
use crate::started::{Started, failed};
use crate::stuck::{Circuit, Way};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use units::Nanos;

/// For so long a node sleeps in a queue before it comes to the gate.
const PATIENCE: Nanos = Nanos(5_000_000);

/// Where nodes wait that have waited too long.
struct Gate {
    hall: Mutex<Hall>,
    called: Condvar,
    /// How many are in the hall, or about to look.
    coming: AtomicUsize,
    /// Nodes without outputs that have not ended.
    sinks: AtomicUsize,
    is_over: AtomicBool,
}

struct Hall {
    /// Each node that waits here, or has ended.
    seats: Vec<Option<Live>>,
    is_called: Vec<bool>,
    circuit: Circuit,
    error: Option<RunError>,
}

/// Runs a network to its end with a thread for each node.
///
/// # Errors
///
/// It did not come to its end.
///
/// Real-time: waits, on the nodes.
pub fn run_threads(network: Network, options: &RunOptions) -> Result<RunSummary, RunError> {
    let started = Started::new(network, options)?;
    let sinks = started.sinks();
    let Started {
        lives,
        circuit,
        options,
    } = started;
    let gate = Gate::new(lives.len(), sinks, circuit);
    std::thread::scope(|scope| {
        for (node, live) in lives.into_iter().enumerate() {
            let (gate, options) = (&gate, &options);
            let thread = Builder::new().name(format!("divisi-node-{node}"));
            let seat = std::sync::Arc::new(Mutex::new(Some(live)));
            let taken = seat.clone();
            let spawned = thread.spawn_scoped(scope, move || {
                let live = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(live) = live {
                    gate.play(node, live, options);
                }
            });
            if let Err(error) = spawned {
                gate.fail(RunError::Thread(error));
                break;
            }
        }
    });
    gate.end(options)
}

impl Gate {
    fn new(nodes: usize, sinks: usize, circuit: Circuit) -> Self {
        Self {
            hall: Mutex::new(Hall {
                seats: (0..nodes).map(|_| None).collect(),
                is_called: vec![false; nodes],
                circuit,
                error: None,
            }),
            called: Condvar::new(),
            coming: AtomicUsize::new(0),
            sinks: AtomicUsize::new(sinks),
            is_over: AtomicBool::new(false),
        }
    }

    /// Fires `live` until it has ended, or all is over.
    fn play(&self, node: usize, mut live: Live, options: &RunOptions) {
        loop {
            if self.is_over(options) {
                return self.leave(node, live);
            }
            match live.step() {
                Step::Fired => self.nudge(&live),
                Step::Ended => {
                    self.nudge(&live);
                    // Relaxed: it only counts.
                    if live.is_sink && self.sinks.fetch_sub(1, Ordering::Relaxed) == 1 {
                        self.finish();
                    }
                    return self.leave(node, live);
                }
                Step::Held(hold) => {
                    live.wait(hold, PATIENCE);
                    if live.hold() == hold {
                        let Some(back) = self.wait(node, live) else {
                            return;
                        };
                        live = back;
                    }
                }
                Step::Failed(failure) => {
                    let mut hall = self.hall();
                    let error = failed(&hall.circuit.shape, node, failure);
                    hall.error.get_or_insert(error);
                    drop(hall);
                    self.finish();
                    return self.leave(node, live);
                }
            }
        }
    }

    fn hall(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self, options: &RunOptions) -> bool {
        if options.is_stopped() {
            self.fail(RunError::Interrupted);
        }
        // Relaxed: what was wrong is under the lock.
        self.is_over.load(Ordering::Relaxed)
    }

    /// The first error counts.
    fn fail(&self, error: RunError) {
        self.hall().error.get_or_insert(error);
        self.finish();
    }

    fn finish(&self) {
        // Relaxed: as in `is_over`.
        self.is_over.store(true, Ordering::Relaxed);
        // Whoever is about to sleep has the lock, and has looked before.
        drop(self.hall());
        self.called.notify_all();
    }

    /// After a firing: calls the neighbours, if anybody waits at the gate.
    fn nudge(&self, live: &Live) {
        // pairs with the fence in `wait`, as the table says.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.coming.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut hall = self.hall();
        for &node in &live.neighbours {
            let waits = hall.seats[node]
                .as_ref()
                .is_some_and(|live| !live.has_ended);
            hall.is_called[node] |= waits;
        }
        drop(hall);
        self.called.notify_all();
    }

    /// Waits until a neighbour calls or all are stuck; nothing if all is over.
    fn wait(&self, node: usize, mut live: Live) -> Option<Live> {
        // Relaxed: ordered by the fence.
        self.coming.fetch_add(1, Ordering::Relaxed);
        let mut hall = self.hall();
        // pairs with the fence in `nudge`, as the table says.
        fence(Ordering::SeqCst);
        if live.hold() == Hold::No {
            // Relaxed: who sees us counted calls in vain.
            self.coming.fetch_sub(1, Ordering::Relaxed);
            return Some(live);
        }
        hall.is_called[node] = false;
        hall.seats[node] = Some(live);
        self.look_round(&mut hall);
        // Relaxed: `finish` takes the lock after it is set.
        while !hall.is_called[node] && !self.is_over.load(Ordering::Relaxed) {
            hall = self
                .called
                .wait(hall)
                .unwrap_or_else(PoisonError::into_inner);
        }
        // Relaxed: as above.
        self.coming.fetch_sub(1, Ordering::Relaxed);
        match self.is_over.load(Ordering::Relaxed) {
            true => None,
            false => hall.seats[node].take(),
        }
    }

    /// Takes a seat for good.
    fn leave(&self, node: usize, live: Live) {
        let mut hall = self.hall();
        hall.is_called[node] = false;
        hall.seats[node] = Some(live);
        self.look_round(&mut hall);
    }

    /// Whoever comes last finds out why all have come.
    fn look_round(&self, hall: &mut Hall) {
        let Hall {
            seats,
            is_called,
            circuit,
            error,
        } = hall;
        let mut lives: Vec<&mut Live> = seats.iter_mut().flatten().collect();
        // One that was called is as good as gone.
        if lives.len() < is_called.len() || is_called.contains(&true) || error.is_some() {
            return;
        }
        match circuit.resolve(&mut lives) {
            Ok(Way::Go(nodes)) => nodes.into_iter().for_each(|node| is_called[node] = true),
            // Relaxed: as in `is_over`; the lock is held.
            Ok(Way::Over) => self.is_over.store(true, Ordering::Relaxed),
            Err(wrong) => {
                *error = Some(wrong);
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
        self.called.notify_all();
    }

    fn end(self, options: RunOptions) -> Result<RunSummary, RunError> {
        let hall = self
            .hall
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = hall.error {
            return Err(error);
        }
        let started = Started {
            lives: hall.seats.into_iter().flatten().collect(),
            circuit: hall.circuit,
            options,
        };
        Ok(started.summary())
    }
}
