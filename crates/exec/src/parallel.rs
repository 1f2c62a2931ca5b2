//! What the parallel executors have in common: one start, one finish, and what happens when there is no finish.
//!
//! # A cycle
//!
//! | step | who | by |
//! |---|---|---|
//! | prepare: facts, what is left | host | the cycle before is complete |
//! | start | host | one broadcast of the crew, with the epoch |
//! | play | host as worker 0; each worker that comes | [`Strategy::work`] |
//! | finish | whoever counts the last task | what is left becomes 0 |
//!
//! The host waits for tasks, not for workers. A worker may come late, or lose its core while it holds no task, and holds
//! up nobody: whatever can be taken carries its epoch (`rt::claim`, `rt::deque`), so one that lingers in an old cycle
//! takes nothing of a newer one.
//!
//! # A cycle that is given up
//!
//! The executor is *held up* then. From the store of `abandoned` on nobody begins a task of that epoch; after a heavy
//! fence the host sees who is in one. It gives silence until nobody is, quarantines what had not returned in time, and
//! plays on. Or it comes to rest at once: then the next executor plays without the nodes that are stuck, on its own
//! slots; a stuck step keeps the old ones, and its processor, for as long as it likes.

use crate::bind::{Binding, bind};
use crate::executor::{CycleInfo, CycleResult, CycleStatus, ErrorCounts, Executor};
use crate::floor::{SharedRuntime, Turn};
use crate::hand::{Facts, Hand, Lent, Seats, seats, step_of};
use crate::stage::Stage;
use crate::watch::Watchdog;
use graph::NodeId;
use plan::{Plan, TraceEvent};
use processor::Event;
use rt::ftz::FlushToZero;
use rt::progress::CycleProgress;
use rt::stamp::TickScale;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Nanos;
use workers::{Job, JobHandle, WorkerPool, WorkerWaker};

/// Between a worker's word that it is in a step and its finding out that the cycle was given up there is less.
const DOUBT: Nanos = Nanos(1_000_000);

/// A way of giving tasks to workers.
///
/// It gives each task of a cycle to one worker that entered for that cycle's epoch, after all that the task waits for
/// has run, and what those did is seen there.
pub(crate) trait Strategy: Send + Sync + Sized + 'static {
    /// Made for a plan, a stage and a number of workers, the host included.
    fn new(plan: &Plan, stage: &Stage, workers: usize) -> Self;

    /// Prepares a cycle. The one before is complete, but a worker may still linger in it.
    ///
    /// Real-time: hot.
    fn begin(&self, _stage: &Stage, _epoch: u32) {}

    /// Runs tasks until none is left for anybody in this cycle, or it is given up, or the others can do without this
    /// worker and know how to call it back ([`Hand::recall`]). Called again after a step panicked; [`Hand::resume`] tells
    /// how to go on.
    ///
    /// Real-time: hot.
    fn work(&self, hand: &mut Hand<'_>);

    /// After a cycle that was given up: as new. Nobody is in a task.
    ///
    /// Real-time: hot.
    fn start_over(&self, stage: &Stage);
}

struct Shared<S> {
    name: u64,
    stage: Stage,
    floor: Arc<SharedRuntime>,
    seats: Seats,
    progress: CycleProgress,
    facts: FactsCell,
    strategy: S,
}

/// An executor with a crew.
pub(crate) struct Parallel<S> {
    shared: Arc<Shared<S>>,
    posted: JobHandle,
    name: u64,
    /// On threads of lower priority, where there are deferred pieces for them.
    floors: Option<JobHandle>,
    epoch: u32,
    done: bool,
    /// All has run, and the sinks hold the block that is to be heard.
    heard: bool,
    /// A cycle was given up, and somebody may still be inside.
    held_up: bool,
    /// Since then the heavy fence has been passed.
    fenced: bool,
    /// Since then: in which step each worker was when the host last looked, and since which stamp.
    suspects: Box<[Option<(u32, u64)>]>,
    /// For so many stamps one must be seen in a step.
    doubt: u64,
    /// How many of them had not been seen there before, and so are not accused of it.
    unsure: usize,
    /// Steps that took too long and that their workers have left since, for others in which they are now.
    left_late: Vec<u32>,
}

