//! [`AsymmetricFence`]: a fence that costs one side nothing and the other side a system call.
//!
//! It orders a store before a load of another word, on both sides at once (the store-buffering pattern, Dekker):
//!
//! | the side that passes often | the side that passes rarely |
//! |---|---|
//! | stores A | stores B |
//! | [`light`](AsymmetricFence::light) | [`heavy`](AsymmetricFence::heavy) |
//! | loads B | loads A |
//!
//! At least one of the two loads sees the other side's store. Two light fences order nothing against each other; two
//! heavy ones do.
//!
//! `heavy` calls Linux's `membarrier(2)`: the kernel interrupts each core that runs a thread of this process, so that
//! the thread passes a full fence at whatever instruction it is. If that is before its light fence, then its load comes
//! after our store. If that is after it, then its store came before our load. Where the kernel refuses, both halves are
//! full fences. C++ knows the same pair as `asymmetric_thread_fence_light` and `_heavy` (P1202).

use crate::sync::atomic::{Ordering, fence};

#[cfg(all(not(loom), not(miri), target_os = "linux"))]
#[path = "fence/membarrier.rs"]
mod kernel;
#[cfg(any(loom, miri, not(target_os = "linux")))]
#[path = "fence/none.rs"]
mod kernel;

/// The fences of this process. Both sides must use the same value, or copies of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsymmetricFence {
    scope: Option<kernel::BarrierScope>,
}

impl AsymmetricFence {
    /// Asks the kernel for its barrier.
    ///
    /// Real-time: setup.
    pub fn within_process() -> Self {
        Self {
            scope: kernel::register(kernel::BarrierScope::Process),
        }
    }

    /// Asks the kernel for its barrier over all processes that have asked for it. Where it refuses one of two
    /// processes, only that one's light halves are full fences, and its heavy ones do not reach the other.
    ///
    /// Real-time: setup.
    pub fn across_processes() -> Self {
        Self {
            scope: kernel::register(kernel::BarrierScope::Processes),
        }
    }

    /// Full fences on both sides, as where the kernel refuses.
    pub const fn symmetric() -> Self {
        Self { scope: None }
    }

    /// Returns true if the light half costs nothing.
    pub fn is_asymmetric(self) -> bool {
        self.scope.is_some()
    }

    /// The half for the side that passes often.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn light(self) {
        if self.scope.is_some() {
            // pairs with the kernel's barrier in `heavy`: only the compiler must keep the order here.
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            // pairs with the fence in `heavy`.
            fence(Ordering::SeqCst);
        }
    }

    /// The half for the side that passes rarely.
    ///
    /// Real-time: waits, on the kernel and the cores that run this process, for some microseconds.
    pub fn heavy(self) {
        // pairs with the fence in `light`, and with other heavy halves.
        fence(Ordering::SeqCst);
        if let Some(scope) = self.scope {
            kernel::barrier(scope);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::AsymmetricFence;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn of_two_that_store_and_load_at_least_one_sees_the_other() {
        loom::model(|| {
            let fences = AsymmetricFence::within_process();
            let words = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let often = {
                let words = words.clone();
                loom::thread::spawn(move || {
                    words.0.store(1, Relaxed);
                    fences.light();
                    words.1.load(Relaxed)
                })
            };
            words.1.store(1, Relaxed);
            fences.heavy();
            let seen = words.0.load(Relaxed);
            assert!(often.join().unwrap() + seen > 0);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::AsymmetricFence;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn both_miss_each_other(fences: AsymmetricFence) -> u32 {
        const ROUNDS: usize = if cfg!(miri) { 50 } else { 2000 };
        let words: Vec<[AtomicU32; 4]> = (0..ROUNDS).map(|_| Default::default()).collect();
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                for [a, b, seen, _] in &words {
                    a.store(1, Relaxed);
                    fences.light();
                    seen.store(b.load(Relaxed), Relaxed);
                }
            });
            start.wait();
            for [a, b, _, seen] in &words {
                b.store(1, Relaxed);
                fences.heavy();
                seen.store(a.load(Relaxed), Relaxed);
            }
        });
        let missed = |[_, _, x, y]: &&[AtomicU32; 4]| x.load(Relaxed) + y.load(Relaxed) == 0;
        words.iter().filter(missed).count() as u32
    }

    #[test]
    fn light_against_heavy_never_misses() {
        assert_eq!(both_miss_each_other(AsymmetricFence::within_process()), 0);
    }

    #[test]
    fn symmetric_fences_never_miss_either() {
        assert!(!AsymmetricFence::symmetric().is_asymmetric());
        assert_eq!(both_miss_each_other(AsymmetricFence::symmetric()), 0);
    }
}
