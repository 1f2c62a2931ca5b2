//! [`ParallelExecutor`]: start and join of a cycle on a worker pool, for any [`Strategy`].

use super::abandoned::{AbandonedCycle, can_leave_workers};
use super::context::CycleContext;
use super::idle_plan::IdlePlan;
use super::info::{CycleInfo, CycleResult, CycleStatus, SharedCycleInfo};
use super::states::StateVisitor;
use super::strategy::Strategy;
use super::watchdog::Watchdog;
use super::worker::{Resume, WorkerContext};
use crate::bound::{Binding, BoundPlan};
use crate::errors::ErrorCounts;
use crate::executor::Executor;
use graph::NodeId;
use plan::{Plan, TraceEvent};
use processor::{Event, ForkAbandoned};
use rt::ftz::FlushToZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use workers::{Job, JobHandle, WorkerPool, WorkerWaker};

/// State shared by the host and the workers of one executor.
struct SharedCycle<S> {
    context: CycleContext,
    info: SharedCycleInfo,
    strategy: S,
}

/// An executor that runs on a worker pool.
pub(crate) struct ParallelExecutor<S> {
    shared: Arc<SharedCycle<S>>,
    job: JobHandle,
    /// Runs deferred pieces on threads of low priority. `None` without deferred jobs or without such threads.
    low_priority_job: Option<JobHandle>,
    epoch: u32,
    /// The last cycle is complete, and the sinks hold its block.
    has_output: bool,
    abandoned: AbandonedCycle,
}

impl<S: Strategy> ParallelExecutor<S> {
    pub(crate) fn new(binding: Binding<'_>, pool: &WorkerPool) -> Self {
        let workers = pool.workers().min(binding.runtime.workers()).max(1);
        let plan = binding.plan;
        let context = CycleContext::new(binding, workers, false);
        let woken = match context.runtime.wakes_all() {
            true => workers,
            false => useful_workers(plan, &context.plan, workers),
        };
        let epoch = context.runtime.first_epoch();
        let shared = Arc::new(SharedCycle {
            strategy: S::new(plan, &context.plan, (workers, epoch)),
            info: SharedCycleInfo::default(),
            context,
        });
        Self {
            job: pool.register(shared.clone(), woken),
            shared,
            low_priority_job: None,
            epoch,
            has_output: false,
            abandoned: AbandonedCycle::default(),
        }
    }

    /// Also runs deferred pieces on the low-priority pool of `pool`, if the plan has deferred jobs and `pool` has one.
    pub(crate) fn with_low_priority(mut self, pool: &WorkerPool) -> Self {
        if !self.shared.context.plan.deferred.is_empty()
            && let Some(pool) = pool.low_priority_pool()
        {
            let job = Arc::new(LowPriorityJob(self.shared.clone()));
            self.low_priority_job = Some(pool.register(job, pool.workers()));
        }
        self
    }

    /// Wakes the low-priority pool if there are pieces for it. Returns the number of threads woken.
    fn wake_low_priority(&self) -> u32 {
        let from = self.shared.first_low_priority_deadline();
        match &self.low_priority_job {
            Some(job) if self.shared.context.plan.deferred.has_piece_due_from(from) => {
                job.start(self.epoch)
            }
            _ => 0,
        }
    }

    /// Numbers of accesses to shared queues and of wakes inside cycles, in all cycles.
    fn totals(&self) -> (u64, u64) {
        // Relaxed: the progress of a complete cycle orders them.
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let slots = self.shared.context.slots.iter();
        slots.fold((0, 0), |(acquisitions, wakes), slot| {
            (
                acquisitions + get(&slot.acquisitions),
                wakes + get(&slot.wakes),
            )
        })
    }

    /// Returns true if the next cycle may begin. After an abandoned cycle, that is when no worker is in a step any
    /// more.
    fn is_clear(&mut self) -> bool {
        let context = &self.shared.context;
        if !self.abandoned.is_pending() {
            return true;
        }
        if self.abandoned.has_workers(context) {
            return false;
        }
        self.shared.strategy.reset(&context.plan);
        true
    }

    /// Runs one cycle to its end or until it is abandoned. Returns the number of workers woken.
    fn start_and_join(&mut self, info: &CycleInfo, inputs: &[&[f32]]) -> u32 {
        let shared = &*self.shared;
        let (plan, progress) = (&shared.context.plan, &shared.context.progress);
        let is_traced = shared.context.runtime.is_traced();
        let begin = if is_traced { rt::stamp::now() } else { 0 };
        {
            // SAFETY: the last cycle is complete, or no worker is in a step of it any more (`is_clear`).
            let mut idle = unsafe { IdlePlan::new(plan) };
            idle.clear_left(&shared.context.slots);
            idle.quarantine_overdue(&shared.context.slots);
            idle.begin_cycle(info, inputs);
        }
        shared.info.set(info, is_traced);
        self.epoch = self.epoch.wrapping_add(1);
        progress.begin(self.epoch, plan.len());
        shared.strategy.begin(plan, self.epoch);
        let wakes = self.job.start(self.epoch);
        shared.run_worker((0, self.job.waker()), self.epoch, (begin, wakes));
        // A processor may swallow the unwinding out of its fork, and so end a step whose branches still run.
        let is_complete = progress.is_complete() && !progress.is_abandoned(self.epoch);
        self.has_output = is_complete && info.has_block(plan.latency_blocks, plan.block);
        self.abandoned.set_pending(!is_complete);
        if !is_complete {
            plan.mark_copies_stale();
        }
        wakes + self.wake_low_priority()
    }
}

