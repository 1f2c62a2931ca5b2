//! [`SliceList`]: a list of borrowed channels that keeps its memory from call to call.

/// A list whose items are borrowed for one call only, and whose memory stays.
///
/// A `Vec` of references cannot outlive what it refers to. An empty one can, if only its type changes: to collect an
/// emptied `Vec` into one of another lifetime reuses its memory, and a test below holds the library to that. So a
/// callback can be given `&[&[f32]]` without an allocation in each block.
#[derive(Debug)]
pub(crate) struct SliceList(Vec<&'static [f32]>);

impl SliceList {
    /// An empty list that holds up to `capacity` channels.
    ///
    /// Real-time: setup.
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Calls `f` with the list of `items`, at most as many as the capacity. Items are `&[f32]` or `&mut [f32]`.
    ///
    /// Real-time: hot, if both arguments are.
    pub(crate) fn with<T, R>(
        &mut self,
        items: impl Iterator<Item = T>,
        f: impl FnOnce(&mut [T]) -> R,
    ) -> R {
        let capacity = self.0.capacity();
        let mut list: Vec<T> = emptied(std::mem::take(&mut self.0));
        list.extend(items.take(capacity));
        let result = f(&mut list);
        self.0 = emptied(list);
        result
    }
}

/// The same empty list for another type of item of the same size; the memory stays.
fn emptied<A, B>(mut list: Vec<A>) -> Vec<B> {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    list.clear();
    list.into_iter()
        .map(|_| unreachable!("the list was just emptied"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_list_stays_from_call_to_call() {
        let mut list = SliceList::new(3);
        let memory = list.0.as_ptr();
        for round in 0..3 {
            let mut block = [round as f32; 4];
            list.with([&block[..], &block[..]].into_iter(), |list| {
                assert_eq!((list.len(), list[1][3]), (2, round as f32));
            });
            list.with(std::iter::once(&mut block[..]), |list| list[0][0] = 9.0);
            assert_eq!(block[0], 9.0);
        }
        assert_eq!((memory, 3), (list.0.as_ptr(), list.0.capacity()));
    }
}