impl<S: Strategy> Parallel<S> {
    pub(crate) fn new(mut binding: Binding<'_>, crew: &WorkerPool) -> Self {
        let workers = crew.workers().min(binding.runtime.workers()).max(1);
        let stage = bind(&mut binding);
        let name = binding.runtime.name();
        let wanted = match binding.runtime.wakes_all() {
            true => workers,
            false => useful(binding.plan, &stage, workers),
        };
        let shared = Arc::new(Shared {
            name,
            strategy: S::new(binding.plan, &stage, workers),
            stage,
            seats: seats(workers),
            progress: CycleProgress::default(),
            facts: FactsCell::default(),
            floor: binding.runtime,
        });
        Self {
            name,
            posted: crew.register(shared.clone(), wanted),
            shared,
            floors: None,
            epoch: 0,
            done: false,
            heard: false,
            held_up: false,
            fenced: false,
            suspects: vec![None; workers].into_boxed_slice(),
            doubt: TickScale::calibrated().ticks(DOUBT),
            unsure: 0,
            left_late: Vec::with_capacity(workers),
        }
    }

    /// With the floors of `crew` for deferred pieces, where there are both.
    pub(crate) fn with_floors(mut self, crew: &WorkerPool) -> Self {
        if !self.shared.stage.deferred.is_empty()
            && let Some(floors) = crew.low_priority_pool()
        {
            let beneath = Arc::new(Beneath(self.shared.clone()));
            self.floors = Some(floors.register(beneath, floors.workers()));
        }
        self
    }

    /// Wakes the floors if there are pieces for them; how many were woken.
    fn wake_floors(&self) -> u32 {
        let from = self.shared.not_wanted_before();
        match &self.floors {
            Some(floors) if self.shared.stage.deferred.has_due_from(from) => {
                floors.start(self.epoch)
            }
            _ => 0,
        }
    }

    /// Takes from shared queues so far, and wakes inside cycles.
    fn counted(&self) -> (u64, u64) {
        // Relaxed: ordered by the progress, for all that came before a complete cycle.
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let seats = self.shared.seats.iter();
        seats.fold((0, 0), |(takes, wakes), seat| {
            (takes + get(&seat.takes), wakes + get(&seat.wakes))
        })
    }

    /// Whether the next cycle may begin. After one that was given up that is when nobody is in a task any more.
    fn is_clear(&mut self) -> bool {
        if self.held_up && self.who_is_in() == 0 {
            self.shared.strategy.start_over(&self.shared.stage);
            self.held_up = false;
        }
        !self.held_up
    }

    /// After a cycle that was given up: how many workers are still in a step. Who was in it before, or is seen in it for a
    /// while, is accused of it: one look may meet a worker that is just finding out that it must not begin the step.
    fn who_is_in(&mut self) -> usize {
        if !self.fenced {
            // pairs with the light fence in `Hand::run_step`. A call to the kernel, once in a cycle that is lost anyway.
            self.shared.floor.fence().heavy();
            self.fenced = true;
            self.suspects.fill(None);
        }
        self.unsure = 0;
        let (mut inside, now) = (0, rt::stamp::now());
        for (seat, suspect) in self.shared.seats.iter().zip(&mut self.suspects) {
            let Some(step) = step_of(seat) else { continue };
            inside += 1;
            let (_, since) = *suspect.insert(match *suspect {
                Some((before, since)) if before == step => (step, since),
                _ => (step, now),
            });
            // Relaxed: our own word.
            let was_in_it = seat.held.load(Ordering::Relaxed) == step;
            if was_in_it || now.wrapping_sub(since) > self.doubt {
                // Relaxed: as in `Watchdog::find_stuck`, whose word it may overwrite.
                let before = seat.accused.swap(step + 1, Ordering::Relaxed);
                let is_full = self.left_late.len() == self.left_late.capacity();
                if before != 0 && before != step + 1 && !is_full {
                    self.left_late.push(before - 1);
                }
            } else {
                self.unsure += 1;
            }
        }
        inside
    }

