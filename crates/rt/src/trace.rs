//! A ring for trace records: the writer never waits, and records without room are counted.
//!
//! The records go through an [`rtrb`] ring. The count of dropped records has one writer, the [`TraceWriter`], and
//! nothing travels with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rtrb::{Consumer, Producer};

/// The writing end: one for each worker.
pub struct TraceWriter<R> {
    records: Producer<R>,
    dropped: Arc<AtomicU64>,
}

/// The reading end, for a thread without a deadline.
pub struct TraceReader<R> {
    records: Consumer<R>,
    dropped: Arc<AtomicU64>,
}

/// The two ends of a ring for `capacity` records that were not read yet.
///
/// Real-time: setup.
pub fn ring<R: Copy>(capacity: usize) -> (TraceWriter<R>, TraceReader<R>) {
    let (producer, consumer) = crate::ring::ring(capacity);
    let dropped = Arc::new(AtomicU64::new(0));
    let writer = TraceWriter {
        records: producer,
        dropped: dropped.clone(),
    };
    let reader = TraceReader {
        records: consumer,
        dropped,
    };
    (writer, reader)
}

impl<R: Copy> TraceWriter<R> {
    /// Writes `record`, or counts it as dropped where there is no room.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn record(&mut self, record: R) {
        if self.records.push(record).is_err() {
            // Relaxed: only a count, which nobody else stores.
            let dropped = self.dropped.load(Ordering::Relaxed);
            self.dropped.store(dropped + 1, Ordering::Relaxed);
        }
    }
}

impl<R: Copy> TraceReader<R> {
    /// Passes the records that are there at the call to `each`, oldest first, and returns how many.
    ///
    /// Real-time: hot, if `each` is.
    pub fn drain(&mut self, mut each: impl FnMut(R)) -> usize {
        let count = self.records.slots();
        for record in (0..count).map_while(|_| self.records.pop().ok()) {
            each(record);
        }
        count
    }

    /// Number of records that were dropped so far.
    ///
    /// Real-time: hot.
    pub fn dropped(&self) -> u64 {
        // Relaxed: only a count.
        self.dropped.load(Ordering::Relaxed)
    }

    /// Returns true if the writer is gone: after one more [`drain`](Self::drain) nothing will come.
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.records.is_abandoned()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ring;

    #[test]
    fn a_full_ring_keeps_the_oldest_and_counts_the_rest() {
        let (mut writer, mut reader) = ring(4);
        (0..10).for_each(|n| writer.record(n));
        let mut got = Vec::new();
        assert_eq!(reader.drain(|n| got.push(n)), 4);
        assert_eq!((got, reader.dropped()), (vec![0, 1, 2, 3], 6));
        drop(writer);
        assert!(reader.is_closed());
    }
}
