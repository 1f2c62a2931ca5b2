//! Other systems: POSIX shared memory, whose name is gone at once. It cannot be sealed, so no other process gets it.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, ftruncate};
use rustix::shm;

use super::super::RingError;
use super::Pages;

pub(in super::super) fn create(bytes: usize, pages: Pages) -> Result<OwnedFd, RingError> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let refused = |source: rustix::io::Errno| RingError::Memory {
        bytes,
        source: source.into(),
    };
    if pages == Pages::Huge {
        return Err(RingError::Unsupported);
    }
    // Relaxed: only the number counts.
    let name = format!(
        "/divisi-{}-{}",
        std::process::id(),
        MADE.fetch_add(1, Ordering::Relaxed)
    );
    let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
    let file = shm::open(name.as_str(), flags, Mode::RUSR | Mode::WUSR).map_err(refused)?;
    shm::unlink(name.as_str()).map_err(refused)?;
    ftruncate(&file, bytes as u64).map_err(refused)?;
    Ok(file)
}

pub(in super::super) fn seal(_: &OwnedFd) -> Result<(), RingError> {
    Err(RingError::Unsupported)
}

pub(in super::super) fn measure(_: &OwnedFd) -> Result<(usize, usize), RingError> {
    Err(RingError::Unsupported)
}
