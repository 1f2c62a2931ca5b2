//! The float mode of x86-64: the register MXCSR.

use std::arch::asm;

pub(super) type Mode = u32;

pub(super) const CAN_FLUSH: bool = true;

/// Flush results to zero (bit 15), take denormal operands as zero (bit 6).
#[inline]
pub(super) fn flushing(mode: Mode) -> Mode {
    mode | 1 << 15 | 1 << 6
}

#[inline]
pub(super) fn get() -> Mode {
    let mut mode: Mode = 0;
    // SAFETY: every x86-64 has MXCSR; four bytes are written to `mode`.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut mode, options(nostack, preserves_flags)) };
    mode
}

#[inline]
pub(super) fn set(mode: Mode) {
    // SAFETY: `mode` came from `get`, plus two bits that every x86-64 has, so no reserved bit is set. No exception is
    // unmasked and rounding stays: what the compiler assumes of floats holds but for denormals.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &mode, options(nostack, preserves_flags)) };
}
