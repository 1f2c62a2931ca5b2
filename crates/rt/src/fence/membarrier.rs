//! The barrier of Linux: `membarrier`, for the threads of this process only.

use rustix::thread::{MembarrierCommand, membarrier};

/// Whether the kernel will do it.
pub(super) fn register() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Makes every thread of this process pass a full fence.
///
/// # Panics
///
/// If the kernel, which agreed to [`register`], now refuses (a filter of system calls set later): to go on without the
/// fence would be unsound.
pub(super) fn barrier() {
    membarrier(MembarrierCommand::PrivateExpedited).expect("the process has registered for it");
}
