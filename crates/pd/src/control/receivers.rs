//! [`Receivers`]: objects by the names under which they receive.

use super::symbol::Symbol;
use super::wire::ObjectId;

/// Objects by the names under which they receive.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    /// By number of the symbol. The object that was added last comes first, as in Pd.
    by_name: Vec<Vec<ObjectId>>,
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

    /// The receiver at `at`.
    pub(crate) fn get(&self, name: Symbol, at: usize) -> Option<ObjectId> {
        self.by_name.get(name.index())?.get(at).copied()
    }
}
