//! A plan bound to memory and processors: [`plan::BoundPlan`]. Its indices have become pointers.
//!
//! [`binder`] makes it, on a thread that may allocate. Nothing is allocated afterwards.
//!
//! ```text
//! BoundPlan
//! ├─ tasks ──────────> plan::Task     its steps, its successors
//! ├─ successors ─────> Successor      task, its first step (where its count is), its dependencies
//! ├─ steps ──────────> BoundStep      one for each step of the plan, 128 bytes
//! ├─ loop_steps ─────> BoundStep      the steps inside loops
//! │                    ├─ operation      processor, delay line, stage buffer, aligner, loop
//! │                    ├─ pending        tasks that its task still waits for in this cycle
//! │                    ├─ state ───────> StepState: ports, sleep, quarantine, events
//! │                    └─ cold ────────> StepCold: rate, lag, sums, event inputs, node, processor
//! ├─ sinks           samples to add to each output
//! ├─ device_inputs   this cycle's input
//! ├─ deferred        jobs that idle workers run
//! └─ _memory         slots (arena), ports, channels, event buffers, delay lines: what the steps point into
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | [`binder`], [`bind_step`] | from plan to bound plan |
//! | [`plan`], [`task`], [`step`] | the bound plan, its tasks, its steps |
//! | [`banks`] | steps that are computed side by side |
//! | [`rows`] | cheap steps that run with those behind them |
//! | [`ring`], [`delay_lines`] | memory of delay lines, and its owner from plan to plan |
//! | [`aligner`] | lines that compensate latency |
//! | [`stage_buffer`] | buffers between pipeline stages |
//! | [`readers`] | which outputs are read |
//! | [`table`] | rows that never move |

mod aligner;
mod banks;
mod bind_step;
mod binder;
mod delay_lines;
mod plan;
mod readers;
pub(crate) mod ring;
mod rows;
mod stage_buffer;
mod step;
mod table;
mod task;

pub(crate) use aligner::{AlignerOp, DelayTap, LineState, NEVER};
pub(crate) use banks::{BankPlace, PlayedMark, join_banks};
pub use binder::Binding;
pub(crate) use binder::bind;
pub use delay_lines::DelayLines;
pub(crate) use plan::{BoundPlan, SinkChannel, StepIndex};
pub(crate) use rows::join_rows;
pub(crate) use stage_buffer::StageBufferMemory;
pub(crate) use step::{
    BoundStep, NO_POSITION, Operation, PipelineLag, Preparation, RowWrite, StepState, Sum,
};
pub(crate) use task::Successor;
