//! [`Arrays`]: arrays by name. Messages and signals read and write the same ones.

use super::symbol::Symbol;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Samples that the arrays and delay lines of a patch may hold together: 1 GiB.
pub(crate) const MAX_SAMPLES: usize = 1 << 28;

/// Samples that arrays and delay lines may still take.
#[derive(Clone, Debug)]
pub(crate) struct SampleBudget {
    left: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Default for SampleBudget {
    fn default() -> Self {
        Self {
            left: Arc::new(AtomicUsize::new(MAX_SAMPLES)),
            refused: Arc::default(),
        }
    }
}

impl SampleBudget {
    /// Takes `count` samples; false, and nothing is taken, where there are fewer.
    ///
    /// Real-time: hot.
    pub(crate) fn claim(&self, count: usize) -> bool {
        // Relaxed: numbers alone.
        let take = |left: usize| left.checked_sub(count);
        let is_taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok();
        if !is_taken {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        is_taken
    }

    /// Gives samples back.
    ///
    /// Real-time: hot.
    pub(crate) fn give_back(&self, count: usize) {
        self.left.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes the number of claims that were refused.
    pub(crate) fn take_refused(&self) -> usize {
        self.refused.swap(0, Ordering::Relaxed)
    }
}

/// An array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ArrayId(u32);

impl ArrayId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn at(index: u32) -> Self {
        Self(index)
    }
}

/// All arrays of a patch.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    names: HashMap<Symbol, ArrayId>,
    /// Arrays whose name another one had before them: the first of a name is found once that one is gone.
    later: Vec<(Symbol, ArrayId)>,
    points: Vec<Vec<f32>>,
    /// Arrays that nothing finds any more, whose points are still there.
    removed: Vec<ArrayId>,
    /// Samples that this and the delay lines may take.
    pub(crate) budget: SampleBudget,
}

impl Arrays {
    /// Adds an array. Of two with one name the first is found, as in Pd. One for which there is no memory has one point.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, name: Symbol, mut points: Vec<f32>) -> ArrayId {
        if !self.budget.claim(points.len()) {
            points = vec![0.0];
        }
        let id = ArrayId(u32::try_from(self.points.len()).expect("memory ends before"));
        self.points.push(points);
        // A new name takes no memory while the patch plays.
        self.names.reserve(self.points.len());
        self.later.reserve(self.points.len());
        self.give_name(id, name);
        id
    }

    /// Lets nothing find an array any more. Its points stay until [`Arrays::take_removed`].
    ///
    /// Real-time: setup.
    pub(crate) fn remove(&mut self, id: ArrayId, name: Symbol) {
        self.take_name(id, name);
        self.removed.push(id);
    }

    /// Gives an array another name. Where others have it already these are found, as in Pd.
    ///
    /// Real-time: hot.
    pub(crate) fn rename(&mut self, id: ArrayId, from: Symbol, to: Symbol) {
        self.take_name(id, from);
        self.give_name(id, to);
    }

    fn give_name(&mut self, id: ArrayId, name: Symbol) {
        match self.names.contains_key(&name) {
            true => self.later.push((name, id)),
            false => drop(self.names.insert(name, id)),
        }
    }

    fn take_name(&mut self, id: ArrayId, name: Symbol) {
        if self.find(name) != Some(id) {
            return self.later.retain(|(_, later)| *later != id);
        }
        match self.later.iter().position(|later| later.0 == name) {
            Some(next) => drop(self.names.insert(name, self.later.remove(next).1)),
            None => drop(self.names.remove(&name)),
        }
    }

    /// Takes the points of an array that was removed, to be freed. They must lie here, and not with the signals.
    ///
    /// Real-time: hot.
    pub(super) fn take_removed(&mut self) -> Option<(ArrayId, Vec<f32>)> {
        let id = self.removed.pop()?;
        let points = std::mem::take(&mut self.points[id.0 as usize]);
        self.budget.give_back(points.len());
        Some((id, points))
    }

    /// The array of this name.
    pub(crate) fn find(&self, name: Symbol) -> Option<ArrayId> {
        self.names.get(&name).copied()
    }

    /// The name of an array: for errors, it looks at all.
    pub(crate) fn name(&self, id: ArrayId) -> Option<Symbol> {
        let mut all = self.named_arrays();
        all.find(|(_, other)| *other == id).map(|(name, _)| name)
    }

    /// All arrays, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = ArrayId> + use<> {
        let count = u32::try_from(self.points.len()).expect("memory ends before");
        (0..count).map(ArrayId)
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.names.keys().copied()
    }

    /// Names with their arrays; of two with one name the one that is found comes first.
    pub(super) fn named_arrays(&self) -> impl Iterator<Item = (Symbol, ArrayId)> + Clone + '_ {
        let found = self.names.iter().map(|(name, id)| (*name, *id));
        found.chain(self.later.iter().copied())
    }

    /// Gives all arrays the names of another patch with as many; false where these are no names of arrays.
    pub(super) fn rename_all(&mut self, names: &[(Symbol, ArrayId)]) -> bool {
        let count = self.names.len() + self.later.len();
        let mut is_named = vec![false; self.points.len()];
        let mut is_new = |id: ArrayId| {
            let place = is_named.get_mut(id.index());
            place.is_some_and(|is_named| !std::mem::replace(is_named, true))
        };
        if names.len() != count || !names.iter().all(|(_, id)| is_new(*id)) {
            return false;
        }
        self.names.clear();
        self.later.clear();
        for (name, id) in names {
            self.give_name(*id, *name);
        }
        true
    }

    /// Changes the number of points; false if there is no memory for them.
    ///
    /// Real-time: may allocate.
    pub(crate) fn resize(&mut self, id: ArrayId, size: usize) -> bool {
        let before = self.points[id.0 as usize].len();
        if size > before && !self.budget.claim(size - before) {
            return false;
        }
        self.budget.give_back(before.saturating_sub(size));
        self.points[id.0 as usize].resize(size, 0.0);
        true
    }

    /// Exchanges the points of an array with others, which keep those that both have if `keeps`; false if there is no memory.
    ///
    /// Real-time: hot, by the number of points.
    pub(crate) fn replace(&mut self, id: ArrayId, points: &mut Vec<f32>, keeps: bool) -> bool {
        let own = &mut self.points[id.0 as usize];
        if points.len() > own.len() && !self.budget.claim(points.len() - own.len()) {
            return false;
        }
        self.budget
            .give_back(own.len().saturating_sub(points.len()));
        if keeps {
            let common = own.len().min(points.len());
            points[..common].copy_from_slice(&own[..common]);
        }
        std::mem::swap(own, points);
        true
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
