//! [`BlockSplit`]: the number of parts into which one block is cut, for several cores.
//!
//! A part is a range of frames of the block ([`Block::split`]). Units compute every frame in the same way in every part, so a
//! split block has the bits of a whole one; smoothers are moved to a part's begin first
//! ([`Smoother::advanced`](crate::smoother::Smoother::advanced)).
//!
//! ```text
//! parts = frames × (cost of a frame on one core - cost to move its samples to another core and back) / PART_NS
//! ```
//!
//! The cost of a sample is measured for each kind on one core (`benches`, `split`) and stands beside the kind as a constant.
//! Moving costs the same for all kinds. Gain and pan cost less than moving, and are only split if the user asks for it;
//! mixers are split from some dozens of inputs on, FIR filters nearly always.

use graph::Param;
use processor::{Block, BlockPart, ForkState, MakeContext, MakeError, Setup};
use std::ops::Range;

/// Smallest work of a part, in ns: what waking another worker costs, with a margin.
const PART_NS: f64 = 5000.0;
/// Cost of moving a sample between cores, in ns: 2 ns for a cache line of 16 samples.
const MOVE_NS: f64 = 0.125;
/// Smallest part, in frames: shorter loops are slower per frame.
const PART_FRAMES: usize = 32;
/// Parts for each worker: more than one, so that a worker that comes late still finds some.
const PARTS_PER_WORKER: u32 = 2;
/// Largest number of parts.
const MAX_PARTS: u32 = 64;

/// The parameter `split`, by which a user overrides the estimate.
pub(crate) fn split() -> Param {
    Param::number("split", (0.0, MAX_PARTS as f64), 0.0).doc(
        "Number of parts that a block is split into for other cores; 0: as many as pay, 1: not \
         split.",
    )
}

/// Number of parts into which a node splits its blocks.
#[derive(Clone, Copy)]
pub(crate) struct BlockSplit {
    /// Number of parts that the user asks for; 0: as many as pay.
    requested: u32,
    /// Cost of a frame on all channels less that of moving it, in ns; may be negative.
    frame_ns: f64,
    /// Largest block, in frames.
    block: usize,
    /// Ranges of fewer frames are never split: found in advance, so that most blocks compare once.
    whole_below: usize,
}

impl BlockSplit {
    /// Reads the node's parameter `split`.
    ///
    /// # Errors
    ///
    /// It is outside its range.
    pub(crate) fn from_node(creation: &MakeContext<'_>) -> Result<Self, MakeError> {
        Ok(Self {
            requested: creation.number("split")? as u32,
            frame_ns: 0.0,
            block: 1,
            whole_below: usize::MAX,
        })
    }

    /// Sets the block size and the cost of a frame: `frame_ns` on one core, and `samples` to move in and out.
    pub(crate) fn setup(&mut self, setup: &Setup<'_>, frame_ns: f64, samples: usize) {
        self.block = setup.block.count();
        self.frame_ns = frame_ns - samples as f64 * MOVE_NS;
        // A cost of 0 or less gives a number that no block reaches.
        let pays = 2.0 * PART_NS / self.frame_ns.max(f64::MIN_POSITIVE);
        self.whole_below = match self.requested {
            0 => (pays as usize).max(2 * PART_FRAMES),
            1 => usize::MAX,
            _ => 0,
        };
    }

    /// Largest number of parts of a block: [`Processor::max_parallelism`](processor::Processor::max_parallelism).
    pub(crate) fn max_parallelism(&self) -> u32 {
        if self.requested > 0 {
            return self.requested;
        }
        self.paying_parts(self.block).clamp(1, MAX_PARTS)
    }

    /// Number of parts of `frames` frames that pay.
    fn paying_parts(&self, frames: usize) -> u32 {
        let parts = (frames as f64 * self.frame_ns / PART_NS) as u32;
        parts.min((frames / PART_FRAMES) as u32)
    }

    /// Number of parts that `frames` frames of `block` are split into.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn parts(&self, block: &Block<'_>, frames: usize) -> u32 {
        if frames < self.whole_below {
            return 1;
        }
        self.parts_of_long(block, frames)
    }

    /// Blocks of fewer frames are never split.
    ///
    /// Real-time: hot.
    pub(crate) fn whole_below(&self) -> usize {
        self.whole_below
    }

    /// Returns true if this worker processes all frames of `block` by itself.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn is_whole(&self, block: &Block<'_>) -> bool {
        self.parts(block, block.frames()) <= 1
    }

    /// Number of parts of a range that may be split.
    #[inline(never)]
    fn parts_of_long(&self, block: &Block<'_>, frames: usize) -> u32 {
        if self.requested > 0 {
            return self.requested;
        }
        match block.workers() {
            0 | 1 => 1,
            workers => self
                .paying_parts(frames)
                .clamp(1, workers.saturating_mul(PARTS_PER_WORKER)),
        }
    }

    /// Processes the frames of `range` by `work`, in as many parts as pay or as the user asks for.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn process<F>(&self, block: &mut Block<'_>, range: Range<usize>, work: F)
    where
        F: Fn(&mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        let parts = self.parts(block, range.len());
        block.split(range, parts, work);
    }

    /// As [`process`](Self::process), with a state that all parts read.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn process_with<T, F>(
        &self,
        block: &mut Block<'_>,
        state: &mut ForkState<T>,
        range: Range<usize>,
        work: F,
    ) where
        T: Send + Sync + 'static,
        F: Fn(&T, &mut BlockPart<'_>) + Copy + Send + Sync + 'static,
    {
        let parts = self.parts(block, range.len());
        block.split_with(state, range, parts, work);
    }
}
