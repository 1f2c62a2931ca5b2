//! [`Receivers`]: objects by the names under which they receive.

use super::symbol::Symbol;
use super::wire::ObjectId;

/// Objects by the names under which they receive.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    /// By number of the symbol. The object that was added last comes first, as in Pd.
    by_name: Vec<Vec<ObjectId>>,
}

/// The receivers of a name that have got a message: those up to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    last: ObjectId,
    /// Number of those behind it when it got the message.
    left: u32,
}

impl Passed {
    /// None yet.
    pub(crate) const NONE: Self = Self {
        last: ObjectId(u32::MAX),
        left: u32::MAX,
    };

    /// Returns true if no other one was behind it.
    pub(crate) fn is_last(self) -> bool {
        self.left == 0
    }

    /// The place behind it. Others may have gone meanwhile, before and behind it; where it has gone itself, or is at the begin again, those
    /// that were left are.
    fn end_in(self, objects: &[ObjectId]) -> usize {
        let end = objects.len().saturating_sub(self.left as usize);
        match end.checked_sub(1).and_then(|last| objects.get(last)) {
            Some(last) if *last == self.last => end,
            _ => {
                let at = objects.iter().position(|id| *id == self.last);
                at.map_or(end, |at| end.max(at + 1))
            }
        }
    }
}

impl Receivers {
    /// Lets an object receive under a name.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Symbol, object: ObjectId) {
        if self.by_name.len() <= name.index() {
            self.by_name.resize(name.index() + 1, Vec::new());
        }
        self.by_name[name.index()].insert(0, object);
    }

    /// Undoes [`Receivers::add`].
    pub(crate) fn remove(&mut self, name: Symbol, object: ObjectId) {
        if let Some(objects) = self.by_name.get_mut(name.index()) {
            objects.retain(|other| *other != object);
        }
    }

    /// Removes objects. Gives each with the name under which it received.
    ///
    /// Real-time: setup.
    pub(crate) fn remove_all(
        &mut self,
        is_removed: impl Fn(ObjectId) -> bool,
    ) -> Vec<(Symbol, ObjectId)> {
        let mut removed = Vec::new();
        for (index, objects) in self.by_name.iter_mut().enumerate() {
            objects.retain(|id| {
                let keeps = !is_removed(*id);
                if !keeps {
                    removed.push((Symbol::at(index), *id));
                }
                keeps
            });
        }
        removed
    }

    /// All receivers with their names; of each name those that get a message first come first.
    pub(super) fn all(&self) -> impl Iterator<Item = (Symbol, ObjectId)> + Clone + '_ {
        let names = self.by_name.iter().enumerate();
        names.flat_map(|(at, objects)| objects.iter().map(move |id| (Symbol::at(at), *id)))
    }

    /// Returns true if no object receives more often under a name than it did in `before`, or once.
    ///
    /// Real-time: setup.
    pub(super) fn is_as_often_as(&self, before: &Self) -> bool {
        let mut sorted = Vec::new();
        (0..).zip(&self.by_name).all(|(name, objects): (usize, _)| {
            sorted.clone_from(objects);
            sorted.sort_unstable();
            let earlier = before.by_name.get(name).map_or(&[][..], Vec::as_slice);
            let mut runs = sorted.chunk_by(|a, b| a == b);
            runs.all(|run| {
                run.len() == 1 || earlier.iter().filter(|id| **id == run[0]).count() >= run.len()
            })
        })
    }

    /// Lets an object receive under a name, behind those that do.
    ///
    /// Real-time: setup.
    pub(super) fn add_last(&mut self, name: Symbol, object: ObjectId) {
        if self.by_name.len() <= name.index() {
            self.by_name.resize(name.index() + 1, Vec::new());
        }
        self.by_name[name.index()].push(object);
    }

    /// The next receiver of a message behind one that has got it, and the place behind that one. Objects that are added meanwhile come
    /// before those that were there, and do not get it.
    ///
    /// Real-time: hot.
    pub(crate) fn next(&self, name: Symbol, passed: Passed) -> Option<(ObjectId, Passed)> {
        let objects = self.by_name.get(name.index())?;
        let at = match passed == Passed::NONE {
            true => 0,
            false => passed.end_in(objects),
        };
        let last = *objects.get(at)?;
        let left = u32::try_from(objects.len() - at - 1).ok()?;
        Some((last, Passed { last, left }))
    }

    /// Returns true if one of the objects that receive under a name is of a sort.
    ///
    /// Real-time: hot.
    pub(super) fn any(&self, name: Symbol, is_of_sort: impl Fn(ObjectId) -> bool) -> bool {
        let objects = self.by_name.get(name.index()).into_iter().flatten();
        objects.copied().any(is_of_sort)
    }

    /// The object of a sort that has received under a name the longest.
    ///
    /// Real-time: hot.
    pub(super) fn oldest(
        &self,
        name: Symbol,
        is_of_sort: impl Fn(ObjectId) -> bool,
    ) -> Option<ObjectId> {
        let objects = self.by_name.get(name.index()).into_iter().flatten();
        objects.copied().rev().find(|id| is_of_sort(*id))
    }

    /// Takes out all objects from `first` on, in the order in which they can be added again.
    ///
    /// Real-time: setup.
    pub(super) fn split_off(&mut self, first: ObjectId) -> Vec<(Symbol, ObjectId)> {
        let mut all = self.remove_all(|id| id >= first);
        // The last one that was added comes first.
        all.reverse();
        all
    }

    /// All names under which an object from `first` on receives.
    pub(super) fn names_from(&self, first: ObjectId) -> impl Iterator<Item = Symbol> + '_ {
        let all = self.by_name.iter().enumerate();
        all.filter(move |(_, objects)| objects.iter().any(|id| *id >= first))
            .map(|(at, _)| Symbol::at(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::symbol::words;
    use super::*;
    use crate::state::{Held, StateReader, StateWriter};

    /// Receivers after `written` was read where there were `before`.
    fn read(before: Receivers, written: &Receivers) -> Option<Receivers> {
        let mut bytes = Vec::new();
        written.save(&mut StateWriter::new(&mut bytes, usize::MAX));
        let all: Vec<Symbol> = (0..100).map(Symbol::at).collect();
        let mut state = StateReader::new(&bytes, 3);
        state.symbols = &all;
        let mut read = before;
        read.load(&mut state).ok().map(|()| read)
    }

    #[test]
    fn a_state_lets_no_object_receive_more_often_than_it_did() {
        let of = |objects: &[u32]| {
            let mut receivers = Receivers::default();
            for object in objects {
                receivers.add_last(words::BANG, ObjectId(*object));
            }
            receivers
        };
        // Names may come and go, of a patch that lets them.
        assert!(read(of(&[0]), &of(&[2, 1])).is_some());
        assert!(read(of(&[0]), &of(&[0, 1, 0])).is_none());
        let twice = read(of(&[0, 0]), &of(&[0, 1, 0])).expect("it fits");
        assert_eq!(twice.all().count(), 3);
        assert!(read(of(&[0, 0]), &of(&[0, 0, 0])).is_none());
    }
}
