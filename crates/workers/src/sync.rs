//! The atomics of this crate: those of `std`, or of loom under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic;

#[cfg(not(loom))]
pub(crate) use std::sync::atomic;
