//! One block over several cores: into how many parts, and when.
//!
//! A part is some frames of the block ([`Block::split`]). Units compute each frame in the same way in every part, so
//! that a split block has the bits of a whole one; what glides is brought to a part's begin first
//! ([`Smooth::after`](crate::smooth::Smooth::after)).
//!
//! Where nobody says otherwise a block is split where it pays: where every part is worth at least [`PART_NS`] of work
//! by the kind's own estimate, which says what its samples cost where they are in the worker's cache. Other cores fetch
//! them from there first; so the least part is large beside a crossing (0.3 µs and 0.1 µs for each line).

use crate::knob::fixed;
use graph::Param;
use processor::{Block, Creation, MakeError, Part, Setup};
use std::ops::Range;

/// The least that a part is worth.
const PART_NS: f64 = 8000.0;
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
    /// What a frame costs, on all channels.
    frame_ns: f64,
    /// The most frames of a block.
    block: usize,
}

impl Split {
    /// As the node says, where a frame is worth `frame_ns`.
    pub(crate) fn of(creation: &Creation<'_>, frame_ns: f64) -> Result<Self, MakeError> {
        Ok(Self {
            asked: creation.number("split")? as u32,
            frame_ns,
            block: 1,
        })
    }

    pub(crate) fn set_up(&mut self, setup: &Setup<'_>) {
        self.block = setup.block.count();
    }

    /// Says what a frame is worth, for a kind that knows it only in `setup`.
    pub(crate) fn is_worth(&mut self, frame_ns: f64) {
        self.frame_ns = frame_ns;
    }

    /// Into how many parts a block is cut at most: [`Processor::lanes`](processor::Processor::lanes).
    pub(crate) fn lanes(&self) -> u32 {
        if self.asked > 0 {
            return self.asked;
        }
        self.worth(self.block).clamp(1, MOST)
    }

    fn worth(&self, frames: usize) -> u32 {
        (frames as f64 * self.frame_ns / PART_NS) as u32
    }

    /// Into how many parts `frames` frames of `block` are cut now.
    ///
    /// Real-time: hot.
    #[inline]
    fn parts(&self, block: &Block<'_>, frames: usize) -> u32 {
        if self.asked > 0 {
            return self.asked;
        }
        let worth = self.worth(frames);
        if worth < 2 {
            return 1;
        }
        match block.workers() {
            0 | 1 => 1,
            workers => worth.min(workers.saturating_mul(PARTS_A_WORKER)),
        }
    }

    /// Plays the frames of `range` by `work`, in as many parts as pay, or as the user asked for.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn play<F>(&self, block: &mut Block<'_>, range: Range<usize>, work: F)
    where
        F: Fn(&mut Part<'_>) + Sync,
    {
        let parts = self.parts(block, range.len());
        block.split(range, parts, work);
    }
}
