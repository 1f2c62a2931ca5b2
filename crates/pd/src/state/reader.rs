//! [`StateReader`]: bytes of a state that may come from anywhere.

use crate::control::Symbol;

/// Error: a state does not fit the patch that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

/// Reads a state.
#[derive(Clone, Copy)]
pub(crate) struct StateReader<'s> {
    bytes: &'s [u8],
    /// Symbols by their numbers in the state.
    pub(crate) symbols: &'s [Symbol],
    /// Number of objects of the patch.
    pub(crate) objects: usize,
}

impl<'s> StateReader<'s> {
    /// Reads `bytes` for a patch of so many objects.
    pub(crate) fn new(bytes: &'s [u8], objects: usize) -> Self {
        Self {
            bytes,
            symbols: &[],
            objects,
        }
    }

    /// The next bytes.
    ///
    /// # Errors
    ///
    /// There are fewer.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'s [u8], Unfit> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Unfit)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The next bytes, so many as an array has.
    ///
    /// # Errors
    ///
    /// There are fewer.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Unfit> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(Unfit)?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// The next number.
    ///
    /// # Errors
    ///
    /// The state ends before.
    pub(crate) fn u32(&mut self) -> Result<u32, Unfit> {
        self.array().map(u32::from_le_bytes)
    }

    /// The number of items that come next, of which each has a byte at least.
    ///
    /// # Errors
    ///
    /// The state cannot hold so many.
    pub(crate) fn len(&mut self) -> Result<usize, Unfit> {
        let len = self.u32()? as usize;
        (len <= self.bytes.len()).then_some(len).ok_or(Unfit)
    }

    /// The bytes that [`StateWriter::record`](super::StateWriter::record) has written.
    ///
    /// # Errors
    ///
    /// The state ends before.
    pub(crate) fn record(&mut self) -> Result<Self, Unfit> {
        let len = self.len()?;
        let bytes = self.take(len)?;
        Ok(Self { bytes, ..*self })
    }

    /// Returns true if nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
