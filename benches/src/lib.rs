//! What the benchmarks share: test nodes, contestants, medians of interleaved rounds.

pub mod contestants;
pub mod nodes;
pub mod stats;
