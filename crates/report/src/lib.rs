//! Trace to figures: histograms, what each node cost, and who was late.
//!
//! Takes trace records and counts, gives a [`Report`] that people and programs can read, and the costs file.
//! May: allocate, read and write the costs file. May not: run on an audio thread, use `unsafe`.
#![forbid(unsafe_code)]

mod costs;
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
mod tuning;

pub use costs::{
    Chosen, Costs, CostsError, Crossing, Facts, Machine, Measured, costs_path, machine_key,
};
pub use course::{Course, Fate, Slice, Visit};
pub use cycle::Did;
pub use findings::Findings;
pub use glance::{Glance, Recent};
pub use histogram::{Bucket, Histogram, Summary};
pub use perfetto::{Room, TraceFile, Written};
pub use report::{Latency, NodeTimes, Report};
pub use steps::Steps;
pub use tracer::{Load, Tracer};
pub use tuning::{TunedLevel, TunedTransform, Tuning};
