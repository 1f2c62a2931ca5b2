//! Shared parts of the benchmarks: test nodes, runners of cycles, medians of interleaved rounds, units of three programs.

pub mod nodes;
pub mod runners;
pub mod stats;
pub mod traced;
pub mod units;
