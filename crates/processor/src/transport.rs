//! [`Transport`]: rolling or stopped, and the position of the piece at each frame.
//!
//! An engine counts the frames that it plays; that count never jumps. The *transport* says which position of the piece a frame
//! has: a list of changes, each from a frame on.
//!
//! ```text
//! frame of the engine   0        1000          1300            2000
//! change                rolling  stopped       locate, rolling speed 1.5
//! position              0 ─────▶ 1000 ──────── 48000 ────────▶ 48700 ══════▶
//! ```
//!
//! Processors that follow it (scores, curves, players of files) ask for the segments of their block, by the engine's frame. So a
//! later stage of a pipeline, which processes an older block, sees what was true in that block; and a block of any length is cut
//! at the same frames.
//!
//! # Who may touch what
//!
//! | who | does | when |
//! |---|---|---|
//! | the callback | appends changes | between cycles, none before the coming block |
//! | workers | read | in a cycle: its start publishes what was appended before |
//! | control | reads the last changes | at any time: an entry is complete before the count that holds it |
//!
//! The last [`HISTORY`] changes are kept. Reading one that is being replaced gives a wrong position and nothing worse; it would
//! take as many changes within the blocks that a pipeline holds.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of changes that are remembered.
const HISTORY: usize = 1024;

const _: () = assert!(HISTORY.is_power_of_two());

/// Most changes of a transport within one block.
pub const MAX_TRANSPORT_CHANGES: usize = 64;

/// State of the transport from a frame of the engine on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransportChange {
    /// Absolute frame of the engine from which on it holds.
    pub frame: u64,
    /// Position at that frame, in frames of the piece.
    pub position: f64,
    /// Frames of the piece in a frame of the engine while it rolls: 1 at the tempo of the session.
    pub speed: f64,
    /// False if it is stopped.
    pub is_rolling: bool,
    /// True if the position jumps here or rolling ends: notes that sound end.
    pub is_cut: bool,
    /// True if the position does not go on from where it was.
    pub is_jump: bool,
}

impl TransportChange {
    /// Rolling from position 0 on, at the first frame.
    pub const START: Self = Self {
        frame: 0,
        position: 0.0,
        speed: 1.0,
        is_rolling: true,
        is_cut: false,
        is_jump: false,
    };

    /// Position at `frame`, which is not before this change.
    ///
    /// Real-time: hot.
    pub fn position_at(&self, frame: u64) -> f64 {
        if !self.is_rolling {
            return self.position;
        }
        self.position + frame.saturating_sub(self.frame) as f64 * self.speed
    }
}

/// A range of frames in which the transport does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSegment {
    /// Absolute frames of the engine.
    pub frames: Range<u64>,
    /// The state in which they are.
    pub state: TransportChange,
    /// Position of the piece at which playing was cut off at the first of these frames, by a stop or a jump; `None` if it
    /// was not.
    pub cut_at: Option<f64>,
    /// True if the position jumps at the first of these frames.
    pub is_jump: bool,
}

impl TransportSegment {
    /// Position at the first frame, and behind the last.
    ///
    /// Real-time: hot.
    pub fn positions(&self) -> Range<f64> {
        self.state.position_at(self.frames.start)..self.state.position_at(self.frames.end)
    }

    /// The frame of this segment in which `position`, one of [`positions`](Self::positions), falls.
    ///
    /// Real-time: hot.
    pub fn frame_of(&self, position: f64) -> u64 {
        let (state, last) = (&self.state, self.frames.end - 1);
        let since = (position - state.position) / state.speed;
        let near = state.frame.saturating_add(since.max(0.0) as u64);
        let mut frame = near.clamp(self.frames.start, last);
        // The division may be a frame wide of it.
        while frame > self.frames.start && state.position_at(frame) > position {
            frame -= 1;
        }
        while frame < last && state.position_at(frame + 1) <= position {
            frame += 1;
        }
        frame
    }
}

/// The transport of an engine: its changes, by frame.
#[derive(Debug)]
pub struct Transport {
    changes: Box<[ChangeCell]>,
    /// Number of changes so far: at least 1.
    count: AtomicU64,
    can_change: bool,
}

/// A change as atomic words.
#[derive(Debug, Default)]
struct ChangeCell([AtomicU64; 4]);

const ROLLING: u64 = 1;
const CUT: u64 = 2;
const JUMP: u64 = 4;

