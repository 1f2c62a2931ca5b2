//! [`PatchSteps`]: a patch as its messages and the row of its steps, each with all that it touches.

use super::order::{Order, Step, order};
use super::shared::{Accesses, Grants, SharedCell, SharedName, SharedSamples, SharedThings};
use super::world::{BlockTime, Inlets, ObjectCell, SignalWorld};
use crate::control::{ArrayId, Machine, NotYet, ObjectId, Symbol};
use crate::load::LoadedPatch;
use std::collections::HashSet;
use std::sync::Arc;

/// A patch, ready to be played.
pub(crate) struct PatchSteps {
    pub(super) messages: MessageStep,
    pub(super) steps: Vec<BoundStep>,
    /// Number of buffers between the steps.
    pub(super) buffers: u32,
    /// Channels of `dac~`.
    pub(super) outputs: Box<[SharedCell]>,
}

/// The messages of a patch: they come before all signals of a block.
pub(crate) struct MessageStep {
    pub(super) machine: Machine,
    time: Arc<BlockTime>,
    /// Objects that set clocks while they compute, in Pd's order.
    clock_setters: Vec<ObjectId>,
    /// Arrays that signals touch. Their points lie in the machine while messages run, and else in the cells.
    arrays: Vec<(ArrayId, SharedCell)>,
    /// Numbers of `value` that signals touch, which move in the same way.
    values: Vec<(Symbol, SharedCell)>,
    /// Channels of `adc~`.
    inputs: Box<[SharedCell]>,
    outputs: Box<[SharedCell]>,
}

/// A step with all that it touches.
pub(crate) struct BoundStep {
    pub(super) step: Step,
    /// Its object, if it has one.
    object: Option<Arc<ObjectCell>>,
    grants: Grants,
    /// What it shares with other steps, and true where it changes that.
    pub(super) accesses: Vec<(SharedName, bool)>,
    time: Arc<BlockTime>,
    rate: f32,
}

impl PatchSteps {
    /// The steps of `patch` at `rate` hertz with `inputs` and `outputs` channels, and the boxes whose classes are not built yet: they
    /// pass nothing. Its loadbangs have been sent.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        patch: &LoadedPatch,
        rate: f32,
        (inputs, outputs): (usize, usize),
    ) -> (Self, Vec<NotYet>) {
        let (mut machine, not_yet, built) = Machine::build_with_boxes(patch, rate);
        let Order { steps, buffers, .. } = order(&patch.root, &built);
        let mut things = SharedThings::default();
        let channel = |things: &mut SharedThings, name| things.add(name, SharedSamples::block());
        let inputs = (0..inputs).map(|at| channel(&mut things, SharedName::Input(at)));
        let inputs: Box<[SharedCell]> = inputs.collect();
        let outputs = (0..outputs).map(|at| channel(&mut things, SharedName::Output(at)));
        let outputs: Box<[SharedCell]> = outputs.collect();
        let declared: Vec<Accesses> = steps.iter().map(|step| declared(&machine, step)).collect();
        let mut names = declared.iter().flat_map(|one| &one.list);
        let touches_arrays = declared.iter().any(|one| one.all_arrays.is_some())
            || names.any(|(name, _)| matches!(name, SharedName::Array(_)));
        let arrays = match touches_arrays {
            false => Vec::new(),
            true => arrays(&machine, &mut things),
        };
        let values = values(&mut machine, &declared, &mut things);
        let mut declared = declared;
        for one in &mut declared {
            for (name, samples) in one.made.drain(..) {
                things.add(name, samples);
            }
        }
        machine.load();
        let time = Arc::new(BlockTime::default());
        let mut clock_setters = Vec::new();
        let mut bound = Vec::with_capacity(steps.len());
        for (step, declared) in steps.into_iter().zip(&declared) {
            if let (true, Some(id)) = (declared.sets_clocks, step.object()) {
                clock_setters.push(id);
            }
            let accesses = things.expanded(declared);
            let object = step.object().and_then(|id| machine.signal_object(id));
            bound.push(BoundStep {
                object: object.cloned(),
                grants: things.grants(&accesses),
                accesses,
                time: time.clone(),
                rate,
                step,
            });
        }
        let mut messages = MessageStep {
            machine,
            time,
            clock_setters,
            arrays,
            values,
            inputs,
            outputs: outputs.clone(),
        };
        messages.swap_arrays();
        let steps = Self {
            messages,
            steps: bound,
            buffers,
            outputs,
        };
        (steps, not_yet)
    }
}

