//! [`Table`]: rows at fixed addresses. Pointers to earlier rows stay valid while later rows are added.

use std::ptr::NonNull;

/// Rows of `T`, contiguous, at a fixed address.
pub(crate) struct Table<T: Copy> {
    base: NonNull<[T]>,
    used: usize,
}

// SAFETY: it owns plain memory. Only `add` writes it, by `&mut self`, where no thread points to yet.
unsafe impl<T: Copy> Send for Table<T> {}
// SAFETY: by `&self` nothing is reached.
unsafe impl<T: Copy> Sync for Table<T> {}

impl<T: Copy> Table<T> {
    /// Table with room for `rows` rows, all equal to `blank`.
    pub(crate) fn new(rows: usize, blank: T) -> Self {
        let rows = Box::into_raw(vec![blank; rows].into_boxed_slice());
        Self {
            base: NonNull::new(rows).expect("a box is not null"),
            used: 0,
        }
    }

    /// Adds `rows` and returns their address. They live as long as the table, and no thread writes them any more.
    ///
    /// # Panics
    ///
    /// Panics if the table has no room for them.
    pub(crate) fn add(&mut self, rows: &[T]) -> *const [T] {
        let end = self.used + rows.len();
        assert!(end <= self.base.len(), "a table has room for all its rows");
        // SAFETY: `used..end` is within the table, and no thread points there yet.
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
        // SAFETY: the memory comes from `Box::into_raw` in `new`. What points here belongs to the plan that owns the
        // table.
        drop(unsafe { Box::from_raw(self.base.as_ptr()) });
    }
}
