//! Other systems: POSIX shared memory, whose name is gone at once. It cannot be sealed, so no other process gets it.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, ftruncate};
use rustix::io::Errno;
use rustix::shm;

use super::super::RingError;
use super::PageSize;

/// Names that are tried.
const TRIES: u32 = 16;

pub(in super::super) fn create(bytes: usize, pages: PageSize) -> Result<OwnedFd, RingError> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let refused = |source: Errno| RingError::Memory {
        bytes,
        source: source.into(),
    };
    if pages == PageSize::Huge {
        return Err(RingError::Unsupported);
    }
    // A name that was left by a process that was killed between these two calls is passed by.
    let file = (0..TRIES).find_map(|_| {
        // Relaxed: only the number counts.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("/divisi-{}-{number}", std::process::id());
        let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
        match shm::open(name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => None,
            Err(error) => Some(Err(error)),
            Ok(file) => Some(shm::unlink(name.as_str()).map(|()| file)),
        }
    });
    let file = file.unwrap_or(Err(Errno::EXIST)).map_err(refused)?;
    ftruncate(&file, bytes as u64).map_err(refused)?;
    Ok(file)
}

pub(in super::super) fn seal(_: &OwnedFd) -> Result<(), RingError> {
    Err(RingError::Unsupported)
}

pub(in super::super) fn measure(_: &OwnedFd) -> Result<(usize, usize), RingError> {
    Err(RingError::Unsupported)
}
