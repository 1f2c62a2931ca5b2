//! The memory of a ring: a file without a name, from the system.

#[cfg(target_os = "linux")]
#[path = "memory/memfd.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "memory/shm.rs"]
mod system;

/// The form of other systems. Linux has it too, so its tests run there.
#[cfg(all(test, target_os = "linux", not(loom)))]
#[path = "memory/shm.rs"]
pub(super) mod shm;

pub(super) use system::{create, measure, seal};

/// Size of the pages of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageSize {
    /// The system's page size, mostly 4 KB.
    #[default]
    Default,
    /// 2 MB: fewer misses of the address cache in rings of many megabytes. They must have been set aside
    /// (`sysctl vm.nr_hugepages`). Between processes that trust each other: one that gives such memory back to the
    /// system and takes all huge pages for itself leaves none for the other one's next access, which ends it.
    Huge,
}

/// Bytes per page.
pub(super) fn page(pages: PageSize) -> usize {
    match pages {
        PageSize::Default => rustix::param::page_size(),
        PageSize::Huge => 2 << 20,
    }
}
