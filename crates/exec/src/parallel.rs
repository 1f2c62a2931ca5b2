//! What the parallel executors have in common: one start, one finish, and what happens when there is no finish.
//!
//! # A cycle
//!
//! | step | who | by |
//! |---|---|---|
//! | prepare: facts, what is left | host | the cycle before is complete |
//! | start | host | [`Gate::open`], then one broadcast of the crew |
//! | play | host as worker 0; each worker that gets through the gate | [`Strategy::work`] |
//! | finish | whoever counts the last task | what is left becomes 0 |
//! | close | host | [`Gate::close`]; who is late stays out |
//!
//! The host does not wait for the others to leave: all tasks are done. A worker that loses its core while it holds no
//! task holds up nobody: whatever can be taken carries its epoch (`rt::claim`, `rt::deque`), so one that lingers takes
//! nothing of a newer cycle.
//!
//! If the cycle is given up instead, the executor is *held up*: it gives silence until everybody has left, quarantines
//! what had not returned, and plays on.

use crate::bind::{Binding, bind};
use crate::executor::{Counts, Executor, Now, Outcome, Ran};
use crate::floor::Floor;
use crate::hand::{Facts, Hand, Lent, NONE, Progress, Seats, seats};
use crate::stage::Stage;
use crate::watch::Watch;
use graph::NodeId;
use plan::{Mark, Plan};
use processor::Event;
use rt::ftz::FlushToZero;
use rt::gate::Gate;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use workers::{Crew, Job, Posted};

/// A way of giving tasks to workers.
///
/// It gives each task of a cycle to one worker that entered for that cycle's epoch, after all that the task waits for
/// has run, and what those did is seen there.
pub(crate) trait Strategy: Send + Sync + Sized + 'static {
    /// Made for a plan, a stage and a number of workers, the host included.
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self;

    /// Prepares a cycle. The one before is complete, but a worker may still be on its way out of it.
    ///
    /// Real-time: hot.
    fn begin(&self, stage: &Stage, epoch: u32);

    /// Runs tasks until none is left for anybody in this cycle, or it is given up. Called again after a task panicked;
    /// [`Hand::broken`] tells which, once: its successors are still to be released.
    ///
    /// Real-time: hot.
    fn work(&self, hand: &mut Hand<'_>);

    /// After a cycle that was given up: as new. The caller is alone.
    ///
    /// Real-time: hot.
    fn start_over(&self, stage: &Stage);
}

struct Shared<S> {
    stage: Stage,
    floor: Arc<Floor>,
    gate: Gate,
    seats: Seats,
    progress: Progress,
    facts: FactsCell,
    strategy: S,
}

/// An executor with a crew.
pub(crate) struct Parallel<S> {
    shared: Arc<Shared<S>>,
    posted: Posted,
    name: u64,
    epoch: u32,
    done: bool,
    /// A cycle was given up, and somebody may still be inside.
    held_up: bool,
}

impl<S: Strategy> Parallel<S> {
    pub(crate) fn new(mut binding: Binding<'_>, crew: &Crew) -> Self {
        let workers = crew.workers().min(binding.floor.workers()).max(1);
        let stage = bind(&mut binding);
        let shared = Arc::new(Shared {
            strategy: S::new(binding.plan, &stage, workers),
            stage,
            gate: Gate::new(),
            seats: seats(workers),
            progress: Progress::default(),
            facts: FactsCell::default(),
            floor: binding.floor,
        });
        Self {
            name: shared.floor.name(),
            posted: crew.post(shared.clone(), useful(binding.plan, workers)),
            shared,
            epoch: 0,
            done: false,
            held_up: false,
        }
    }

    /// Whether the next cycle may begin. After one that was given up that is when everybody has left; until then it is
    /// noted who is stuck.
    fn is_clear(&mut self) -> bool {
        let shared = &*self.shared;
        if !self.held_up {
            return true;
        }
        if !shared.gate.is_empty() {
            for seat in &shared.seats[1..] {
                // Relaxed: a worker that is still in a task a cycle after the end is what we look for.
                let task = seat.current.load(Ordering::Relaxed);
                if task != NONE {
                    seat.accused.store(task + 1, Ordering::Relaxed);
                }
            }
            return false;
        }
        shared.strategy.start_over(&shared.stage);
        self.held_up = false;
        true
    }

    fn cycle(&mut self, now: &Now<'_>) -> u32 {
        let shared = &*self.shared;
        let facts = now.facts(shared.floor.is_traced());
        // SAFETY: the last cycle is complete, or everybody has left it (`is_clear`): nobody holds a task.
        unsafe {
            shared.stage.bury_accused(&shared.seats);
            shared.stage.take_device(now.device);
        }
        shared.facts.set(facts);
        self.epoch = self.epoch.wrapping_add(1);
        let epoch = self.epoch;
        shared.progress.begin(epoch, shared.stage.len());
        shared.strategy.begin(&shared.stage, epoch);
        shared.gate.open(epoch);
        let wakes = self.posted.start(epoch);
        shared.play(0, epoch, wakes);
        shared.gate.close();
        self.done = shared.progress.is_complete();
        self.held_up = !self.done;
        wakes
    }
}

