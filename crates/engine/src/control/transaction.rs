//! [`Transaction`]: changes that reach the audio thread at one block, and the frame of that block.
//!
//! ```text
//!   begin ─▶ edit, set_param, send_midi, ... ─▶ held ─▶ commit: events, as one chunk; then the executor, if there is one
//!                                                              │                         │
//!   audio thread, at a block's start:  taken, and held until the swap of their number ◀──┘
//! ```
//!
//! The events are in their ring before the executor is in its own. So a block that begins with the executor has them.

use super::Engine;
use crate::EngineError;
use crate::messages::{EVENTS, EventMessage, SwapMessage};
use std::collections::VecDeque;

/// Number of changes whose frames are remembered.
const MAX_FRAMES: usize = 2 * EVENTS;

/// Changes that are held back, and the frames at which the audio thread took what was sent.
#[derive(Default)]
pub(super) struct Transaction {
    held: Option<Held>,
    /// Number of events that were sent so far.
    sent: u64,
    /// Number of events that the audio thread had taken, each with the frame by which it had.
    taken: VecDeque<(u64, u64)>,
}

/// Messages that wait for [`Engine::commit`].
#[derive(Default)]
struct Held {
    events: Vec<EventMessage>,
    swap: Option<SwapMessage>,
}

impl Engine {
    /// Begins a transaction: edits, parameters and events from now on reach the audio thread together, at
    /// [`commit`](Self::commit). At most one edit of nodes and edges fits in it.
    ///
    /// Real-time: setup.
    pub fn begin(&mut self) {
        self.transaction.held.get_or_insert_default();
    }

    /// Ends a transaction: its changes take effect at one block. Gives a ticket for [`event_frame`](Self::event_frame).
    ///
    /// # Errors
    ///
    /// [`EngineError::Busy`] if there is no room for its events, and no edit in it; then nothing is sent, but the graph has
    /// the values.
    ///
    /// Real-time: setup.
    pub fn commit(&mut self) -> Result<u64, EngineError> {
        let Some(held) = self.transaction.held.take() else {
            return Ok(self.transaction.sent);
        };
        let (mut events, number) = (held.events, self.swaps);
        if held.swap.is_some() {
            for event in &mut events {
                event.after_swap = number;
            }
        }
        let count = events.len();
        let sent = match self.rings.events.write_chunk_uninit(count) {
            Ok(chunk) => Ok(chunk.fill_from_iter(events)),
            Err(_) => Err(EngineError::Busy),
        };
        if let Some(executor) = held.swap {
            self.push_swap(executor);
        }
        sent?;
        self.transaction.sent += count as u64;
        Ok(self.transaction.sent)
    }

    /// Forgets what a transaction holds, after a refused edit. Values that were set before it stay in the graph.
    ///
    /// Real-time: setup.
    pub fn cancel(&mut self) {
        self.transaction.held = None;
    }

    /// Ticket of what was sent last, for [`event_frame`](Self::event_frame).
    pub fn sent_events(&self) -> u64 {
        self.transaction.sent
    }

    /// Number of events for which there is room.
    pub fn event_room(&self) -> usize {
        let held = self.transaction.held.as_ref();
        let held = held.map_or(0, |held| held.events.len());
        self.rings.events.slots().saturating_sub(held)
    }

    /// First frame of the block from which on the events of a ticket are heard; `None` as long as it is not known, some
    /// milliseconds. Events for a later frame are heard at theirs.
    pub fn event_frame(&self, ticket: u64) -> Option<u64> {
        let taken = &self.transaction.taken;
        let first = taken.partition_point(|(count, _)| *count < ticket);
        taken.get(first).map(|(_, frame)| *frame)
    }

    /// Sends an event, or holds it.
    pub(super) fn send(&mut self, message: EventMessage) -> Result<(), EngineError> {
        if self.event_room() == 0 {
            return Err(EngineError::Busy);
        }
        if let Some(held) = &mut self.transaction.held {
            held.events.push(message);
            return Ok(());
        }
        let pushed = self.rings.events.push(message);
        pushed.map_err(|_| EngineError::Busy)?;
        self.transaction.sent += 1;
        Ok(())
    }

    /// Sends an executor, for which there is room, or holds it.
    pub(super) fn send_swap(&mut self, executor: SwapMessage) {
        match &mut self.transaction.held {
            Some(held) => held.swap = Some(executor),
            None => self.push_swap(executor),
        }
    }

    fn push_swap(&mut self, executor: SwapMessage) {
        let pushed = self.rings.swaps.push(executor);
        debug_assert!(
            pushed.is_ok(),
            "there was room, and only this thread fills it"
        );
    }

    /// Notes that the audio thread has taken `count` events, by the block at [`position`](Self::position).
    pub(super) fn note_events_taken(&mut self, count: u64) {
        let taken = &mut self.transaction.taken;
        if taken.back().is_none_or(|(last, _)| *last < count) {
            if taken.len() == MAX_FRAMES {
                taken.pop_front();
            }
            taken.push_back((count, self.position));
        }
    }
}
