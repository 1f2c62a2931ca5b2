//! Ordered steps to steps with all that they touch.

use super::bound_step::{BoundStep, fold_numbers};
use super::moves::Moves;
use super::order::{BlockOrder, Order, Step};
use super::place::ObjectPlace;
use super::reblock::{Reblock, ReblockParts};
use super::row::Row;
use super::shared::{Accesses, SharedCell, SharedName, SharedThings};
use super::traits::Traits;
use super::world::{BlockTime, BufferId};
use super::{BLOCK, RowFormat};
use crate::control::{ArrayId, Machine, ObjectId, SampleBudget, Symbol};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the object of each step declares to share.
#[derive(Default)]
pub(super) struct Declared {
    accesses: HashMap<ObjectId, Accesses>,
    /// Facts about objects.
    pub traits: HashMap<ObjectId, Traits>,
    /// Objects without signals that know their format.
    observers: HashSet<ObjectId>,
}

impl Declared {
    /// Prepares the objects of an order for their format and asks them, also those of canvases inside.
    pub(super) fn of(machine: &Machine, order: &Order, format: &RowFormat) -> Self {
        Self::default().with_new(machine, order, format)
    }

    /// The same, with what the new objects of a changed order declare. The others, which may compute now, are not touched.
    pub(super) fn with_new(mut self, machine: &Machine, order: &Order, format: &RowFormat) -> Self {
        for (id, accesses) in &mut self.accesses {
            accesses.is_renamed = accesses.can_be_renamed && may_be_renamed(machine, *id);
        }
        self.ask(machine, order, format);
        self
    }

    fn ask(&mut self, machine: &Machine, order: &Order, format: &RowFormat) {
        for id in &order.observers {
            if self.observers.insert(*id)
                && let Some(place) = machine.signal_object(*id)
            {
                place.write().object.prepare(format);
            }
        }
        for step in &order.steps {
            if let Step::Perform { object, .. } = step
                && !self.accesses.contains_key(object)
                && let Some(place) = machine.signal_object(*object)
            {
                let mut accesses = Accesses::default();
                let claimed = &mut place.write().object;
                claimed.prepare(format);
                claimed.accesses(&mut accesses);
                self.traits.insert(*object, Traits::of(&**claimed));
                accesses.can_be_renamed = accesses.is_renamed;
                // The search for senders takes a look at every connection: only where it matters.
                accesses.is_renamed = accesses.is_renamed && may_be_renamed(machine, *object);
                self.accesses.insert(*object, accesses);
            }
        }
        for block in &order.blocks {
            self.ask(machine, &block.order, &block.settings.format(*format));
        }
    }

    /// Names of all things that objects touch.
    pub(super) fn names(&self) -> impl Iterator<Item = SharedName> + '_ {
        let all = self.accesses.values().flat_map(|one| &one.list);
        all.map(|(name, _)| *name)
    }

    /// Returns true if any object touches an array.
    pub(super) fn has_arrays(&self) -> bool {
        let mut names = self.names();
        self.accesses.values().any(|one| one.all_arrays.is_some())
            || names.any(|name| matches!(name, SharedName::Array(_)))
    }

    /// Makes what objects declare, in the order of their steps.
    pub(super) fn make_things(
        &mut self,
        order: &Order,
        things: &mut SharedThings,
        budget: &SampleBudget,
    ) {
        for step in &order.steps {
            let Step::Perform { object, .. } = step else {
                continue;
            };
            let declared = self.accesses.get_mut(object);
            for (name, samples) in declared.into_iter().flat_map(|one| one.made.drain(..)) {
                if things.get(name).is_some() {
                    // It is there already. What it has in addition was not claimed.
                    budget.give_back(samples.samples.len().saturating_sub(2 * BLOCK));
                }
                things.add(name, samples);
            }
            if let Some(block) = order.blocks.iter().find(|block| block.object == *object) {
                self.make_things(&block.order, things, budget);
            }
        }
    }
}

/// Returns true if a message `set NAME` may reach the left inlet of an object: something that may send one is connected to it.
fn may_be_renamed(machine: &Machine, object: ObjectId) -> bool {
    const SEND_NO_WORDS: [&str; 12] = [
        "bng",
        "tgl",
        "nbx",
        "hsl",
        "vsl",
        "metro",
        "loadbang",
        "delay",
        "del",
        "float",
        "f",
        "floatatom",
    ];
    let mut senders = machine.senders(object);
    senders.any(|sender| !SEND_NO_WORDS.contains(&machine.class(sender)))
}

/// Gives steps what they touch, in the order in which they run.
pub(super) struct Binder<'b> {
    pub machine: &'b mut Machine,
    pub declared: &'b Declared,
    pub things: &'b SharedThings,
    pub arrays: &'b [(ArrayId, SharedCell)],
    pub values: &'b [(Symbol, SharedCell)],
    pub time: &'b Arc<BlockTime>,
    /// Objects that set clocks while they compute.
    pub clock_setters: Vec<ObjectId>,
    /// Sentences for the console.
    pub mistakes: Vec<&'static str>,
    /// Delay lines that steps have written until now.
    pub written: HashSet<SharedName>,
    /// Places to which objects move later, while the rows that have them compute.
    pub moves: Option<&'b mut Moves>,
}

