//! [`StepClaim`]: the proof that a step belongs to the caller, and everything that the proof allows.
//!
//! Functions that run a step take a claim and are safe functions. The reasons are written here once, not at every call.

mod rows;

use crate::bound::{BankPlace, BoundPlan, BoundStep, Operation, PlayedMark, StepState};
use crate::processors::AWAKE;
use processor::{
    BankMember, Block, Content, Event, EventTarget, ProcessInfo, ProcessStatus, Processor,
    RawChannel,
};
use std::sync::atomic::Ordering;

/// Proof that a step belongs to this thread, for one block.
///
/// | while the claim lives | reason |
/// |---|---|
/// | no other thread touches the step's state, processor, lines, outputs, sums or event buffers | rule 1 of [`StepClaim::new`], and the plan's proof that steps which may run together share no slot |
/// | no thread writes the step's inputs, and what was written is visible | rule 2 |
/// | frames `offset..offset + frames` are within every slot | rule 3 |
///
/// Two words, so that it is passed in registers.
pub(crate) struct StepClaim<'a> {
    step: &'a BoundStep,
    at: &'a PlanBlock<'a>,
}

/// A plan and the block, or the part of one, that it runs.
pub(crate) struct PlanBlock<'a> {
    pub(crate) plan: &'a BoundPlan,
    pub(crate) info: ProcessInfo<'a>,
}

impl PlanBlock<'_> {
    fn check(&self) {
        let end = self.info.offset + self.info.frames;
        debug_assert!(end <= self.plan.block.0, "rule 3");
    }
}

impl<'a> StepClaim<'a> {
    /// Claims `step`, one of the plan's, for the block.
    ///
    /// # Safety
    ///
    /// Until the claim is dropped:
    ///
    /// 1. no other thread claims the step, and no thread has the plan as an `IdlePlan`;
    /// 2. all that the step waits for in this cycle has run, on this thread or with a Release that this thread
    ///    acquired;
    /// 3. the info describes the plan's block.
    #[inline(always)]
    pub(crate) unsafe fn new(at: &'a PlanBlock<'a>, step: &'a BoundStep) -> Self {
        Self { step, at }
    }

