//! Linux: a memfd, whose pages are there from the start and which can be sealed.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    fstatfs, ftruncate, memfd_create,
};
use rustix::io::Errno;

use super::super::RingError;
use super::PageSize;

/// Memory that can neither shrink nor grow once it is sealed.
pub(in super::super) fn create(bytes: usize, pages: PageSize) -> Result<OwnedFd, RingError> {
    let refused = |source: Errno| match pages {
        PageSize::Default => RingError::Memory {
            bytes,
            source: source.into(),
        },
        PageSize::Huge => RingError::HugePages {
            bytes,
            source: source.into(),
        },
    };
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let flags = match pages {
        PageSize::Default => {
            leave_some(bytes)?;
            flags
        }
        PageSize::Huge => flags | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB,
    };
    let file = memfd_create("divisi-ring", flags).map_err(refused)?;
    ftruncate(&file, bytes as u64).map_err(refused)?;
    // Pages that were only promised would end the program at the first write to one that is not there.
    fallocate(&file, FallocateFlags::empty(), 0, bytes as u64).map_err(refused)?;
    Ok(file)
}

/// Refuses what the machine has not: taking it would make the kernel end some program.
fn leave_some(bytes: usize) -> Result<(), RingError> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    match kilobytes {
        Some(there) if (bytes as u64) / 1024 >= there => Err(RingError::Memory {
            bytes,
            source: io::Error::new(
                io::ErrorKind::OutOfMemory,
                format!("{there} kB are available"),
            ),
        }),
        _ => Ok(()),
    }
}

/// Seals the size, so that another process cannot take away what we have mapped.
pub(in super::super) fn seal(file: &OwnedFd) -> Result<(), RingError> {
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(file, seals).map_err(|source| RingError::System(source.into()))
}

/// The bytes and the page size of memory that another process made, if it cannot shrink.
pub(in super::super) fn measure(file: &OwnedFd) -> Result<(usize, usize), RingError> {
    let seals = fcntl_get_seals(file).map_err(|_| RingError::Incompatible("it is not memory"))?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(RingError::Incompatible("it could shrink while it is read"));
    }
    let stat = fstat(file).map_err(|source| RingError::System(source.into()))?;
    let page = page_of(file)?;
    match usize::try_from(stat.st_size) {
        Ok(bytes) if bytes >= page => Ok((bytes, page)),
        _ => Err(RingError::Incompatible("it is less than a page")),
    }
}

/// Size of the memory's pages. Its block size would not tell: where the system makes huge pages of usual memory by
/// itself, that is theirs.
fn page_of(file: &OwnedFd) -> Result<usize, RingError> {
    const HUGETLBFS: u32 = 0x9584_58f6;
    let stat = fstatfs(file).map_err(|source| RingError::System(source.into()))?;
    match stat.f_bsize as usize {
        _ if stat.f_type as u32 != HUGETLBFS => Ok(super::page(PageSize::Default)),
        huge if huge == super::page(PageSize::Huge) => Ok(huge),
        _ => Err(RingError::Incompatible("its pages are of another size")),
    }
}
