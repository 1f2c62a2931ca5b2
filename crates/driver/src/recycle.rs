//! Lists of borrowed channels that keep their memory from call to call.

/// A list whose items are borrowed for one call only, and whose memory stays.
///
/// A `Vec` of references cannot outlive what it refers to; an empty one can, if only its type would change. Collecting
/// an emptied `Vec` into one of another lifetime reuses its memory; a test below holds the library to that.
#[derive(Debug)]
pub(crate) struct Inputs(Vec<&'static [f32]>);

/// As [`Inputs`], to write to.
#[derive(Debug)]
pub(crate) struct Outputs(Vec<&'static mut [f32]>);

impl Inputs {
    /// Room for `channels` channels.
    ///
    /// Real-time: setup.
    pub(crate) fn new(channels: usize) -> Self {
        Self(Vec::with_capacity(channels))
    }

    /// Calls `then` with the list of what `items` gives, at most as many as there is room for.
    ///
    /// Real-time: hot, if both arguments are.
    pub(crate) fn with<'a, R>(
        &mut self,
        items: impl Iterator<Item = &'a [f32]>,
        then: impl FnOnce(&[&'a [f32]]) -> R,
    ) -> R {
        let room = self.0.capacity();
        let mut list: Vec<&'a [f32]> = empty(std::mem::take(&mut self.0));
        list.extend(items.take(room));
        let result = then(&list);
        list.clear();
        self.0 = empty(list);
        result
    }
}

impl Outputs {
    /// Room for `channels` channels.
    ///
    /// Real-time: setup.
    pub(crate) fn new(channels: usize) -> Self {
        Self(Vec::with_capacity(channels))
    }

    /// Calls `then` with the list of what `items` gives, at most as many as there is room for.
    ///
    /// Real-time: hot, if both arguments are.
    pub(crate) fn with<'a, R>(
        &mut self,
        items: impl Iterator<Item = &'a mut [f32]>,
        then: impl FnOnce(&mut [&'a mut [f32]]) -> R,
    ) -> R {
        let room = self.0.capacity();
        let mut list: Vec<&'a mut [f32]> = empty(std::mem::take(&mut self.0));
        list.extend(items.take(room));
        let result = then(&mut list);
        list.clear();
        self.0 = empty(list);
        result
    }
}

/// The same empty list for another kind of item; the memory stays if the two are of one size.
fn empty<A, B>(mut list: Vec<A>) -> Vec<B> {
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
        let mut inputs = Inputs::new(3);
        let mut outputs = Outputs::new(3);
        let memory = (inputs.0.as_ptr(), outputs.0.as_ptr());
        for round in 0..3 {
            let mut block = [round as f32; 4];
            inputs.with([&block[..], &block[..]].into_iter(), |list| {
                assert_eq!((list.len(), list[1][3]), (2, round as f32));
            });
            outputs.with(std::iter::once(&mut block[..]), |list| list[0][0] = 9.0);
            assert_eq!(block[0], 9.0);
        }
        assert_eq!(memory, (inputs.0.as_ptr(), outputs.0.as_ptr()));
        assert_eq!((inputs.0.capacity(), outputs.0.capacity()), (3, 3));
    }
}
