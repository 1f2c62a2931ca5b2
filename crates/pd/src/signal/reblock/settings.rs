//! [`BlockSettings`]: the arguments of `block~` and `switch~`, and what follows from them.

use crate::signal::RowFormat;
use crate::state::{Held, held};

/// Longest block, in frames.
const MAX_FRAMES: u32 = 1 << 22;
/// Largest factor of overlap or of resampling.
const MAX_FACTOR: u32 = 1 << 16;

/// Highest rate inside, in hertz: overlap and resampling of all canvases around counted.
const MAX_RATE: f32 = 33_554_432.0;
/// Computations in a second, at most.
const MAX_RUNS: f32 = 16_777_216.0;

/// Arguments of `block~` or `switch~`, made sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct BlockSettings {
    /// Frames to compute; 0 for those of the canvas around.
    frames: usize,
    overlap: usize,
    up: usize,
    down: usize,
}

/// How often a canvas computes, and with which blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reblocking {
    /// Format inside.
    pub format: RowFormat,
    /// Frames of a block outside, at the rate inside.
    pub outer_frames: usize,
    /// Blocks of the canvas around from one computation to the next.
    pub period: usize,
    /// Computations within one block of the canvas around.
    pub frequency: usize,
    pub up: usize,
    pub down: usize,
    /// True if blocks inside differ from those outside.
    pub is_reblocked: bool,
    /// True if overlap or resampling were made smaller: there would be no end to the work.
    pub is_bounded: bool,
}

impl Held for BlockSettings {
    held!(frames, overlap, up, down; check |it| it.is_sound());
}

impl BlockSettings {
    /// Returns true if [`BlockSettings::new`] could have made it.
    fn is_sound(&self) -> bool {
        let factor = |it: usize| it.is_power_of_two() && it <= MAX_FACTOR as usize;
        self.frames <= MAX_FRAMES as usize
            && [self.overlap, self.up, self.down].into_iter().all(factor)
    }

    /// From block length, overlap and factor of upsampling. What Pd refuses becomes what Pd takes instead.
    pub(in super::super) fn new(frames: f32, overlap: f32, up: f32) -> Self {
        let power = |whole: u32| {
            if whole.is_power_of_two() {
                whole as usize
            } else {
                1
            }
        };
        let (up, down) = match up {
            up if up >= 1.0 => (whole(up, MAX_FACTOR), 1),
            up if up > 0.0 => (1, whole(1.0 / up, MAX_FACTOR)),
            _ => (1, 1),
        };
        Self {
            frames: whole(frames, MAX_FRAMES) as usize,
            overlap: power(whole(overlap, MAX_FACTOR).max(1)),
            up: power(up),
            down: power(down),
        }
    }

    /// Returns true if it needs no more memory than `other`, or not very much.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.frames <= other.frames.max(1 << 16) && self.up <= other.up.max(64)
    }

    /// What follows from them within a canvas of format `outer`. At the root of a patch everything counts as reblocked.
    pub(super) fn within(&self, outer: RowFormat, is_root: bool) -> Reblocking {
        let vector = match self.frames {
            0 => outer.vector,
            frames => frames.next_power_of_two(),
        };
        let frames = match self.frames {
            0 => vector,
            frames => frames,
        };
        let overlap = self.overlap.min(vector);
        let down = self.down.min(outer.vector);
        // Of canvases within one another the factors multiply.
        let (asked, mut overlap) = ((overlap, self.up), overlap);
        let mut up = self.up.min((MAX_FRAMES as usize / outer.vector).max(1));
        #[expect(clippy::cast_precision_loss, reason = "powers of two")]
        let rate_of = |overlap: usize, up: usize| outer.rate * (overlap * up) as f32 / down as f32;
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        let max_rate = MAX_RATE.min(MAX_RUNS * vector as f32);
        while overlap * up > 1 && rate_of(overlap, up) > max_rate {
            let larger = if up > 1 { &mut up } else { &mut overlap };
            *larger /= 2;
        }
        let (inside, outside) = (vector * down, outer.vector * overlap * up);
        #[expect(clippy::cast_precision_loss, reason = "powers of two")]
        let scaled = |rate: f32, overlap: usize| rate * overlap as f32 * up as f32 / down as f32;
        let is_like_outside = overlap * down * up == 1 && vector == outer.vector;
        Reblocking {
            format: RowFormat {
                frames,
                vector,
                rate: scaled(outer.rate, overlap),
                nominal_rate: scaled(outer.nominal_rate, 1),
            },
            outer_frames: (outer.vector * up / down).max(1),
            period: (inside / outside).max(1),
            frequency: (outside / inside).max(1),
            up,
            down,
            is_reblocked: is_root || !is_like_outside,
            is_bounded: (overlap, up) != asked,
        }
    }

    /// Format inside a canvas of format `outer`.
    pub(in super::super) fn format(&self, outer: RowFormat) -> RowFormat {
        self.within(outer, false).format
    }
}

/// The whole part, from 0 to `limit`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and below 0 is 0"
)]
fn whole(number: f32, limit: u32) -> u32 {
    (number as u32).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(frames: f32, overlap: f32, up: f32) -> Reblocking {
        BlockSettings::new(frames, overlap, up).within(RowFormat::outermost(48_000.0), false)
    }

    #[test]
    fn a_larger_block_runs_less_often_and_a_smaller_one_more_often() {
        let large = within(1024.0, 4.0, 0.0);
        assert_eq!((large.period, large.frequency), (4, 1));
        assert_eq!(large.format.rate, 192_000.0);
        assert_eq!(large.format.nominal_rate, 48_000.0);
        let small = within(16.0, 1.0, 0.0);
        assert_eq!((small.period, small.frequency), (1, 4));
        let quick = within(64.0, 1.0, 2.0);
        assert_eq!((quick.frequency, quick.outer_frames), (2, 128));
        let slow = within(64.0, 1.0, 0.5);
        assert_eq!((slow.period, slow.outer_frames), (2, 32));
    }

    #[test]
    fn what_pd_refuses_becomes_one_and_hostile_numbers_are_bounded() {
        assert_eq!(within(64.0, 3.0, 3.0), within(64.0, 1.0, 1.0));
        assert_eq!(within(100.0, 1.0, 1.0).format.vector, 128);
        assert!(!within(0.0, 0.0, 0.0).is_reblocked);
        for number in [f32::NAN, f32::INFINITY, -1.0, 1e30] {
            let found = within(number, number, number);
            assert!(found.format.vector <= 1 << 22, "{found:?}");
        }
        let long = BlockSettings::new(1e30, 1.0, 1.0).format(RowFormat::outermost(48_000.0));
        let inside = BlockSettings::new(1e30, 1.0, 65_536.0).within(long, false);
        assert!(inside.outer_frames <= 1 << 22, "{inside:?}");
    }

    #[test]
    fn the_work_of_a_canvas_is_bounded_also_within_another() {
        let quick = within(1.0, 1.0, 65_536.0);
        assert!(quick.is_bounded && quick.frequency <= 32_768, "{quick:?}");
        let wide = within(1e9, 1e9, 1e-9);
        assert!(wide.is_bounded && wide.format.rate <= MAX_RATE, "{wide:?}");
        let inner = BlockSettings::new(1.0, 1.0, 65_536.0).within(quick.format, false);
        assert!(inner.is_bounded && inner.frequency == 1, "{inner:?}");
        assert!(!within(4096.0, 32.0, 16.0).is_bounded);
        assert!(!within(1.0, 1.0, 64.0).is_bounded);
    }
}
