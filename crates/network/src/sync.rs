//! The one place that decides whose atomics these are: `std`'s, or loom's under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, sync::atomic};

#[cfg(not(loom))]
pub(crate) use std::sync::atomic;

/// `std`'s cell behind loom's topology.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}
