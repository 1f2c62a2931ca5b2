//! [`WakeWords`]: 32-bit words in memory of several processes, each read and written as a whole, on which they sleep.
//!
//! As with [`SharedWords`](super::SharedWords), nothing is believed of them. A process that writes wrong values costs
//! another one a needless wake, or a sleep of its limit.

use super::mapping::Mapping;
use super::{PageSize, RingError, memory};
use crate::wake::kernel::WordWait;
use std::fmt;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::AtomicU32;
use units::Nanos;

/// Words at the beginning of a memory that cannot shrink.
pub struct WakeWords {
    mapping: Mapping,
    count: usize,
    #[cfg(not(loom))]
    kernel: WordWait,
}

impl fmt::Debug for WakeWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeWords")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl WakeWords {
    /// New memory of `count` words, rounded up to pages, all 0; and its file, for other processes.
    ///
    /// # Errors
    ///
    /// The system has not so much memory.
    ///
    /// Real-time: setup.
    pub fn create(count: usize) -> Result<(Self, OwnedFd), RingError> {
        let page = memory::page(PageSize::Default);
        let bytes = count.checked_mul(size_of::<u32>());
        let bytes = bytes.and_then(|it| it.max(1).checked_next_multiple_of(page));
        let bytes = bytes.ok_or(RingError::Incompatible("it has too many words"))?;
        let file = memory::create(bytes, PageSize::Default)?;
        memory::seal(&file)?;
        Ok((Self::open(&file, count)?, file))
    }

    /// Maps the first `count` words, rounded up to pages, of memory that another process made.
    ///
    /// # Errors
    ///
    /// It is no such memory, or it is shorter.
    ///
    /// Real-time: setup.
    pub fn open(file: &OwnedFd, count: usize) -> Result<Self, RingError> {
        let (bytes, page) = memory::measure(file)?;
        let wanted = count.checked_mul(size_of::<u32>());
        let wanted = wanted.and_then(|it| it.checked_next_multiple_of(page));
        match wanted {
            Some(wanted) if wanted > 0 && wanted <= bytes => Ok(Self {
                mapping: Mapping::once(file.as_fd(), wanted, page)?,
                count: wanted / size_of::<u32>(),
                #[cfg(not(loom))]
                kernel: WordWait::shared(),
            }),
            _ => Err(RingError::Incompatible("it has fewer words")),
        }
    }

    /// The words.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn words(&self) -> &[AtomicU32] {
        let start = self.mapping.start().cast::<AtomicU32>();
        // SAFETY: so many words are mapped as long as `self` lives, from a page on, so they are aligned; the memory cannot
        // shrink. Every pattern of bits is a word, and whoever else has the memory writes whole words or harms itself.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.count) }
    }

    /// Sleeps while word `index` is `expected`, for `limit` at most. It may return early: look at the word again.
    ///
    /// Real-time: waits, on the process that changes the word, for `limit`.
    #[cfg(not(loom))]
    pub fn sleep(&self, index: usize, expected: u32, limit: Nanos) {
        if let Some(word) = self.words().get(index) {
            (self.kernel).sleep(word, expected, NonZeroU32::MAX, Some(limit));
        }
    }

    /// Wakes at most `count` threads that sleep on word `index`, and returns how many.
    ///
    /// Real-time: hot, wakes.
    #[cfg(not(loom))]
    pub fn wake(&self, index: usize, count: u32) -> u32 {
        let word = self.words().get(index);
        word.map_or(0, |word| self.kernel.wake(word, count, NonZeroU32::MAX))
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn two_mappings_hold_the_same_words_and_a_sleeper_in_one_is_woken_by_the_other() {
        let (one, file) = WakeWords::create(2000).unwrap();
        let other = WakeWords::open(&file, 2000).unwrap();
        assert!(one.words().len() >= 2000);
        for count in [0, 1 << 20, usize::MAX, usize::MAX / 4] {
            assert!(WakeWords::open(&file, count).is_err(), "{count}");
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while one.words()[1999].load(Relaxed) == 0 {
                    one.sleep(1999, 0, Nanos(1_000_000_000));
                }
            });
            other.words()[1999].store(7, Relaxed);
            while other.words()[3].load(Relaxed) == 0 && other.wake(1999, 1) == 0 {
                other.words()[3].store(1, Relaxed);
            }
        });
        // Indices that are not there.
        one.sleep(usize::MAX, 0, Nanos(1));
        assert_eq!(one.wake(usize::MAX, 1), 0);
    }
}
