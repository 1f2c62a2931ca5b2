//! [`Gauge`]: a number that a processor shows and any thread may read, such as a meter's level.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One `f32`, written by one processor and read by any thread. A slow reader misses values, never halves of them.
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

    /// Value that was shown last; 0 before the first.
    ///
    /// Real-time: hot.
    pub fn get(&self) -> f32 {
        // Relaxed: the number is all there is; nothing travels with it.
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }
}
