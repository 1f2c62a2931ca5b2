//! A number that a processor shows and anyone may read: a meter's needle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One `f32`, written by one processor, read by whoever cares. A late reader misses values, never halves of them.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU32>);

impl Gauge {
    /// Shows `value`.
    ///
    /// Real-time: hot.
    pub fn set(&self, value: f32) {
        // Relaxed: the number is all there is; nothing travels with it.
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// What is shown.
    ///
    /// Real-time: hot.
    pub fn get(&self) -> f32 {
        // Relaxed: as above.
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }
}
