//! Flush-to-zero mode of this thread's floating point, for as long as a guard lives.
//!
//! A filter that rings out reaches denormal numbers (below 1e-38), which many processors compute a hundred times more
//! slowly, far below the limit of hearing. The mode belongs to a thread, so each audio thread holds a guard of its own.
//! On x86-64 it is FTZ and DAZ of the MXCSR register, on AArch64 the FZ bit of the FPCR.

use std::marker::PhantomData;

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[path = "ftz/aarch64.rs"]
mod mode;
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "ftz/other.rs"]
mod mode;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "ftz/x86_64.rs"]
mod mode;

/// A guard: while it lives, this thread takes denormal numbers as zero and makes none. Its end restores the mode
/// before.
#[derive(Debug)]
#[must_use = "the mode lasts as long as this value"]
pub struct FlushToZero {
    before: mode::Mode,
    /// The mode is this thread's: the guard must end here.
    here: PhantomData<*const ()>,
}

impl FlushToZero {
    /// Switches the mode on for the calling thread.
    ///
    /// Real-time: hot.
    // Not inlined, as its end: the compiler would move arithmetic past a change of mode, of which it knows nothing.
    #[inline(never)]
    pub fn enable() -> Self {
        let before = mode::get();
        // To set the register waits for all arithmetic before.
        if mode::flushing(before) != before {
            mode::set(mode::flushing(before));
        }
        Self {
            before,
            here: PhantomData,
        }
    }

    /// Returns true if the calling thread flushes denormals now.
    ///
    /// Real-time: hot.
    pub fn is_enabled() -> bool {
        mode::CAN_FLUSH && mode::flushing(mode::get()) == mode::get()
    }
}

impl Drop for FlushToZero {
    #[inline(never)]
    fn drop(&mut self) {
        if mode::flushing(self.before) != self.before {
            mode::set(self.before);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{FlushToZero, mode};
    use std::hint::black_box;

    fn half_of_the_smallest_normal() -> f32 {
        black_box(f32::MIN_POSITIVE) * black_box(0.5)
    }

    #[test]
    fn denormals_are_zero_under_a_guard_and_not_after_it() {
        assert!(!FlushToZero::is_enabled());
        let guard = FlushToZero::enable();
        let inner = FlushToZero::enable();
        drop(inner);
        let under = half_of_the_smallest_normal();
        assert_eq!(FlushToZero::is_enabled(), mode::CAN_FLUSH);
        drop(guard);
        assert_eq!(under == 0.0, mode::CAN_FLUSH);
        assert!(half_of_the_smallest_normal() > 0.0 && !FlushToZero::is_enabled());
    }

    #[test]
    fn denormals_that_come_in_are_zero_too() {
        let denormal = black_box(f32::MIN_POSITIVE) * black_box(0.25);
        let guard = FlushToZero::enable();
        let product = black_box(denormal) * black_box(1e30);
        drop(guard);
        assert_eq!(product == 0.0, mode::CAN_FLUSH);
    }
}
