//! [`Claimed`]: a thing that steps of several workers touch, one after the other.
//!
//! The plan orders the steps, so a claim never fails. The claim proves it: where two steps would touch a thing at once, the second
//! one panics, and the executor reports its node. Nobody ever waits.

use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

/// A thing that belongs to whichever step claims it.
#[derive(Debug, Default)]
pub(crate) struct Claimed<T>(RwLock<T>);

impl<T> Claimed<T> {
    /// A thing that nobody holds.
    pub(crate) fn new(thing: T) -> Self {
        Self(RwLock::new(thing))
    }

    /// Claims it, to read it.
    ///
    /// # Panics
    ///
    /// Another step writes it now: the plan lacks an order.
    ///
    /// Real-time: hot. It never waits.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        match self.0.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => panic!("a step writes what another one reads"),
        }
    }

    /// Claims it, to change it.
    ///
    /// # Panics
    ///
    /// Another step holds it now: the plan lacks an order.
    ///
    /// Real-time: hot. It never waits.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        match self.0.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => panic!("two steps touch one thing at once"),
        }
    }
}

/// A thing that belongs to whichever step claims it, and that only one may even look at.
#[derive(Debug, Default)]
pub(crate) struct ClaimedAlone<T>(Mutex<T>);

impl<T> ClaimedAlone<T> {
    /// A thing that nobody holds.
    pub(crate) fn new(thing: T) -> Self {
        Self(Mutex::new(thing))
    }

    /// Claims it.
    ///
    /// # Panics
    ///
    /// Another step holds it now: the plan lacks an order.
    ///
    /// Real-time: hot. It never waits.
    pub(crate) fn write(&self) -> MutexGuard<'_, T> {
        match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => panic!("two steps touch one object at once"),
        }
    }
}
