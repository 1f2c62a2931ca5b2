//! [`CachePadded`]: a value on cache lines of its own, so that two threads which write neighbours do not slow each
//! other down (false sharing).

/// Aligned to two cache lines: the adjacent-line prefetcher of x86 fetches pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

impl<T> std::ops::Deref for CachePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> std::ops::DerefMut for CachePadded<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
