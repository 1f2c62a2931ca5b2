//! Memory for slots: one block of one channel each, planar, aligned to cache lines, allocated at once.
//!
//! ```text
//!            frames                  stride
//!   row 0  │ f f f f f f f f ░░░░ │          each row begins on a cache line;
//!   row 1  │ f f f f f f f f ░░░░ │          ░ is padding, one line more where the rows
//!   row 2  │ f f f f f f f f ░░░░ │          would lie a power of two apart
//!   flags    b b b                           one byte per row, apart from the frames
//! ```

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

const ALIGN: usize = 64;
const FRAMES_A_LINE: usize = ALIGN / size_of::<f32>();

/// Rows of frames, each on cache lines of its own, and a flag for each row.
///
/// It gives out raw pointers. The code that binds them must ensure that their uses do not overlap; a plan proves it.
pub struct Arena {
    data: NonNull<f32>,
    layout: Layout,
    stride: usize,
    flags: Box<[std::cell::UnsafeCell<u8>]>,
}

// SAFETY: it owns plain memory; the code that binds its pointers states the rules for their use.
unsafe impl Send for Arena {}
// SAFETY: `&Arena` alone gives only pointers, and using one is unsafe.
unsafe impl Sync for Arena {}

impl Arena {
    /// `rows` rows of `frames` frames. All hold +0.0, and all flags are 0. Every page is written once, so that no page
    /// fault comes later.
    ///
    /// # Panics
    ///
    /// All rows together are larger than the address space.
    ///
    /// Real-time: setup.
    pub fn new(rows: usize, frames: usize) -> Self {
        // One line more where the stride is a power of two: all rows would fall on the same cache sets.
        let lines = frames.div_ceil(FRAMES_A_LINE).max(1);
        let stride = (lines + usize::from(lines > 1 && lines.is_power_of_two())) * FRAMES_A_LINE;
        let samples = rows.checked_mul(stride).map(|all| all.max(FRAMES_A_LINE));
        let layout = |samples| Layout::array::<f32>(samples)?.align_to(ALIGN);
        let (samples, layout) = samples
            .and_then(|samples| Some((samples, layout(samples).ok()?)))
            .expect("all rows of an arena fit the address space");
        // SAFETY: the layout has a size above 0.
        let data = unsafe { alloc_zeroed(layout) }.cast::<f32>();
        let Some(data) = NonNull::new(data) else {
            handle_alloc_error(layout)
        };
        for page in (0..samples).step_by(1024) {
            // SAFETY: within the allocation; volatile, so that the page is really written.
            unsafe { data.as_ptr().add(page).write_volatile(0.0) };
        }
        Self {
            data,
            layout,
            stride,
            flags: (0..rows).map(|_| std::cell::UnsafeCell::new(0)).collect(),
        }
    }

    /// The first frame of `row`.
    ///
    /// Real-time: hot.
    pub fn row(&self, row: usize) -> *mut f32 {
        assert!(row < self.flags.len(), "the arena has no such row");
        // SAFETY: within the allocation, by the assertion.
        unsafe { self.data.as_ptr().add(row * self.stride) }
    }

    /// The flag of `row`.
    ///
    /// Real-time: hot.
    pub fn flag(&self, row: usize) -> *mut u8 {
        self.flags[row].get()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.data.as_ptr().cast(), self.layout) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Arena;

    #[test]
    #[should_panic(expected = "fit the address space")]
    fn rows_that_no_address_space_holds_are_refused() {
        // 80 samples a row: the product wraps around to 64 samples, which could be allocated.
        let rows = usize::MAX / 80 + 1;
        assert_eq!(rows.wrapping_mul(80), 64);
        Arena::new(rows, 64);
    }

    #[test]
    fn rows_are_aligned_and_do_not_overlap() {
        for frames in [1, 16, 17, 64, 4096] {
            let arena = Arena::new(5, frames);
            let rows: Vec<usize> = (0..5).map(|r| arena.row(r) as usize).collect();
            assert!(rows.iter().all(|r| r % 64 == 0));
            assert!(rows.windows(2).all(|w| w[1] - w[0] >= frames * 4));
        }
    }
}
