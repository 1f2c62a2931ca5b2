//! A table that others point into while it is still being filled: rows that never move.

use std::ptr::NonNull;

/// Rows of `T`, one after the other, at a place that stays as long as the table lives.
pub(crate) struct Table<T: Copy> {
    base: NonNull<[T]>,
    used: usize,
}

// SAFETY: it owns plain memory, written only by `add`.
unsafe impl<T: Copy> Send for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Copy> Sync for Table<T> {}

impl<T: Copy> Table<T> {
    /// Room for `rows` rows, each like `blank` for now.
    pub(crate) fn new(rows: usize, blank: T) -> Self {
        let rows = Box::into_raw(vec![blank; rows].into_boxed_slice());
        Self {
            base: NonNull::new(rows).expect("a box is not null"),
            used: 0,
        }
    }

    /// Adds `rows`, for which there must be room; where they are now. They live as long as the table, and nobody writes
    /// them any more.
    pub(crate) fn add(&mut self, rows: &[T]) -> *const [T] {
        let end = self.used + rows.len();
        assert!(end <= self.base.len(), "the rows were counted before");
        // SAFETY: `used .. end` is within the table, and nobody points there yet.
        let added = unsafe {
            let first = self.base.as_ptr().cast::<T>().add(self.used);
            first.copy_from_nonoverlapping(rows.as_ptr(), rows.len());
            std::ptr::slice_from_raw_parts(first.cast_const(), rows.len())
        };
        self.used = end;
        added
    }
}

impl<T: Copy> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw` in `new`; what points here belongs to the stage that owns us.
        drop(unsafe { Box::from_raw(self.base.as_ptr()) });
    }
}
