//! [`WorkerContext`]: one worker in one cycle. It runs the tasks that the strategy gives it.

use super::context::{CycleContext, StepServices};
use super::info::CycleInfo;
use super::slot::{NONE, WorkerSlot};
use crate::bound::BoundPlan;
use crate::step::{PlanBlock, StepClaim, run_claimed, run_claimed_alone, silence_panicked};
use plan::TraceEvent;
use rt::fence::AsymmetricFence;
use std::ops::Range;
use std::sync::atomic::Ordering;
use workers::WorkerWaker;

/// Point at which a worker continues its cycle.
pub(crate) enum Resume {
    /// It has run no task in this cycle yet.
    Begin,
    /// It has run this task to its end. Its successors are still to be released.
    Release(u32),
    /// The cycle was abandoned.
    Stop,
}

/// One worker in one cycle.
pub(crate) struct WorkerContext<'a> {
    pub(super) cycle: &'a CycleContext,
    pub(crate) plan: &'a BoundPlan,
    /// Number of the worker; 0 is the host.
    pub(crate) index: usize,
    pub(crate) epoch: u32,
    pub(super) slot: &'a WorkerSlot,
    pub(super) info: CycleInfo,
    pub(super) is_traced: bool,
    at: PlanBlock<'a>,
    pub(super) fence: AsymmetricFence,
    waker: Option<WorkerWaker<'a>>,
    /// Step that it runs, or ran last.
    current: u32,
    /// The task of that step; [`NONE`] before the first.
    task: u32,
    /// `current` panicked, and the rest of its task has not run yet.
    has_panicked: bool,
    /// It stopped waiting because the cycle takes too long.
    pub(super) has_timed_out: bool,
    /// Some pipeline stages have no block in this cycle.
    is_partial: bool,
    /// The cycle is partial or traced.
    needs_checks: bool,
    /// Steps that it has run since `publish_counts`.
    steps_done: u32,
    /// Accesses to shared queues since then.
    pub(crate) acquisitions: u64,
    /// Wake calls since then.
    wakes: u32,
}

impl<'a> WorkerContext<'a> {
    /// Context of `worker` in the cycle `epoch`, whose info is `info`.
    ///
    /// # Safety
    ///
    /// The caller is the thread of `worker`, in a cycle of the executor that owns the runtime.
    pub(crate) unsafe fn new(
        cycle: &'a CycleContext,
        (worker, epoch): (usize, u32),
        (info, is_traced): (CycleInfo, bool),
        services: &'a StepServices<'a>,
    ) -> Self {
        let plan = &cycle.plan;
        let slot = &cycle.slots[worker];
        let is_partial = info.is_partial(plan.latency_blocks, plan.block);
        slot.begin_cycle(info.cycle, services.has_limit());
        Self {
            cycle,
            plan,
            index: worker,
            epoch,
            slot,
            info,
            is_traced,
            at: PlanBlock {
                plan,
                info: plan.process_info(&info, services),
            },
            fence: cycle.runtime.fence(),
            waker: None,
            current: NONE,
            task: NONE,
            has_panicked: false,
            has_timed_out: false,
            is_partial,
            needs_checks: is_traced || is_partial,
            steps_done: 0,
            acquisitions: 0,
            wakes: 0,
        }
    }

    /// Sets how it wakes other workers.
    pub(crate) fn with_waker(mut self, waker: WorkerWaker<'a>) -> Self {
        self.wakes += waker.woken();
        self.waker = Some(waker);
        self
    }

    /// Wakes the next workers that no thread has woken for this cycle.
    pub(super) fn wake_next(&mut self) {
        self.wakes += self.waker.map_or(0, WorkerWaker::wake_next);
    }

    /// Wakes a worker that has left this cycle.
    pub(crate) fn wake(&mut self, worker: usize) {
        self.wakes += self.waker.map_or(0, |waker| waker.wake(worker));
    }

    /// Runs the steps of `task`. Returns false if the cycle was abandoned before all have run: then nothing may be run
    /// or released any more.
    ///
    /// # Safety
    ///
    /// The strategy gave this task to this worker, for this cycle (the contract of `Strategy`).
    #[inline(always)]
    pub(crate) unsafe fn run_task(&mut self, task: u32) -> bool {
        let steps = self.plan.tasks[task as usize].steps;
        self.task = task;
        // SAFETY: the task is ours, and within it a step waits only for steps before it.
        unsafe { self.run_steps(steps.start..steps.end) }
    }

    /// Runs steps of the task. Returns false if the cycle was abandoned before all have run.
    ///
    /// # Safety
    ///
    /// As [`run_step`](Self::run_step), for the first of them.
    #[inline(always)]
    unsafe fn run_steps(&mut self, steps: Range<u32>) -> bool {
        let mut next = steps.start;
        while next < steps.end {
            // SAFETY: the contract is the same, and the steps before `next` have run.
            match unsafe { self.run_step(next) } {
                0 => return false,
                count => next += count,
            }
        }
        true
    }

    /// Runs one step, and those behind it that are of its row. Returns the number of steps; 0 if the cycle was abandoned before it
    /// began: then the step must not run any more.
    ///
    /// # Safety
    ///
    /// The task of the step is this worker's, and the steps before it in the task have run.
    #[inline(always)]
    unsafe fn run_step(&mut self, step: u32) -> u32 {
        self.current = step;
        // Relaxed: ordered by the fence below; the watchdog only needs the number.
        self.slot.current.store(step, Ordering::Relaxed);
        // pairs with the heavy fence in `AbandonedCycle::has_workers`: either we see that the cycle was abandoned,
        // or the host sees that we are in this step.
        self.fence.light();
        if self.is_abandoned() {
            self.stop_before_step();
            return 0;
        }
        // SAFETY: the step is ours, and the host has seen us in it or will.
        let count = 1 + unsafe { self.run_claimed_step(step) };
        self.steps_done += count;
        count
    }

