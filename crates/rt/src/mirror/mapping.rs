//! [`Mapping`]: the addresses of a ring. Everything that makes the slices sound is in this file.

use std::ffi::c_void;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use super::RingError;
use super::layout::RingLayout;

/// A stretch of addresses: the first page of a file once, then each channel's pages twice, side by side.
pub(super) struct Mapping {
    /// Start of the addresses that are unmapped on drop.
    reserved: NonNull<u8>,
    bytes: usize,
    start: NonNull<u8>,
    /// The part of these addresses where the system refused to map the file: perhaps something else is mapped there by
    /// now.
    lost: Range<usize>,
}

// SAFETY: addresses are the same in all threads; what lies there is reached through the protocol of `mirror` only.
unsafe impl Send for Mapping {}
// SAFETY: `&Mapping` gives only the start of the addresses.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a file that has `layout.memory()` bytes and cannot become shorter.
    pub(super) fn new(file: BorrowedFd<'_>, layout: &RingLayout) -> Result<Self, RingError> {
        let mut mapping = Self::reserve(layout.span(), layout.page)?;
        mapping.place(0, file, 0, layout.page)?;
        let channel = layout.channel();
        for i in 0..2 * layout.channels {
            let from = layout.page + i / 2 * channel;
            mapping.place(layout.page + i * channel, file, from, channel)?;
        }
        Ok(mapping)
    }

    /// Maps the first page of a file that has it and cannot become shorter.
    pub(super) fn head(file: BorrowedFd<'_>, page: usize) -> Result<Self, RingError> {
        let mut mapping = Self::reserve(page, page)?;
        mapping.place(0, file, 0, page)?;
        Ok(mapping)
    }

    /// Maps the first `bytes` bytes, a number of pages, of a file that has them and cannot become shorter.
    pub(super) fn once(file: BorrowedFd<'_>, bytes: usize, page: usize) -> Result<Self, RingError> {
        let mut mapping = Self::reserve(bytes, page)?;
        mapping.place(0, file, 0, bytes)?;
        Ok(mapping)
    }

    /// Its beginning.
    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Takes `span` addresses that nobody else gets, from a multiple of `page` on; they cannot be read or written yet.
    fn reserve(span: usize, page: usize) -> Result<Self, RingError> {
        // With ordinary pages every address that the system gives is a multiple.
        let spare = page - rustix::param::page_size();
        let bytes = span + spare;
        // SAFETY: the system chooses addresses that are free.
        let reserved = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )
        };
        let refused = |source: rustix::io::Errno| RingError::Addresses {
            bytes,
            source: source.into(),
        };
        let reserved = reserved.map_err(refused)?.cast::<u8>();
        let reserved = NonNull::new(reserved).expect("no mapping begins at nothing");
        let skipped = reserved.addr().get().next_multiple_of(page) - reserved.addr().get();
        Ok(Self {
            reserved,
            bytes,
            // SAFETY: at most `spare` further, within what was reserved.
            start: unsafe { reserved.add(skipped) },
            lost: 0..0,
        })
    }

    /// Puts `bytes` of the file, from `from` on, at `at` addresses after the start.
    fn place(
        &mut self,
        at: usize,
        file: BorrowedFd<'_>,
        from: usize,
        bytes: usize,
    ) -> Result<(), RingError> {
        let (access, flags) = (
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::FIXED,
        );
        // SAFETY: `at + bytes` is within the span that `new` reserved, so these addresses are ours, nothing was there
        // before, and nobody has a reference into them yet.
        let placed = unsafe {
            let address = self.start.add(at).as_ptr().cast::<c_void>();
            mmap(address, bytes, access, flags, file, from as u64)
        };
        placed.map(drop).map_err(|source| {
            // What was there may be unmapped already.
            let begin = self.start.addr().get() - self.reserved.addr().get() + at;
            self.lost = begin..begin + bytes;
            RingError::Memory {
                bytes,
                source: source.into(),
            }
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        for part in [0..self.lost.start, self.lost.end..self.bytes] {
            if !part.is_empty() {
                // SAFETY: ours since `reserve`, but for what was lost, and no reference into it outlives its ring. If
                // the system refuses, the addresses stay taken, which harms nobody.
                let _ =
                    unsafe { munmap(self.reserved.add(part.start).as_ptr().cast(), part.len()) };
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Mapping, RingError, RingLayout};
    use std::os::fd::AsFd;

    #[test]
    fn what_the_system_refuses_to_map_is_left_alone_and_the_rest_given_back() {
        let layout = RingLayout::new(4096, 2, 1, 4096).unwrap();
        let mut mapping = Mapping::reserve(layout.span(), 4096).unwrap();
        // A folder cannot be mapped.
        let folder = std::fs::File::open("/").unwrap();
        let refused = mapping.place(4096, folder.as_fd(), 0, 8192);
        assert!(matches!(
            refused,
            Err(RingError::Memory { bytes: 8192, .. })
        ));
        let begin = mapping.start.addr().get() - mapping.reserved.addr().get() + 4096;
        assert_eq!(mapping.lost, begin..begin + 8192);
        assert!(Mapping::new(folder.as_fd(), &layout).is_err());
    }
}
