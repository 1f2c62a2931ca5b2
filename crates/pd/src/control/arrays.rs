//! [`Arrays`]: arrays by name. Messages and signals read and write the same ones.

use super::symbol::Symbol;
use std::collections::HashMap;

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayId(u32);

/// All arrays of a patch.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    names: HashMap<Symbol, ArrayId>,
    points: Vec<Vec<f32>>,
}

impl Arrays {
    /// Adds an array. Of two with one name the first is found, as in Pd.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Symbol, points: Vec<f32>) -> ArrayId {
        let id = ArrayId(u32::try_from(self.points.len()).expect("memory ends before"));
        self.points.push(points);
        self.names.entry(name).or_insert(id);
        id
    }

    /// The array of this name.
    pub(crate) fn find(&self, name: Symbol) -> Option<ArrayId> {
        self.names.get(&name).copied()
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.names.keys().copied()
    }

    /// Its points.
    pub(crate) fn points(&self, id: ArrayId) -> &[f32] {
        &self.points[id.0 as usize]
    }

    /// Its points, to be changed.
    pub(crate) fn points_mut(&mut self, id: ArrayId) -> &mut Vec<f32> {
        &mut self.points[id.0 as usize]
    }

    /// Points of the array of this name.
    pub(crate) fn named(&self, name: Symbol) -> Option<&[f32]> {
        self.find(name).map(|id| self.points(id))
    }
}
