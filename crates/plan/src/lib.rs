//! Graph, costs and machine to [`Plan`]: in which order, on which worker, through which buffers.
//!
//! Takes a graph, gives a plan that any executor can follow without decisions of its own.
//! May: allocate and take its time. May not: read a clock, start a thread, open a file, use `unsafe`.
//!
//! ```text
//!   graph, options --> compile/ --> Plan --> validate/    a proof that shares no code with compile/
//!                         |          |
//!                         |          v
//!                         +----> schedule/                tasks to workers
//! ```
#![forbid(unsafe_code)]

mod compile;
mod depth_first;
mod levels;
mod options;
mod plan;
mod previous_delays;
mod previous_stages;
mod schedule;
mod trace;
mod validate;

pub use compile::{
    MAX_NODES, SAMPLES_PER_EVENT, check_node_count, compile, compile_with_copies, event_capacity,
    events_per_port,
};
pub use options::{MeasuredCosts, PlanError, PlanOptions};
pub use plan::{
    Aligner, AlignerId, AlignerTap, ChannelSource, DelayLine, DelayLineId, DelayedEdge,
    EventBufferId, IndexRange, Loop, LoopId, OutputChannel, Plan, SlotId, StageBuffer,
    StageBufferId, Step, StepId, StepInput, StepOp, StepOutput, Task, TaskId,
};
pub use previous_delays::{FadeState, PreviousDelays};
pub use previous_stages::PreviousStages;
pub use schedule::{
    Dag, DagEdge, FusionOptions, Link, MachineModel, Schedule, ScheduledTask, SimulatedRun, cpfd,
    etf, hlfet, optimal, random, simulate,
};
pub use trace::{TraceEvent, TraceRecord};
