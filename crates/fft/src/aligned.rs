//! Memory whose first value begins a cache line.

use std::ops::{Deref, DerefMut};

/// One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// A fixed number of values, zero at first, the first one at the begin of a cache line. Every page has been written
/// to, so that reading or writing it later faults on none.
#[derive(Clone)]
pub struct Aligned {
    lines: Box<[Line]>,
    len: usize,
}

impl Aligned {
    /// Room for `len` values, all zero.
    ///
    /// Real-time: setup.
    pub fn new(len: usize) -> Self {
        Self {
            lines: vec![Line([0.0; 16]); len.div_ceil(16)].into(),
            len,
        }
    }
}

impl From<&[f32]> for Aligned {
    /// A copy.
    ///
    /// Real-time: setup.
    fn from(values: &[f32]) -> Self {
        let mut copy = Self::new(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

impl Deref for Aligned {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        // SAFETY: `Line` is `repr(C)` around sixteen floats without padding, so `lines` is at least `len` floats in a
        // row, all initialised; the borrow of `self` holds them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above; `&mut self` makes this the only borrow.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl std::fmt::Debug for Aligned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_a_cache_line_and_is_zero() {
        for len in [0, 1, 15, 16, 17, 4097] {
            let mut memory = Aligned::new(len);
            assert_eq!(memory.len(), len);
            assert!(memory.as_ptr().addr().is_multiple_of(64));
            assert!(memory.iter().all(|&x| x == 0.0));
            memory.fill(1.0);
            assert_eq!(Aligned::from(&*memory).to_vec(), vec![1.0; len]);
        }
    }
}