    /// The same claim, with the info of an older block (in a later pipeline stage).
    pub(super) fn with_block<'b>(&'b mut self, at: &'b PlanBlock<'b>) -> StepClaim<'b> {
        at.check();
        let step = self.step;
        StepClaim { step, at }
    }

    /// Claims one of the inner steps of a loop, for a part of the block. The loop is one step, and its members are part
    /// of it.
    pub(super) fn member<'b>(&'b mut self, index: usize, at: &'b PlanBlock<'b>) -> StepClaim<'b> {
        at.check();
        let step = &at.plan.members(self.step)[index];
        StepClaim { step, at }
    }

    /// Claims a step of the bank that this one leads: 0 is the leader itself, which is not used meanwhile.
    pub(super) fn bank_member(&self, index: usize) -> StepClaim<'a> {
        let plan = self.plan();
        let step = match (&self.step.cold.bank, index.checked_sub(1)) {
            (Some(BankPlace::Leader { others, .. }), Some(at)) => &plan.steps[others[at] as usize],
            _ => self.step,
        };
        // The steps of a bank are in one run of one worker, and all that they wait for is before the leader (`join_banks`): so
        // they are as much ours as the leader is.
        StepClaim { step, at: self.at }
    }

    /// The mark of a bank's member that it has run already.
    pub(super) fn played(&self) -> Option<&'a PlayedMark> {
        match &self.step.cold.bank {
            Some(BankPlace::Member(mark)) => Some(mark),
            _ => None,
        }
    }

    /// Returns true if the step has to be computed, and nothing else is to be done before.
    #[inline(always)]
    pub(super) fn is_plain(&mut self) -> bool {
        self.state().is_plain()
    }

    /// Runs the step's processor, if that is its operation.
    pub(super) fn process_plain(&mut self) {
        if let Operation::Process(processor) = self.step.operation {
            self.process(processor);
        }
    }

    /// The step's processor with its block, as a member of a bank.
    pub(super) fn begin_member(&mut self) -> Option<BankMember<'_>> {
        self.forget_outputs();
        let Operation::Process(processor) = self.step.operation else {
            return None;
        };
        // SAFETY: the step's processor is ours, and the plan's `Arc` keeps it alive. No two steps of a bank have one processor.
        let processor = unsafe { &mut *processor };
        Some(BankMember::new(processor, self.block()))
    }

    #[inline(always)]
    pub(super) fn plan(&self) -> &'a BoundPlan {
        self.at.plan
    }

    /// The block.
    #[inline(always)]
    pub(super) fn plan_block(&self) -> &'a PlanBlock<'a> {
        self.at
    }

    #[inline(always)]
    pub(super) fn step(&self) -> &'a BoundStep {
        self.step
    }

    #[inline(always)]
    pub(super) fn info(&self) -> &'a ProcessInfo<'a> {
        &self.at.info
    }

    /// The state of the step.
    #[inline(always)]
    pub(super) fn state(&mut self) -> &mut StepState {
        // SAFETY: the state is ours, and `&mut self` makes this the only reference.
        unsafe { &mut *self.step.state.get() }
    }

    /// The inputs and outputs of the step, as its processor sees them.
    #[inline(always)]
    pub(super) fn block(&mut self) -> Block<'_> {
        // SAFETY: the outputs are ours, no thread writes the inputs, and `info` is within the block: the table above.
        unsafe { Block::new(&(*self.step.state.get()).io, &self.at.info) }
    }

    /// Runs `processor`, which is the step's, and records if it sleeps.
    #[inline(always)]
    pub(super) fn process(&mut self, processor: *mut dyn Processor) {
        self.forget_outputs();
        let mut block = self.block();
        // SAFETY: the step's processor is ours, and the plan's `Arc` keeps it alive.
        let status = unsafe { (*processor).process(&mut block) };
        self.end_process(status);
    }

    /// Records if the step's processor sleeps behind a block.
    #[inline(always)]
    pub(super) fn end_process(&mut self, status: ProcessStatus) {
        // Written only if it changes: otherwise the worker that releases this step in the next cycle would have to
        // fetch the line.
        let is_asleep = status == ProcessStatus::Sleep;
        if self.state().is_asleep != is_asleep {
            self.set_asleep(is_asleep);
        }
    }

    /// Records that the step's processor sleeps, or that it does not: here, and for the plan after this one.
    #[inline(never)]
    fn set_asleep(&mut self, is_asleep: bool) {
        let state = self.state();
        (state.is_asleep, state.is_new) = (is_asleep, false);
        if let Some(processor) = &self.step.cold.processor {
            processor.set_asleep_in(if is_asleep { self.plan().id } else { AWAKE });
        }
    }

    /// Finds out if the processor of a step that has not run yet sleeps still: it does if the plan before has left it so.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.state().is_new {
            let processor = self.step.cold.processor.as_ref();
            let asleep_in = processor.map_or(AWAKE, |it| it.asleep_in());
            // Relaxed: written before the first task of the first cycle was given out.
            let previous = self.plan().previous_id.load(Ordering::Relaxed);
            self.set_asleep(asleep_in != AWAKE && asleep_in == previous);
        }
    }

    /// Forgets what was known of the outputs. Code that writes silence, or a constant, marks them again.
    #[inline(always)]
    pub(super) fn forget_outputs(&mut self) {
        let content = self.step.mono_content;
        if content.is_null() {
            return self.forget_all_outputs();
        }
        // SAFETY: what is known of the step's outputs is ours. Written only if it changes, as in `RawChannel::set`.
        unsafe {
            if *content != Content::Unknown as u8 {
                *content = Content::Unknown as u8;
            }
        }
    }

    #[inline(always)]
    fn forget_all_outputs(&mut self) {
        let forget = |content: *mut u8| {
            // SAFETY: as in `forget_outputs`.
            unsafe {
                if *content != Content::Unknown as u8 {
                    *content = Content::Unknown as u8;
                }
            }
        };
        match *self.step.cold.contents {
            // Two sides, without the loop.
            [first, second] => {
                forget(first);
                forget(second);
            }
            ref all => forget_all(all, forget),
        }
    }

    fn for_each_output(&mut self, mut each: impl FnMut(&RawChannel)) {
        let ports = self.state().io.outputs;
        for p in 0..ports.count as usize {
            // SAFETY: there are that many ports with that many channels each. The first channel is stored in the port.
            unsafe {
                let port = &*ports.first.add(p);
                if port.channels > 0 {
                    each(&port.first);
                }
                for c in 1..port.channels as usize {
                    each(&*port.all.add(c));
                }
            }
        }
    }

    /// Writes silence to all outputs. A slot that is marked silent holds it already and is left as it is, so a graph at rest
    /// writes no sample.
    pub(crate) fn write_silence(&mut self) {
        if !self.info().is_whole_block {
            self.forget_outputs();
            return self.block().silence_outputs();
        }
        let content = self.step.mono_content;
        // SAFETY: what is known of the step's outputs is ours.
        if !content.is_null() && unsafe { *content } == Content::Silent as u8 {
            return;
        }
        let frames = self.info().frames as usize;
        self.for_each_output(|channel| {
            // SAFETY: the outputs are ours, and a whole block has as many frames as a slot.
            unsafe {
                if !channel.is(Content::Silent) {
                    std::slice::from_raw_parts_mut(channel.data, frames).fill(0.0);
                    channel.set(Content::Silent);
                }
            }
        });
    }

    /// Adds up the channels that the step reads as sums.
    pub(super) fn add_sums(&mut self) {
        let info = self.info();
        for sum in &self.step.cold.sums {
            // SAFETY: the target is ours, no thread writes the sources, and `info` is within the block.
            unsafe { super::sum::add(sum, (info.offset, info.frames), info.is_whole_block) };
        }
    }

    /// Empties the buffers of the events that this step sends. Returns the number of events that found no room there in
    /// its last block.
    #[inline]
    pub(super) fn clear_sent_events(&mut self) -> u64 {
        let mut lost = 0;
        for buffer in &self.step.cold.sent {
            // SAFETY: what the step sends is ours until it has run.
            let buffer = unsafe { &mut **buffer };
            buffer.events.clear();
            lost += std::mem::take(&mut buffer.dropped);
        }
        lost
    }

    /// Returns true if another step has sent an event to this one in this cycle.
    #[inline]
    pub(super) fn has_received_events(&self) -> bool {
        let mut buffers = self.step.cold.received.iter();
        // SAFETY: as in `received_events`.
        buffers.any(|buffer| unsafe { !(**buffer).events.is_empty() })
    }

    /// The step's state, and the events that other steps have sent to it in this cycle, port by port.
    pub(super) fn received_events(&mut self) -> (&mut StepState, impl Iterator<Item = Event>) {
        let step = self.step;
        let received = step.cold.event_inputs.iter().flat_map(|input| {
            let target = EventTarget::Input(input.port);
            // SAFETY: these buffers belong to steps that we wait for: they have run, and no thread writes them now.
            // None is a buffer of this step.
            let sent = input.sources.iter().flat_map(|b| unsafe { &(**b).events });
            sent.map(move |event| Event { target, ..*event })
        });
        (self.state(), received)
    }

    /// Moves events for the block at `position`, and older ones, to the inboxes of this step and of its members.
    /// Returns the number of events that found no room.
    pub(super) fn take_lagged_events(&mut self, position: u64) -> u64 {
        let mut lost = 0;
        for member in self.plan().members(self.step) {
            let Some(lag) = &member.cold.lag else {
                continue;
            };
            // SAFETY: the state and the waiting events of this step and its members are ours.
            let (events, state) = unsafe { (&mut *lag.events.get(), &mut *member.state.get()) };
            events.retain(|(at, event)| {
                let is_due = *at <= position;
                if is_due && state.inbox.len() < state.inbox.capacity() {
                    state.push_inbox(*event);
                } else if is_due {
                    lost += 1;
                }
                !is_due
            });
        }
        lost
    }

    /// Quarantines the step alone, which is of a row and has panicked.
    pub(super) fn quarantine_alone(&mut self) {
        self.state().is_quarantined = true;
        self.plan().quarantine_entry(self.step);
    }

    /// Quarantines the step, which has panicked, or all members of the loop or of the bank: they write silence from now on.
    pub(crate) fn quarantine(&mut self) {
        if self.step.row > 0 {
            // A panic in a row is caught there (`run_row`): this step ran by itself.
            return self.quarantine_alone();
        }
        // SAFETY: we have the claim.
        unsafe { self.plan().quarantine(self.step) };
    }
}

#[inline(never)]
fn forget_all(contents: &[*mut u8], forget: impl Fn(*mut u8)) {
    contents.iter().copied().for_each(forget);
}
