//! Where the memory of a ring comes from: a file that has no name.

#[cfg(target_os = "linux")]
#[path = "memory/memfd.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "memory/shm.rs"]
mod system;

/// The other systems' form, which Linux has too: there its tests are run.
#[cfg(all(test, target_os = "linux", not(loom)))]
#[path = "memory/shm.rs"]
pub(super) mod shm;

pub(super) use system::{create, measure, seal};

/// How large the pages of a ring are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageSize {
    /// As large as the system's, mostly 4 KB.
    #[default]
    Default,
    /// 2 MB: fewer misses of the address cache in rings of many megabytes. They must have been set aside
    /// (`sysctl vm.nr_hugepages`). Between processes that trust each other: one that gives such memory back to the
    /// system and takes all huge pages for itself leaves none for the other one's next access, which ends it.
    Huge,
}

/// Bytes a page.
pub(super) fn page(pages: PageSize) -> usize {
    match pages {
        PageSize::Default => rustix::param::page_size(),
        PageSize::Huge => 2 << 20,
    }
}