impl ChangeCell {
    fn set(&self, change: TransportChange) {
        let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let flags = flag(change.is_rolling, ROLLING) | flag(change.is_cut, CUT);
        let words = [
            change.frame,
            change.position.to_bits(),
            change.speed.to_bits(),
            flags | flag(change.is_jump, JUMP),
        ];
        // Relaxed: the count that follows publishes them.
        for (cell, word) in self.0.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn get(&self) -> TransportChange {
        // Relaxed: ordered by the count, which was read before.
        let [frame, position, speed, flags] =
            std::array::from_fn(|i| self.0[i].load(Ordering::Relaxed));
        TransportChange {
            frame,
            position: f64::from_bits(position),
            speed: f64::from_bits(speed),
            is_rolling: flags & ROLLING != 0,
            is_cut: flags & CUT != 0,
            is_jump: flags & JUMP != 0,
        }
    }
}

impl Default for Transport {
    /// Rolling from position 0 on, for ever.
    fn default() -> Self {
        let first = ChangeCell::default();
        first.set(TransportChange::START);
        Self {
            changes: Box::new([first]),
            count: AtomicU64::new(1),
            can_change: false,
        }
    }
}

impl Transport {
    /// A transport that may change. It begins at `position`, rolling or stopped.
    ///
    /// Real-time: setup.
    pub fn new(position: f64, is_rolling: bool) -> Self {
        let changes: Box<[ChangeCell]> = (0..HISTORY).map(|_| ChangeCell::default()).collect();
        changes[0].set(TransportChange {
            position,
            is_rolling,
            ..TransportChange::START
        });
        Self {
            changes,
            count: AtomicU64::new(1),
            can_change: true,
        }
    }

    /// Returns true if it may be stopped and located.
    ///
    /// Real-time: hot.
    pub fn can_change(&self) -> bool {
        self.can_change
    }

    /// Appends a change, whose frame is not before that of the last one. For the callback, between cycles. Does nothing if
    /// it cannot change.
    ///
    /// Real-time: hot.
    pub fn push(&self, change: TransportChange) {
        if !self.can_change {
            return;
        }
        // Relaxed: only the callback stores it.
        let count = self.count.load(Ordering::Relaxed);
        self.cell(count).set(change);
        // pairs with the load in `last`: the change is complete.
        self.count.store(count + 1, Ordering::Release);
    }

    /// The last change.
    ///
    /// Real-time: hot.
    pub fn last(&self) -> TransportChange {
        self.cell(self.count() - 1).get()
    }

    /// Frame of the last change.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn last_frame(&self) -> u64 {
        // Relaxed: ordered by the count, which was read before.
        self.cell(self.count() - 1).0[0].load(Ordering::Relaxed)
    }

    /// The state at `frame`.
    ///
    /// Real-time: hot.
    pub fn at(&self, frame: u64) -> TransportChange {
        self.cell(self.index_at(frame)).get()
    }

    /// Frames of the engine until `position`, if it rolls on as it began.
    ///
    /// Real-time: setup.
    pub fn frames_until(&self, position: u64) -> u64 {
        let first = self.at(0).position;
        (position as f64 - first).max(0.0) as u64
    }

