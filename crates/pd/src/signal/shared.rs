//! What signal objects share by name, and who may touch it.
//!
//! An object says what its signals touch ([`Accesses`]). From that follows the order of steps, and the object gets exactly those
//! things ([`Grants`]): what it did not declare it cannot reach.

use super::claimed::Claimed;
use super::loops::move_runs;
use super::{BLOCK, MAX_BATCH};
use crate::control::Symbol;
use rt::claim_cell::{ReadClaim, WriteClaim};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A thing that several objects share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SharedName {
    /// The line of a `delwrite~`.
    Delay(Symbol),
    /// The block of a `send~`.
    Send(Symbol),
    /// The sum of `throw~`.
    Throw(Symbol),
    /// The points of an array.
    Array(Symbol),
    /// The number of all `value` boxes of a name.
    Value(Symbol),
    /// A channel of `dac~`, from 0: a sum.
    Output(usize),
    /// A channel of `adc~`, from 0.
    Input(usize),
}

impl SharedName {
    /// Returns true for what passes a block.
    fn is_bus(self) -> bool {
        matches!(
            self,
            Self::Send(_) | Self::Throw(_) | Self::Output(_) | Self::Input(_)
        )
    }

    /// Returns true if both are of one sort.
    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Samples of a shared thing.
#[derive(Debug, Default)]
pub(crate) struct SharedSamples {
    /// A block; of an array its points; of a delay line the line, and 4 frames more that repeat its end before its begin.
    pub samples: Vec<f32>,
    /// Of a delay line: the index at which the next block is written.
    pub phase: usize,
}

impl SharedSamples {
    /// One number.
    pub(crate) fn number() -> Self {
        Self {
            samples: vec![0.0],
            ..Self::default()
        }
    }

    /// A block of silence.
    pub(crate) fn block() -> Self {
        Self {
            samples: vec![0.0; BLOCK],
            ..Self::default()
        }
    }
}

impl SharedSamples {
    /// Makes room for a batch of blocks.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_batches(&mut self) {
        self.samples.resize(MAX_BATCH * BLOCK, 0.0);
    }

    /// Takes a block out, or those of a batch, and leaves silence.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn take_block(&mut self, to: &mut [f32]) {
        move_runs(to, &mut self.samples);
    }
}

/// A shared thing.
pub(crate) type SharedCell = Arc<Claimed<SharedSamples>>;

/// What an object's signals touch, as the object declares it.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    /// What is touched, and true where it is changed.
    pub(super) list: Vec<(SharedName, bool)>,
    /// Things that are made, with their samples.
    pub(super) made: Vec<(SharedName, SharedSamples)>,
    /// True if the object sets clocks while it computes.
    pub(super) sets_clocks: bool,
    /// True if a message may give it another name.
    pub(super) is_renamed: bool,
    /// True if the object would take another name, whether a message may come or not.
    pub(super) can_be_renamed: bool,
    /// True if it may touch every array, and whether it changes them.
    pub(super) all_arrays: Option<bool>,
}

impl Accesses {
    /// It reads a thing.
    pub(crate) fn reads(&mut self, name: SharedName) -> &mut Self {
        self.list.push((name, false));
        self
    }

    /// It changes a thing.
    pub(crate) fn writes(&mut self, name: SharedName) -> &mut Self {
        self.list.push((name, true));
        self
    }

    /// It may touch every array, whose names come as messages; it changes them if `is_write`.
    pub(crate) fn touches_all_arrays(&mut self, is_write: bool) {
        self.all_arrays = Some(is_write | self.all_arrays.unwrap_or(false));
    }

    /// It makes a thing, unless an object before has made it.
    pub(crate) fn makes(&mut self, name: SharedName, samples: SharedSamples) -> &mut Self {
        self.made.push((name, samples));
        self
    }

    /// It sets clocks while it computes.
    pub(crate) fn sets_clocks(&mut self) {
        self.sets_clocks = true;
    }

    /// A message `set NAME` may give it another name: then it is ordered as if it touched all things of the sort.
    pub(crate) fn is_renamed(&mut self) {
        self.is_renamed = true;
    }
}

