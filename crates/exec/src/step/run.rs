//! Runs one step: the fast path of plain steps, and the slow path of all others.

use super::claim::StepClaim;
use super::operations::{is_woken, run_operation, run_sink, run_write_line};
use super::prepare::{clear_events, prepare, take_inbox};
use crate::bound::{Operation, PipelineLag};
use crate::errors::ErrorKind;
use processor::{ProcessInfo, Processor};

/// Runs the claimed step.
///
/// Real-time: hot if its processor is.
#[inline(always)]
pub(crate) fn run_claimed(mut claim: StepClaim<'_>) {
    let step = claim.step();
    if let (Operation::Process(processor), false) = (&step.operation, step.needs_preparation) {
        let state = claim.state();
        if !(state.is_asleep | state.is_quarantined | state.has_inbox) {
            // The fast path: nearly every step of nearly every cycle.
            return claim.process(*processor);
        }
        if !(state.is_quarantined | state.has_inbox) {
            return run_asleep(claim, *processor);
        }
    }
    if step.needs_preparation || claim.state().has_inbox {
        return run_slow(claim);
    }
    match &step.operation {
        Operation::Sink => run_sink(claim),
        Operation::WriteLine(line) => run_write_line(claim, line),
        _ => run_slow(claim),
    }
}

/// Runs a plain step that sleeps and was sent nothing: it looks at its inputs and at the transport alone.
#[inline(never)]
fn run_asleep(mut claim: StepClaim<'_>, processor: *mut dyn Processor) {
    claim.settle();
    match claim.state().is_asleep && claim.block().is_silent() && !is_woken(&mut claim) {
        true => claim.write_silence(),
        false => claim.process(processor),
    }
}

#[inline(never)]
fn run_slow(mut claim: StepClaim<'_>) {
    let step = claim.step();
    match &step.cold.lag {
        Some(lag) if step.needs_preparation => {
            let info = older_block(claim.plan().block.0, lag, claim.info());
            let lost = claim.take_lagged_events(info.position);
            claim.plan().errors.add(ErrorKind::LostEvent, lost);
            run_block(&mut claim.with_info(&info));
        }
        _ => run_block(&mut claim),
    }
}

/// The info of the older block that a later pipeline stage processes in the cycle of `info`.
fn older_block<'a>(block: u32, lag: &PipelineLag, info: &ProcessInfo<'a>) -> ProcessInfo<'a> {
    let cycles = u64::from(lag.cycles);
    ProcessInfo {
        position: info.position.saturating_sub(cycles * u64::from(block)),
        cycle: info.cycle.saturating_sub(cycles),
        ..*info
    }
}

fn run_block(claim: &mut StepClaim<'_>) {
    if claim.step().needs_preparation {
        if !prepare(claim) {
            return;
        }
    } else if claim.state().has_inbox {
        take_inbox(claim.state());
    }
    run_operation(claim);
    let state = claim.state();
    if state.io.has_events {
        if state.has_inbox {
            state.inbox.clear();
            state.has_inbox = false;
        }
        clear_events(state);
    }
}

/// Writes silence in place of a step that panicked.
pub(crate) fn silence_panicked(claim: &mut StepClaim<'_>) {
    clear_events(claim.state());
    // It may have marked what it wrote over later.
    claim.forget_outputs();
    claim.write_silence();
}
