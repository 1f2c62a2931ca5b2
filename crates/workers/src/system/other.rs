//! Other systems: threads are started, and every request is refused.

use super::{CoreId, Priority};
use crate::{Refusal, ThreadUsage};

pub(super) fn allowed_cores() -> Vec<CoreId> {
    let count = std::thread::available_parallelism().map_or(1, |n| n.get());
    (0..count).map(CoreId).collect()
}

pub(super) fn run_on(_cores: &[CoreId]) -> Result<(), i32> {
    Err(0)
}

pub(super) fn pin_refusal(_core: CoreId, _errno: i32) -> Refusal {
    Refusal::Unsupported("pinning to a core")
}

pub(super) fn set_ordinary() -> Result<(), Refusal> {
    Ok(())
}

pub(super) fn lower_priority() {}

pub(super) fn set_real_time(_level: u8) -> Result<(), Refusal> {
    Err(Refusal::Unsupported("real-time priority"))
}

pub(super) fn current_priority() -> Priority {
    Priority::Ordinary
}

pub(crate) fn thread_number() -> u32 {
    0
}

pub(crate) fn thread_usage(_number: u32) -> Option<ThreadUsage> {
    None
}

pub(crate) fn thread_priority(_number: u32) -> Option<Priority> {
    None
}

pub(crate) fn highest_priority() -> u8 {
    0
}

pub(crate) fn may_lock() -> Result<(), Refusal> {
    Err(Refusal::Unsupported("locked memory"))
}

pub(super) fn lock_memory() -> Result<(), Refusal> {
    may_lock()
}

pub(super) fn unlock_memory() {}

pub(crate) fn rt_runtime_us() -> Option<i64> {
    None
}

/// Keeps the CPU from deep sleep states as long as it lives.
#[derive(Debug)]
#[must_use = "the request holds as long as this value lives"]
pub struct DmaLatency(());

impl DmaLatency {
    /// Requests a wake-up latency of 0.
    ///
    /// Real-time: setup.
    pub fn acquire() -> Result<Self, Refusal> {
        may_hold_dma_latency().map(|()| Self(()))
    }
}

/// Returns the error that [`DmaLatency::acquire`] would return.
pub(crate) fn may_hold_dma_latency() -> Result<(), Refusal> {
    Err(Refusal::Unsupported("limit on the wake-up latency"))
}