    fn cycle(&mut self, now: &CycleInfo<'_>) -> u32 {
        let shared = &*self.shared;
        let facts = now.facts(shared.floor.is_traced());
        let begin = if facts.traced { rt::stamp::now() } else { 0 };
        // SAFETY: the last cycle is complete, or nobody is in a task of it any more (`is_clear`).
        unsafe {
            shared.stage.bury_accused(&shared.seats);
            let left_late = self.left_late.drain(..);
            left_late.for_each(|step| shared.stage.bury(&shared.stage.steps[step as usize]));
            shared.stage.take_up();
            shared.stage.take_device(now.inputs);
            shared.stage.date_posts(now.position);
        }
        shared.facts.set(facts);
        self.epoch = self.epoch.wrapping_add(1);
        let epoch = self.epoch;
        shared.progress.begin(epoch, shared.stage.len());
        shared.strategy.begin(&shared.stage, epoch);
        let wakes = self.posted.start(epoch);
        shared.play((0, self.posted.waker()), epoch, (begin, wakes));
        self.done = shared.progress.is_complete();
        self.heard = self.done && shared.stage.is_heard(&facts);
        self.held_up = !self.done;
        self.fenced = false;
        if self.held_up {
            shared.stage.unsettle();
        }
        wakes + self.wake_floors()
    }
}

/// More workers than this can never be busy at once on average: a line needs one. Whoever forks or defers work can use all.
fn useful(plan: &Plan, stage: &Stage, workers: usize) -> usize {
    let residents = stage.steps.iter().chain(&stage.inner);
    let mut residents = residents.filter_map(|t| t.rare.resident.as_ref());
    let total: u64 = plan.steps.iter().map(|s| s.cost.0).sum();
    let path = plan.static_levels.iter().map(|l| l.0).max().unwrap_or(0);
    if path == 0 || residents.any(|r| r.lanes > 1 || !r.runners.is_empty()) {
        return workers;
    }
    workers.min(total.div_ceil(path).max(1) as usize)
}

/// The facts of the cycle, as words: a worker that lingers from an older cycle may read them while they change; what it
/// reads then is of no use to it, since it takes no task any more.
#[derive(Default)]
struct FactsCell([AtomicU64; 7]);

