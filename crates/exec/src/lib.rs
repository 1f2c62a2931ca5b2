//! A plan and its processors to blocks of sound: one file per way of executing.
//!
//! Takes a [`Plan`](plan::Plan), a [`ProcessorPool`] of processors and a [`SharedRuntime`], gives an [`Executor`]:
//! [`sequential`], [`static_schedule`], [`stealing`], [`global`], [`weighted`], [`deadline`], [`mutex`].
//! May: allocate when an executor is made; use `unsafe`, by the rules at the head of `stage.rs`. May not: decide anything,
//! allocate, lock or wait (but for the join) afterwards; the executor `mutex` is exempt, and there for comparison.

mod aligners;
mod bind;
mod copies;
mod deadline;
mod deal;
mod executor;
mod fixed;
mod floor;
mod global;
mod hand;
mod lines;
mod mutex;
mod parallel;
mod passages;
mod pipeline;
mod pool;
mod sequential;
mod stage;
mod stealing;
mod step;
mod sum;
mod table;
mod watch;
mod weighted;

pub use bind::Binding;
pub use deadline::deadline;
pub use executor::{CycleInfo, CycleResult, CycleStatus, ErrorCounts, Executor};
pub use fixed::static_schedule;
pub use floor::{BackoffPolicy, SharedRuntime};
pub use global::global;
pub use lines::DelayLines;
pub use mutex::mutex;
pub use pool::{ProcessorPool, ProcessorTiming, RequestedServices};
pub use sequential::sequential;
pub use stealing::stealing;
pub use watch::{StuckStep, Watchdog};
pub use weighted::weighted;
