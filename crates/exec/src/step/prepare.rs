//! Preparation of a step: adds up sums and gathers events.

use super::claim::StepClaim;
use crate::bound::StepState;
use crate::errors::ErrorKind;
use processor::Event;
use std::sync::atomic::Ordering;

/// Prepares the block of a step. Returns false if the step does not run in this cycle.
pub(super) fn prepare(claim: &mut StepClaim<'_>) -> bool {
    let (step, info, errors) = (claim.step(), claim.info(), &claim.plan().errors);
    let cold = &step.cold;
    if info.offset == 0 {
        errors.add(ErrorKind::LostEvent, claim.clear_sent_events());
    }
    if cold.has_copies && cold.processor.as_ref().is_some_and(|p| p.is_quarantined()) {
        // A duplicate was quarantined.
        claim.state().is_quarantined = true;
    }
    if cold.every != 1 && info.cycle % u64::from(cold.every) != u64::from(cold.phase) {
        errors.add(ErrorKind::LostEvent, keep_events(claim));
        return false;
    }
    claim.add_sums();
    // The members of a loop send in every round. So each round gathers anew, and each member sees its own part.
    errors.add(ErrorKind::LostEvent, gather_events(claim));
    true
}

/// Makes the events of the inbox this block's events, for a step that has no event inputs. The room goes with them, until
/// [`clear_events`].
#[cold]
pub(super) fn take_inbox(state: &mut StepState) {
    let (events, inbox) = (&mut state.io.cold.events, &mut state.inbox);
    // Nothing is left of the last block.
    events.clear();
    std::mem::swap(events, inbox);
    state.has_inbox = false;
    state.io.has_events = !events.is_empty();
}

/// Removes this block's events, and gives their room back to the inbox if that lent it.
#[cold]
pub(crate) fn clear_events(state: &mut StepState) {
    let (events, inbox) = (&mut state.io.cold.events, &mut state.inbox);
    events.clear();
    if inbox.capacity() == 0 {
        std::mem::swap(events, inbox);
    }
    state.io.has_events = false;
}

/// Merges the inbox and the events of other steps, by frame. The inbox keeps its events until the step has run: a loop
/// gathers again in each round. Returns the number of events that found no room.
pub(super) fn gather_events(claim: &mut StepClaim<'_>) -> u64 {
    if claim.state().io.cold.events.capacity() == 0 {
        // The step has one room for events (`StepState::inbox`), or none.
        let state = claim.state();
        if state.has_inbox {
            take_inbox(state);
        }
        return 0;
    }
    if !claim.state().has_inbox && !claim.has_received_events() {
        let io = &mut claim.state().io;
        io.cold.events.clear();
        io.has_events = false;
        return 0;
    }
    merge_events(claim)
}

/// Merges what has come.
#[cold]
fn merge_events(claim: &mut StepClaim<'_>) -> u64 {
    let (state, received) = claim.received_events();
    let events = &mut state.io.cold.events;
    events.clear();
    let mut lost = 0;
    for event in state.inbox.iter().copied().chain(received) {
        lost += insert_by_frame(events, event);
    }
    state.io.has_events = !events.is_empty();
    lost
}

/// Keeps the events of other steps in the inbox, in a cycle in which the step does not run. They count as events of the
/// first frame of the cycle in which it does. Returns the number of events that found no room.
fn keep_events(claim: &mut StepClaim<'_>) -> u64 {
    let (state, received) = claim.received_events();
    let lost = received
        .map(|event| insert_by_frame(&mut state.inbox, event))
        .sum();
    state.inbox.iter_mut().for_each(|event| event.frame = 0);
    state.has_inbox = !state.inbox.is_empty();
    if state.has_inbox {
        // Relaxed: read when all tasks of the cycle have run.
        (claim.plan().has_kept_events).store(true, Ordering::Relaxed);
    }
    lost
}

/// Inserts `event` after all that are not later. Returns the number of events that found no room: 0 or 1.
fn insert_by_frame(events: &mut Vec<Event>, event: Event) -> u64 {
    if events.len() == events.capacity() {
        return 1;
    }
    let at = events.partition_point(|e| e.frame <= event.frame);
    events.insert(at, event);
    0
}
