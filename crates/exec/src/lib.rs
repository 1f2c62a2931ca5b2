//! Executors: they run a plan with its processors and produce blocks of audio. One file for each strategy.
//!
//! Takes a [`Plan`](plan::Plan), a [`ProcessorPool`] and a [`SharedRuntime`], gives an [`Executor`]:
//! [`sequential`], [`static_schedule`], [`stealing`], [`global`], [`weighted`], [`deadline`], [`mutex`].
//! May: allocate when an executor is made; use `unsafe`, by the rules of `step::claim`. May not: decide anything,
//! allocate, lock or wait (except for the join) afterwards; the executor `mutex` is exempt, and there for comparison.
//!
//! | folder | what is in it | uses |
//! |---|---|---|
//! | `bound` | a plan bound to memory and processors: steps, tasks, delay lines | – |
//! | `step` | runs one step: sums, events, operation | `bound` |
//! | `cycle` | start, join, watchdog, abandoned cycles | `bound`, `step` |
//! | `strategy` | gives tasks to workers, one file per executor | `bound`, `cycle` |
//!
//! ```text
//! Executor::run_cycle                     host (the audio callback's thread): makes this executor the runtime's owner
//!  └─ ParallelExecutor::start_and_join    host: copies the input, starts the workers
//!      └─ SharedCycle::run_worker         host and each worker that takes part
//!          └─ run_tasks                   Strategy::next, run_task, Strategy::release, again and again
//!              └─ WorkerContext::run_task, run_step
//!                  └─ step::run::run_claimed ─> Processor::process
//! ```

mod bound;
mod cycle;
mod errors;
mod executor;
mod processors;
mod quarantine_log;
mod runtime;
mod step;
mod strategy;

pub use bound::{Binding, DelayLines};
pub use cycle::{CycleInfo, CycleResult, CycleStatus, HeldLine, StateVisitor, StuckStep, Watchdog};
pub use errors::ErrorCounts;
pub use executor::Executor;
pub use processors::{ProcessorPool, ProcessorTiming, RequestedServices, STAND_IN};
pub use runtime::{BackoffPolicy, SharedRuntime};
pub use strategy::{deadline, global, mutex, sequential, static_schedule, stealing, weighted};
