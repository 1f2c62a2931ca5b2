//! A block cut into spans: at its events, and where units tidy up.
//!
//! The cuts are at stated frames since the start, never at the ends of blocks, so that no unit can see how its time
//! was cut into blocks.

use processor::{Block, Event};
use std::ops::Range;

/// Units tidy their state each time so many frames have been played.
const TIDY_EVERY: u64 = 64;

/// What to do next.
pub(crate) enum Step {
    /// Take up this event.
    Event(Event),
    /// Play these frames of the block; at least one, at most 64.
    Play(Range<usize>),
    /// Bring a state that has all but faded to rest, and throw away one that is not finite.
    Tidy,
}

/// What a unit does next that has nothing to tidy.
pub(crate) enum Span {
    /// Take up this event.
    Event(Event),
    /// Play these frames of the block; at least one.
    Play(Range<usize>),
}

/// As [`steps`], for units that have nothing to tidy: a span reaches from event to event.
///
/// Real-time: hot.
#[inline]
pub(crate) fn spans<'a>(block: &Block<'a>) -> impl Iterator<Item = Span> + use<'a> {
    let mut events = block.events().iter().peekable();
    let frames = block.frames();
    let mut at = 0;
    std::iter::from_fn(move || {
        if let Some(event) = events.next_if(|e| e.frame as usize <= at) {
            return Some(Span::Event(event));
        }
        if at == frames {
            return None;
        }
        let from = at;
        at = events.peek().map_or(frames, |e| e.frame as usize);
        Some(Span::Play(from..at))
    })
}

/// What to do in `block`, in order.
///
/// Real-time: hot.
pub(crate) fn steps<'a>(block: &Block<'a>) -> impl Iterator<Item = Step> + use<'a> {
    let mut events = block.events().iter().peekable();
    let (frames, position) = (block.frames(), block.position());
    let mut at = 0;
    let mut untidy = false;
    std::iter::from_fn(move || {
        if std::mem::take(&mut untidy) {
            return Some(Step::Tidy);
        }
        if let Some(event) = events.next_if(|e| e.frame as usize <= at) {
            return Some(Step::Event(event));
        }
        if at == frames {
            return None;
        }
        let event = events.peek().map_or(frames, |e| e.frame as usize);
        let tidy = at + (TIDY_EVERY - (position + at as u64) % TIDY_EVERY) as usize;
        let from = at;
        at = event.min(tidy).min(frames);
        untidy = at == tidy;
        Some(Step::Play(from..at))
    })
}
