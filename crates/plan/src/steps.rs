//! The plan itself: flat arrays that an executor follows.

use crate::{FusionOptions, PreviousDelays};
use graph::{Diagnostic, NodeId, PortRef, Signal};
use std::collections::{HashMap, HashSet};
use std::fmt;
use units::{Channels, Frames, Nanos, SampleRate};

/// Which step of a plan: an index into [`Plan::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

/// Which task of a plan: an index into [`Plan::tasks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// Which slot: room for one block of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

/// Which room for events: one for each event or control output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventBufferId(pub u32);

/// Which delay line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelayLineId(pub u32);

/// Which aligner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlignerId(pub u32);

/// Which passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageBufferId(pub u32);

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// A run of one of the plan's flat arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexRange {
    /// First index.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl IndexRange {
    /// The run itself.
    pub fn of<T>(self, all: &[T]) -> &[T] {
        &all[self.start as usize..self.end as usize]
    }

    /// How many.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it is none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOp {
    /// Runs the processor of a node. A delay's is its reading half: then the step has a `line`.
    Process {
        /// Whose.
        node: NodeId,
        /// The line it reads, if it is a delay's reading half.
        line: Option<DelayLineId>,
    },
    /// Copies its only input to a line: a delay's writing half.
    WriteLine {
        /// Whose.
        node: NodeId,
        /// The line.
        line: DelayLineId,
    },
    /// Copies its only input, so that it is kept until the cycle ends: a sink.
    Sink {
        /// Whose.
        node: NodeId,
    },
    /// Gives silence on every output: a node that is not enabled.
    Silence {
        /// Whose.
        node: NodeId,
    },
    /// Hands its only input on to a later stage of a pipeline.
    Send {
        /// Whose output it is.
        node: NodeId,
        /// By which way.
        passage: StageBufferId,
    },
    /// Takes up, in a later stage, what was handed on as many cycles ago as the stages are apart.
    Receive {
        /// Whose output it is.
        node: NodeId,
        /// By which way.
        passage: StageBufferId,
    },
    /// Gives its only input again, later: on each of its outputs by as much as the tap of the same number says.
    Align {
        /// Whose output it is.
        node: NodeId,
        /// By which line.
        aligner: AlignerId,
    },
    /// Runs other steps again and again on smaller blocks.
    Loop(LoopId),
}

/// One channel of an input: where its frames come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelSource {
    /// Nothing is connected: silence.
    Silence,
    /// One slot, read in place.
    Slot(SlotId),
    /// Several slots, added in this order into a slot that is this step's own while it runs.
    Sum {
        /// Which, in [`Plan::summed_slots`].
        from: IndexRange,
        /// Into which. Never one of them.
        into: SlotId,
    },
}

/// One input of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepInput {
    /// Sound: one [`ChannelSource`] a channel, in [`Plan::channel_sources`].
    Audio(IndexRange),
    /// Events: merged by frame from these, in [`Plan::event_sources`]; for equal frames in this order.
    Events(IndexRange),
}

/// One output of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutput {
    /// Sound: one slot a channel, in [`Plan::written_slots`].
    Audio(IndexRange),
    /// Events.
    Events(EventBufferId),
}

/// One node's turn, or a loop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub op: StepOp,
    /// Its inputs, in [`Plan::inputs`].
    pub inputs: IndexRange,
    /// Its outputs, in [`Plan::outputs`].
    pub outputs: IndexRange,
    /// The steps that wait for it, each once, in [`Plan::successors`]. Empty inside a loop.
    pub successors: IndexRange,
    /// For how many steps it waits. 0 inside a loop.
    pub activation: u32,
    /// Runs once in so many cycles; never 0. On other cycles its successors are released and its outputs hold.
    pub every: u32,
    /// In which of them: where cycle % every == phase.
    pub phase: u32,
    /// By how many cycles it lags: in cycle c it plays block c - `lag`. 0 where nothing is pipelined.
    pub lag: u32,
    /// Which copy of its node it runs, where a schedule has several; 0 is the original.
    pub copy: u16,
    /// What it is thought to cost.
    pub cost: Nanos,
}

/// What an executor gives to a worker: steps of which each runs after the one before.
///
/// Without fusion each step is a task of its own, under its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which, in [`Plan::steps`]; never none.
    pub steps: IndexRange,
    /// The tasks that wait for it, each once, in [`Plan::task_successors`].
    pub successors: IndexRange,
    /// For how many tasks it waits.
    pub activation: u32,
    /// What its steps are thought to cost together.
    pub cost: Nanos,
}

/// A run of steps on one worker, repeated on parts of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Which steps, in order, in [`Plan::loop_steps`].
    pub steps: IndexRange,
    /// How many frames a round has; the last round has what is left.
    pub sub_block: Frames,
}

/// A delay line.
///
/// Its ring holds a power of two of at least `most` + the plan's block frames, for each channel. The frame at absolute
/// position p is written at p modulo that. So, within a cycle that plays positions t .. t + block, the writing half
/// touches t .. t + block, and a reading half t - most .. t + block - least: the two overlap only where a delay is
/// shorter than the block, and there the plan orders them (write before read, or both in one loop whose sub-block is no
/// longer than `least`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayLine {
    /// How wide.
    pub channels: Channels,
    /// The shortest delay that will be read.
    pub min: Frames,
    /// The longest.
    pub max: Frames,
    /// The node whose line it is; the line's content survives a swap by it.
    pub node: NodeId,
}

