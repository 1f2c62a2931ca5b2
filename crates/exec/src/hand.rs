//! One worker in one cycle: what it holds, and what it lends to the steps it runs.

use crate::floor::{BackoffPolicy, SharedRuntime};
use crate::stage::{Stage, Task};
use crate::stealing::Debt;
use plan::TraceEvent;
use processor::{ProcessInfo, ProcessServices};
use rt::fence::AsymmetricFence;
use rt::fork::ForkCell;
use rt::pad::CachePadded;
use rt::progress::CycleProgress;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use workers::WorkerWaker;

/// No step, or no task.
pub(crate) const NONE: u32 = u32::MAX;
/// So often a worker looks again before it may leave its core to others.
const LOOKS: u32 = 4;

/// Where one worker sits: what others may see of it.
#[derive(Default)]
pub(crate) struct Seat {
    /// Which step it runs; [`NONE`] while it runs none. For whoever must say what did not return.
    pub(crate) current: AtomicU32,
    /// In which cycle (its low 32 bits).
    pub(crate) cycle: AtomicU32,
    /// Set from outside: the step, plus 1, that `current` has been for too long; 0 for none.
    pub(crate) accused: AtomicU32,
    /// What `current` was just before the last cycle that was given up was. The host's own.
    pub(crate) held: AtomicU32,
    /// Takes from shared queues, all cycles together.
    pub(crate) takes: AtomicU64,
    /// Wakes inside cycles, all together.
    pub(crate) wakes: AtomicU64,
    pub(crate) fork: ForkCell,
}

/// The seats of a cycle.
pub(crate) type Seats = Arc<[CachePadded<Seat>]>;

pub(crate) fn seats(workers: usize) -> Seats {
    let seat = || {
        CachePadded(Seat {
            current: AtomicU32::new(NONE),
            held: AtomicU32::new(NONE),
            ..Seat::default()
        })
    };
    (0..workers).map(|_| seat()).collect()
}

/// What is the same for all workers of a cycle.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) position: u64,
    /// Blocks that begin before this are not played.
    pub(crate) first: u64,
    /// Nor are those that do not begin before this.
    pub(crate) end: u64,
    pub(crate) cycle: u64,
    pub(crate) give_up: u64,
    pub(crate) help_until: u64,
    pub(crate) traced: bool,
}

/// After a cycle that was given up: whether `seat`'s worker is in a step, and in which. Only steps that were begun before
/// that can be; with `fence.heavy()` before it, one that is not in a step now begins none.
pub(crate) fn step_of(seat: &Seat) -> Option<u32> {
    // Acquire pairs with `put_down`.
    Some(seat.current.load(Ordering::Acquire)).filter(|step| *step != NONE)
}

/// What a worker lends to steps.
pub(crate) struct Lent<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) seat: &'a Seat,
    pub(crate) floor: &'a SharedRuntime,
    pub(crate) workers: u32,
    pub(crate) help_until: u64,
}

impl ProcessServices for Lent<'_> {
    fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        self.seat.fork.fork(lanes, work);
    }

    fn workers(&self) -> u32 {
        self.workers
    }

    fn count_late(&self) {
        // Relaxed: only a count.
        self.stage.troubles.late.fetch_add(1, Ordering::Relaxed);
    }

    fn may_help(&self) -> bool {
        self.help_until == u64::MAX || self.floor.now() < self.help_until
    }
}

/// How a worker goes on.
pub(crate) enum Resume {
    /// It has not run anything in this cycle yet.
    Begin,
    /// It has run this task to its end; those that wait for it are still to be released.
    Release(u32),
    /// The cycle was given up.
    Stop,
}

