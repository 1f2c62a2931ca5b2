//! The float mode of AArch64: the register FPCR.

use std::arch::asm;

pub(super) type Mode = u64;

pub(super) const CAN_FLUSH: bool = true;

/// Flush operands and results to zero (FZ, bit 24).
#[inline]
pub(super) fn flushing(mode: Mode) -> Mode {
    mode | 1 << 24
}

#[inline]
pub(super) fn get() -> Mode {
    let mode: Mode;
    // SAFETY: every AArch64 has FPCR, readable in user mode.
    unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
    mode
}

#[inline]
pub(super) fn set(mode: Mode) {
    // SAFETY: `mode` came from `get`, plus a bit that every AArch64 has. No trap is enabled and rounding stays: what
    // the compiler assumes of floats holds but for denormals.
    unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags)) };
}
