//! The words by which one end wakes the other.

use units::Nanos;

use crate::fence::AsymmetricFence;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::wake::kernel::Kernel;

/// Where one end of a ring sleeps. It lies in the shared memory; all that it can cost is a wake in vain.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Bell {
    word: AtomicU32,
    asleep: AtomicU32,
    /// Whether the end that sleeps here has been taken.
    taken: AtomicU32,
    /// Whether it has closed.
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

    /// Takes the end, once and for all.
    pub(super) fn take(&self) -> bool {
        // AcqRel: whoever takes it second sees that it was taken, and nothing travels besides.
        self.taken.swap(1, Ordering::AcqRel) == 0
    }

    pub(super) fn is_taken(&self) -> bool {
        // Relaxed: only told, nothing is read because of it.
        self.taken.load(Ordering::Relaxed) != 0
    }

    /// The end that sleeps here goes.
    pub(super) fn close(&self) {
        // pairs with the load in `is_closed`: all it gave is seen with it.
        self.closed.store(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // pairs with the store in `close`.
        self.closed.load(Ordering::Acquire) != 0
    }

    /// Wakes who sleeps here, after a count was stored. No system call where nobody sleeps.
    #[inline]
    pub(super) fn ring(&self, fences: AsymmetricFence, kernel: &Kernel) {
        // pairs with the heavy fence in `sleep_unless`, as the table in `mirror` says.
        fences.light();
        // Relaxed: ordered by the fence.
        if self.asleep.load(Ordering::Relaxed) != 0 {
            self.wake(kernel);
        }
    }

    #[cold]
    fn wake(&self, kernel: &Kernel) {
        // pairs with the load in `sleep_unless`; the counts carry the frames, this only a change.
        self.word.fetch_add(1, Ordering::Release);
        kernel.wake(&self.word, 1, std::num::NonZeroU32::MAX);
    }

    /// Sleeps for `limit` or until it is rung, unless `there` says that what is waited for has come.
    pub(super) fn sleep_unless(
        &self,
        fences: AsymmetricFence,
        kernel: &Kernel,
        limit: Nanos,
        there: impl FnOnce() -> bool,
    ) {
        // pairs with the addition in `wake`.
        let word = self.word.load(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        self.asleep.store(1, Ordering::Relaxed);
        // pairs with the light fence in `ring`.
        fences.heavy();
        if !there() {
            kernel.sleep(&self.word, word, std::num::NonZeroU32::MAX, Some(limit));
        }
        // Relaxed: who still sees us asleep wakes in vain.
        self.asleep.store(0, Ordering::Relaxed);
    }
}