/// One worker in one cycle.
pub(crate) struct Hand<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) worker: usize,
    pub(crate) epoch: u32,
    pub(crate) seats: &'a [CachePadded<Seat>],
    seat: &'a Seat,
    progress: &'a CycleProgress,
    floor: &'a SharedRuntime,
    moment: ProcessInfo<'a>,
    facts: Facts,
    /// Steps run since the last time they were counted.
    pub(crate) done: u32,
    /// Takes from shared queues since then.
    pub(crate) takes: u64,
    /// Workers that it has woken since then.
    wakes: u32,
    recall: Option<WorkerWaker<'a>>,
    /// What work stealing has not counted off yet.
    pub(crate) debt: Debt,
    fence: AsymmetricFence,
    /// Which step it runs or ran last.
    pub(crate) current: u32,
    /// Of which task; [`NONE`] before the first.
    task: u32,
    /// Whether `current` broke off with a panic, and what comes after it in its task has not run yet.
    broke: bool,
    /// Whether it waits for nothing any more.
    gone: bool,
    /// Whether some stages of a pipeline have nothing to play in this cycle.
    partial: bool,
    /// Whether it is partial or traced.
    unusual: bool,
}

impl<'a> Hand<'a> {
    /// # Safety
    ///
    /// The caller is the thread of worker `worker`, and runs tasks of `stage` that it was given for this epoch only.
    pub(crate) unsafe fn new(
        stage: &'a Stage,
        floor: &'a SharedRuntime,
        (worker, seats): (usize, &'a [CachePadded<Seat>]),
        (progress, epoch): (&'a CycleProgress, u32),
        facts: Facts,
        lent: &'a Lent<'a>,
    ) -> Self {
        let seat = &seats[worker];
        let partial = stage.is_partial(&facts);
        // Relaxed: for whoever looks from outside (`Watchdog`).
        seat.cycle.store(facts.cycle as u32, Ordering::Relaxed);
        Self {
            stage,
            worker,
            epoch,
            seats,
            seat,
            progress,
            floor,
            moment: ProcessInfo {
                frames: stage.block.0,
                offset: 0,
                position: facts.position,
                is_whole_block: true,
                cycle: facts.cycle,
                device_inputs: &stage.device,
                services: lent,
            },
            facts,
            done: 0,
            takes: 0,
            wakes: 0,
            recall: None,
            debt: Debt::NOTHING,
            fence: floor.fence(),
            current: NONE,
            task: NONE,
            broke: false,
            gone: false,
            partial,
            unusual: facts.traced || partial,
        }
    }

    /// With a way to call workers back.
    pub(crate) fn with_recall(mut self, recall: WorkerWaker<'a>) -> Self {
        self.recall = Some(recall);
        self
    }

    /// Calls a worker back that has left this cycle.
    pub(crate) fn recall(&mut self, worker: usize) {
        self.wakes += self.recall.map_or(0, |recall| recall.wake(worker));
    }

    /// Runs the steps of one task; `false` where the cycle was given up before all have run, and then nothing may be run
    /// or released any more.
    ///
    /// # Safety
    ///
    /// The strategy gave this task to this worker for this cycle, after all it waits for.
    #[inline]
    pub(crate) unsafe fn run(&mut self, task: u32) -> bool {
        let Task { from, to, .. } = self.stage.tasks[task as usize];
        self.task = task;
        // SAFETY: the caller's promise; within a task each step waits only for steps before it.
        (from..to).all(|step| unsafe { self.run_step(step) })
    }

    /// Runs one step; `false` where the cycle was given up before it began, and then it must not be run any more.
    ///
    /// # Safety
    ///
    /// The step's task is this worker's for this cycle, and all that the step waits for has run.
    #[inline(always)]
    pub(crate) unsafe fn run_step(&mut self, step: u32) -> bool {
        self.current = step;
        // Relaxed: with the light fence, and for those who look from outside.
        self.seat.current.store(step, Ordering::Relaxed);
        // pairs with the heavy fence in `Parallel::who_is_in`: either we see that the cycle was given up, or the host sees that we
        // are in this step.
        self.fence.light();
        if self.is_abandoned() {
            // At once, so that nobody is accused of a step that was never begun; what was run before is counted first.
            self.count();
            self.put_down();
            return false;
        }
        if self.unusual {
            // SAFETY: the caller's promise.
            unsafe { self.run_unusual(step) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.stage.run(step, &self.moment) };
            self.done += 1;
        }
        true
    }

    /// The same without asking whether the cycle was given up: for a worker that nobody waits for, since it is alone.
    ///
    /// # Safety
    ///
    /// As `run_step`.
    #[inline(always)]
    pub(crate) unsafe fn run_step_alone(&mut self, step: u32) {
        self.current = step;
        // Relaxed: for those who look from outside.
        self.seat.current.store(step, Ordering::Relaxed);
        if self.unusual {
            // SAFETY: the caller's promise.
            unsafe { self.run_unusual(step) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.stage.run(step, &self.moment) };
        }
    }

    /// In a cycle that is traced, or in which stages of a pipeline have nothing to play.
    ///
    /// # Safety
    ///
    /// As `run_step`.
    #[inline(never)]
    unsafe fn run_unusual(&mut self, step: u32) {
        if !self.partial || self.stage.plays(step, &self.facts) {
            // SAFETY: the caller's promise.
            unsafe { self.stage.run(step, &self.moment) };
        }
        self.done += 1;
        if self.facts.traced {
            self.mark(TraceEvent::Step, step);
        }
    }

    /// After a panic in `run`: the step is silent from now on, and counts as done.
    pub(crate) fn recover(&mut self) {
        let step = &self.stage.steps[self.current as usize];
        self.stage.bury(step);
        // SAFETY: it is still ours: it broke off while we ran it.
        unsafe { self.stage.hush(self.current, &self.moment) };
        self.done += 1;
        self.broke = true;
        if self.facts.traced {
            self.mark(TraceEvent::Step, self.current);
        }
    }

    /// How to go on: at the beginning, or after a step broke off. Then the rest of its task is run here.
    pub(crate) fn resume(&mut self) -> Resume {
        if !std::mem::take(&mut self.broke) {
            return Resume::Begin;
        }
        let rest = self.current + 1..self.stage.tasks[self.task as usize].to;
        for step in rest {
            // SAFETY: the task is still ours; a step that breaks off brings us here again.
            if unsafe { !self.run_step(step) } {
                return Resume::Stop;
            }
        }
        Resume::Release(self.task)
    }

    /// Counts what it has run and taken since the last time.
    pub(crate) fn count(&mut self) {
        if self.takes > 0 {
            // Relaxed: travels with the progress.
            self.seats[self.worker]
                .takes
                .fetch_add(self.takes, Ordering::Relaxed);
            self.takes = 0;
        }
        if self.wakes > 0 {
            // Relaxed: as above.
            self.seats[self.worker]
                .wakes
                .fetch_add(self.wakes.into(), Ordering::Relaxed);
            self.wakes = 0;
        }
        if self.done > 0 {
            self.progress.finish(self.done);
            self.done = 0;
        }
    }

    /// Whether there is nothing to do in this cycle any more, for this worker.
    pub(crate) fn is_over(&self) -> bool {
        self.gone || self.progress.is_over(self.epoch)
    }

    /// Whether the cycle has been given up.
    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.progress.is_abandoned(self.epoch)
    }

    /// When the time to give the cycle up has come, the host does so, and any other worker goes: the host itself may be
    /// stuck, and nobody should spin as long as that. Reads a clock where there is such a time at all.
    pub(crate) fn give_up_in_time(&mut self) {
        if self.facts.give_up == u64::MAX || self.floor.now() <= self.facts.give_up {
            return;
        }
        if self.worker == 0 {
            for seat in self.seats {
                // Relaxed, both: who is found there later has been there all the time, and that is all it says.
                seat.held
                    .store(seat.current.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            self.progress.abandon(self.epoch);
            self.mark(TraceEvent::CycleAborted, 0);
        }
        self.gone = true;
    }

    /// Says that it runs nothing now.
    pub(crate) fn put_down(&self) {
        // Release pairs with `task_of`: what we did in our tasks, and our count of them, travel.
        self.seats[self.worker]
            .current
            .store(NONE, Ordering::Release);
    }

    /// A line in the trace, if there is one.
    #[inline]
    pub(crate) fn mark(&mut self, mark: TraceEvent, index: u32) {
        if self.facts.traced {
            // SAFETY: `new`'s promise: we are this worker, in this cycle.
            unsafe { self.floor.write(self.worker, self.facts.cycle, mark, index) };
        }
    }

    /// As [`mark`](Self::mark), of something that was at `stamp`.
    #[cold]
    pub(crate) fn mark_of(&mut self, stamp: u64, mark: TraceEvent, index: u32) {
        if self.facts.traced {
            // SAFETY: as in `mark`.
            unsafe {
                self.floor
                    .write_of(stamp, self.worker, self.facts.cycle, mark, index);
            }
        }
    }

    /// Waits a little, after a fruitless look; and from time to time looks at the clock.
    pub(crate) fn idle(&mut self, rounds: &mut u32) {
        *rounds += 1;
        if *rounds > LOOKS && self.leave_core() {
            return self.give_up_in_time();
        }
        for _ in 0..(*rounds).min(8) {
            std::hint::spin_loop();
        }
        if rounds.is_multiple_of(16) {
            self.give_up_in_time();
        }
    }

    /// The one wait that enters the kernel inside a cycle: only who asked for it (`--wait sleep`), or has more workers than
    /// cores, gets it. Whether it did.
    fn leave_core(&self) -> bool {
        match self.floor.idle() {
            BackoffPolicy::Spin => return false,
            BackoffPolicy::Yield => std::thread::yield_now(),
            BackoffPolicy::Sleep => std::thread::sleep(Duration::from_micros(20)),
        }
        true
    }

    /// Looks for a task until there is one, and helps others in between; `None` when there will be none any more.
    #[cold]
    pub(crate) fn seek(&mut self, look: impl Fn(&mut Self) -> Option<u32>) -> Option<u32> {
        self.count();
        self.put_down();
        self.mark(TraceEvent::Wait, 0);
        let mut rounds = 0;
        while !self.is_over() {
            let found = look(self);
            if found.is_some() {
                self.mark(TraceEvent::Resume, 0);
                return found;
            }
            if self.help_others() {
                self.give_up_in_time();
            } else {
                self.idle(&mut rounds);
            }
        }
        None
    }

    /// Does something useful for others, while it waits: a lane of somebody's fork, or a deferred piece. Whether there was
    /// anything.
    pub(crate) fn help_others(&mut self) -> bool {
        let begin = self.now_if_traced();
        let helped = self.seats.iter().find_map(|seat| {
            // Relaxed: only for the trace.
            let step = seat.current.load(Ordering::Relaxed);
            (seat.fork.has_branches() && seat.fork.help()).then_some(step)
        });
        let did = match helped {
            Some(step) => Some((TraceEvent::ForkLane, step)),
            None => (self.stage.deferred.run_earliest()).then_some((TraceEvent::DeferredPiece, 0)),
        };
        if let Some((mark, index)) = did {
            self.mark_of(begin, TraceEvent::Resume, 0);
            self.mark(mark, index);
            self.mark(TraceEvent::Wait, 0);
        }
        did.is_some()
    }

    /// Runs a deferred piece, while it waits for nothing any more; whether there was one.
    pub(crate) fn run_piece(&mut self) -> bool {
        let begin = self.now_if_traced();
        let ran = self.stage.deferred.run_earliest();
        if ran {
            self.mark_of(begin, TraceEvent::Resume, 0);
            self.mark(TraceEvent::DeferredPiece, 0);
        }
        ran
    }

    /// Deferred pieces as long as there is time, for who has no other worker beside it.
    pub(crate) fn use_time(&mut self) {
        let until = self.facts.help_until;
        while until != u64::MAX
            && self.stage.deferred.earliest_due().is_some()
            && self.floor.now() < until
        {
            self.run_piece();
        }
    }

    /// The time, where it is to be recorded.
    fn now_if_traced(&self) -> u64 {
        match self.facts.traced {
            true => rt::stamp::now(),
            false => 0,
        }
    }
}
