//! The barrier of Linux: `membarrier`, for the threads of this process or of all that have registered.

use rustix::thread::{MembarrierCommand, membarrier};

/// Threads that the barrier reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierScope {
    /// The threads of this process.
    Process,
    /// Those of every process that has registered so.
    Processes,
}

/// Registers this process for the barrier, and returns its scope if the kernel agrees.
pub(super) fn register(scope: BarrierScope) -> Option<BarrierScope> {
    let command = match scope {
        BarrierScope::Process => MembarrierCommand::RegisterPrivateExpedited,
        BarrierScope::Processes => MembarrierCommand::RegisterGlobalExpedited,
    };
    membarrier(command).ok().map(|()| scope)
}

/// Makes every thread in its scope pass a full fence.
///
/// # Panics
///
/// If the kernel, which agreed to [`register`], now refuses (a filter of system calls set later): to go on without the
/// fence would be unsound.
pub(super) fn barrier(scope: BarrierScope) {
    let command = match scope {
        BarrierScope::Process => MembarrierCommand::PrivateExpedited,
        BarrierScope::Processes => MembarrierCommand::GlobalExpedited,
    };
    membarrier(command).expect("the process has registered for it");
}
