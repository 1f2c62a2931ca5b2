//! One worker, in the plan's order: the reference for every other executor.

use crate::bound::Binding;
use crate::cycle::{
    CycleContext, CycleInfo, CycleResult, CycleStatus, IdlePlan, StateVisitor, Watchdog,
    WorkerContext,
};
use crate::errors::ErrorCounts;
use crate::executor::Executor;
use crate::step::{PlanBlock, StepClaim, run_claimed, silence_panicked};
use graph::NodeId;
use plan::TraceEvent;
use processor::Event;
use rt::ftz::FlushToZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Runs the plan in its order, on the calling thread alone.
///
/// Real-time: setup.
pub fn sequential(binding: Binding<'_>) -> Box<dyn Executor> {
    Box::new(Sequential {
        context: CycleContext::new(binding, 1, true),
        has_output: false,
    })
}

struct Sequential {
    context: CycleContext,
    /// The sinks hold the block of the last cycle.
    has_output: bool,
}

impl Sequential {
    #[inline]
    fn run_steps(&self, info: &CycleInfo) {
        let _flush = FlushToZero::enable();
        let CycleContext { plan, runtime, .. } = &self.context;
        let is_partial = info.is_partial(plan.latency_blocks, plan.block);
        let has_deferred = info.spare_until != u64::MAX && !plan.deferred.is_empty();
        match runtime.is_traced() | is_partial | has_deferred {
            true => self.run_steps_checked(info),
            false => self.run_plain_steps(info),
        }
    }

    /// Runs all steps where nothing is asked between them.
    #[inline]
    fn run_plain_steps(&self, info: &CycleInfo) {
        let CycleContext { plan, slots, .. } = &self.context;
        let services = self.context.services((0, 1), info);
        let at = PlanBlock {
            plan,
            info: plan.process_info(info, &services),
        };
        let slot = &*slots[0];
        slot.begin_cycle(at.info.cycle, services.has_limit());
        // SAFETY: `&mut self` in `run_cycle` and the runtime make this thread the only worker; each step comes once, in the
        // plan's order, and again after it panicked; the info is of the plan's block.
        let claim = |step| unsafe { StepClaim::new(&at, step) };
        let (mut next, steps) = (0, &*plan.steps);
        while next < steps.len() {
            // A panic is caught around all steps, not around each: this costs nothing as long as nothing panics.
            let rest = AssertUnwindSafe(|| {
                let mut left = steps[next..].iter();
                while let Some(step) = left.next() {
                    // Relaxed: the watchdog only needs the number.
                    slot.current.store(next as u32, Ordering::Relaxed);
                    next += 1;
                    let more = run_claimed(claim(step));
                    if more > 0 {
                        next += more as usize;
                        left = steps[next..].iter();
                    }
                }
            });
            if let Err(payload) = catch_unwind(rest) {
                std::mem::forget(payload);
                let mut panicked = claim(&steps[next - 1]);
                panicked.quarantine();
                silence_panicked(&mut panicked);
            }
        }
        slot.set_idle();
    }

    /// Runs all steps in a cycle that is traced, in which some pipeline stages have no block, or after which deferred work
    /// may take the time that is left.
    #[inline(never)]
    fn run_steps_checked(&self, info: &CycleInfo) {
        let services = self.context.services((0, 1), info);
        let info = (*info, self.context.runtime.is_traced());
        // SAFETY: `&mut self` in `run_cycle` and the runtime make this thread the only worker.
        let mut worker = unsafe { WorkerContext::new(&self.context, (0, 1), info, &services) };
        worker.trace(TraceEvent::CycleBegin, 0);
        worker.trace(TraceEvent::Enter, 0);
        let (mut next, count) = (0, self.context.plan.len());
        while next < count {
            // A panic is caught around all steps, not around each: this costs nothing as long as nothing panics.
            let steps = AssertUnwindSafe(|| {
                while next < count {
                    next += 1;
                    // SAFETY: this is the only worker, and each step comes once, in the plan's order.
                    next += unsafe { worker.run_step_alone(next - 1) };
                }
            });
            if let Err(payload) = catch_unwind(steps) {
                std::mem::forget(payload);
                worker.recover();
            }
        }
        worker.set_idle();
        worker.trace(TraceEvent::CycleEnd, 0);
        worker.use_remaining_time();
    }

    /// The plan, while no step runs: that is, in every method except while `run_steps` runs.
    fn idle(&self) -> IdlePlan<'_> {
        // SAFETY: one thread at a time has the executor and runs its steps, and `run_steps` does not call this
        // function.
        unsafe { IdlePlan::new(&self.context.plan) }
    }
}

impl Executor for Sequential {
    fn run_cycle(&mut self, info: &CycleInfo, inputs: &[&[f32]]) -> CycleResult {
        self.has_output = false;
        let context = &self.context;
        if !context.acquire_runtime() {
            return CycleResult::new(CycleStatus::Refused, context.plan.errors.read().total());
        }
        self.idle().begin_cycle(info, inputs);
        self.run_steps(info);
        self.idle().quarantine_overdue(&context.slots);
        self.has_output = info.has_block(context.plan.latency_blocks, context.plan.block);
        CycleResult::new(CycleStatus::Complete, context.plan.errors.read().total())
    }

    fn latency_blocks(&self) -> u32 {
        self.context.plan.latency_blocks
    }

    fn add_output(&self, channel: u16, into: &mut [f32]) {
        if self.has_output {
            self.idle().add_output(channel, into);
        }
    }

    fn write_outputs(&self, outputs: &mut [&mut [f32]]) {
        match self.has_output {
            true => self.idle().write_outputs(outputs),
            false => outputs.iter_mut().for_each(|output| output.fill(0.0)),
        }
    }

    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        self.idle().push_event(node, event)
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.context.plan.step_of_node(node).is_some()
    }

    fn try_release(&mut self) -> bool {
        self.has_output = false;
        self.context.quarantine_overdue_processors();
        self.context.runtime.release(self.context.id);
        true
    }

    fn hand_over_events(&mut self, cycles: u32, next: &mut dyn Executor) {
        self.idle().take_kept_events(cycles, |node, event| {
            // What finds no node or no room there is lost: its node has left the graph.
            let _ = next.push_kept_event(node, event);
        });
    }

    fn push_kept_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        self.idle().push_kept_event(node, event)
    }

    fn visit_states(&mut self, visitor: &mut dyn StateVisitor, position: u64) -> bool {
        if !self.context.acquire_runtime() {
            return false;
        }
        self.idle().visit_states(visitor, position);
        true
    }

    fn error_counts(&self) -> ErrorCounts {
        self.context.plan.errors.read()
    }

    fn watchdog(&self) -> Watchdog {
        Watchdog::new(&self.context)
    }
}

impl Drop for Sequential {
    fn drop(&mut self) {
        self.context.runtime.release(self.context.id);
    }
}
