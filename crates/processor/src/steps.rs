//! A block cut into ranges: at its events, and at the frames where units clean up their state.
//!
//! ```text
//! position (since the start) 0        64        128       192
//! cleanups, every 64 frames  ┊         ┊          ┊         ┊
//! block                          [────────────────────)
//! event at frame 30                    ┊     ▼
//! ranges                         [─────)[────)[───)[──)
//! ```
//!
//! Cleanups stand at fixed frames since the start, never at the ends of blocks: so no unit's sound depends on how time is
//! cut into blocks.

use crate::{Block, Event};
use std::ops::Range;

/// Frames between two cleanups.
const CLEANUP_INTERVAL: u64 = 64;

/// Next step of a unit that cleans up its state.
pub enum BlockStep {
    /// Handle this event.
    Event(Event),
    /// Process these frames of the block: at least one, at most 64.
    Process(Range<usize>),
    /// Set a state to zero that has faded to silence or is not finite.
    Cleanup,
}

/// Next step of a unit that has nothing to clean up.
pub enum BlockSpan {
    /// Handle this event.
    Event(Event),
    /// Process these frames of the block: at least one.
    Process(Range<usize>),
}

/// As [`block_steps`], for units that have nothing to clean up: ranges reach from event to event.
///
/// Real-time: hot.
#[inline]
pub fn block_spans<'a>(block: &Block<'a>) -> impl Iterator<Item = BlockSpan> + use<'a> {
    let mut events = block.events();
    let frames = block.frames();
    let mut at = 0;
    std::iter::from_fn(move || {
        if let Some(event) = events.next_until(at) {
            return Some(BlockSpan::Event(event));
        }
        if at == frames {
            return None;
        }
        let from = at;
        at = events.first_frame().unwrap_or(frames);
        Some(BlockSpan::Process(from..at))
    })
}

/// Returns true if the steps through `block` are whole ones, each of as many frames as lie between two cleanups and with a cleanup behind it:
/// nearly always where blocks have a multiple of 64 frames.
///
/// Real-time: hot.
#[inline(always)]
pub fn has_whole_steps(block: &Block<'_>) -> bool {
    let frames = block.frames() as u64;
    !block.may_have_events()
        && (block.position() | frames).is_multiple_of(CLEANUP_INTERVAL)
        && frames > 0
}

/// The steps through `block`, in order.
///
/// Real-time: hot.
#[inline]
pub fn block_steps<'a>(block: &Block<'a>) -> impl Iterator<Item = BlockStep> + use<'a> {
    let mut events = block.events();
    let (frames, position) = (block.frames(), block.position());
    let mut at = 0;
    let mut is_cleanup_due = false;
    std::iter::from_fn(move || {
        if std::mem::take(&mut is_cleanup_due) {
            return Some(BlockStep::Cleanup);
        }
        if let Some(event) = events.next_until(at) {
            return Some(BlockStep::Event(event));
        }
        if at == frames {
            return None;
        }
        let event = events.first_frame().unwrap_or(frames);
        let cleanup = at + (CLEANUP_INTERVAL - (position + at as u64) % CLEANUP_INTERVAL) as usize;
        let from = at;
        at = event.min(cleanup).min(frames);
        is_cleanup_due = at == cleanup;
        Some(BlockStep::Process(from..at))
    })
}
