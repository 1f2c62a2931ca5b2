//! [`AbandonedCycle`]: tracks the workers that are still in steps of an abandoned cycle.
//!
//! A worker publishes a step, passes a light fence and looks if the cycle was abandoned. The host abandons the cycle,
//! passes a heavy fence and looks at the published steps. So a worker that the host sees in no step begins none any
//! more.
//!
//! A worker that it sees in a step either runs it, or is about to see that it must not. One look cannot tell which. So
//! a step counts as overdue only if it was published before the cycle was abandoned, or is seen for longer than
//! [`CONFIRM_AFTER`].

use super::context::CycleContext;
use crate::bound::Operation;
use rt::stamp::TickScale;
use std::sync::atomic::Ordering;
use units::Nanos;

/// Upper bound on the time between publishing the current step and seeing the abort flag.
const CONFIRM_AFTER: Nanos = Nanos(1_000_000);

/// The host's record of workers that may still be in steps of an abandoned cycle. Made with the executor, so that
/// nothing is allocated when it is needed.
pub(super) struct AbandonedCycle {
    /// The last cycle was abandoned, and workers may still be in its steps.
    is_pending: bool,
    /// The heavy fence has been passed since.
    has_fenced: bool,
    /// By worker: the step in which it was at the last look, and the stamp of the first look that saw it there.
    seen_in: Box<[Option<(u32, u64)>]>,
    /// [`CONFIRM_AFTER`] in ticks.
    confirm_after: u64,
    /// Number of workers in steps that are not known to be overdue, at the last look.
    unconfirmed: usize,
    /// Overdue steps that have returned since, while their workers are in other steps now.
    returned_late: Vec<u32>,
}

impl AbandonedCycle {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            is_pending: false,
            has_fenced: false,
            seen_in: vec![None; workers].into_boxed_slice(),
            confirm_after: TickScale::calibrated().ticks(CONFIRM_AFTER),
            unconfirmed: 0,
            returned_late: Vec::with_capacity(workers),
        }
    }

    /// Returns true if the last cycle was abandoned and its end has not been seen yet.
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Records how a cycle ended.
    pub(super) fn set_pending(&mut self, is_abandoned: bool) {
        self.is_pending = is_abandoned;
        self.has_fenced = false;
    }

    /// Records that no worker is in a step any more.
    pub(super) fn clear(&mut self) {
        self.is_pending = false;
    }

    /// Number of workers that are in a step of the abandoned cycle. Marks the steps that are overdue.
    pub(super) fn count_in_steps(&mut self, context: &CycleContext) -> usize {
        if !self.has_fenced {
            // pairs with the light fence in `WorkerContext::run_step`. One system call, in a cycle that is lost anyway.
            context.runtime.fence().heavy();
            self.has_fenced = true;
            self.seen_in.fill(None);
        }
        self.unconfirmed = 0;
        let (mut in_steps, now) = (0, rt::stamp::now());
        for (slot, seen_in) in context.slots.iter().zip(&mut self.seen_in) {
            let Some(step) = slot.step_in_progress() else {
                continue;
            };
            in_steps += 1;
            let (_, since) = *seen_in.insert(match *seen_in {
                Some((before, since)) if before == step => (step, since),
                _ => (step, now),
            });
            // Relaxed: the host wrote it.
            let was_in_it = slot.current_at_abandon.load(Ordering::Relaxed) == step;
            if !was_in_it && now.wrapping_sub(since) <= self.confirm_after {
                self.unconfirmed += 1;
                continue;
            }
            let has_room = self.returned_late.len() < self.returned_late.capacity();
            if let Some(before) = slot.mark_overdue(step).filter(|_| has_room) {
                self.returned_late.push(before);
            }
        }
        in_steps
    }

    /// Returns true if the workers that are still in steps can be left there while another executor runs: they are in
    /// processors, which that executor leaves out, and read no delay line that others write. Steps without a processor
    /// (a copy, a loop) have only lost their core for a while.
    ///
    /// To be called after [`count_in_steps`](Self::count_in_steps).
    pub(super) fn can_leave_workers(&self, context: &CycleContext) -> bool {
        let mut in_steps = context.slots.iter().filter_map(|s| s.step_in_progress());
        self.unconfirmed == 0
            && in_steps.all(|step| {
                let step = &context.plan.steps[step as usize];
                matches!(step.operation, Operation::Process(_)) && !step.cold.reads_delay_line
            })
    }

    /// The overdue steps that have returned since; removes them.
    pub(super) fn take_returned_late(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.returned_late.drain(..)
    }
}
