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
//! 1. The step that splits lends its block: it returns when every part has been played. If it is left before that, the
//!    executor keeps the memory of the block as it is until the last part has ended.
//! 2. Parts have no frame in common. A part writes its own frames of the outputs, and no flag, unless it is the whole block. All
//!    parts read the inputs, which nobody writes.
//! 3. Cuts lie where cache lines begin, so that no two workers write one line.

use super::{Block, InputBuffer, OutputBuffer, ProcessInfo, StepIo};
use crate::ProcessServices;
use rt::fork::{ForkAbandoned, ForkTask};
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
    /// The whole of a block, for a unit that does not split it.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn whole(block: &'a mut Block<'_>) -> Self {
        let Block { io, info } = *block;
        Self {
            block: Block { io, info },
            start: 0,
        }
    }

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

    /// These frames of [`Block::param_signal`].
    ///
    /// Real-time: hot.
    #[inline]
    pub fn param_signal(&self, index: u16) -> Option<&'a [f32]> {
        self.block.param_signal(index)
    }

    /// These frames of every output, to be held at the same time.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn outputs(&mut self) -> impl ExactSizeIterator<Item = OutputBuffer<'_>> {
        self.block.outputs()
    }
}

/// The services of a part. A fork runs all branches on the same worker: the others are busy with the other parts.
struct InlineServices;

impl ProcessServices for InlineServices {
    fn fork(&self, count: u32, task: &ForkTask) -> Result<(), ForkAbandoned> {
        (0..count).for_each(|branch| task.run(branch));
        Ok(())
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

/// A range of frames of a block, to be processed in parts.
pub(super) struct SplitBlock<'a> {
    io: &'a StepIo,
    services: &'a dyn ProcessServices,
    position: PositionInCycle,
    range: Range<usize>,
    parts: u32,
}

impl<'a> SplitBlock<'a> {
    /// The frames of `range`, in at most `parts` parts.
    ///
    /// # Panics
    ///
    /// `range` is not within the block.
    #[inline]
    pub(super) fn new(block: &'a mut Block<'_>, range: Range<usize>, parts: u32) -> Self {
        assert!(
            range.start <= range.end && range.end <= block.frames(),
            "a block has no such frames"
        );
        Self {
            io: block.io,
            services: block.info.services,
            position: PositionInCycle {
                position: block.info.position,
                cycle: block.info.cycle,
                offset: block.info.offset,
            },
            range,
            parts,
        }
    }

    /// Calls `work` for each part.
    ///
    /// # Safety
    ///
    /// All that `work` leads to stays alive and unwritten until every call has returned, after an error too.
    #[inline]
    pub(super) unsafe fn run<F>(self, work: F) -> Result<(), ForkAbandoned>
    where
        F: Fn(&mut BlockPart<'_>) + Copy + Send + Sync,
    {
        if self.parts > 1 && self.range.len() > FRAMES_PER_LINE {
            // SAFETY: the contract is the same.
            return unsafe { self.run_on_workers(work) };
        }
        if !self.range.is_empty() {
            // SAFETY: the only part, made of a block that this step has to itself.
            unsafe { run_part(self.io, self.position, self.range, &work) };
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn run_on_workers<F>(self, work: F) -> Result<(), ForkAbandoned>
    where
        F: Fn(&mut BlockPart<'_>) + Copy + Send + Sync,
    {
        let (io, position) = (self.io, self.position);
        let offset = position.offset as usize;
        let cuts = Cuts::new(
            offset + self.range.start,
            offset + self.range.end,
            self.parts,
        );
        let part = move |part: u32| {
            let frames = cuts.part(part);
            let frames = frames.start - offset..frames.end - offset;
            // SAFETY: rules 1 and 2: this block lives until all parts are played, and each is given out once
            // (`Block::new`'s promise about the services).
            unsafe { run_part(io, position, frames, &work) };
        };
        // SAFETY: the caller's promise for `work`; `io` stays as it is until all parts have been played, after an
        // error too (`Block::new`'s promise about the services).
        let task = unsafe { ForkTask::new(part) };
        self.services.fork(cuts.count(), &task)
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