/// More workers than this can never be busy at once on average: a line needs one.
fn useful(plan: &Plan, workers: usize) -> usize {
    let total: u64 = plan.steps.iter().map(|s| s.cost.0).sum();
    let path = plan.static_levels.iter().map(|l| l.0).max().unwrap_or(0);
    if path == 0 {
        return workers;
    }
    workers.min(total.div_ceil(path).max(1) as usize)
}

/// The facts of the cycle, as words: a worker that lingers from an older cycle may read them while they change; what it
/// reads then is of no use to it, since it takes no task any more.
#[derive(Default)]
struct FactsCell([AtomicU64; 5]);

impl FactsCell {
    fn set(&self, f: Facts) {
        let words = [
            f.position,
            f.cycle,
            f.give_up,
            f.help_until,
            u64::from(f.traced),
        ];
        for (cell, word) in self.0.iter().zip(words) {
            // Relaxed: the gate publishes them.
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Facts {
        // Relaxed: ordered by the gate.
        let [position, cycle, give_up, help_until, traced] =
            [0, 1, 2, 3, 4].map(|i: usize| self.0[i].load(Ordering::Relaxed));
        Facts {
            position,
            cycle,
            give_up,
            help_until,
            traced: traced != 0,
        }
    }
}

impl<S: Strategy> Shared<S> {
    /// One worker's part of a cycle. The caller is the host, or inside the gate.
    fn play(&self, worker: usize, epoch: u32, wakes: u32) {
        let _flush = FlushToZero::on();
        let facts = self.facts.get();
        let lent = Lent {
            stage: &self.stage,
            seat: &self.seats[worker],
            help_until: facts.help_until,
        };
        // SAFETY: each worker is one thread, and the host is worker 0; tasks come from the strategy, for this epoch.
        let mut hand = unsafe {
            let seat = (worker, &*self.seats);
            Hand::new(
                &self.stage,
                &self.floor,
                seat,
                (&self.progress, epoch),
                facts,
                &lent,
            )
        };
        if worker == 0 {
            hand.mark(Mark::Begin, wakes);
        }
        hand.mark(Mark::Enter, 0);
        // The work is caught as a whole, not each step: where nothing panics it costs nothing.
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.strategy.work(&mut hand))) {
            std::mem::forget(payload);
            hand.recover();
        }
        hand.count();
        hand.put_down();
        hand.mark(if worker == 0 { Mark::End } else { Mark::Leave }, 0);
    }
}

impl<S: Strategy> Job for Shared<S> {
    fn work(&self, worker: usize, epoch: u32) {
        if worker >= self.seats.len() {
            return;
        }
        if let Some(_inside) = self.gate.enter(epoch) {
            self.play(worker, epoch, 0);
        }
        // Deferred pieces, until the next cycle: nobody waits for this worker now.
        while self.gate.epoch() == epoch && self.stage.deferred.run_earliest() {}
    }
}

impl<S: Strategy> Executor for Parallel<S> {
    fn run(&mut self, now: &Now<'_>) -> Ran {
        self.done = false;
        let mut ran = Ran {
            outcome: Outcome::Refused,
            wakes: 0,
            acquisitions: 0,
        };
        if !self.shared.floor.take_turn(self.name) {
            return ran;
        }
        if !self.is_clear() {
            ran.outcome = Outcome::Abandoned;
            return ran;
        }
        ran.wakes = self.cycle(now);
        // Relaxed: ordered by `left`.
        let takes = self.shared.seats.iter();
        ran.acquisitions = takes.map(|s| s.acquisitions.load(Ordering::Relaxed)).sum();
        ran.outcome = if self.done {
            Outcome::Done
        } else {
            Outcome::Abandoned
        };
        ran
    }

    fn output(&self, channel: u16, into: &mut [f32]) {
        if self.done {
            // SAFETY: all tasks have run, and only `&mut self` begins a cycle.
            unsafe { self.shared.stage.add_output(channel, into) };
        }
    }

    fn post(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        if self.held_up {
            return Err(event);
        }
        // SAFETY: all tasks of the last cycle have run, so whoever is still inside touches none of them.
        unsafe { self.shared.stage.post(node, event) }
    }

    fn rest(&mut self) -> bool {
        let clear = self.is_clear();
        if clear {
            self.done = false;
            self.shared.floor.give_turn(self.name);
        }
        clear
    }

    fn counts(&self) -> Counts {
        self.shared.stage.counts()
    }

    fn watch(&self) -> Watch {
        self.shared.stage.watch(&self.shared.seats)
    }
}

impl<S> Drop for Parallel<S> {
    fn drop(&mut self) {
        // Somebody who never came back keeps the floor; nothing of this engine can play safely any more.
        if !self.held_up || self.shared.gate.is_empty() {
            self.shared.floor.give_turn(self.name);
        }
    }
}
