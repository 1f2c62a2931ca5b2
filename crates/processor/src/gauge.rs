//! [`Gauge`]: a number that a processor publishes for display, such as a meter's level.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One `f32`, written by one processor and read by any thread. A slow reader misses values. It never reads half of one.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU32>);

impl Gauge {
    /// Publishes `value`.
    ///
    /// Real-time: hot.
    pub fn set(&self, value: f32) {
        // Relaxed: the number is all there is; nothing travels with it.
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// The value that was published last; 0 before the first.
    ///
    /// Real-time: hot.
    pub fn get(&self) -> f32 {
        // Relaxed: the number is all there is; nothing travels with it.
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }
}
