//! Partitioned convolution: long impulse responses without latency, for many channels.
//!
//! Takes impulse responses and a [`Partition`], gives a convolver that plays blocks. May: allocate, transform and start
//! threads when something is made; use `unsafe` for kernels. May not: do any of that in a callback, or know graphs
//! outside `unit.rs`.
//!
//! | file | holds |
//! |---|---|
//! | `ir.rs` | impulse responses from files and memory, and the paths between inputs and outputs |
//! | `jconvolver.rs` | jconvolver's configuration files |
//! | `partition.rs` | how an impulse response is cut: a direct head, then levels |

pub mod ir;
pub mod jconvolver;
mod partition;

pub use partition::{Latency, Level, Partition, PartitionError};
