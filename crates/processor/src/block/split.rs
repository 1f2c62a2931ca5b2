//! [`BlockPart`]: a range of frames of a block. [`Block::split`] cuts a block into parts, which several workers
//! process.
//!
//! ```text
//!   block     │ 16 frames │ 16 frames │ 16 frames │ 16 frames │     one cache line each
//!   2 parts   │        part 0         │        part 1         │     cuts lie between cache lines
//! ```
//!
//! # Who may touch what
//!
//! 1. The step that splits lends its block: it returns when every part has been played.
//! 2. Parts have no frame in common. A part writes its own frames of the outputs, and no flag. All parts read the
//!    inputs, which nobody writes.
//! 3. Cuts lie where cache lines begin, so that no two workers write one line.

use super::{Block, InputBuffer, OutputBuffer, ProcessInfo, StepIo};
use crate::ProcessServices;
use std::ops::Range;
use units::Nanos;

/// Frames in a cache line.
const FRAMES_PER_LINE: usize = 16;

/// A range of frames of a block, for the worker that processes it.
pub struct BlockPart<'a> {
    block: Block<'a>,
    start: usize,
}

impl<'a> BlockPart<'a> {
    /// Its frames, counted from the start of the block: at least one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.block.frames()
    }

    /// These frames of the input `port`, counted from 0.
    ///
    /// # Panics
    ///
    /// There is no such input.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input(&self, port: usize) -> InputBuffer<'a> {
        self.block.input(port)
    }

    /// These frames of the output `port`, counted from 0.
    ///
    /// # Panics
    ///
    /// There is no such output.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&mut self, port: usize) -> OutputBuffer<'_> {
        self.block.output(port)
    }

    /// These frames of every output, to be held at the same time.
    ///
    /// Real-time: hot.
    pub fn outputs(&mut self) -> impl ExactSizeIterator<Item = OutputBuffer<'_>> {
        self.block.outputs()
    }
}

/// The services of a part. A fork runs all branches on the same worker: the others are busy with the other parts.
struct InlineServices;

impl ProcessServices for InlineServices {
    fn fork(&self, count: u32, branch: &(dyn Fn(u32) + Sync)) {
        (0..count).for_each(branch);
    }

    fn count_late(&self) {}

    fn time_for_late_results(&self) -> Option<Nanos> {
        None
    }
}

/// The cuts of a range of frames.
#[derive(Clone, Copy)]
struct Cuts {
    start: usize,
    end: usize,
    /// First frame of the cache line of `start`, and frames between two cuts.
    base: usize,
    spacing: usize,
}

impl Cuts {
    /// Cuts `start..end`, counted from the start of the slots, into at most `parts`.
    fn new(start: usize, end: usize, parts: u32) -> Self {
        let base = start - start % FRAMES_PER_LINE;
        let each = (end - base).div_ceil(parts.max(1) as usize);
        Self {
            start,
            end,
            base,
            spacing: each.next_multiple_of(FRAMES_PER_LINE).max(FRAMES_PER_LINE),
        }
    }

    fn count(self) -> u32 {
        (self.end - self.base).div_ceil(self.spacing) as u32
    }

    fn part(self, part: u32) -> Range<usize> {
        let cut = |n: usize| (self.base + n * self.spacing).clamp(self.start, self.end);
        cut(part as usize)..cut(part as usize + 1)
    }
}

impl Block<'_> {
    /// Processes the frames of `range`: calls `work` for each of at most `parts` parts, on idle workers too. Returns
    /// when all calls have returned. A part has at least 16 frames, a cache line, so short ranges have fewer parts. A
    /// single part is processed by this worker, without a fork.
    ///
    /// The result has the bits of an unsplit block if `work` computes each frame in the same way in every part.
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
        if parts > 1 && range.len() > FRAMES_PER_LINE {
            return self.split_on_workers(range, parts, &work);
        }
        if !range.is_empty() {
            // SAFETY: the only part, made of a block that this step has to itself.
            unsafe { run_part(self.io, self.position_in_cycle(), range, &work) };
        }
    }

    #[inline(never)]
    fn split_on_workers(
        &mut self,
        range: Range<usize>,
        parts: u32,
        work: &(dyn Fn(&mut BlockPart<'_>) + Sync),
    ) {
        let (io, position) = (self.io, self.position_in_cycle());
        let offset = position.offset as usize;
        let cuts = Cuts::new(offset + range.start, offset + range.end, parts);
        self.info.services.fork(cuts.count(), &|part| {
            let frames = cuts.part(part);
            let frames = frames.start - offset..frames.end - offset;
            // SAFETY: rules 1 and 2: this block lives until all parts are played, and each is given out once
            // (`Block::new`'s promise about the services).
            unsafe { run_part(io, position, frames, work) };
        });
    }

    #[inline]
    fn position_in_cycle(&self) -> PositionInCycle {
        PositionInCycle {
            position: self.info.position,
            cycle: self.info.cycle,
            offset: self.info.offset,
        }
    }
}

/// A [`ProcessInfo`] without its pointers, which may not cross to other workers.
#[derive(Clone, Copy)]
struct PositionInCycle {
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
unsafe fn run_part<F>(io: &StepIo, at: PositionInCycle, range: Range<usize>, work: &F)
where
    F: Fn(&mut BlockPart<'_>) + ?Sized,
{
    let info = ProcessInfo {
        frames: range.len() as u32,
        offset: at.offset + range.start as u32,
        position: at.position + range.start as u64,
        // A part must not mark a slot, which it does not write as a whole.
        is_whole_block: false,
        cycle: at.cycle,
        device_inputs: &[],
        services: &InlineServices,
    };
    // SAFETY: the caller's promise; a part gives out no flag to write, no device input and no event buffer.
    let block = unsafe { Block::new(io, &info) };
    let start = range.start;
    work(&mut BlockPart { block, start });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_begin_with_a_cache_line() {
        for (start, end) in [(0, 64), (5, 64), (16, 33), (3, 4), (0, 4096), (47, 1000)] {
            for parts in 1..9 {
                let cuts = Cuts::new(start, end, parts);
                assert!((1..=parts).contains(&cuts.count()), "{start} {end} {parts}");
                let mut at = start;
                for part in 0..cuts.count() {
                    let range = cuts.part(part);
                    assert_eq!(range.start, at);
                    assert!(at == start || at % FRAMES_PER_LINE == 0);
                    assert!(!range.is_empty(), "{start} {end} {parts}");
                    at = range.end;
                }
                assert_eq!(at, end);
            }
        }
    }

    #[test]
    fn a_block_is_cut_evenly() {
        let cuts = Cuts::new(0, 64, 2);
        assert_eq!((cuts.count(), cuts.part(1)), (2, 32..64));
        let cuts = Cuts::new(0, 64, 7);
        assert_eq!((cuts.count(), cuts.part(3)), (4, 48..64));
    }
}
