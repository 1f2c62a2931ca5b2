//! One block cut into parts of its frames, played by several workers at once.
//!
//! # Who may touch what
//!
//! 1. The step that splits lends its block: it comes back when every part has been played.
//! 2. Parts have no frame in common. A part writes its own frames of the outputs, and no flag; all parts read the
//!    inputs, which nobody writes.
//! 3. Cuts lie where cache lines begin, so that no two workers write one line.

use crate::{Block, InputBuffer, OutputBuffer, ProcessInfo, ProcessServices, StepIo};
use std::ops::Range;

/// Frames in a cache line.
const LINE: usize = 16;

/// Some frames of a block, as whoever plays them sees them.
pub struct BlockPart<'a> {
    block: Block<'a>,
    from: usize,
}

impl<'a> BlockPart<'a> {
    /// Which frames of the block: at least one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.from..self.from + self.block.frames()
    }

    /// These frames of the input `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input(&self, port: usize) -> InputBuffer<'a> {
        self.block.input(port)
    }

    /// These frames of the output `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&mut self, port: usize) -> OutputBuffer<'_> {
        self.block.output(port)
    }

    /// These frames of every output, all at once.
    ///
    /// Real-time: hot.
    pub fn outputs(&mut self) -> impl ExactSizeIterator<Item = OutputBuffer<'_>> {
        self.block.outputs()
    }
}

/// What a part is lent: nobody's help, since the help is busy with the parts.
struct Nobody;

impl ProcessServices for Nobody {
    fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        (0..lanes).for_each(work);
    }

    fn count_late(&self) {}

    fn may_help(&self) -> bool {
        true
    }
}

/// Where a range of frames is cut.
#[derive(Clone, Copy)]
struct Cuts {
    from: usize,
    to: usize,
    /// The first frame of the first line, and how many frames lie between two cuts.
    base: usize,
    every: usize,
}

impl Cuts {
    /// `from .. to`, counted as the slots count, in at most `parts`.
    fn of(from: usize, to: usize, parts: u32) -> Self {
        let base = from - from % LINE;
        let each = (to - base).div_ceil(parts.max(1) as usize);
        Self {
            from,
            to,
            base,
            every: each.next_multiple_of(LINE).max(LINE),
        }
    }

    fn count(self) -> u32 {
        (self.to - self.base).div_ceil(self.every) as u32
    }

    fn part(self, part: u32) -> Range<usize> {
        let cut = |n: usize| (self.base + n * self.every).clamp(self.from, self.to);
        cut(part as usize)..cut(part as usize + 1)
    }
}

impl Block<'_> {
    /// Plays the frames of `range` by calling `work` for each of at most `parts` parts, on idle workers too; comes back
    /// when all are played. A part has a cache line's 16 frames at least, so short ranges have fewer parts; one that is
    /// whole is played at once, by this worker.
    ///
    /// Whoever wants the bits of an unsplit block computes each frame in the same way in any part.
    ///
    /// # Panics
    ///
    /// `range` is not within the block, or `work` panicked.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn split<F>(&mut self, range: Range<usize>, parts: u32, work: F)
    where
        F: Fn(&mut BlockPart<'_>) + Sync,
    {
        assert!(
            range.start <= range.end && range.end <= self.frames(),
            "a block has no such frames"
        );
        if parts > 1 && range.len() > LINE {
            return self.split_by(range, parts, &work);
        }
        if !range.is_empty() {
            // SAFETY: the only part, made of a block that is ours.
            unsafe { play(self.io, self.place(), range, &work) };
        }
    }

    #[inline(never)]
    fn split_by(
        &mut self,
        range: Range<usize>,
        parts: u32,
        work: &(dyn Fn(&mut BlockPart<'_>) + Sync),
    ) {
        let (io, place) = (self.io, self.place());
        let offset = place.offset as usize;
        let cuts = Cuts::of(offset + range.start, offset + range.end, parts);
        self.info.services.fork(cuts.count(), &|part| {
            let at = cuts.part(part);
            // SAFETY: rules 1 and 2: this block lives until all parts are played, and each is given out once
            // (`Block::new`'s promise about the runtime).
            unsafe { play(io, place, at.start - offset..at.end - offset, work) };
        });
    }

    #[inline]
    fn place(&self) -> Place {
        Place {
            position: self.info.position,
            cycle: self.info.cycle,
            offset: self.info.offset,
        }
    }
}

/// A moment without its pointers: what crosses to other workers.
#[derive(Clone, Copy)]
struct Place {
    position: u64,
    cycle: u64,
    offset: u32,
}

/// Calls `work` for the frames `range` of the block that is bound to `io`.
///
/// # Safety
///
/// As for [`Block::new`], for these frames of the outputs alone.
#[inline]
unsafe fn play<F>(io: &StepIo, place: Place, range: Range<usize>, work: &F)
where
    F: Fn(&mut BlockPart<'_>) + ?Sized,
{
    let moment = ProcessInfo {
        frames: range.len() as u32,
        offset: place.offset + range.start as u32,
        position: place.position + range.start as u64,
        // A part speaks for no slot as a whole.
        is_whole_block: false,
        cycle: place.cycle,
        device_inputs: &[],
        services: &Nobody,
    };
    // SAFETY: the caller's promise; a part gives out no flag to write, no device and no room for events.
    let block = unsafe { Block::new(io, &moment) };
    let from = range.start;
    work(&mut BlockPart { block, from });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_begin_with_a_line() {
        for (from, to) in [(0, 64), (5, 64), (16, 33), (3, 4), (0, 4096), (47, 1000)] {
            for parts in 1..9 {
                let cuts = Cuts::of(from, to, parts);
                assert!((1..=parts).contains(&cuts.count()), "{from} {to} {parts}");
                let mut at = from;
                for part in 0..cuts.count() {
                    let range = cuts.part(part);
                    assert_eq!(range.start, at);
                    assert!(at == from || at % LINE == 0);
                    assert!(!range.is_empty(), "{from} {to} {parts}");
                    at = range.end;
                }
                assert_eq!(at, to);
            }
        }
    }

    #[test]
    fn a_block_is_cut_evenly() {
        let cuts = Cuts::of(0, 64, 2);
        assert_eq!((cuts.count(), cuts.part(1)), (2, 32..64));
        let cuts = Cuts::of(0, 64, 7);
        assert_eq!((cuts.count(), cuts.part(3)), (4, 48..64));
    }
}
