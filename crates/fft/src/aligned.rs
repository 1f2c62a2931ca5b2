//! [`AlignedBuffer`]: floats on cache lines, and on huge pages if there are many.
//!
//! A vector of sixteen floats is a cache line of 64 bytes. From an aligned buffer it is read with one access instead of two.
//! Huge pages (2 MB) save misses of the address cache (TLB) where a delay line reads hundreds of megabytes per second.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a huge page. A buffer of at least as many begins with one.
const HUGE: usize = 2 << 20;

/// A fixed number of floats, zero at first. The first one begins a cache line. Every page has been written to, so that
/// no later access causes a page fault.
pub struct AlignedBuffer {
    values: NonNull<f32>,
    len: usize,
}

// SAFETY: it owns its values alone, as a `Box<[f32]>` would.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; `&AlignedBuffer` only reads.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// A buffer of `len` zeros.
    ///
    /// Real-time: setup.
    pub fn new(len: usize) -> Self {
        let layout = layout(len);
        // SAFETY: the layout is of at least one line.
        let memory = unsafe { alloc(layout) };
        let Some(values) = NonNull::new(memory.cast::<f32>()) else {
            handle_alloc_error(layout)
        };
        advise(memory, len * size_of::<f32>() / HUGE * HUGE);
        // SAFETY: the layout has room for `len` values.
        unsafe { values.as_ptr().write_bytes(0, len) };
        Self { values, len }
    }
}

/// Asks for huge pages for the first `bytes` bytes, a multiple of a huge page. Without them only the speed differs.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(memory: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: these pages are this buffer's, and the advice changes their size only.
        let _ =
            unsafe { rustix::mm::madvise(memory.cast(), bytes, rustix::mm::Advice::LinuxHugepage) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_memory: *mut u8, _bytes: usize) {}

fn layout(len: usize) -> Layout {
    let bytes = len.saturating_mul(size_of::<f32>()).max(LINE);
    let align = if bytes >= HUGE { HUGE } else { LINE };
    Layout::from_size_align(bytes, align).expect("no memory is so large")
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: made by `new` with the layout of the same length; no reference to it is left.
        unsafe { dealloc(self.values.as_ptr().cast(), layout(self.len)) };
    }
}

impl Clone for AlignedBuffer {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl From<&[f32]> for AlignedBuffer {
    /// Copies the values.
    ///
    /// Real-time: setup.
    fn from(values: &[f32]) -> Self {
        let mut copy = Self::new(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

impl Deref for AlignedBuffer {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        // SAFETY: `new` has written `len` values there; the borrow of `self` holds them.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above; `&mut self` makes this the only borrow.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_ptr(), self.len) }
    }
}

impl std::fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_a_cache_line_and_is_zero() {
        for len in [0, 1, 15, 16, 17, 4097, 1 << 19, (1 << 20) + 3] {
            let mut memory = AlignedBuffer::new(len);
            assert_eq!(memory.len(), len);
            assert!(memory.as_ptr().addr().is_multiple_of(64));
            assert!(memory.iter().all(|&x| x == 0.0));
            memory.fill(1.0);
            assert_eq!(memory.clone().to_vec(), vec![1.0; len]);
        }
    }
}
