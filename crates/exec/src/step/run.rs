//! Runs one step: the fast path of plain steps, and the slow path of all others.

use super::bank::run_bank_step;
use super::claim::{PlanBlock, StepClaim};
use super::operations::{copy_to_sink, is_woken, run_operation, write_line};
use super::prepare::{clear_events, gather_events, prepare, take_inbox};
use super::row::run_row;
use crate::bound::{Operation, PipelineLag, Preparation, StepState};
use crate::errors::ErrorKind;
use processor::{ProcessInfo, Processor};

/// Runs the claimed step. Returns the number of steps behind it that it has run too: more than 0 in a row only.
///
/// Real-time: hot if its processor is.
#[inline(always)]
pub(crate) fn run_claimed(mut claim: StepClaim<'_>) -> u32 {
    let step = claim.step();
    if step.preparation == Preparation::None {
        if let Operation::Process(processor) = &step.operation
            && claim.is_plain()
        {
            // The fast path: nearly every step of nearly every cycle.
            claim.process(*processor);
        } else {
            run_other(claim);
        }
        return 0;
    }
    run_prepared(claim)
}

/// Runs a step with a preparation. Returns what [`run_claimed`] does.
#[inline(never)]
fn run_prepared(claim: StepClaim<'_>) -> u32 {
    let step = claim.step();
    match &step.operation {
        _ if step.preparation == Preparation::Row => return run_row(claim),
        Operation::Process(processor) if step.preparation == Preparation::Events => {
            run_with_events(claim, *processor);
        }
        Operation::Process(processor) if step.preparation == Preparation::Bank => {
            run_bank_step(claim, *processor);
        }
        _ => run_slow(claim),
    }
    0
}

/// Runs the claimed step by itself, even if it is in a bank or a row: for cycles in which each step is measured, or some have no block.
///
/// Real-time: hot if its processor is.
#[inline(never)]
pub(crate) fn run_claimed_alone(mut claim: StepClaim<'_>) {
    let step = claim.step();
    match &step.operation {
        Operation::Process(processor)
            if matches!(step.preparation, Preparation::Bank | Preparation::Row) =>
        {
            run_plain(claim, *processor);
        }
        Operation::WriteLine(line) if step.preparation == Preparation::Row => {
            write_line(&mut claim, line);
        }
        _ => {
            run_claimed(claim);
        }
    }
}

/// Runs a step without preparation whose operation is a processor.
pub(super) fn run_plain(mut claim: StepClaim<'_>, processor: *mut dyn Processor) {
    match claim.is_plain() {
        true => claim.process(processor),
        false => run_other(claim),
    }
}

/// Runs a step without preparation that is no processor, that sleeps, that is quarantined or that was sent an event.
#[inline(never)]
fn run_other(mut claim: StepClaim<'_>) {
    let step = claim.step();
    let state = claim.state();
    let (has_inbox, is_quarantined) = (state.has_inbox, state.is_quarantined);
    match &step.operation {
        _ if has_inbox => run_slow(claim),
        Operation::Sink => copy_to_sink(&mut claim),
        Operation::WriteLine(line) => write_line(&mut claim, line),
        Operation::Process(processor) if !is_quarantined => run_asleep(claim, *processor),
        _ => run_slow(claim),
    }
}

/// Runs a processor with event ports.
#[inline(never)]
fn run_with_events(mut claim: StepClaim<'_>, processor: *mut dyn Processor) {
    let lost = claim.clear_sent_events();
    claim.plan().errors.add(ErrorKind::LostEvent, lost);
    let has_come = claim.state().has_inbox || claim.has_received_events();
    let state = claim.state();
    if has_come | state.is_asleep | state.is_quarantined {
        let lost = gather_events(&mut claim);
        claim.plan().errors.add(ErrorKind::LostEvent, lost);
        run_operation(&mut claim);
        return end_block(claim.state());
    }
    claim.process(processor);
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
        Some(lag) if step.preparation == Preparation::Full => {
            let older = older_block(claim.plan_block(), lag);
            let lost = claim.take_lagged_events(older.info.position);
            claim.plan().errors.add(ErrorKind::LostEvent, lost);
            run_block(&mut claim.with_block(&older));
        }
        _ => run_block(&mut claim),
    }
}

/// The older block that a later pipeline stage processes in the cycle of a block.
fn older_block<'a>(at: &PlanBlock<'a>, lag: &PipelineLag) -> PlanBlock<'a> {
    let (plan, info, cycles) = (at.plan, &at.info, u64::from(lag.cycles));
    let block = plan.block.0;
    let info = ProcessInfo {
        position: info.position.saturating_sub(cycles * u64::from(block)),
        cycle: info.cycle.saturating_sub(cycles),
        ..*info
    };
    PlanBlock { plan, info }
}

fn run_block(claim: &mut StepClaim<'_>) {
    if !matches!(
        claim.step().preparation,
        Preparation::None | Preparation::Bank | Preparation::Row
    ) {
        if !prepare(claim) {
            return;
        }
    } else if claim.state().has_inbox {
        take_inbox(claim.state());
    }
    run_operation(claim);
    end_block(claim.state());
}

/// Removes the events of the block.
#[inline]
fn end_block(state: &mut StepState) {
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
