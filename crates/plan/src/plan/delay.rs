//! Memory that outlasts a cycle: delay lines, aligners, and buffers between pipeline stages.

use super::ids::IndexRange;
use graph::{NodeId, PortRef, Signal};
use units::{Channels, Frames};

/// The ring buffer of a delay node.
///
/// For each channel its capacity is a power of two, at least `max` plus the frames of a block; the frame at absolute
/// position `p` is stored at `p` modulo the capacity. In the cycle that plays the positions `t .. t + block`:
///
/// ```text
///               t - max         t - min        t       t + block
/// written                                      [###########)
/// read, longest    [-----------)
/// read, shortest                   [-----------)
/// ```
///
/// A read overlaps what is written only where its delay is shorter than the block. Then the plan orders the two steps:
/// write before read, or both in one loop whose sub-block is no longer than `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayLine {
    /// Number of channels.
    pub channels: Channels,
    /// Shortest delay that will be read.
    pub min: Frames,
    /// Longest delay that will be read.
    pub max: Frames,
    /// The delay node. When the plan is swapped, the content moves to the line of the same node.
    pub node: NodeId,
}

/// The connection from one pipeline stage to a later one, for one output.
///
/// It holds `lag + 1` blocks; block `b` is stored at `b % (lag + 1)`, so what one stage writes in a cycle and what the
/// other reads in it are never the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBuffer {
    /// Number of channels.
    pub channels: Channels,
    /// Number of stages, and so of cycles, between its ends; never 0.
    pub lag: u32,
}

/// Latency compensation of one output: a line with one delayed output per tap. Outside of loops, runs in every cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligner {
    /// The node whose output it delays. When the plan is swapped, the content moves to the aligner of the same output.
    pub node: NodeId,
    /// The output of the node.
    pub output: u16,
    /// The signal of the output: audio or events.
    pub signal: Signal,
    /// Its taps, in [`Plan::taps`](crate::Plan::taps): in rising order, each once.
    pub taps: IndexRange,
}

/// A delay of an aligner, in this plan and in the plan before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlignerTap {
    /// Delay in frames.
    pub frames: Frames,
    /// Delay in the plan before. The executor fades from that one as soon as the line holds enough samples for the new
    /// one. Equal to `frames` where nothing changes.
    pub previous: Frames,
    /// Number of the swap that changed the delay: two changes by the same amount are not the same fade.
    pub swap: u32,
}

impl AlignerTap {
    /// A tap that does not change.
    pub(crate) fn constant(frames: Frames) -> Self {
        Self {
            frames,
            previous: frames,
            swap: 0,
        }
    }

    /// Returns true if the delay fades from one to another.
    pub fn is_changing(self) -> bool {
        self.frames != self.previous
    }

    /// The longer of the two delays.
    pub fn max_frames(self) -> Frames {
        self.frames.max(self.previous)
    }
}

/// An edge that an aligner delays, so that its signal meets those that arrive later on other paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedEdge {
    /// Beginning of the edge.
    pub from: PortRef,
    /// End of the edge.
    pub to: PortRef,
    /// The delay.
    pub tap: AlignerTap,
}
