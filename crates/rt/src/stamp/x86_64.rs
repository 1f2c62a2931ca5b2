//! The time-stamp counter of x86-64, where it ticks evenly whatever the core does; else the clock.

use std::arch::x86_64::{__cpuid, __cpuid_count, _rdtsc};
use std::sync::atomic::{AtomicU8, Ordering};

#[path = "other.rs"]
mod clock;

const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const CLOCK: u8 = 2;

static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

#[inline]
pub(super) fn now() -> u64 {
    // Relaxed: every thread finds the same answer, and nothing else goes with it.
    match SOURCE.load(Ordering::Relaxed) {
        // SAFETY: every x86-64 has the counter, and `choose` runs only where reading it is not trapped.
        COUNTER => unsafe { _rdtsc() },
        CLOCK => clock::now(),
        _ => choose(),
    }
}

/// Rate that the processor tells (CPUID leaf 0x15); `None` where the counter must be compared with the clock: also in a
/// virtual machine, whose counter may be scaled.
pub(super) fn ticks_per_second() -> Option<u64> {
    now();
    if SOURCE.load(Ordering::Relaxed) == CLOCK {
        return clock::ticks_per_second();
    }
    let is_virtual = __cpuid(1).ecx & 1 << 31 != 0;
    if is_virtual || __cpuid(0).eax < 0x15 {
        return None;
    }
    let leaf = __cpuid_count(0x15, 0);
    let hz = u64::from(leaf.ecx) * u64::from(leaf.ebx);
    hz.checked_div(u64::from(leaf.eax)).filter(|hz| *hz > 0)
}

#[cold]
fn choose() -> u64 {
    clock::now(); // its first reading sets its zero
    let has_leaf = __cpuid(0x8000_0000).eax >= 0x8000_0007;
    let is_invariant = has_leaf && __cpuid(0x8000_0007).edx & 1 << 8 != 0;
    let source = if is_invariant { COUNTER } else { CLOCK };
    // Relaxed: as in `now`.
    SOURCE.store(source, Ordering::Relaxed);
    now()
}
