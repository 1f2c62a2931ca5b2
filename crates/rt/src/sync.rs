//! The one place that decides whose atomics these are: `std`'s, or loom's under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, sync::Arc, sync::atomic};

#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, atomic};

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex};

#[cfg(all(not(loom), not(target_os = "linux")))]
pub(crate) use std::sync::{Condvar, Mutex};

/// `std`'s cell behind loom's shape.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
