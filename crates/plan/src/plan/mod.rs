//! The [`Plan`]: flat arrays that an executor follows, and queries on them.
//!
//! | file | holds |
//! |---|---|
//! | `ids` | the indices by which the arrays refer to each other |
//! | `step` | steps, their ports, tasks and loops |
//! | `delay` | delay lines, aligners and the buffers between pipeline stages |
//! | `queries` | successors, costs and levels of steps and tasks |

mod delay;
mod ids;
mod queries;
mod step;

pub use delay::{Aligner, AlignerTap, DelayLine, DelayedEdge, StageBuffer};
pub use ids::{
    AlignerId, DelayLineId, EventBufferId, IndexRange, LoopId, SlotId, StageBufferId, StepId,
    TaskId,
};
pub use step::{ChannelSource, Loop, OutputChannel, Step, StepInput, StepOp, StepOutput, Task};

use units::{Frames, Nanos, SampleRate};

/// Instructions for an executor: which steps, in which order, through which buffers.
///
/// Everything is an index into one of the arrays, so following a plan is reading memory from left to right. A step that
/// adds two slots and writes a third looks like this:
///
/// ```text
/// steps            [ .. Step { inputs: 4..5, outputs: 2..3, successors: 7..9 } .. ]
///                                |               |                |
/// inputs           [ .. Audio(6..7) .. ]         |           successors [ .. 12, 15 .. ]
///                          |                     |
/// channel_sources  [ .. Sum { from: 0..2, into: slot 3 } .. ]
///                               |                |
/// summed_slots     [ slot 1, slot 2 .. ]   outputs [ .. Audio(8..9) .. ]
///                                                           |
///                                          written_slots [ .. slot 4 .. ]
/// ```
///
/// Steps are stored in a topological order. No two steps that may run at the same time share a slot, unless both only
/// read it; [`Plan::validate`] proves that again from the arrays alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Frames in a block.
    pub block: Frames,
    /// Frames per second.
    pub rate: SampleRate,
    /// The steps in topological order.
    pub steps: Vec<Step>,
    /// Steps inside loops.
    pub loop_steps: Vec<Step>,
    /// The loops.
    pub loops: Vec<Loop>,
    /// See [`Step::successors`].
    pub successors: Vec<StepId>,
    /// The steps again, grouped as they are given to workers: every step is in one task, in the same order.
    pub tasks: Vec<Task>,
    /// See [`Task::successors`].
    pub task_successors: Vec<TaskId>,
    /// See [`Step::inputs`].
    pub inputs: Vec<StepInput>,
    /// See [`StepInput::Audio`].
    pub channel_sources: Vec<ChannelSource>,
    /// See [`ChannelSource::Sum`].
    pub summed_slots: Vec<SlotId>,
    /// See [`StepInput::Events`].
    pub event_sources: Vec<EventBufferId>,
    /// See [`Step::outputs`].
    pub outputs: Vec<StepOutput>,
    /// See [`StepOutput::Audio`].
    pub written_slots: Vec<SlotId>,
    /// Number of slots.
    pub slots: u32,
    /// Number of event buffers.
    pub event_buffers: u32,
    /// The delay lines.
    pub delay_lines: Vec<DelayLine>,
    /// Latency compensation, sorted by node and output.
    pub aligners: Vec<Aligner>,
    /// See [`Aligner::taps`].
    pub taps: Vec<AlignerTap>,
    /// The edges that aligners delay, sorted by where they end.
    pub delayed_edges: Vec<DelayedEdge>,
    /// The buffers between pipeline stages.
    pub stage_buffers: Vec<StageBuffer>,
    /// Cycles by which the last pipeline stage lags behind the first: the sinks play block `c - latency_blocks` in cycle
    /// `c`. 0 where nothing is pipelined.
    pub latency_blocks: u32,
    /// The program's output channels, sorted by channel and then by sink.
    pub output_channels: Vec<OutputChannel>,
    /// Static level of each step: the longest sum of costs from its start to the end of the graph.
    pub static_levels: Vec<Nanos>,
    /// A static schedule: for each worker its tasks, in order. Empty where none was asked for.
    pub worker_tasks: Vec<Vec<TaskId>>,
    /// Frames by which the latest output lags behind the inputs, from the latencies in
    /// [`PlanOptions`](crate::PlanOptions).
    pub latency: Frames,
}

impl Plan {
    /// A plan without steps.
    pub(crate) fn empty(block: Frames, rate: SampleRate) -> Self {
        Self {
            block,
            rate,
            ..Self::default()
        }
    }
}