/// Number of workers that the plan can keep busy on average: its work divided by its critical path. All `workers` for a
/// plan with a processor that forks or defers work.
fn useful_workers(plan: &Plan, bound: &BoundPlan, workers: usize) -> usize {
    let mut processors = bound.all_steps().filter_map(|s| s.cold.processor.as_ref());
    let work: u64 = plan.steps.iter().map(|s| s.cost.0).sum();
    let critical_path = plan.static_levels.iter().map(|l| l.0).max().unwrap_or(0);
    if critical_path == 0 || processors.any(|p| p.lanes > 1 || !p.runners.is_empty()) {
        return workers;
    }
    workers.min(work.div_ceil(critical_path).max(1) as usize)
}

impl<S: Strategy> SharedCycle<S> {
    /// Runs one worker's part of the cycle `epoch`, on that worker's thread. The host began the cycle at stamp `begin`
    /// and woke `wakes` workers.
    fn run_worker(
        &self,
        (worker, waker): (usize, WorkerWaker<'_>),
        epoch: u32,
        (begin, wakes): (u64, u32),
    ) {
        let _flush = FlushToZero::enable();
        let (info, is_traced) = self.info.get();
        let services = self.context.services((worker, epoch), &info);
        let is_host = worker == 0;
        // SAFETY: each worker of a pool is one thread, and the host is worker 0.
        let mut context = unsafe {
            WorkerContext::new(&self.context, (worker, epoch), (info, is_traced), &services)
        }
        .with_waker(waker);
        if is_host {
            context.trace_at(begin, TraceEvent::CycleBegin, wakes);
        }
        context.trace(TraceEvent::Enter, 0);
        let mut local = S::Local::default();
        // A panic is caught around all tasks, not around each step: this costs nothing as long as nothing panics.
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| {
            self.run_tasks(&mut context, &mut local)
        })) {
            let is_abandoned = payload.is::<ForkAbandoned>();
            std::mem::forget(payload);
            if is_abandoned {
                context.leave_fork();
                break;
            }
            context.recover();
        }
        context.publish_counts();
        context.set_idle();
        let end = if is_host {
            TraceEvent::CycleEnd
        } else {
            TraceEvent::Leave
        };
        context.trace(end, 0);
        if !is_host {
            self.run_deferred(&mut context);
        }
    }

    /// Runs tasks until there is none left for this worker.
    ///
    /// Tasks may cost less than a call. So the loop is one function, with all that a task usually needs inlined.
    #[inline]
    fn run_tasks(&self, worker: &mut WorkerContext<'_>, local: &mut S::Local) {
        let mut kept = match worker.resume() {
            Resume::Begin => self.strategy.enter(worker),
            Resume::Release(task) => self.release_after_panic(worker, local, task),
            Resume::Stop => return,
        };
        while let Some(task) = self.strategy.next(worker, local, kept) {
            // SAFETY: the contract of `Strategy`: the task is this worker's, and all that it waits for has run.
            if !unsafe { worker.run_task(task) } {
                return;
            }
            kept = self.strategy.release(worker, local, task);
        }
        self.strategy.leave(worker);
    }

    /// Releases a task in which a step panicked. Kept out of the loop of `run_tasks`.
    #[cold]
    #[inline(never)]
    fn release_after_panic(
        &self,
        worker: &mut WorkerContext<'_>,
        local: &mut S::Local,
        task: u32,
    ) -> Option<u32> {
        self.strategy.release(worker, local, task)
    }

    /// Runs deferred pieces until the next cycle: no thread waits for this worker now. A worker that left a cycle which
    /// is not over runs none: it may be woken for that cycle again, and sleeps until then.
    fn run_deferred(&self, worker: &mut WorkerContext<'_>) {
        let progress = &self.context.progress;
        while progress.epoch() == worker.epoch
            && progress.is_over(worker.epoch)
            && self.context.owns_runtime()
            && worker.run_deferred_piece()
        {}
    }

    /// First deadline that the low-priority pool serves. No step of the next cycle waits for work that is due then or
    /// later, and live none of the cycles for which the system may keep such a thread off its core.
    fn first_low_priority_deadline(&self) -> u64 {
        let (info, _) = self.info.get();
        let after_next = info.position + 2 * u64::from(self.context.plan.block.0);
        after_next.max(info.low_priority_from)
    }
}

impl<S: Strategy> Job for SharedCycle<S> {
    fn work(&self, worker: usize, epoch: u32, waker: WorkerWaker<'_>) {
        if worker < self.context.slots.len() {
            self.run_worker((worker, waker), epoch, (0, 0));
        }
    }
}

