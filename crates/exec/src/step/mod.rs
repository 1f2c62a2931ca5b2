//! Running one step.
//!
//! | file | what it does |
//! |---|---|
//! | [`claim`] | `StepClaim`, the proof that a step is the caller's, and all access to what the step owns |
//! | [`run`] | a step from beginning to end: the fast path of plain steps, the slow path of others |
//! | [`prepare`] | before the operation: sums and events |
//! | [`operations`] | the operations: processors, delay lines, sinks, pipeline stages, loops |
//! | [`align`] | the operation that compensates latency |
//! | [`bank`] | several processors side by side |
//! | [`row`] | cheap steps one behind the other |
//! | [`finite`] | silence in place of samples that are infinite or NaN |
//! | [`sum`] | several channels added into one |
//!
//! ```text
//! run_claimed ── plain step ───────────────────────────────> StepClaim::process ─> Processor::process
//!      └─ others ─> run_slow ─> run_block ─> prepare
//!                                   └──────> run_operation ─> run_processor ─> StepClaim::process
//!                                                         ─> run_loop ─> prepare, run_operation of each member
//!                                                         ─> write_line, run_sink, send, receive, align
//! ```

mod align;
mod bank;
mod claim;
mod finite;
mod operations;
mod prepare;
mod row;
mod run;
mod sum;

pub(crate) use claim::{PlanBlock, StepClaim};
pub(crate) use finite::copy_finite;
pub(crate) use prepare::clear_events;
pub(crate) use run::{run_claimed, run_claimed_alone, silence_panicked};
