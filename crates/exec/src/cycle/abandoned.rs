//! [`AbandonedCycle`]: tracks the workers that are still in steps of an abandoned cycle.
//!
//! A worker publishes a step, passes a light fence and looks if the cycle was abandoned. The host abandons the cycle,
//! passes a heavy fence and looks at the published steps. So a worker that the host sees in no step begins none any
//! more.
//!
//! The host accuses no step. A worker that it sees in a step may have lost its core, and the node would be innocent. The
//! watchdog knows how much processor time the step has used.

use super::context::CycleContext;
use crate::bound::Operation;

/// The host's record of workers that may still be in steps of an abandoned cycle.
#[derive(Default)]
pub(super) struct AbandonedCycle {
    /// The last cycle was abandoned, and workers may still be in its steps.
    is_pending: bool,
    /// The heavy fence has been passed since.
    has_fenced: bool,
}

impl AbandonedCycle {
    /// Returns true if the last cycle was abandoned and its end has not been seen yet.
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Records how a cycle ended.
    pub(super) fn set_pending(&mut self, is_abandoned: bool) {
        self.is_pending = is_abandoned;
        self.has_fenced = false;
    }

    /// Returns true if workers are in steps of the abandoned cycle. Records it if there are none.
    pub(super) fn has_workers(&mut self, context: &CycleContext) -> bool {
        if !self.has_fenced {
            // pairs with the light fences in `run_step` and `help_fork`. One system call, in a cycle that is lost
            // anyway.
            context.runtime.fence().heavy();
            self.has_fenced = true;
        }
        let mut slots = context.slots.iter();
        self.is_pending = slots.any(|slot| slot.step_in_progress().is_some());
        self.is_pending
    }
}

/// Returns true if the workers that are in steps can be left there while another executor runs: the watchdog has marked
/// the steps, so that executor leaves their processors out; and they read no delay line that others write. Steps without
/// a processor (a copy, a loop) have only lost their core for a while.
pub(super) fn can_leave_workers(context: &CycleContext) -> bool {
    context.slots.iter().all(|slot| {
        slot.step_in_progress().is_none_or(|index| {
            let step = &context.plan.steps[index as usize];
            let is_processor = matches!(step.operation, Operation::Process(_));
            slot.is_overdue(index) && is_processor && !step.cold.reads_delay_line
        })
    })
}
