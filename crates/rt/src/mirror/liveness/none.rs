//! Other systems: rings between processes are not supported.

use std::os::fd::BorrowedFd;

use super::super::RingError;

pub(in super::super) struct LivenessLock;

impl LivenessLock {
    pub(in super::super) fn acquire(_: BorrowedFd<'_>, _: i64) -> Result<Self, RingError> {
        Err(RingError::Unsupported)
    }

    pub(in super::super) fn is_peer_alive(&self) -> bool {
        true
    }
}