impl Binder<'_> {
    /// Binds the steps of a row.
    pub(super) fn row(&mut self, order: Order, format: RowFormat) -> Vec<BoundStep> {
        let mut blocks: HashMap<ObjectId, BlockOrder> = order
            .blocks
            .into_iter()
            .map(|block| (block.object, block))
            .collect();
        let steps = order.steps.into_iter();
        let bound = steps
            .map(|step| {
                let id = match &step {
                    Step::Perform { object, .. } => Some(*object),
                    _ => None,
                };
                let first_setter = self.clock_setters.len();
                let (accesses, is_canvas) = match id.and_then(|id| blocks.remove(&id)) {
                    Some(block) => (self.block(block, format), true),
                    None => (self.accesses(id), false),
                };
                let hides_clocks = is_canvas && self.clock_setters.len() > first_setter;
                let mut grants = self.things.grants(&accesses);
                grants.mark_written(&self.written);
                self.written
                    .extend(accesses.iter().filter(|a| a.1).map(|a| a.0));
                let class = step.object().map_or("", |id| self.machine.class(id));
                BoundStep {
                    class: class.into(),
                    numbers: Vec::new(),
                    grants,
                    accesses,
                    hides_clocks,
                    step,
                }
            })
            .collect();
        fold_numbers(bound)
    }

    /// What the step of an object touches.
    fn accesses(&mut self, id: Option<ObjectId>) -> Vec<(SharedName, bool)> {
        let Some((id, declared)) = id.and_then(|id| Some((id, self.declared.accesses.get(&id)?)))
        else {
            return Vec::new();
        };
        if declared.sets_clocks {
            self.clock_setters.push(id);
        }
        self.things.expanded(declared)
    }

    /// Puts the row of a canvas with blocks of its own into the object of its `block~`. Gives what the row touches.
    fn block(&mut self, block: BlockOrder, outer: RowFormat) -> Vec<(SharedName, bool)> {
        let first_setter = self.clock_setters.len();
        let inside = block.settings.format(outer);
        let observers = self.places(&block.order.observers);
        let steps = self.row(block.order, inside);
        let mut all: HashMap<SharedName, bool> = HashMap::new();
        for (name, is_write) in steps.iter().flat_map(|step| &step.accesses) {
            *all.entry(*name).or_default() |= is_write;
        }
        let mut accesses: Vec<(SharedName, bool)> = all.into_iter().collect();
        accesses.sort_unstable();
        let signals = |ports: &[(BufferId, _)]| Vec::from_iter(ports.iter().map(|port| port.0));
        let inputs = signals(&block.inputs);
        let outputs = block.outputs.iter().filter_map(|port| port.0);
        let ports = (&inputs[..], &Vec::from_iter(outputs)[..]);
        let parts = (&inside, self.time.clone());
        let (row, blocks) = match &mut self.moves {
            None => Row::new(self.machine, steps, ports, parts),
            Some(moves) => Row::planned(self.machine, steps, ports, parts, moves),
        };
        let setters = self.clock_setters[first_setter..].iter();
        let moved = |id| self.moves.as_ref().and_then(|moves| moves.place(id));
        let place = |id| {
            moved(id)
                .or_else(|| self.machine.signal_object(id))
                .cloned()
        };
        let setters = setters.filter_map(|id| Some((*id, place(*id)?)));
        let is_touched = |cell: &SharedCell| {
            let mut cells = accesses
                .iter()
                .filter_map(|(name, _)| self.things.get(*name));
            cells.any(|touched| Arc::ptr_eq(touched, cell))
        };
        let arrays = self.arrays.iter().filter(|(_, cell)| is_touched(cell));
        let values = self.values.iter().filter(|(_, cell)| is_touched(cell));
        let parts = ReblockParts {
            settings: block.settings,
            is_switch: block.is_switch,
            is_root: block.is_root,
            outer,
            row,
            observers,
            inputs: (block.inputs.into_iter())
                .map(|(signal, method)| (blocks.block(signal), method))
                .collect(),
            outputs: (block.outputs.into_iter())
                .map(|(signal, method)| (signal.map(|signal| blocks.block(signal)), method))
                .collect(),
            clock_setters: setters.collect(),
            arrays: arrays.cloned().collect(),
            values: values.cloned().collect(),
            time: self.time.clone(),
        };
        if let Some(moves) = &mut self.moves {
            let reblock = Reblock::new(parts, None);
            self.mistakes.extend(reblock.bound());
            moves.replace(block.object, Box::new(reblock));
        } else if let Some(place) = self.machine.signal_object(block.object) {
            let mut claimed = place.write();
            let reblock = Reblock::new(parts, claimed.object.is_on());
            self.mistakes.extend(reblock.bound());
            claimed.object = Box::new(reblock);
        }
        accesses
    }

    fn places(&self, ids: &[ObjectId]) -> Vec<ObjectPlace> {
        let places = ids.iter().filter_map(|id| self.machine.signal_object(*id));
        places.cloned().collect()
    }
}
