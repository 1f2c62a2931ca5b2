//! [`IdlePlan`]: the proof that no step of a plan runs, and the host's work between two cycles.
//!
//! Between two cycles the callback thread copies the device's input, reads the output, and puts events into inboxes. It
//! may reach every step then, as a worker inside a cycle reaches the step of its `StepClaim`.

use super::info::CycleInfo;
use super::slot::WorkerSlots;
use crate::bound::{BoundPlan, BoundStep, NO_POSITION, PipelineLag, StepIndex, StepState};
use crate::errors::ErrorKind;
use crate::step::{clear_events, copy_finite};
use graph::NodeId;
use processor::Event;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Position of an event that the executor before has kept.
const KEPT: u64 = 0;

/// Proof that no worker has a claim on a step of the plan, except on steps that are stuck for good and quarantined.
pub(crate) struct IdlePlan<'a>(&'a BoundPlan);

impl<'a> IdlePlan<'a> {
    /// # Safety
    ///
    /// Until the value is dropped: the caller is the only thread that reaches the plan's steps. So it is the thread
    /// that starts cycles, in an executor that owns the runtime (or before it has given out the first task), and all
    /// tasks of the last cycle have run, or no worker is in one. What they wrote is visible.
    pub(crate) unsafe fn new(plan: &'a BoundPlan) -> Self {
        Self(plan)
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &'a BoundPlan {
        self.0
    }

    /// The state of a step.
    fn state(&mut self, index: StepIndex) -> &mut StepState {
        // SAFETY: no step is claimed, and `&mut self` makes this the only reference.
        unsafe { &mut *self.0.step(index).state.get() }
    }

    /// Prepares the plan for the cycle of `info`: duplicates, the device's input, and the events of later pipeline
    /// stages.
    #[inline]
    pub(crate) fn begin_cycle(&mut self, info: &CycleInfo, inputs: &[&[f32]]) {
        if !self.0.copies.is_empty() {
            self.sync_copies();
        }
        if !self.0.device_inputs.is_empty() {
            self.copy_inputs(inputs);
        }
        let changed_at = self.0.transport.last_frame();
        // Relaxed: the start of the cycle publishes it.
        (self.0.transport_changed_at).store(changed_at, Ordering::Relaxed);
        if self.0.latency_blocks > 0 {
            self.set_event_positions(info.position);
        }
    }

    /// Copies the device's input. Missing channels are silent, and so are samples that are not finite.
    fn copy_inputs(&mut self, inputs: &[&[f32]]) {
        for (c, channel) in self.0.device_inputs.iter().enumerate() {
            // SAFETY: the slot is a block long, and no step that reads it runs.
            let to = unsafe { std::slice::from_raw_parts_mut(channel.data, self.0.block.count()) };
            match inputs.get(c).filter(|from| from.len() == to.len()) {
                Some(from) => {
                    let silenced = copy_finite(from, to);
                    self.0.errors.add(ErrorKind::NonFiniteSample, silenced);
                }
                None => to.fill(0.0),
            }
        }
    }

