//! The virtual counter of AArch64, whose rate a register tells.

use std::arch::asm;

#[inline]
pub(super) fn now() -> u64 {
    let ticks: u64;
    // SAFETY: systems that Rust has a std for let user mode read the virtual counter; it touches no memory.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

pub(super) fn ticks_per_second() -> Option<u64> {
    let hz: u64;
    // SAFETY: readable wherever the counter is.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
    Some(hz).filter(|hz| *hz > 0)
}
