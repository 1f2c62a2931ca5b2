//! Trace to statistics: histograms, the time of each node, late nodes; and the trace as a file.
//!
//! Takes trace records and counts, gives a [`Report`] for people and programs. May: allocate, write to an open trace file.
//! May not: open files, run on an audio thread, use `unsafe`.
//!
//! ```text
//! TraceRecord ─▶ Tracer ─▶ open_cycle   records of one cycle, from every worker's ring
//!                  │
//!                  ├─▶ CycleTrace ─▶ trace_file   for ui.perfetto.dev
//!                  │              └▶ gantt        for a picture (draw)
//!                  ├─▶ step_times                 what each step usually takes; the step to blame
//!                  └─▶ TraceStats ─▶ Report ─▶ display, JSON
//! ```
#![forbid(unsafe_code)]

mod cycle_trace;
mod display;
#[cfg(test)]
mod fixtures;
mod gantt;
mod histogram;
mod histogram_text;
mod late_reason;
mod live_stats;
mod open_cycle;
mod report;
mod step_names;
mod step_times;
mod trace_file;
mod trace_stats;
mod tracer;

pub use cycle_trace::{CycleTrace, Outcome, Slice, WorkerEvent};
pub use histogram::{Bucket, Histogram, TimeSummary};
pub use live_stats::{LiveStats, RecentTimes};
pub use open_cycle::SliceKind;
pub use report::{LatencyFrames, NodeTimes, RenderedAhead, Report};
pub use step_names::StepNames;
pub use trace_file::{SizeLimit, TraceFile, TraceFileStats};
pub use trace_stats::TraceStats;
pub use tracer::{Tracer, WorkerLoad};