/// What a step declares to share. An object that no message can rename keeps its names.
fn declared(machine: &Machine, step: &Step) -> Accesses {
    let mut accesses = Accesses::default();
    if let Step::Perform { object, .. } = step
        && let Some(cell) = machine.signal_object(*object)
    {
        cell.read().object.accesses(&mut accesses);
        accesses.is_renamed &= may_be_renamed(machine, *object);
    }
    accesses
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

/// Cells for all arrays.
fn arrays(machine: &Machine, things: &mut SharedThings) -> Vec<(ArrayId, SharedCell)> {
    let mut seen = HashSet::new();
    let named = machine.array_names().filter_map(|name| {
        let id = machine.array(name)?;
        seen.insert(id).then(|| {
            (
                id,
                things.add(SharedName::Array(name), SharedSamples::default()),
            )
        })
    });
    named.collect()
}

/// Cells for the numbers of `value` that signals touch.
fn values(
    machine: &mut Machine,
    declared: &[Accesses],
    things: &mut SharedThings,
) -> Vec<(Symbol, SharedCell)> {
    let mut values = Vec::new();
    for (name, _) in declared.iter().flat_map(|one| &one.list) {
        let SharedName::Value(symbol) = *name else {
            continue;
        };
        let is_known = machine.globals().values.contains_key(&symbol);
        if is_known && things.get(*name).is_none() {
            values.push((symbol, things.add(*name, SharedSamples::number())));
        }
    }
    values
}

impl MessageStep {
    /// Runs the messages of a block: takes in the channels of `adc~` with `input`, and gives everything to the signals.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn run(&mut self, mut input: impl FnMut(usize, &mut [f32])) {
        self.swap_arrays();
        for id in &self.clock_setters {
            self.machine.take_clocks(*id);
        }
        self.machine.tick();
        self.time.begin(self.machine.now());
        for (at, channel) in self.inputs.iter().enumerate() {
            input(at, &mut channel.write().samples);
        }
        for channel in &self.outputs {
            channel.write().samples.fill(0.0);
        }
        self.swap_arrays();
    }

    /// Moves the points of arrays and the numbers of `value` to the machine, or back to where the signals find them.
    fn swap_arrays(&mut self) {
        for (id, cell) in &self.arrays {
            self.machine.swap_points(*id, &mut cell.write().samples);
        }
        for (name, cell) in &self.values {
            if let Some(value) = self.machine.globals().values.get_mut(name) {
                std::mem::swap(value, &mut cell.write().samples[0]);
            }
        }
    }
}

impl BoundStep {
    /// Number at an inlet of the step's object.
    ///
    /// Real-time: hot.
    pub(super) fn number(&self, inlet: usize) -> f32 {
        let object = self.object.as_ref();
        object.map_or(0.0, |object| object.read().number(inlet))
    }

    /// Computes a block of the step's object.
    ///
    /// Real-time: hot.
    pub(super) fn perform(&self, inlets: &Inlets<'_>, outlets: &mut [Box<[f32]>]) {
        let Some(cell) = &self.object else {
            return;
        };
        let mut claimed = cell.write();
        let object = &mut *claimed;
        let mut world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            time: &self.time,
            rate: self.rate,
        };
        object.object.perform(inlets, outlets, &mut world);
    }
}
