//! [`Claimed`]: a thing that steps of several workers touch, one after the other.
//!
//! The plan orders the steps, so a claim never fails. The claim proves it: where two steps would touch a thing at once, the second
//! one panics, and the executor reports its node. Nobody ever waits.

use rt::claim_cell::{ClaimCell, ReadClaim, WriteClaim};

/// A thing that belongs to whichever step claims it.
#[derive(Debug, Default)]
pub(crate) struct Claimed<T>(ClaimCell<T>);

impl<T> Claimed<T> {
    /// A thing that nobody holds.
    pub(crate) fn new(thing: T) -> Self {
        Self(ClaimCell::new(thing))
    }

    /// Claims it, to read it.
    ///
    /// # Panics
    ///
    /// Another step writes it now: the plan lacks an order.
    ///
    /// Real-time: hot. It never waits.
    #[inline]
    pub(crate) fn read(&self) -> ReadClaim<'_, T> {
        let claim = self.0.try_read();
        claim.expect("no step writes what another one reads")
    }

    /// Claims it, to change it.
    ///
    /// # Panics
    ///
    /// Another step holds it now: the plan lacks an order.
    ///
    /// Real-time: hot. It never waits.
    #[inline]
    pub(crate) fn write(&self) -> WriteClaim<'_, T> {
        let claim = self.0.try_write();
        claim.expect("no two steps touch one thing at once")
    }
}
