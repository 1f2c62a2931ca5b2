//! The operations of steps: processors, delay lines, sinks, pipeline stages, aligners and loops.

use super::align;
use super::claim::{PlanBlock, StepClaim};
use super::finite::copy_finite;
use super::prepare::{clear_events, prepare};
use crate::bound::ring;
use crate::bound::{Operation, StageBufferMemory};
use crate::errors::ErrorKind;
use processor::{ForkAbandoned, InputBuffer, ProcessInfo, Processor, RawDelayLine};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

/// Runs the operation of a prepared step.
pub(super) fn run_operation(claim: &mut StepClaim<'_>) {
    match &claim.step().operation {
        Operation::Process(processor) => run_processor(claim, *processor),
        Operation::WriteLine(line) => write_line(claim, line),
        Operation::Sink => copy_to_sink(claim),
        Operation::Send(buffer) => send(claim, buffer),
        Operation::Receive(buffer) => receive(claim, buffer),
        Operation::Align(op) => {
            let lost = align::run(claim, op);
            claim.plan().errors.add(ErrorKind::LostEvent, lost);
        }
        Operation::Silence => claim.write_silence(),
        Operation::Loop { sub_block, .. } => run_loop(claim, *sub_block),
    }
}

/// Runs the processor, unless it is quarantined or sleeps through silence.
fn run_processor(claim: &mut StepClaim<'_>, processor: *mut dyn Processor) {
    claim.settle();
    let state = claim.state();
    let may_sleep = state.is_asleep && !state.io.has_events;
    let is_quarantined = state.is_quarantined;
    if is_quarantined || (may_sleep && claim.block().is_silent() && !is_woken(claim)) {
        return claim.write_silence();
    }
    claim.process(processor);
}

/// Returns true if the transport has changed in this block, or in those that a step leaves out which does not run in every
/// cycle: who follows it may not sleep on.
pub(super) fn is_woken(claim: &mut StepClaim<'_>) -> bool {
    let frames = u64::from(claim.plan().block.0) * u64::from(claim.step().cold.every);
    // Relaxed: written before the first task of the cycle was given out.
    let changed = claim.plan().transport_changed_at.load(Ordering::Relaxed);
    changed > 0 && changed.saturating_add(frames) > claim.info().position
}

/// Writes the input to a delay line. A sample that is not finite becomes silence: in a loop it would stay for ever.
#[inline(never)]
pub(super) fn write_line(claim: &mut StepClaim<'_>, line: &RawDelayLine) {
    let errors = &claim.plan().errors;
    let block = claim.block();
    let input: InputBuffer<'_> = block.input(0);
    let last = input.channels().count().saturating_sub(1);
    for c in 0..line.channels as usize {
        let from = input.channel(c.min(last));
        // SAFETY: the claim: the step is the line's only writer, and the plan keeps readers away from these frames.
        let run = unsafe { ring::run_mut(line, c, block.position(), from.len()) };
        if let Some(to) = run {
            errors.add(ErrorKind::NonFiniteSample, copy_finite(from, to));
            continue;
        }
        // SAFETY: as above.
        let [before, after] = unsafe { ring::parts_mut(line, c, block.position(), from.len()) };
        let (first, second) = from.split_at(before.len());
        let mut silenced = copy_finite(first, before);
        if !second.is_empty() {
            silenced += copy_finite(second, after);
        }
        errors.add(ErrorKind::NonFiniteSample, silenced);
    }
}

/// Copies the input of a sink to its slot, which no step overwrites in this cycle.
#[inline(never)]
pub(super) fn copy_to_sink(claim: &mut StepClaim<'_>) {
    let errors = &claim.plan().errors;
    if claim.block().input(0).is_silent() {
        return claim.write_silence();
    }
    claim.forget_outputs();
    let mut block = claim.block();
    let input = block.input(0);
    let mut out = block.output(0);
    for c in 0..out.channels().count() {
        let (from, to) = (input.channel(c), out.channel(c));
        errors.add(ErrorKind::NonFiniteSample, copy_finite(from, to));
    }
}

fn send(claim: &mut StepClaim<'_>, buffer: &StageBufferMemory) {
    let block = claim.block();
    let input = block.input(0);
    let is_silent = input.is_silent();
    for c in 0..input.channels().count() {
        // SAFETY: the claim: the step is the buffer's sender.
        unsafe { buffer.send(block.position(), c, input.channel(c), is_silent) };
    }
}

fn receive(claim: &mut StepClaim<'_>, buffer: &StageBufferMemory) {
    claim.forget_outputs();
    let position = claim.info().position;
    let mut block = claim.block();
    // SAFETY: the claim: the step is the buffer's receiver. The slices are used within this function.
    let received = |c| unsafe { buffer.receive(position, c) };
    let channels = block.output(0).channels().count();
    if (0..channels).all(|c| received(c).is_none()) {
        return block.silence_outputs();
    }
    let mut out = block.output(0);
    for c in 0..channels {
        let to = out.channel(c);
        match received(c) {
            Some(from) => to.copy_from_slice(&from[..to.len()]),
            None => to.fill(0.0),
        }
    }
}

/// Runs the members of a loop again and again, on parts of the block of at most `sub_block` frames. A member that
/// panics is quarantined.
fn run_loop(claim: &mut StepClaim<'_>, sub_block: u32) {
    let (whole, plan) = (claim.plan_block(), claim.plan());
    let info = &whole.info;
    let members = plan.members(claim.step()).len();
    let mut offset = 0;
    while offset < info.frames {
        let frames = sub_block.min(info.frames - offset);
        let info = ProcessInfo {
            frames,
            offset,
            position: info.position + u64::from(offset),
            is_whole_block: frames == info.frames,
            ..*info
        };
        let part = PlanBlock { plan, info };
        for index in 0..members {
            let mut member = claim.member(index, &part);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run_member(&mut member))) {
                if payload.is::<ForkAbandoned>() {
                    // Not a panic: the loop is left, while other workers are still in branches of the member.
                    resume_unwind(payload);
                }
                std::mem::forget(payload);
                member.quarantine();
                // It writes silence now.
                run_member(&mut member);
            }
        }
        offset += frames;
    }
    for index in 0..members {
        let mut member = claim.member(index, whole);
        let state = member.state();
        state.inbox.clear();
        state.has_inbox = false;
        clear_events(state);
    }
}

fn run_member(member: &mut StepClaim<'_>) {
    if prepare(member) {
        run_operation(member);
    }
}
