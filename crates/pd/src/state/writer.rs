//! [`StateWriter`]: bytes of a state, up to a limit.

/// Writes a state behind what is in a vector.
pub(crate) struct StateWriter<'s> {
    bytes: &'s mut Vec<u8>,
    /// Length of the vector up to which it writes.
    limit: usize,
    is_full: bool,
    /// True once an object has said that it begins anew.
    pub(crate) begins_anew: bool,
    /// Arrays and lines that found no room.
    pub(crate) left_out: usize,
}

impl<'s> StateWriter<'s> {
    /// Writes `room` bytes at most behind those that are there.
    pub(crate) fn new(bytes: &'s mut Vec<u8>, room: usize) -> Self {
        let limit = bytes.len().saturating_add(room);
        Self {
            bytes,
            limit,
            is_full: false,
            begins_anew: false,
            left_out: 0,
        }
    }

    /// Writes bytes; those that find no room are left out, and all behind them.
    ///
    /// Real-time: hot if the vector has the capacity.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        if bytes.len() > self.room() {
            self.is_full = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Writes samples.
    ///
    /// Real-time: as [`put`](Self::put).
    pub(crate) fn put_samples(&mut self, samples: &[f32]) {
        let mut bytes = [0; 256];
        for part in samples.chunks(bytes.len() / 4) {
            for (to, sample) in bytes.chunks_exact_mut(4).zip(part) {
                to.copy_from_slice(&sample.to_le_bytes());
            }
            self.put(&bytes[..4 * part.len()]);
        }
    }

    /// Writes a number.
    #[inline]
    pub(crate) fn put_u32(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    /// Writes a length.
    pub(crate) fn put_len(&mut self, len: usize) {
        self.put_u32(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Bytes that still find room.
    pub(crate) fn room(&self) -> usize {
        match self.is_full {
            true => 0,
            false => self.limit - self.bytes.len(),
        }
    }

    /// Returns true if something found no room.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Says that the object that writes now begins anew.
    pub(crate) fn begin_anew(&mut self) {
        self.begins_anew = true;
    }

    /// Writes what `write` does with its length before it.
    pub(crate) fn record(&mut self, write: impl FnOnce(&mut Self)) {
        let at = self.bytes.len();
        self.put_u32(0);
        if self.is_full {
            return;
        }
        write(self);
        let len = u32::try_from(self.bytes.len() - at - 4).unwrap_or(u32::MAX);
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
    }
}
