//! Linux: locks of open file descriptions.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::super::RingError;

/// The lock of one end.
pub(in super::super) struct LivenessLock {
    file: OwnedFd,
    end: i64,
}

impl LivenessLock {
    /// Locks the byte `end`. Returns [`RingError::Taken`] if another descriptor holds that lock.
    pub(in super::super) fn acquire(file: BorrowedFd<'_>, end: i64) -> Result<Self, RingError> {
        let system = |source: rustix::io::Errno| RingError::System(source.into());
        // A duplicate of the descriptor would share its locks with the process that passed it on.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let own = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let own = own.map_err(system)?;
        match lock(own.as_fd(), libc::F_OFD_SETLK, end) {
            Ok(_) => Ok(Self { file: own, end }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(RingError::Taken),
            Err(error) => Err(RingError::System(error)),
        }
    }

    /// Returns true if the process of the other end holds its lock. One system call, which does not wait.
    pub(in super::super) fn is_peer_alive(&self) -> bool {
        let other = Self::PRODUCER + Self::CONSUMER - self.end;
        // If the kernel gives no answer, the other process counts as alive.
        lock(self.file.as_fd(), libc::F_OFD_GETLK, other)
            .map_or(true, |kind| kind != libc::F_UNLCK as libc::c_short)
    }
}

/// Sets or reads the lock of one byte, by `command`. Returns the kind of lock that the kernel reports.
fn lock(file: BorrowedFd<'_>, command: libc::c_int, byte: i64) -> io::Result<libc::c_short> {
    // SAFETY: all zero is a lock of this kind, and the kernel asks for its process to be zero.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte as libc::off_t;
    lock.l_len = 1;
    // SAFETY: the descriptor is open, and the kernel writes to nothing but `lock`.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(lock.l_type),
    }
}
