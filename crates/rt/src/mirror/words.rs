//! [`SharedWords`]: 64-bit words in the memory of another process, each read and written as a whole.
//!
//! Nothing is believed of them: every access is one atomic word at an index that is checked. What they mean, and which of
//! them belong together, is the matter of the two sides.

use super::RingError;
use super::mapping::Mapping;
use super::memory;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::AtomicU64;

/// Words at the beginning of a memory that cannot shrink.
pub struct SharedWords {
    mapping: Mapping,
    count: usize,
}

impl SharedWords {
    /// Maps the first `count` words, rounded up to pages, of memory that another process made.
    ///
    /// # Errors
    ///
    /// It is no such memory, or it is shorter.
    ///
    /// Real-time: setup.
    pub fn open(file: &OwnedFd, count: usize) -> Result<Self, RingError> {
        let (bytes, page) = memory::measure(file)?;
        let wanted = count.checked_mul(size_of::<u64>());
        let wanted = wanted.and_then(|it| it.checked_next_multiple_of(page));
        match wanted {
            Some(wanted) if wanted > 0 && wanted <= bytes => Ok(Self {
                mapping: Mapping::once(file.as_fd(), wanted, page)?,
                count: wanted / size_of::<u64>(),
            }),
            _ => Err(RingError::Incompatible("it has fewer words")),
        }
    }

    /// The words.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        let start = self.mapping.start().cast::<AtomicU64>();
        // SAFETY: so many words are mapped as long as `self` lives, from a page on, so they are aligned; the memory cannot
        // shrink. Every pattern of bits is a word, and whoever else has the memory writes whole words or harms itself.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.count) }
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use super::*;
    use crate::mirror::PageSize;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn two_mappings_of_one_memory_hold_the_same_words() {
        let file = memory::create(8192, PageSize::Default).unwrap();
        assert!(SharedWords::open(&file, 512).is_err(), "it could shrink");
        memory::seal(&file).unwrap();
        let (one, other) = (
            SharedWords::open(&file, 1024).unwrap(),
            SharedWords::open(&file, 3).unwrap(),
        );
        assert_eq!((one.words().len(), other.words().len()), (1024, 512));
        one.words()[511].store(u64::MAX - 7, Relaxed);
        assert_eq!(other.words()[511].load(Relaxed), u64::MAX - 7);
        for count in [0, 1025, usize::MAX, usize::MAX / 8] {
            assert!(SharedWords::open(&file, count).is_err(), "{count}");
        }
    }
}
