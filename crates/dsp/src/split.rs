//! One block over several cores: into how many parts, and when.
//!
//! A part is some frames of the block ([`Block::split`]). Units compute each frame in the same way in every part, so
//! that a split block has the bits of a whole one; what glides is brought to a part's begin first
//! ([`Smooth::after`](crate::smooth::Smooth::after)).
//!
//! Where nobody says otherwise a block is split where it pays. What a kind's samples cost on one core is measured
//! (`benches`, `split`) and stands beside the kind; from it goes what it costs to bring samples to another core and back,
//! which depends on no kind. Gain and pan cost less than that, and are never split unless the user says so; mixers are
//! where they have some dozens of inputs, and filters nearly always. Every part must be worth [`PART_NS`] beyond.

use crate::knob::fixed;
use graph::Param;
use processor::{Block, BlockPart, MakeContext, MakeError, Setup};
use std::ops::Range;

/// The least that a part is worth: a wake of another worker, and some.
const PART_NS: f64 = 5000.0;
/// What it costs to bring a sample to another core, or from there: 2 ns for a cache line of 16.
const MOVE_NS: f64 = 0.125;
/// The least frames of a part: fewer are slower by themselves.
const PART_FRAMES: usize = 32;
/// More parts than workers, so that one that comes late still finds some.
const PARTS_A_WORKER: u32 = 2;
/// The most parts that anyone may ask for.
const MOST: u32 = 64;

/// The parameter by which a user decides.
pub(crate) fn split() -> Param {
    fixed(
        "split",
        "",
        (0.0, MOST as f64),
        0.0,
        "Into how many parts a block is split for other cores; 0: as many as pay, 1: it stays whole.",
    )
}

/// When a node splits its blocks.
#[derive(Clone, Copy)]
pub(crate) struct Split {
    /// As many as the user asks for; 0: as many as pay.
    asked: u32,
    /// What a frame costs on all channels, beyond its way to another core.
    frame_ns: f64,
    /// The most frames of a block.
    block: usize,
    /// Fewer frames than this stay whole, which is seen without a division.
    least: usize,
}

impl Split {
    /// As the node says.
    pub(crate) fn of(creation: &MakeContext<'_>) -> Result<Self, MakeError> {
        Ok(Self {
            asked: creation.number("split")? as u32,
            frame_ns: 0.0,
            block: 1,
            least: usize::MAX,
        })
    }

    /// Learns the block's size, and what a frame is: it costs `frame_ns`, and has so many `samples` in and out.
    pub(crate) fn set_up(&mut self, setup: &Setup<'_>, frame_ns: f64, samples: usize) {
        self.block = setup.block.count();
        self.frame_ns = frame_ns - samples as f64 * MOVE_NS;
        // A cost of 0 or less gives no number that a block could reach.
        let pays = 2.0 * PART_NS / self.frame_ns.max(f64::MIN_POSITIVE);
        self.least = (pays as usize).max(2 * PART_FRAMES);
    }

    /// Into how many parts a block is cut at most: [`Processor::lanes`](processor::Processor::lanes).
    pub(crate) fn lanes(&self) -> u32 {
        if self.asked > 0 {
            return self.asked;
        }
        self.worth(self.block).clamp(1, MOST)
    }

    fn worth(&self, frames: usize) -> u32 {
        let parts = (frames as f64 * self.frame_ns / PART_NS) as u32;
        parts.min((frames / PART_FRAMES) as u32)
    }

    /// Into how many parts `frames` frames of `block` are cut now.
    ///
    /// Real-time: hot.
    #[inline]
    fn parts(&self, block: &Block<'_>, frames: usize) -> u32 {
        if self.asked > 0 {
            return self.asked;
        }
        if frames < self.least {
            return 1;
        }
        match block.workers() {
            0 | 1 => 1,
            workers => self
                .worth(frames)
                .clamp(1, workers.saturating_mul(PARTS_A_WORKER)),
        }
    }

    /// Plays the frames of `range` by `work`, in as many parts as pay, or as the user asked for.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn play<F>(&self, block: &mut Block<'_>, range: Range<usize>, work: F)
    where
        F: Fn(&mut BlockPart<'_>) + Sync,
    {
        let parts = self.parts(block, range.len());
        block.split(range, parts, work);
    }
}
