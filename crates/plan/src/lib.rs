//! Graph, costs and machine to [`Plan`]: in which order, on which worker, through which buffers.
//!
//! Takes a graph, gives a plan that any executor can follow without thinking.
//! May: allocate and take its time. May not: read a clock, start a thread, open a file, use `unsafe`.
#![forbid(unsafe_code)]

mod align;
mod arrows;
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

pub use align::{Before, Gone};
pub use compile::compile;
pub use copies::compile_with_copies;
pub use cpfd::cpfd;
pub use dag::{Arc, Dag};
pub use etf::etf;
pub use fuse::Fuse;
pub use limits::{EVENTS_A_PORT, SAMPLES_AN_EVENT, waiting};
pub use machine::{Link, Machine};
pub use optimum::optimum;
pub use schedule::{Placed, Schedule, hlfet, random};
pub use simulate::{Simulated, simulate};
pub use steps::{
    Aligner, AlignerId, Costs, Delayed, Feed, InPort, Line, LineId, Loop, LoopId, Options, OutPort,
    Output, Passage, PassageId, Plan, PlanError, SendId, SlotId, Span, Step, StepId, Tap, Task,
    TaskId, Work,
};
pub use trace::{Mark, TraceRecord};