/// Deferred pieces on threads of low priority, during cycles and between them.
///
/// It leaves out pieces that are due in the next cycles; workers run those. In the middle of such a piece a cycle, or
/// another program, would take the thread's core. Then the step would wait for the thread, and the thread for its core.
struct LowPriorityJob<S>(Arc<SharedCycle<S>>);

impl<S: Strategy> Job for LowPriorityJob<S> {
    fn work(&self, _worker: usize, _epoch: u32, _waker: WorkerWaker<'_>) {
        let _flush = FlushToZero::enable();
        let Self(shared) = self;
        let context = &shared.context;
        while context.owns_runtime()
            && (context.plan.deferred).run_earliest_from(shared.first_low_priority_deadline())
        {
        }
    }
}

impl<S: Strategy> Executor for ParallelExecutor<S> {
    fn run_cycle(&mut self, info: &CycleInfo, inputs: &[&[f32]]) -> CycleResult {
        self.has_output = false;
        if !self.shared.context.acquire_runtime() {
            return CycleResult::new(CycleStatus::Refused, self.error_counts().total());
        }
        if !self.is_clear() {
            return CycleResult::new(CycleStatus::Abandoned, self.error_counts().total());
        }
        let (acquisitions, wakes) = self.totals();
        let woken_at_start = self.start_and_join(info, inputs);
        let totals = self.totals();
        CycleResult {
            status: match self.abandoned.is_pending() {
                true => CycleStatus::Abandoned,
                false => CycleStatus::Complete,
            },
            wakes: woken_at_start + (totals.1 - wakes) as u32,
            acquisitions: (totals.0 - acquisitions) as u32,
            errors: self.error_counts().total(),
        }
    }

    fn latency_blocks(&self) -> u32 {
        self.shared.context.plan.latency_blocks
    }

    fn add_output(&self, channel: u16, into: &mut [f32]) {
        if self.has_output {
            // SAFETY: all tasks have run, and only `&mut self` begins a cycle.
            unsafe { IdlePlan::new(&self.shared.context.plan) }.add_output(channel, into);
        }
    }

    fn write_outputs(&self, outputs: &mut [&mut [f32]]) {
        if !self.has_output {
            return outputs.iter_mut().for_each(|output| output.fill(0.0));
        }
        // SAFETY: as in `add_output`.
        unsafe { IdlePlan::new(&self.shared.context.plan) }.write_outputs(outputs);
    }

    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        if self.abandoned.is_pending() {
            return Err(event);
        }
        // SAFETY: all tasks of the last cycle have run. A worker that is still inside has none.
        unsafe { IdlePlan::new(&self.shared.context.plan) }.push_event(node, event)
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.shared.context.plan.step_of_node(node).is_some()
    }

    fn try_release(&mut self) -> bool {
        self.has_output = false;
        let is_clear = self.is_clear();
        let context = &self.shared.context;
        if !is_clear && !can_leave_workers(context) {
            return false;
        }
        // Stuck steps keep their processors and their slots; everything else is free. Steps that were overdue and have
        // returned since are quarantined as well.
        context.quarantine_overdue_processors();
        context.runtime.release(context.id);
        true
    }

    fn hand_over_events(&mut self, cycles: u32, next: &mut dyn Executor) {
        if self.abandoned.is_pending() {
            // A worker may still be in a step, and its events with it.
            return;
        }
        // SAFETY: all tasks of the last cycle have run, and no cycle has begun since.
        let mut idle = unsafe { IdlePlan::new(&self.shared.context.plan) };
        idle.take_kept_events(cycles, |node, event| {
            // What finds no node or no room there is lost: its node has left the graph.
            let _ = next.push_kept_event(node, event);
        });
    }

    fn push_kept_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        if self.abandoned.is_pending() {
            return Err(event);
        }
        // SAFETY: as in `push_event`.
        unsafe { IdlePlan::new(&self.shared.context.plan) }.push_kept_event(node, event)
    }

    fn visit_states(&mut self, visitor: &mut dyn StateVisitor, position: u64) -> bool {
        if self.abandoned.is_pending() || !self.shared.context.acquire_runtime() {
            return false;
        }
        // SAFETY: the runtime is ours, all tasks of the last cycle have run, and no cycle has begun since.
        let mut idle = unsafe { IdlePlan::new(&self.shared.context.plan) };
        idle.visit_states(visitor, position);
        true
    }

    fn error_counts(&self) -> ErrorCounts {
        self.shared.context.plan.errors.read()
    }

    fn watchdog(&self) -> Watchdog {
        Watchdog::new(&self.shared.context)
    }
}

impl<S> Drop for ParallelExecutor<S> {
    fn drop(&mut self) {
        // An executor that is dropped after an abandoned cycle keeps the runtime: a step may still run, and no other
        // executor may run on it then.
        if !self.abandoned.is_pending() {
            let context = &self.shared.context;
            context.runtime.release(context.id);
        }
    }
}
