//! The workspace's own tests: rooms, conformance, promises, soak.
//!
//! Takes any crate of the workspace, gives the helpers that its tests share; the tests themselves are in `tests/`.
//! May: lean on everything, use `unsafe` in order to stand in for an executor. May not: be leant on, assert on time.

pub mod alloc;
pub mod alone;
pub mod conformance;
pub mod deferred_node;
pub mod fixtures;
pub mod impulse_files;
pub mod latency_node;
pub mod network;
pub mod param_frames;
pub mod processor_bench;
pub mod rng;
pub mod test_bench;
