//! The one place that decides whose atomics these are: `std`'s, or loom's under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic;

#[cfg(not(loom))]
pub(crate) use std::sync::atomic;
