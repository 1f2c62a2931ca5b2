//! [`Bell`]: the words by which one end wakes the other.

use units::Nanos;

use crate::fence::AsymmetricFence;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::wake::kernel::WordWait;

/// The word on which one end of a ring sleeps, and its state. It lies in the shared memory; a process that writes
/// a wrong value here costs the other one a needless wake at most.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Bell {
    word: AtomicU32,
    asleep: AtomicU32,
    /// 1 if the end that sleeps here was taken.
    taken: AtomicU32,
    /// 1 if that end has closed.
    closed: AtomicU32,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            asleep: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            closed: AtomicU32::new(0),
        }
    }

    /// Takes the end, and returns true if it was not taken before.
    pub(super) fn take(&self) -> bool {
        // AcqRel: the second one sees that it was taken; nothing else travels.
        self.taken.swap(1, Ordering::AcqRel) == 0
    }

    pub(super) fn is_taken(&self) -> bool {
        // Relaxed: nothing is read because of it.
        self.taken.load(Ordering::Relaxed) != 0
    }

    /// Marks the end that sleeps here as closed.
    pub(super) fn close(&self) {
        // pairs with the load in `is_closed`: all that it gave is seen with it.
        self.closed.store(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // pairs with the store in `close`.
        self.closed.load(Ordering::Acquire) != 0
    }

    /// Wakes the end that sleeps here, after a count was stored. No system call where it does not sleep.
    #[inline]
    pub(super) fn ring(&self, fences: AsymmetricFence, kernel: &WordWait) {
        // pairs with the heavy fence in `sleep_unless`, as the table in `mirror` says.
        fences.light();
        // Relaxed: ordered by the fence.
        if self.asleep.load(Ordering::Relaxed) != 0 {
            self.wake(kernel);
        }
    }

    #[cold]
    fn wake(&self, kernel: &WordWait) {
        // pairs with the load in `sleep_unless`; the counts carry the frames, this only a change.
        self.word.fetch_add(1, Ordering::Release);
        kernel.wake(&self.word, 1, std::num::NonZeroU32::MAX);
    }

    /// Sleeps for `limit` or until the bell is rung, unless `has_come` returns true.
    pub(super) fn sleep_unless(
        &self,
        fences: AsymmetricFence,
        kernel: &WordWait,
        limit: Nanos,
        has_come: impl FnOnce() -> bool,
    ) {
        // pairs with the addition in `wake`.
        let word = self.word.load(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        self.asleep.store(1, Ordering::Relaxed);
        // pairs with the light fence in `ring`.
        fences.heavy();
        if !has_come() {
            kernel.sleep(&self.word, word, std::num::NonZeroU32::MAX, Some(limit));
        }
        // Relaxed: an end that still sees us asleep makes a needless wake.
        self.asleep.store(0, Ordering::Relaxed);
    }
}
