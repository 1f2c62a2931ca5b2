//! What the benchmarks share: test nodes, contestants, medians of interleaved rounds.

pub mod contestants;
pub mod hall;
pub mod nodes;
pub mod stats;
