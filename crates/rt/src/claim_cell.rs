//! [`ClaimCell`]: a value that one party changes, or several read, and nobody waits for.
//!
//! | the word is | the value belongs to | who changes the word |
//! |---|---|---|
//! | 0 | nobody | any party, by an exchange |
//! | n | n readers | readers that come, by an exchange; each that goes, by a decrement |
//! | the highest number | one party, which may change it | that party alone, by a store |
//!
//! A claim that would have to wait is refused. So a claim to change costs one exchange and one store, which is half of what a lock
//! costs: a lock must look for waiters when it is released.

use crate::sync::atomic::{AtomicU32, Ordering};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The word while one party may change the value.
const WRITER: u32 = u32::MAX;

/// The word of a [`ClaimCell`].
#[derive(Debug, Default)]
struct ClaimWord(AtomicU32);

impl ClaimWord {
    #[inline]
    fn try_write(&self) -> bool {
        // Acquire pairs with the Release of who had it before.
        self.0
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    fn release_write(&self) {
        // Nobody else changes the word while it is `WRITER`.
        self.0.store(0, Ordering::Release);
    }

    #[inline]
    fn try_read(&self) -> bool {
        // Relaxed: the exchange decides.
        let mut readers = self.0.load(Ordering::Relaxed);
        while readers < WRITER - 1 {
            // Acquire, as in `try_write`.
            match self.0.compare_exchange_weak(
                readers,
                readers + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => readers = now,
            }
        }
        false
    }

    #[inline]
    fn release_read(&self) {
        // Release: the next writer comes after all that was read.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// A value that is claimed for a while: by one party that may change it, or by several that read it.
///
/// A claim that is dropped while its thread panics leaves the value as it is; nothing is poisoned.
#[derive(Default)]
pub struct ClaimCell<T> {
    word: ClaimWord,
    value: UnsafeCell<T>,
}

// SAFETY: the word gives `&mut T` to one thread at a time, for which `T` must be `Send`, or `&T` to several, for which it must be
// `Sync`.
unsafe impl<T: Send + Sync> Sync for ClaimCell<T> {}

impl<T> fmt::Debug for ClaimCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClaimCell").field(&self.word).finish()
    }
}

impl<T> ClaimCell<T> {
    /// A cell that nobody has claimed.
    ///
    /// Real-time: setup.
    pub fn new(value: T) -> Self {
        Self {
            word: ClaimWord::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Claims the value, to change it; `None` if somebody has it.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_write(&self) -> Option<WriteClaim<'_, T>> {
        self.word.try_write().then(|| WriteClaim(self))
    }

    /// Claims the value, to read it; `None` if somebody may change it.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_read(&self) -> Option<ReadClaim<'_, T>> {
        self.word.try_read().then(|| ReadClaim(self))
    }

    /// The value, of a cell that is yours alone.
    ///
    /// Real-time: hot.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value.
    ///
    /// Real-time: hot.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// The only claim on a value, which may change it.
pub struct WriteClaim<'c, T>(&'c ClaimCell<T>);

impl<T> Deref for WriteClaim<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the word is `WRITER` for this claim, so no other exists; `&self` keeps `deref_mut` away.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for WriteClaim<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and `&mut self` makes this the only reference.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for WriteClaim<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.word.release_write();
    }
}

/// One of several claims on a value, which read it.
pub struct ReadClaim<'c, T>(&'c ClaimCell<T>);

impl<T> Deref for ReadClaim<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: while the word counts this claim, nobody may change the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> Drop for ReadClaim<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.word.release_read();
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::ClaimWord;
    use crate::sync::{Arc, UnsafeCell};

    struct Shared {
        word: ClaimWord,
        value: UnsafeCell<u32>,
    }

    /// loom reports any access to the value that another one meets.
    #[test]
    fn a_writer_meets_nobody_and_readers_see_what_it_wrote() {
        loom::model(|| {
            let shared = Arc::new(Shared {
                word: ClaimWord::default(),
                value: UnsafeCell::new(0),
            });
            let write = |shared: &Shared| {
                let claimed = shared.word.try_write();
                if claimed {
                    // SAFETY: claimed.
                    shared.value.with_mut(|value| unsafe { *value += 1 });
                    shared.word.release_write();
                }
                u32::from(claimed)
            };
            let read = |shared: &Shared| {
                if shared.word.try_read() {
                    // SAFETY: claimed.
                    let value = shared.value.with(|value| unsafe { *value });
                    shared.word.release_read();
                    assert!(value <= 2);
                }
            };
            let other = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    read(&shared);
                    write(&shared)
                })
            };
            read(&shared);
            let here = write(&shared);
            let written = here + other.join().unwrap();
            assert!(shared.word.try_read());
            // SAFETY: claimed.
            assert_eq!(shared.value.with(|value| unsafe { *value }), written);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_writer_is_alone_and_readers_are_not() {
        let cell = ClaimCell::new(1);
        let first = cell.try_read().expect("nobody has it");
        let second = cell.try_read().expect("readers share it");
        assert!(cell.try_write().is_none());
        drop((first, second));
        *cell.try_write().expect("nobody has it") += 1;
        let writer = cell.try_write().expect("it was given back");
        assert!(cell.try_read().is_none() && cell.try_write().is_none());
        drop(writer);
        assert_eq!(*cell.try_read().expect("it was given back"), 2);
        assert_eq!(cell.into_inner(), 2);
    }

    #[test]
    fn a_panic_gives_the_value_back() {
        let cell = ClaimCell::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _claim = cell.try_write();
            panic!("a mistake");
        }));
        assert!(panicked.is_err() && cell.try_write().is_some());
    }

    #[test]
    fn claims_that_are_never_given_back_run_out_and_do_not_wrap() {
        let cell = ClaimCell::new(1);
        cell.word.0.store(WRITER - 2, Ordering::Relaxed);
        std::mem::forget(cell.try_read().expect("one more"));
        assert!(cell.try_read().is_none() && cell.try_write().is_none());
    }
}
