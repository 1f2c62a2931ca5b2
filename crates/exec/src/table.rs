//! The channels of all ports of a stage, one after the other, at a place that never moves.

use processor::{RawChannel, RawPort};
use std::ptr::NonNull;

/// A table that ports point into while it is still being filled, and as long as it lives.
pub(crate) struct Table {
    base: NonNull<[RawChannel]>,
    used: usize,
}

// SAFETY: it owns plain memory, written only by `port`.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// Room for `channels` channels.
    pub(crate) fn new(channels: usize) -> Self {
        let nothing = RawChannel {
            data: std::ptr::null_mut(),
            silent: std::ptr::null_mut(),
        };
        let rows = Box::into_raw(vec![nothing; channels].into_boxed_slice());
        Self {
            base: NonNull::new(rows).expect("a box is not null"),
            used: 0,
        }
    }

    /// A port whose channels are `channels`. There must be room for them.
    pub(crate) fn port(&mut self, channels: &[RawChannel]) -> RawPort {
        let end = self.used + channels.len();
        assert!(end <= self.base.len(), "the channels were counted before");
        // SAFETY: `used .. end` is within the table, and no port points there yet.
        let first = unsafe {
            let first = self.base.as_ptr().cast::<RawChannel>().add(self.used);
            first.copy_from_nonoverlapping(channels.as_ptr(), channels.len());
            first
        };
        self.used = end;
        RawPort {
            first,
            channels: channels.len() as u32,
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw` in `new`; the ports that point here belong to the stage that owns us.
        drop(unsafe { Box::from_raw(self.base.as_ptr()) });
    }
}
