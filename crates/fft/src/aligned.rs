//! Memory whose first value begins a cache line, on huge pages where there is much of it.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// What a cache line has, in bytes.
const LINE: usize = 64;
/// A huge page, in bytes. Memory of at least one begins with one.
const HUGE: usize = 2 << 20;

/// A fixed number of values, zero at first, the first one at the begin of a cache line. Every page has been written
/// to, so that reading or writing it later faults on none.
pub struct AlignedBuffer {
    values: NonNull<f32>,
    len: usize,
}

// SAFETY: it owns its values alone, as a `Box<[f32]>` would.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; `&AlignedBuffer` only reads.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Room for `len` values, all zero.
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

/// Asks for huge pages for the first `bytes` bytes, whole ones. Without them it is slower, nothing else.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(memory: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: these pages are ours, and what this changes is only how they are made.
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
        // SAFETY: made by `new` with the layout of the same length; nobody uses it after.
        unsafe { dealloc(self.values.as_ptr().cast(), layout(self.len)) };
    }
}

impl Clone for AlignedBuffer {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl From<&[f32]> for AlignedBuffer {
    /// A copy.
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
    fn it_begins_a_cache_line_and_is_zero() {
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
