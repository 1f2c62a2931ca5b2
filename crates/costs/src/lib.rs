//! The costs file: execution times that were measured on this machine, for schedulers and for the choice of partitions.
//!
//! Takes measurements, gives them back to later runs of the program. May: read and write the costs file. May not: measure,
//! run on an audio thread, use `unsafe`.
//!
//! ```text
//! ~/.cache/divisi/costs.json
//! machines
//! └─ "Intel Xeon, 2 cores, avx2"        processor, cores, kernels: machine_key
//!    ├─ kinds        kind of node       -> cost by shape and block size
//!    ├─ patches      graph, node        -> cost by shape and block size
//!    ├─ facts        transfer, wake-up, claim and steal between cores
//!    ├─ choices      graph              -> the fastest scheduler, as measured
//!    └─ convolution  levels of partitioned convolution
//! ```
//!
//! Times of one machine say nothing about another one, and nothing about the same machine with other kernels: so both
//! are in the key. A file that cannot be read costs only a new measurement.
#![forbid(unsafe_code)]

mod convolution;
mod file;
mod machine;
mod patch;
mod prune;
mod shape;

pub use convolution::{TunedLevel, Tuning};
pub use file::{CostsError, CostsFile, costs_path};
pub use machine::{
    BlockCost, ChosenSchedule, CoreLink, CoreTimings, KnownCosts, MachineCosts, MachineProbe,
    WorkCost, machine_key,
};
pub use patch::PatchCosts;
pub use shape::{StableHash, node_shape};
