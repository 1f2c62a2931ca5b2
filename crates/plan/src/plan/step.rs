//! Steps with their ports, and how they are grouped: tasks for workers, loops for feedback.

use super::ids::{
    AlignerId, DelayLineId, EventBufferId, IndexRange, LoopId, SlotId, StageBufferId,
};
use graph::NodeId;
use units::{Frames, Nanos};

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOp {
    /// Runs the processor of a node. The processor of a delay node reads a delay line; [`StepOp::WriteLine`] fills it.
    Process {
        /// The node.
        node: NodeId,
        /// The delay line that it reads, if it is a delay node.
        line: Option<DelayLineId>,
    },
    /// Copies its only input to a delay line.
    WriteLine {
        /// The delay node.
        node: NodeId,
        /// The delay line.
        line: DelayLineId,
    },
    /// Copies its only input to a slot that is kept until the cycle ends: a sink.
    Sink {
        /// The sink node.
        node: NodeId,
    },
    /// Writes silence to every output: a node that is not enabled.
    Silence {
        /// The node.
        node: NodeId,
    },
    /// Copies its only input to a later stage of the pipeline.
    Send {
        /// The node whose output it is.
        node: NodeId,
        /// The buffer between the stages.
        buffer: StageBufferId,
    },
    /// Reads, in a later stage, the block that [`StepOp::Send`] wrote as many cycles ago as the stages are apart.
    Receive {
        /// The node whose output it is.
        node: NodeId,
        /// The buffer between the stages.
        buffer: StageBufferId,
    },
    /// Delays its only input: output `i` by tap `i` of the aligner.
    Align {
        /// The node whose output is delayed.
        node: NodeId,
        /// The delays.
        aligner: AlignerId,
    },
    /// Runs other steps repeatedly on smaller blocks.
    Loop(LoopId),
}

/// Source of one channel of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelSource {
    /// Nothing is connected.
    Silence,
    /// One slot, read in place.
    Slot(SlotId),
    /// Several slots, added in this order into a slot that belongs to this step alone while it runs.
    Sum {
        /// The slots, in [`Plan::summed_slots`](crate::Plan::summed_slots).
        from: IndexRange,
        /// The sum. Never one of the slots.
        into: SlotId,
    },
}

/// One input of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepInput {
    /// Audio: one [`ChannelSource`] per channel, in [`Plan::channel_sources`](crate::Plan::channel_sources).
    Audio(IndexRange),
    /// Events of these buffers, in [`Plan::event_sources`](crate::Plan::event_sources), merged by frame. Events of equal
    /// frames keep this order.
    Events(IndexRange),
}

/// One output of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutput {
    /// Audio: one slot per channel, in [`Plan::written_slots`](crate::Plan::written_slots).
    Audio(IndexRange),
    /// Events.
    Events(EventBufferId),
}

/// One operation of the plan, with its ports and dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: StepOp,
    /// Inputs, in [`Plan::inputs`](crate::Plan::inputs).
    pub inputs: IndexRange,
    /// Outputs, in [`Plan::outputs`](crate::Plan::outputs).
    pub outputs: IndexRange,
    /// Steps that wait for this one, each once, in [`Plan::successors`](crate::Plan::successors). Empty inside a loop.
    pub successors: IndexRange,
    /// Number of steps that this one waits for. 0 inside a loop.
    pub activation: u32,
    /// Period in cycles, never 0: the step runs once in each period. In other cycles its successors are released and its outputs stay as they
    /// are.
    pub every: u32,
    /// Runs where `cycle % every == phase`.
    pub phase: u32,
    /// Pipeline stage: in cycle `c` it plays block `c - lag`. 0 where nothing is pipelined.
    pub lag: u32,
    /// Maximum number of events that it can receive in a block: what parameters and event inputs of its node take.
    pub event_room: u16,
    /// Number of the copy of its node that it runs, where a schedule duplicates nodes; 0 is the original.
    pub copy: u16,
    /// Estimated cost.
    pub cost: Nanos,
}

/// The unit that an executor gives to a worker: steps that run one after another.
///
/// Without fusion each step is a task of its own, under its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The steps, in [`Plan::steps`](crate::Plan::steps); at least one.
    pub steps: IndexRange,
    /// Tasks that wait for this one, each once, in [`Plan::task_successors`](crate::Plan::task_successors).
    pub successors: IndexRange,
    /// Number of tasks that this one waits for.
    pub activation: u32,
    /// Estimated cost of its steps together.
    pub cost: Nanos,
}

/// Feedback with a delay shorter than a block: steps that one worker repeats on parts of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The steps in order, in [`Plan::loop_steps`](crate::Plan::loop_steps).
    pub steps: IndexRange,
    /// Frames in one iteration, at most the shortest delay of the feedback; the last iteration has what is left.
    pub sub_block: Frames,
}

/// A slot that the program plays on one of its output channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputChannel {
    /// Output channel, from 0. Several sinks of one channel are added, in this order.
    pub channel: u16,
    /// The samples; kept until the cycle ends.
    pub slot: SlotId,
    /// The sink.
    pub node: NodeId,
}
