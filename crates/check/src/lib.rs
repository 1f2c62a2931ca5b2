//! The workspace's own tests: rooms, conformance, promises, soak.
//!
//! Takes any crate of the workspace, gives the helpers that its tests share; the tests themselves are in `tests/`.
//! May: lean on everything, use `unsafe` in order to stand in for an executor. May not: be leant on, assert on time.

pub mod alloc;
pub mod cast;
pub mod hall;
pub mod impulse;
pub mod late;
pub mod later;
pub mod network;
pub mod rig;
pub mod rng;
pub mod unit;