impl FactsCell {
    fn set(&self, f: Facts) {
        let words = [
            f.position,
            f.first,
            f.end,
            f.cycle,
            f.give_up,
            f.help_until,
            u64::from(f.traced),
        ];
        for (cell, word) in self.0.iter().zip(words) {
            // Relaxed: the crew's start publishes them (Release of the cycle's count, Acquire where a worker takes it).
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Facts {
        // Relaxed: ordered by the crew's start, for who came for this cycle; see above for who did not.
        let [position, first, end, cycle, give_up, help_until, traced] =
            [0, 1, 2, 3, 4, 5, 6].map(|i: usize| self.0[i].load(Ordering::Relaxed));
        Facts {
            position,
            first,
            end,
            cycle,
            give_up,
            help_until,
            traced: traced != 0,
        }
    }
}

impl<S: Strategy> Shared<S> {
    /// One worker's part of a cycle, which the host began at stamp `begin` with so many wakes. The caller is the host, or a
    /// worker that came for `epoch`.
    fn play(
        &self,
        (worker, recall): (usize, WorkerWaker<'_>),
        epoch: u32,
        (begin, wakes): (u64, u32),
    ) {
        let _flush = FlushToZero::enable();
        let facts = self.facts.get();
        let lent = Lent {
            stage: &self.stage,
            seat: &self.seats[worker],
            floor: &self.floor,
            workers: self.seats.len() as u32,
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
        }
        .with_recall(recall);
        if worker == 0 {
            hand.mark_of(begin, TraceEvent::CycleBegin, wakes);
        }
        hand.mark(TraceEvent::Enter, 0);
        // The work is caught as a whole, not each step: where nothing panics it costs nothing.
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.strategy.work(&mut hand))) {
            std::mem::forget(payload);
            hand.recover();
        }
        hand.count();
        hand.put_down();
        hand.mark(
            if worker == 0 {
                TraceEvent::CycleEnd
            } else {
                TraceEvent::Leave
            },
            0,
        );
        // Deferred pieces, until the next cycle: nobody waits for this worker now. One that has left a cycle which is not over
        // may be called back, and sleeps until then.
        while worker > 0
            && self.progress.epoch() == epoch
            && self.progress.is_over(epoch)
            && self.floor.has_turn(self.name)
            && hand.run_piece()
        {}
    }
}

impl<S: Strategy> Job for Shared<S> {
    fn work(&self, worker: usize, epoch: u32, recall: WorkerWaker<'_>) {
        if worker >= self.seats.len() {
            return;
        }
        self.play((worker, recall), epoch, (0, 0));
    }
}

/// The deferred pieces that floors run, between and during cycles.
///
/// None that the cycle to come waits for: that cycle would take the floor's core from it in the middle of the piece, and
/// then wait for a thread that waits for its end. Those are for workers.
struct Beneath<S>(Arc<Shared<S>>);

impl<S: Strategy> Job for Beneath<S> {
    fn work(&self, _worker: usize, _epoch: u32, _recall: WorkerWaker<'_>) {
        let _flush = FlushToZero::enable();
        let Self(shared) = self;
        while shared.floor.has_turn(shared.name)
            && (shared.stage.deferred).run_earliest_from(shared.not_wanted_before())
        {}
    }
}

impl<S> Shared<S> {
    /// Work that is due from this frame on no step waits for before the cycle after the next.
    fn not_wanted_before(&self) -> u64 {
        self.facts.get().position + 2 * u64::from(self.stage.block.0)
    }
}

impl<S: Strategy> Executor for Parallel<S> {
    fn run_cycle(&mut self, now: &CycleInfo<'_>) -> CycleResult {
        self.heard = false;
        let mut ran = CycleResult {
            status: CycleStatus::Refused,
            wakes: 0,
            acquisitions: 0,
        };
        match self.shared.floor.take_turn(self.name) {
            Turn::Refused => return ran,
            // SAFETY: nobody has been given a task of this stage yet.
            Turn::New => unsafe { self.shared.stage.look_who_died() },
            Turn::Ours => {}
        }
        if !self.is_clear() {
            ran.status = CycleStatus::Abandoned;
            return ran;
        }
        let (takes, wakes) = self.counted();
        ran.wakes = self.cycle(now);
        let counted = self.counted();
        ran.acquisitions = (counted.0 - takes) as u32;
        ran.wakes += (counted.1 - wakes) as u32;
        ran.status = if self.done {
            CycleStatus::Complete
        } else {
            CycleStatus::Abandoned
        };
        ran
    }

    fn latency_blocks(&self) -> u32 {
        self.shared.stage.ahead
    }

    fn add_output(&self, channel: u16, into: &mut [f32]) {
        if self.heard {
            // SAFETY: all tasks have run, and only `&mut self` begins a cycle.
            unsafe { self.shared.stage.add_output(channel, into) };
        }
    }

    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        if self.held_up {
            return Err(event);
        }
        // SAFETY: all tasks of the last cycle have run, so whoever is still inside touches none of them.
        unsafe { self.shared.stage.post(node, event) }
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.shared.stage.knows(node)
    }

    fn try_release(&mut self) -> bool {
        self.heard = false;
        let is_clear = self.is_clear();
        let shared = &*self.shared;
        if !is_clear && (self.unsure > 0 || !shared.stage.can_be_left(&shared.seats)) {
            return false;
        }
        // What is stuck keeps its processor and its slots; all else is free. What was accused and has returned since is
        // quarantined just as well.
        shared.stage.disown_accused(&shared.seats);
        let left_late = self.left_late.drain(..);
        left_late.for_each(|step| shared.stage.disown(step));
        self.shared.floor.give_turn(self.name);
        true
    }

    fn error_counts(&self) -> ErrorCounts {
        self.shared.stage.counts()
    }

    fn watchdog(&self) -> Watchdog {
        self.shared.stage.watch(&self.shared.seats)
    }
}

impl<S> Drop for Parallel<S> {
    fn drop(&mut self) {
        // Whoever drops an executor that is held up has not made it rest: the floor stays its own then, since a step may
        // still run. Nothing else can play on it.
        if !self.held_up {
            self.shared.floor.give_turn(self.name);
        }
    }
}