/// All shared things of a patch.
#[derive(Debug, Default)]
pub(super) struct SharedThings {
    cells: HashMap<SharedName, SharedCell>,
}

impl SharedThings {
    /// Adds a thing, unless it is there.
    pub(super) fn add(&mut self, name: SharedName, samples: SharedSamples) -> SharedCell {
        let cell = self.cells.entry(name);
        cell.or_insert_with(|| Arc::new(Claimed::new(samples)))
            .clone()
    }

    /// All things, in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SharedName, &SharedCell)> + Clone {
        self.cells.iter().map(|(name, cell)| (*name, cell))
    }

    /// The thing of this name.
    pub(super) fn get(&self, name: SharedName) -> Option<&SharedCell> {
        self.cells.get(&name)
    }

    /// What is touched, with all things of the sort where the name may change; sorted, each once.
    pub(super) fn expanded(&self, accesses: &Accesses) -> Vec<(SharedName, bool)> {
        let mut all: HashMap<SharedName, bool> = HashMap::new();
        for (name, is_write) in &accesses.list {
            let mut add = |name| *all.entry(name).or_default() |= *is_write;
            if accesses.is_renamed {
                let like = self.cells.keys().filter(|other| other.is_like(*name));
                like.for_each(|name| add(*name));
            } else if self.cells.contains_key(name) {
                add(*name);
            }
        }
        if let Some(is_write) = accesses.all_arrays {
            let arrays = self.cells.keys();
            for name in arrays.filter(|name| matches!(name, SharedName::Array(_))) {
                *all.entry(*name).or_default() |= is_write;
            }
        }
        let mut all: Vec<(SharedName, bool)> = all.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// The things of a list, for the object that touches them.
    pub(super) fn grants(&self, accesses: &[(SharedName, bool)]) -> Grants {
        let cells = accesses.iter();
        let grant = |(name, _): &(SharedName, bool)| {
            let cell = self.cells.get(name)?.clone();
            let is_written = false;
            Some(Grant {
                name: *name,
                cell,
                is_written,
            })
        };
        Grants(cells.filter_map(grant).collect())
    }
}

/// A shared thing that an object may touch.
#[derive(Debug)]
struct Grant {
    name: SharedName,
    cell: SharedCell,
    /// True if a step before has written it in the same block.
    is_written: bool,
}

/// The shared things that one object may touch.
#[derive(Debug, Default)]
pub(crate) struct Grants(Box<[Grant]>);

impl Grants {
    /// Marks what steps before have written.
    pub(super) fn mark_written(&mut self, written: &HashSet<SharedName>) {
        for grant in &mut self.0 {
            grant.is_written = written.contains(&grant.name);
        }
    }

    /// Makes room for batches in buses.
    ///
    /// Real-time: setup.
    pub(super) fn allow_batches(&self) {
        for grant in self.0.iter().filter(|grant| grant.name.is_bus()) {
            grant.cell.write().allow_batches();
        }
    }

    fn find(&self, name: SharedName) -> Option<&SharedCell> {
        let found = self.0.iter().find(|grant| grant.name == name);
        found.map(|grant| &grant.cell)
    }

    /// Returns true if a step before has written a thing in the same block.
    ///
    /// Real-time: hot.
    pub(super) fn is_written(&self, name: SharedName) -> bool {
        let mut all = self.0.iter();
        all.any(|grant| grant.name == name && grant.is_written)
    }

    /// Claims a thing, to read it; `None` if it is not there.
    ///
    /// Real-time: hot.
    pub(super) fn read(&self, name: SharedName) -> Option<ReadClaim<'_, SharedSamples>> {
        self.find(name).map(|cell| cell.read())
    }

    /// Claims a thing, to change it; `None` if it is not there.
    ///
    /// Real-time: hot.
    pub(super) fn write(&self, name: SharedName) -> Option<WriteClaim<'_, SharedSamples>> {
        self.find(name).map(|cell| cell.write())
    }
}
