//! A plan and its processors to blocks of sound: one file for each way of executing.
//!
//! Takes a [`Plan`](plan::Plan), a [`ProcessorPool`] and a [`SharedRuntime`], gives an [`Executor`]:
//! [`sequential`], [`static_schedule`], [`stealing`], [`global`], [`weighted`], [`deadline`], [`mutex`].
//! May: allocate when an executor is made; use `unsafe`, by the rules of `step::claim`. May not: decide anything,
//! allocate, lock or wait (except for the join) afterwards; the executor `mutex` is exempt, and there for comparison.
//!
//! | folder | what is in it | uses |
//! |---|---|---|
//! | `bound` | what a plan becomes: steps, tasks and memory | – |
//! | `step` | how one step runs | `bound` |
//! | `cycle` | start, join, watchdog, abandoned cycles | `bound`, `step` |
//! | `strategy` | which worker runs which task | `bound`, `cycle` |
//!
//! ```text
//! Executor::run_cycle                     host: makes this executor the owner of the runtime
//!  └─ ParallelExecutor::start_and_join    host: copies the input, starts the workers
//!      └─ SharedCycle::run_worker         host and each worker that comes
//!          └─ run_tasks                   Strategy::next, run_task, Strategy::release, again and again
//!              └─ WorkerContext::run_task, run_step
//!                  └─ step::run::run_claimed ─> Processor::process
//! ```

mod bound;
mod cycle;
mod errors;
mod executor;
mod processors;
mod runtime;
mod step;
mod strategy;

pub use bound::{Binding, DelayLines};
pub use cycle::{CycleInfo, CycleResult, CycleStatus, StuckStep, Watchdog};
pub use errors::ErrorCounts;
pub use executor::Executor;
pub use processors::{ProcessorPool, ProcessorTiming, RequestedServices};
pub use runtime::{BackoffPolicy, SharedRuntime};
pub use strategy::{deadline, global, mutex, sequential, static_schedule, stealing, weighted};