    /// Queues `event` for the step of `node` in the next cycle. Drops it if the node can receive none.
    ///
    /// # Errors
    ///
    /// Gives the event back if there is no such step, or no room.
    pub(crate) fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        let plan = self.0;
        let Some(index) = plan.step_of_node(node) else {
            return Err(event);
        };
        let cold = &plan.step(index).cold;
        let state = self.state(index);
        if state.inbox.capacity() == 0 {
            return Ok(());
        }
        if let Some(lag) = &cold.lag {
            return self.push_lagged_event(index, lag, event);
        }
        if state.inbox.len() == state.inbox.capacity() {
            return Err(event);
        }
        state.push_inbox(event);
        if let (true, StepIndex::Outer(original)) = (cold.has_copies, index) {
            for copy in plan.copies_of(original) {
                let state = self.state(StepIndex::Outer(copy));
                if state.inbox.len() < state.inbox.capacity() {
                    state.push_inbox(event);
                }
            }
        }
        Ok(())
    }

    /// Queues `event` for a step in a later pipeline stage. The event belongs to the block that enters the pipeline in
    /// the next cycle. The step processes that block `lag` cycles later.
    fn push_lagged_event(
        &mut self,
        index: StepIndex,
        lag: &PipelineLag,
        event: Event,
    ) -> Result<(), Event> {
        // SAFETY: no step is claimed, and these cells are reached by claims and `&mut IdlePlan` only.
        let (events, steps) = unsafe {
            (
                &mut *lag.events.get(),
                &mut *self.0.steps_with_new_events.get(),
            )
        };
        let is_first = events.last().is_none_or(|(at, _)| *at != NO_POSITION);
        let of_this_block = events.iter().filter(|(at, _)| *at == NO_POSITION).count();
        if of_this_block == lag.event_room || is_first && steps.len() == steps.capacity() {
            return Err(event);
        }
        if is_first {
            steps.push(index);
        }
        events.push((NO_POSITION, event));
        Ok(())
    }

    /// Gives `position` to the events that were queued since the last cycle began.
    fn set_event_positions(&mut self, position: u64) {
        // SAFETY: as in `push_lagged_event`.
        let steps = unsafe { &mut *self.0.steps_with_new_events.get() };
        for index in steps.drain(..) {
            if let Some(lag) = &self.0.step(index).cold.lag {
                // SAFETY: as in `push_lagged_event`.
                let events = unsafe { &mut *lag.events.get() };
                let new = events.iter_mut().filter(|(at, _)| *at == NO_POSITION);
                new.for_each(|(at, _)| *at = position);
            }
        }
    }

    /// Copies state and pending events from originals to their stale duplicates.
    ///
    /// Real-time: hot if the processors' `save` and `load` are.
    fn sync_copies(&mut self) {
        for (original, copy) in &self.0.copies {
            let [step, copy_step] = [original, copy].map(|step| &self.0.steps[*step as usize]);
            let processors = (&step.cold.processor, &copy_step.cold.processor);
            let (Some(first), Some(second)) = processors else {
                continue;
            };
            if !second.is_stale() || second.is_quarantined() {
                continue;
            }
            // SAFETY: no step is claimed, and these are two different steps.
            let (from, to) = unsafe { (&*step.state.get(), &mut *copy_step.state.get()) };
            second.set_asleep_in(first.asleep_in());
            (to.is_asleep, to.is_new) = (from.is_asleep, from.is_new);
            to.has_inbox = from.has_inbox;
            to.inbox.clear();
            to.inbox.extend_from_slice(&from.inbox);
            // SAFETY: no step is claimed, so no worker runs either processor.
            if unsafe { !second.sync_state(Arc::as_ref(first)) } {
                self.0.quarantine_entry(copy_step);
            }
        }
    }

    /// Marks the steps whose processors were quarantined by another executor since this plan was bound.
    ///
    /// Real-time: hot. It looks at the steps of those nodes only, unless they are too many to be kept in the log.
    pub(crate) fn sync_quarantined(&mut self) {
        let plan = self.0;
        let Some(nodes) = plan.quarantined.since(plan.quarantined_before) else {
            return plan
                .all_steps()
                .for_each(|step| self.sync_quarantined_step(step));
        };
        for index in nodes.filter_map(|node| plan.step_of_node(node)) {
            self.sync_quarantined_step(plan.step(index));
            if let StepIndex::Outer(original) = index {
                let copies = plan.copies_of(original);
                copies.for_each(|copy| self.sync_quarantined_step(&plan.steps[copy as usize]));
            }
        }
    }

    fn sync_quarantined_step(&mut self, step: &BoundStep) {
        let processor = step.cold.processor.as_ref();
        if processor.is_some_and(|p| p.is_quarantined()) {
            // SAFETY: no step is claimed.
            unsafe { (*step.state.get()).is_quarantined = true };
        }
    }

    /// Queues an event that the executor before has kept for the step of `node`. In a later pipeline stage it comes with
    /// the first block of this plan, which is behind the last one of the plan before.
    ///
    /// # Errors
    ///
    /// Gives the event back if there is no such step, or no room.
    pub(crate) fn push_kept_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        let index = self.0.step_of_node(node);
        let lag = index.and_then(|index| self.0.step(index).cold.lag.as_ref());
        let Some(lag) = lag else {
            return self.push_event(node, event);
        };
        // SAFETY: as in `push_lagged_event`.
        let events = unsafe { &mut *lag.events.get() };
        if events.len() == events.capacity() {
            return Err(event);
        }
        // Earlier than any block of this plan, and behind those that were kept before it.
        let at = events.partition_point(|(at, _)| *at == KEPT);
        events.insert(at, (KEPT, event));
        Ok(())
    }

    /// Passes on the events that wait for steps which do not run in every cycle, with their nodes: those of steps that lag
    /// by at most `cycles` cycles.
    ///
    /// Real-time: hot.
    pub(crate) fn take_kept_events(&mut self, cycles: u32, mut pass_on: impl FnMut(NodeId, Event)) {
        // Relaxed: set by a worker in a cycle, all of whose tasks have run.
        if !self.0.has_kept_events.load(Ordering::Relaxed) {
            return;
        }
        for index in &self.0.seldom_steps {
            let cold = &self.0.step(*index).cold;
            if cold.lag.as_ref().is_some_and(|lag| lag.cycles > cycles) {
                continue;
            }
            let node = cold.node;
            let state = self.state(*index);
            for event in state.inbox.drain(..) {
                node.into_iter().for_each(|node| pass_on(node, event));
            }
            state.has_inbox = false;
        }
    }

    /// Quarantines the step `index`.
    pub(crate) fn quarantine(&mut self, index: u32) {
        // SAFETY: the plan is idle.
        unsafe { self.0.quarantine(&self.0.steps[index as usize]) };
    }

    /// Drops the events of steps that were left in the middle: they would come again in each later cycle.
    pub(crate) fn clear_left(&mut self, slots: &WorkerSlots) {
        for step in slots.iter().filter_map(|slot| slot.take_left()) {
            clear_events(self.state(StepIndex::Outer(step)));
        }
    }

    /// Quarantines the steps that are marked as overdue.
    pub(crate) fn quarantine_overdue(&mut self, slots: &WorkerSlots) {
        for step in slots.iter().filter_map(|slot| slot.take_overdue()) {
            self.quarantine(step);
        }
    }
}
