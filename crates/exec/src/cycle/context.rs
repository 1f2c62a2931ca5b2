//! [`CycleContext`]: state that the threads of one executor share in every cycle.

use super::idle_plan::IdlePlan;
use super::info::CycleInfo;
use super::slot::{WorkerSlots, worker_slots};
use super::wait::back_off;
use crate::bound::{Binding, BoundPlan, bind, join_banks, join_rows};
use crate::errors::ErrorKind;
use crate::runtime::SharedRuntime;
use processor::{ForkAbandoned, ForkTask, ProcessServices};
use rt::owner::Acquired;
use rt::pad::CachePadded;
use rt::progress::CycleProgress;
use rt::stamp::TickScale;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Nanos;

/// State shared by the threads of one executor.
pub(crate) struct CycleContext {
    pub(crate) plan: BoundPlan,
    pub(crate) runtime: Arc<SharedRuntime>,
    /// ID of the executor in `runtime`.
    pub(crate) id: u64,
    pub(crate) slots: WorkerSlots,
    pub(crate) progress: CycleProgress,
    /// Number of workers that are in a fork. While it is 0, none of the others need look for branches.
    pub(super) open_forks: CachePadded<AtomicU32>,
    /// From stamps to time.
    scale: TickScale,
}

impl CycleContext {
    /// Binds a plan for `workers` workers, each of which runs the steps of a task in order. With `in_plan_order` one worker runs
    /// all steps of the plan so.
    pub(crate) fn new(mut binding: Binding<'_>, workers: usize, in_plan_order: bool) -> Self {
        let mut plan = bind(&mut binding);
        let of = binding.plan;
        let tasks = of.tasks.iter().map(|task| task.steps.start..task.steps.end);
        let runs: Vec<_> = match in_plan_order {
            true => std::iter::once(0..of.steps.len() as u32).collect(),
            false => tasks.collect(),
        };
        join_banks(&mut plan, of, runs.iter().cloned());
        join_rows(&mut plan, of, runs.into_iter());
        Self {
            id: plan.id,
            plan,
            runtime: binding.runtime,
            slots: worker_slots(workers),
            progress: CycleProgress::default(),
            open_forks: CachePadded::default(),
            scale: TickScale::calibrated(),
        }
    }

    /// Makes this executor the owner of the runtime. Returns false if another one is.
    #[inline]
    pub(crate) fn acquire_runtime(&self) -> bool {
        self.owns_runtime() || self.take_runtime()
    }

    #[cold]
    fn take_runtime(&self) -> bool {
        match self.runtime.try_acquire(self.id) {
            Acquired::Refused => return false,
            Acquired::Now => {
                self.note_previous();
                // SAFETY: the runtime is ours, and no task of this plan has been given out yet.
                unsafe { IdlePlan::new(&self.plan) }.sync_quarantined();
            }
            Acquired::Already => {}
        }
        true
    }

    /// Notes who owned the runtime before the first cycle.
    fn note_previous(&self) {
        let previous = self.runtime.succeed(self.id);
        // Relaxed: only this thread writes it, before it gives out tasks.
        if self.plan.previous_id.load(Ordering::Relaxed) == 0 {
            self.plan.previous_id.store(previous, Ordering::Relaxed);
        }
    }

    /// Returns true if this executor owns the runtime.
    pub(crate) fn owns_runtime(&self) -> bool {
        self.runtime.is_owner(self.id)
    }

    /// Quarantines the processors of overdue steps, but not the steps: workers may be stuck in them. The next executor
    /// runs without these processors.
    pub(crate) fn quarantine_overdue_processors(&self) {
        for step in self.slots.iter().filter_map(|slot| slot.take_overdue()) {
            self.plan.quarantine_processor(step);
        }
    }

    /// The services that `worker` gives to the steps that it runs in the cycle `epoch`.
    #[inline]
    pub(crate) fn services(
        &self,
        (worker, epoch): (usize, u32),
        info: &CycleInfo,
    ) -> StepServices<'_> {
        StepServices {
            context: self,
            worker,
            epoch,
            abandon_at: info.abandon_at,
            help_until: info.help_until,
        }
    }

    /// Returns true if a cycle that is to be abandoned at `abandon_at` takes too long. Reads the clock only if the
    /// cycle has a limit.
    pub(super) fn is_too_late(&self, abandon_at: u64) -> bool {
        abandon_at != u64::MAX && self.runtime.now() > abandon_at
    }
}

/// Services of one worker for the steps that it runs, in one cycle.
pub(crate) struct StepServices<'a> {
    context: &'a CycleContext,
    worker: usize,
    epoch: u32,
    abandon_at: u64,
    help_until: u64,
}

impl StepServices<'_> {
    /// Returns true if the cycle is to be abandoned at some time.
    #[inline]
    pub(crate) fn has_limit(&self) -> bool {
        self.abandon_at != u64::MAX
    }

    /// Waits a little for branches that other workers run. Returns true if the cycle is given up: the host finds that it
    /// takes too long, any other worker that the host has abandoned it.
    fn gives_up(&self, tries: u32) -> bool {
        let context = self.context;
        if !back_off(&context.runtime, tries) {
            return false;
        }
        if self.worker == 0 && context.is_too_late(self.abandon_at) {
            context.progress.abandon(self.epoch);
        }
        context.progress.is_abandoned(self.epoch)
    }
}

/// A fork that other workers may help with, until it is dropped: by a panic too.
struct OpenFork<'a>(&'a AtomicU32);

impl<'a> OpenFork<'a> {
    fn new(open: &'a AtomicU32) -> Self {
        // Relaxed, here and below: a hint for workers that wait.
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for OpenFork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProcessServices for StepServices<'_> {
    fn fork(&self, count: u32, task: &ForkTask) -> Result<(), ForkAbandoned> {
        let slot = &self.context.slots[self.worker];
        slot.begin_fork();
        let _open = OpenFork::new(&self.context.open_forks);
        let mut tries = 0;
        let result = slot.fork.fork(count, task, &mut || {
            if tries == 0 {
                slot.set_joining(true);
            }
            tries += 1;
            self.gives_up(tries)
        });
        if tries > 0 {
            slot.set_joining(false);
        }
        result
    }

    fn workers(&self) -> u32 {
        self.context.slots.len() as u32
    }

    fn count_late(&self) {
        self.context.plan.errors.add(ErrorKind::LateResult, 1);
    }

    fn time_for_late_results(&self) -> Option<Nanos> {
        if self.help_until == u64::MAX {
            return None;
        }
        let left = self.help_until.saturating_sub(self.context.runtime.now());
        Some(self.context.scale.nanos(left))
    }

    fn may_help(&self) -> bool {
        self.help_until == u64::MAX || self.context.runtime.now() < self.help_until
    }
}
