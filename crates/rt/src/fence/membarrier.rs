//! The barrier of Linux: `membarrier`, for the threads of this process or of all that have registered.

use rustix::thread::{MembarrierCommand, membarrier};

/// Threads that the barrier reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The threads of this process.
    Process,
    /// Those of every process that has registered so.
    Processes,
}

/// Registers this process for the barrier, and returns its reach if the kernel agrees.
pub(super) fn register(reach: Reach) -> Option<Reach> {
    let command = match reach {
        Reach::Process => MembarrierCommand::RegisterPrivateExpedited,
        Reach::Processes => MembarrierCommand::RegisterGlobalExpedited,
    };
    membarrier(command).ok().map(|()| reach)
}

/// Makes every thread within reach pass a full fence.
///
/// # Panics
///
/// If the kernel, which agreed to [`register`], now refuses (a filter of system calls set later): to go on without the
/// fence would be unsound.
pub(super) fn barrier(reach: Reach) {
    let command = match reach {
        Reach::Process => MembarrierCommand::PrivateExpedited,
        Reach::Processes => MembarrierCommand::GlobalExpedited,
    };
    membarrier(command).expect("the process has registered for it");
}