    /// The segments of the frames `from..to` of the engine, in order; each holds at least one frame.
    ///
    /// Real-time: hot.
    pub fn segments(&self, from: u64, to: u64) -> impl Iterator<Item = TransportSegment> + '_ {
        let mut index = self.index_at(from);
        let (count, mut at) = (self.count(), from);
        let mut most = HISTORY;
        std::iter::from_fn(move || {
            if at >= to || most == 0 {
                return None;
            }
            most -= 1;
            let mut state = self.cell(index).get();
            let begins_here = state.frame == at;
            let mut is_jump = begins_here && state.is_jump;
            let mut cut_at = self.cut_at(index).filter(|_| begins_here);
            // Of several changes at one frame the last one holds; the first that cuts says where.
            while begins_here && index + 1 < count && self.cell(index + 1).get().frame <= at {
                index += 1;
                state = self.cell(index).get();
                is_jump |= state.is_jump;
                cut_at = cut_at.or_else(|| self.cut_at(index));
            }
            let next = (index + 1 < count).then(|| self.cell(index + 1).get().frame);
            let end = next.map_or(to, |next| next.clamp(at + 1, to));
            let frames = at..end;
            (at, index) = (end, (index + 1).min(count - 1));
            Some(TransportSegment {
                frames,
                state,
                cut_at,
                is_jump,
            })
        })
    }

    /// Position at which change `index` cuts what plays.
    fn cut_at(&self, index: u64) -> Option<f64> {
        let change = self.cell(index).get();
        let before = index.checked_sub(1).filter(|_| change.is_cut)?;
        Some(self.cell(before).get().position_at(change.frame))
    }

    /// Number of changes so far. What was computed of later frames holds as long as it stays the same.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn count(&self) -> u64 {
        // pairs with the store in `push`.
        self.count.load(Ordering::Acquire)
    }

    #[inline]
    fn cell(&self, number: u64) -> &ChangeCell {
        // There are 1 or `HISTORY` of them: both are powers of two.
        &self.changes[number as usize & (self.changes.len() - 1)]
    }

    /// Number of the first of the changes that hold at `frame`: several changes at the same frame count from the first on.
    fn index_at(&self, frame: u64) -> u64 {
        let count = self.count();
        let oldest = count.saturating_sub(self.changes.len() as u64);
        let mut index = count - 1;
        while index > oldest && self.cell(index).get().frame > frame {
            index -= 1;
        }
        while index > oldest
            && self.cell(index).get().frame == frame
            && self.cell(index - 1).get().frame == frame
        {
            index -= 1;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(frame: u64, position: f64, is_rolling: bool, is_cut: bool) -> TransportChange {
        TransportChange {
            frame,
            position,
            is_rolling,
            is_cut,
            ..TransportChange::START
        }
    }

    #[test]
    fn a_transport_that_was_never_touched_rolls_from_frame_0() {
        let all: Vec<_> = Transport::default().segments(64, 128).collect();
        let [segment] = &all[..] else {
            panic!("one segment")
        };
        assert_eq!((segment.frames.clone(), segment.cut_at), (64..128, None));
        assert_eq!(segment.positions(), 64.0..128.0);
        assert_eq!(segment.frame_of(100.0), 100);
    }

    #[test]
    fn blocks_of_any_length_are_cut_at_the_same_frames() {
        let transport = Transport::new(0.0, true);
        transport.push(change(100, 100.0, false, true));
        transport.push(change(130, 5000.0, false, false));
        transport.push(change(130, 5000.0, true, false));
        transport.push(change(200, 700.0, true, true));
        let mut expected = Vec::new();
        for block in [1, 7, 64, 1000] {
            let mut positions = Vec::new();
            let mut cuts = Vec::new();
            for from in (0..1000).step_by(block) {
                let to = (from + block as u64).min(1000);
                for segment in transport.segments(from, to) {
                    assert!(segment.frames.start < segment.frames.end);
                    cuts.extend(segment.cut_at.map(|at| (segment.frames.start, at)));
                    for frame in segment.frames.clone() {
                        positions.push(segment.state.position_at(frame));
                        if segment.state.is_rolling {
                            let position = segment.state.position_at(frame);
                            assert_eq!(segment.frame_of(position), frame);
                        }
                    }
                }
            }
            assert_eq!(positions.len(), 1000);
            assert_eq!(cuts, [(100, 100.0), (200, 5070.0)], "{block}");
            if expected.is_empty() {
                expected = positions;
            } else {
                assert_eq!(positions, expected, "{block}");
            }
        }
        assert_eq!(expected[99], 99.0);
        assert_eq!(expected[115], 100.0);
        assert_eq!(expected[131], 5001.0);
        assert_eq!(expected[200], 700.0);
    }

    #[test]
    fn an_older_block_sees_what_was_true_in_it_and_old_changes_are_forgotten() {
        let transport = Transport::new(0.0, true);
        for n in 1..5000_u64 {
            transport.push(change(n * 10, (n * 1000) as f64, true, true));
        }
        assert_eq!(transport.at(49_985).position_at(49_985), 4_998_005.0);
        assert_eq!(transport.at(45_005).position_at(45_005), 4_500_005.0);
        assert_eq!(transport.segments(0, 64).count(), 1);
    }

    #[test]
    fn a_position_falls_into_one_frame_at_any_speed() {
        for speed in [0.25, 0.999, 1.0, 1.5, 3.7] {
            let transport = Transport::new(0.0, true);
            let speed = TransportChange {
                speed,
                ..change(3, 3.0, true, false)
            };
            transport.push(speed);
            let mut count = 0;
            for from in (0..999).step_by(3) {
                for segment in transport.segments(from, from + 3) {
                    let positions = segment.positions();
                    let first = positions.start.ceil() as u64;
                    for position in (first..).take_while(|p| (*p as f64) < positions.end) {
                        let frame = segment.frame_of(position as f64);
                        assert!(segment.state.position_at(frame) <= position as f64);
                        assert!(segment.state.position_at(frame + 1) > position as f64);
                        assert_eq!(position, count);
                        count += 1;
                    }
                }
            }
        }
    }
}
