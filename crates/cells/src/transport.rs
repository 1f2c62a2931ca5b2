//! The transport of the supervisor's engine, on its way into a cell: changes within a block, each at its frame.
//!
//! | word | holds |
//! |---|---|
//! | 0 | number of changes |
//! | 1 | 1 if the first one is the state at the first frame, whatever the process had; else 0 |
//! | 2 + 6k | frame in the block |
//! | 3, 4 + 6k | position at that frame, in frames of the piece |
//! | 5, 6 + 6k | frames of the piece in a frame |
//! | 7 + 6k | rolls, cuts, jumps: a bit each |
//!
//! A process that is new, or has missed a block, gets the state as it is. What is not finite, or of a frame that is not in the
//! block, is left out.

use processor::{Transport, TransportChange};
use std::sync::Arc;

/// Most changes in a block; of further ones the last holds.
const CHANGES: usize = 8;
/// Words of a change.
const WORDS: usize = 6;
/// Words of the area.
pub(crate) const TRANSPORT_WORDS: usize = 2 + WORDS * CHANGES;

const ROLLS: u32 = 1;
const CUTS: u32 = 2;
const JUMPS: u32 = 4;

/// Changes of the transport, as the node of a cell tells them.
pub(crate) struct TransportFeed {
    transport: Arc<Transport>,
    /// Changes that the process knows.
    known: u64,
    is_behind: bool,
}

impl TransportFeed {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self {
            transport,
            known: 0,
            is_behind: true,
        }
    }

    /// A process has come, or has missed a block.
    pub(crate) fn set_behind(&mut self) {
        self.is_behind = true;
    }

    /// Writes what changes in the block `from..to` into an area.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&mut self, (from, to): (u64, u64), area: &mut [u32]) {
        let Some((head, rest)) = area.split_first_chunk_mut::<2>() else {
            return;
        };
        *head = [0, u32::from(self.is_behind)];
        let count = self.transport.count();
        if count == self.known && !self.is_behind {
            return;
        }
        self.known = count;
        let (places, _) = rest.as_chunks_mut::<WORDS>();
        let mut at = 0;
        for segment in self.transport.segments(from, to) {
            let begin = segment.frames.start;
            let is_new = segment.state.frame == begin;
            let is_told = is_new || (self.is_behind && begin == from);
            if !is_told {
                continue;
            }
            let place = &mut places[at.min(CHANGES - 1)];
            at = (at + 1).min(CHANGES);
            let position = segment.state.position_at(begin).to_bits();
            let speed = segment.state.speed.to_bits();
            let flag = |is_set: bool, bit| if is_set { bit } else { 0 };
            let flags = flag(segment.state.is_rolling, ROLLS)
                | flag(segment.cut_at.is_some(), CUTS)
                | flag(segment.is_jump, JUMPS);
            *place = [
                (begin - from) as u32,
                position as u32,
                (position >> 32) as u32,
                speed as u32,
                (speed >> 32) as u32,
                flags,
            ];
        }
        head[0] = at as u32;
    }

    /// The block was sent.
    pub(crate) fn set_sent(&mut self) {
        self.is_behind = false;
    }
}

/// Passes the changes of an area, for a block of `frames` at `position`, to `change`; `last` is the state so far.
///
/// Real-time: hot, if `change` is.
pub(crate) fn read_transport(
    area: &[u32],
    (position, frames): (u64, usize),
    last: TransportChange,
    mut change: impl FnMut(TransportChange),
) {
    let Some(([count, is_state], rest)) = area.split_first_chunk::<2>() else {
        return;
    };
    let (places, _) = rest.as_chunks::<WORDS>();
    let mut earliest = 0;
    for (number, place) in places.iter().take(*count as usize).enumerate() {
        let [frame, low, high, slow, shigh, flags] = *place;
        let word = |low: u32, high: u32| f64::from_bits(u64::from(low) | u64::from(high) << 32);
        let (here, speed) = (word(low, high), word(slow, shigh));
        let is_sound = here.is_finite() && (1e-6..=1e6).contains(&speed) && here.abs() < 1e15;
        if !is_sound || frame < earliest || frame as usize >= frames {
            continue;
        }
        earliest = frame;
        let mut next = TransportChange {
            frame: position + u64::from(frame),
            position: here,
            speed,
            is_rolling: flags & ROLLS != 0,
            is_cut: flags & CUTS != 0,
            is_jump: flags & JUMPS != 0,
        };
        if number == 0 && *is_state == 1 && frame == 0 {
            let is_there = last.position_at(next.frame) == here;
            let same = (last.speed, last.is_rolling) == (speed, next.is_rolling);
            if is_there && same && !next.is_cut && !next.is_jump {
                continue;
            }
            next.is_cut |= last.is_rolling && !(is_there && next.is_rolling);
            next.is_jump |= !is_there;
        }
        change(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(frame: u64, position: f64, is_rolling: bool) -> TransportChange {
        TransportChange {
            frame,
            position,
            is_rolling,
            is_cut: true,
            is_jump: true,
            ..TransportChange::START
        }
    }

    #[test]
    fn a_cell_has_the_segments_of_its_supervisor() {
        let here = Arc::new(Transport::new(0.0, true));
        let there = Transport::new(0.0, true);
        let mut feed = TransportFeed::new(here.clone());
        for block in 0..40u64 {
            let (from, to) = (64 * block, 64 * block + 64);
            match block {
                3 => here.push(change(from + 7, 1000.0, false)),
                9 => here.push(TransportChange {
                    speed: 1.7,
                    ..change(from, 5.0, true)
                }),
                10 => {
                    (0..3).for_each(|k| here.push(change(from + 20 * k, 300.0 * k as f64, k != 1)))
                }
                20 => {
                    // Some blocks did not come.
                    feed.set_behind();
                    here.push(change(from, 77.0, true));
                }
                _ => {}
            }
            let mut area = [9; TRANSPORT_WORDS];
            feed.write((from, to), &mut area);
            feed.set_sent();
            read_transport(&area, (from, 64), there.last(), |it| there.push(it));
            let all = |it: &Transport| {
                let all = it.segments(from, to);
                all.map(|it| (it.frames.clone(), it.positions(), it.cut_at, it.is_jump))
                    .collect::<Vec<_>>()
            };
            assert_eq!(all(&here), all(&there), "block {block}");
        }
    }

    #[test]
    fn nonsense_changes_nothing_that_is_not_in_the_block() {
        let mut state = 1u32;
        let mut area = [0; TRANSPORT_WORDS];
        for _ in 0..20_000 {
            for word in &mut area {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *word = state >> (state >> 28);
            }
            area[0] %= 12;
            area.iter_mut()
                .skip(2)
                .step_by(WORDS)
                .for_each(|frame| *frame %= 80);
            let mut last = 640;
            read_transport(&area, (640, 64), TransportChange::START, |it| {
                assert!(it.frame >= last && it.frame < 704 && it.position.is_finite());
                last = it.frame;
            });
        }
    }
}
