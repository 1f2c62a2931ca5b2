//! Trace to figures: histograms, what each node cost, and who was late.
//!
//! Takes trace records and counts, gives a [`Report`] that people and programs can read, and the costs file.
//! May: allocate, read and write the costs file. May not: run on an audio thread, use `unsafe`.
#![forbid(unsafe_code)]

mod course;
mod cycle;
mod findings;
mod glance;
mod histogram;
mod lanes;
mod perfetto;
mod played;
mod report;
mod show;
mod steps;
mod tracer;

pub use course::{CycleTrace, Outcome, Slice, WorkerEvent};
pub use cycle::SliceKind;
pub use findings::TraceStats;
pub use glance::{LiveStats, RecentTimes};
pub use histogram::{Bucket, Histogram, TimeSummary};
pub use perfetto::{SizeLimit, TraceFile, TraceFileStats};
pub use report::{LatencyFrames, NodeTimes, Report};
pub use steps::StepNames;
pub use tracer::{Tracer, WorkerLoad};
