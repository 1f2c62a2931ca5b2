//! Graph, costs and machine to [`Plan`]: in which order, on which worker, through which buffers.
//!
//! Takes a graph, gives a plan that any executor can follow without thinking.
//! May: allocate and take its time. May not: read a clock, start a thread, open a file, use `unsafe`.
#![forbid(unsafe_code)]

mod align;
mod compile;
mod copies;
mod costs;
mod cpfd;
mod dag;
mod emit;
mod etf;
mod fuse;
mod latency;
mod levels;
mod limits;
mod lines;
mod machine;
mod merge;
mod optimum;
mod order;
mod outlets;
mod phases;
mod schedule;
mod sequence;
mod simulate;
mod slots;
mod stages;
mod steps;
mod tasks;
mod trace;
mod traffic;
mod turns;
mod validate;
mod wiring;

pub use align::{FadeState, PreviousDelays};
pub use compile::compile;
pub use copies::compile_with_copies;
pub use cpfd::cpfd;
pub use dag::{Dag, DagEdge};
pub use etf::etf;
pub use fuse::FusionOptions;
pub use limits::{EVENTS_PER_PORT, SAMPLES_PER_EVENT, event_capacity};
pub use machine::{Link, MachineModel};
pub use optimum::optimal;
pub use schedule::{Schedule, ScheduledTask, hlfet, random};
pub use simulate::{SimulatedRun, simulate};
pub use steps::{
    Aligner, AlignerId, AlignerTap, ChannelSource, DelayLine, DelayLineId, DelayedEdge,
    EventBufferId, IndexRange, Loop, LoopId, MeasuredCosts, OutputChannel, Plan, PlanError,
    PlanOptions, SlotId, StageBuffer, StageBufferId, Step, StepId, StepInput, StepOp, StepOutput,
    Task, TaskId,
};
pub use trace::{TraceEvent, TraceRecord};