/// A way from one stage of a pipeline to a later one, for one output. It holds one block more than the stages are apart:
/// block b lies in place b modulo that, so what is written in a cycle and what is read in it never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBuffer {
    /// How wide.
    pub channels: Channels,
    /// How many stages, and so cycles, lie between its ends; never 0.
    pub lag: u32,
}

/// A line that makes up for latency: what one output gives is heard again later, once for each of its taps. It stands
/// outside of loops and runs in every cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligner {
    /// Whose output; with the next, what the line's content survives a swap by.
    pub node: NodeId,
    /// Which of its outputs.
    pub output: u16,
    /// What travels: sound, or events.
    pub signal: Signal,
    /// Its taps, in [`Plan::taps`]: rising, each once.
    pub taps: IndexRange,
}

/// By how much something is delayed, and was before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlignerTap {
    /// So much later it is heard.
    pub frames: Frames,
    /// So much later it was heard in the plan that played before: from that it goes over by a fade, as soon as the line
    /// has heard enough. Where nothing changes it is the same as `frames`.
    pub previous: Frames,
    /// In which swap that changed: two changes by as much are not the same fade.
    pub swap: u32,
}

impl AlignerTap {
    /// Whether it goes over from one to another.
    pub fn is_changing(self) -> bool {
        self.frames != self.previous
    }

    /// The longest that is heard of it.
    pub fn max_frames(self) -> Frames {
        self.frames.max(self.previous)
    }
}

/// An edge that is delayed, so that what it carries comes with what comes late by another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedEdge {
    /// Where it begins.
    pub from: PortRef,
    /// Where it ends.
    pub to: PortRef,
    /// By how much.
    pub tap: AlignerTap,
}

/// A slot that is an output channel of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputChannel {
    /// Which channel, from 0. Several outputs of one channel add up, in this order.
    pub channel: u16,
    /// What it plays; kept until the cycle ends.
    pub slot: SlotId,
    /// The sink.
    pub node: NodeId,
}

/// What to do, in which order, through which buffers.
///
/// Steps stand in an order in which they may run one after another. No two steps that may run at the same time share a
/// slot, unless both only read it; `validate` proves it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Frames in a block.
    pub block: Frames,
    /// Frames a second.
    pub rate: SampleRate,
    /// The steps, sources first.
    pub steps: Vec<Step>,
    /// Steps inside loops.
    pub loop_steps: Vec<Step>,
    /// The loops.
    pub loops: Vec<Loop>,
    /// See [`Step::successors`].
    pub successors: Vec<StepId>,
    /// The steps again, as they are given to workers: every step is in one task, in the same order.
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
    /// How many slots there are.
    pub slots: u32,
    /// How many rooms for events there are.
    pub event_buffers: u32,
    /// The delay lines.
    pub delay_lines: Vec<DelayLine>,
    /// What makes up for latencies, by node and output.
    pub aligners: Vec<Aligner>,
    /// See [`Aligner::taps`].
    pub taps: Vec<AlignerTap>,
    /// Which edges are delayed by them, by where they end.
    pub delayed_edges: Vec<DelayedEdge>,
    /// The ways between stages.
    pub stage_buffers: Vec<StageBuffer>,
    /// By how many cycles the last stage lags behind the first: the sinks play block c - `ahead` in cycle c. 0 where
    /// nothing is pipelined.
    pub latency_blocks: u32,
    /// The program's output channels, by channel and then by sink.
    pub output_channels: Vec<OutputChannel>,
    /// The static level of each step: the longest sum of costs from its start to the end of the graph.
    pub static_levels: Vec<Nanos>,
    /// A schedule: for each worker the tasks it runs, in order. Empty where nobody asked for one.
    pub worker_tasks: Vec<Vec<TaskId>>,
    /// By how many frames the latest output lags behind the inputs, from the latencies in [`PlanOptions`].
    pub latency: Frames,
}

/// What nodes cost, for a block of the plan's size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCosts {
    /// Measured, by node.
    pub by_node: HashMap<NodeId, Nanos>,
}

/// What a plan is made for.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// Frames in a block.
    pub block: Frames,
    /// Frames a second.
    pub rate: SampleRate,
    /// Measured costs; where there are none, what the text says, and then what the kind says.
    pub costs: MeasuredCosts,
    /// Make a static schedule for so many workers; 0 for none.
    pub workers: usize,
    /// Latencies by node; absent is 0.
    pub latencies: HashMap<NodeId, Frames>,
    /// Whether ways of different latencies are brought to one where they meet.
    pub compensate_latency: bool,
    /// What was delayed in the plan that this one takes over from.
    pub previous: Option<PreviousDelays>,
    /// Cut the graph into this many stages and one more, each a cycle behind the one before, so that they can run at the
    /// same time: the output lags by as many blocks.
    pub latency_blocks: u32,
    /// Whether and how cheap steps are given out together; `None`: each is a task of its own.
    pub fusion: Option<FusionOptions>,
    /// Nodes that have no copies, whatever their kind allows.
    pub not_duplicable: HashSet<NodeId>,
}

impl PlanOptions {
    /// Nothing measured, no schedule.
    pub fn new(block: Frames, rate: SampleRate) -> Self {
        Self {
            block,
            rate,
            costs: MeasuredCosts::default(),
            workers: 0,
            latencies: HashMap::new(),
            compensate_latency: true,
            previous: None,
            latency_blocks: 0,
            fusion: None,
            not_duplicable: HashSet::new(),
        }
    }
}

/// Why there is no plan: everything that is wrong with the graph, each with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(pub Vec<Diagnostic>);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => f.write_str(&one.message),
            all => write!(f, "{} mistakes in the graph", all.len()),
        }
    }
}

impl std::error::Error for PlanError {}