    /// Leaves an abandoned cycle before a step that was published: at once, so that no thread marks it as overdue. What
    /// ran before is counted first.
    #[cold]
    fn stop_before_step(&mut self) {
        self.publish_counts();
        self.slot.set_idle();
    }

    /// Runs one step without checking if the cycle was abandoned: for the only worker of a plan, for which no thread
    /// waits. Returns the number of steps behind it that have run too.
    ///
    /// # Safety
    ///
    /// The plan has one worker, and the steps before this one have run.
    #[inline(always)]
    pub(crate) unsafe fn run_step_alone(&mut self, step: u32) -> u32 {
        self.current = step;
        // Relaxed: the watchdog only needs the number.
        self.slot.current.store(step, Ordering::Relaxed);
        // SAFETY: with one worker every step is ours, and the steps of a plan are in an order in which they may run.
        unsafe { self.run_claimed_step(step) }
    }

    /// Runs a step that is published. Returns the number of steps behind it that have run too.
    ///
    /// # Safety
    ///
    /// The step is this worker's, and all that it waits for has run.
    #[inline(always)]
    unsafe fn run_claimed_step(&mut self, step: u32) -> u32 {
        if self.needs_checks {
            // SAFETY: the contract is the same.
            unsafe { self.run_step_checked(step) };
            return 0;
        }
        // SAFETY: rules 1 and 2 of a claim are our contract, and `at` describes the plan's block.
        run_claimed(unsafe { StepClaim::new(&self.at, &self.plan.steps[step as usize]) })
    }

    /// Runs a step in a cycle that is traced, or in which some pipeline stages have no block.
    ///
    /// # Safety
    ///
    /// As `run_claimed_step`.
    #[inline(never)]
    unsafe fn run_step_checked(&mut self, step: u32) {
        if !self.is_partial || self.has_block(step) {
            // SAFETY: as in `run_claimed_step`.
            run_claimed_alone(unsafe { StepClaim::new(&self.at, &self.plan.steps[step as usize]) });
        }
        self.trace(TraceEvent::Step, step);
    }

    /// Returns true if the pipeline stage of `step` has a block in this cycle.
    fn has_block(&self, step: u32) -> bool {
        let lag = self.plan.steps[step as usize].cold.lag.as_ref();
        let cycles = lag.map_or(0, |lag| lag.cycles);
        self.info.has_block(cycles, self.plan.block)
    }

    /// After a panic in the step `current`: quarantines it, and counts it as done.
    pub(crate) fn recover(&mut self) {
        // SAFETY: the step is still ours: it panicked while we ran it.
        let mut claim =
            unsafe { StepClaim::new(&self.at, &self.plan.steps[self.current as usize]) };
        claim.quarantine();
        silence_panicked(&mut claim);
        self.steps_done += 1;
        self.has_panicked = true;
        self.trace(TraceEvent::Step, self.current);
    }

    /// Leaves the step `current`, whose fork was abandoned with the cycle. Other workers may still be in branches of it.
    #[cold]
    pub(super) fn leave_fork(&mut self) {
        if self.index == 0 {
            self.trace(TraceEvent::CycleAborted, 0);
        }
        self.slot.mark_left();
        self.has_timed_out = true;
    }

    /// Continues at the beginning of the cycle, or after a step panicked. In the second case it runs the rest of the
    /// task.
    pub(crate) fn resume(&mut self) -> Resume {
        if !std::mem::take(&mut self.has_panicked) {
            return Resume::Begin;
        }
        let rest = self.current + 1..self.plan.tasks[self.task as usize].steps.end;
        // SAFETY: the task is still ours. If one of these panics too, we come here again.
        match unsafe { self.run_steps(rest) } {
            true => Resume::Release(self.task),
            false => Resume::Stop,
        }
    }

    /// Publishes the numbers of steps, queue accesses and wakes since the last call.
    pub(crate) fn publish_counts(&mut self) {
        // Relaxed, both: they travel with the progress below.
        if self.acquisitions > 0 {
            self.slot
                .acquisitions
                .fetch_add(self.acquisitions, Ordering::Relaxed);
            self.acquisitions = 0;
        }
        if self.wakes > 0 {
            self.slot
                .wakes
                .fetch_add(self.wakes.into(), Ordering::Relaxed);
            self.wakes = 0;
        }
        if self.steps_done > 0 {
            self.cycle.progress.finish(self.steps_done);
            self.steps_done = 0;
        }
    }

    /// Returns true if the cycle was abandoned.
    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.cycle.progress.is_abandoned(self.epoch)
    }

    /// Publishes that the worker is in no step.
    pub(crate) fn set_idle(&self) {
        self.slot.set_idle();
    }

    /// Writes an event to the trace, if the cycle is traced.
    #[inline]
    pub(crate) fn trace(&mut self, event: TraceEvent, index: u32) {
        if self.is_traced {
            self.write_trace(rt::stamp::now(), event, index);
        }
    }

    /// Writes an event that happened at `stamp` to the trace, if the cycle is traced.
    #[cold]
    pub(crate) fn trace_at(&mut self, stamp: u64, event: TraceEvent, index: u32) {
        if self.is_traced {
            self.write_trace(stamp, event, index);
        }
    }

    #[inline]
    fn write_trace(&mut self, stamp: u64, event: TraceEvent, index: u32) {
        let at = (self.index, self.info.cycle);
        // SAFETY: the contract of `new`: this is the worker's thread, in this cycle.
        unsafe { self.cycle.runtime.trace_at(stamp, at, event, index) };
    }
}
