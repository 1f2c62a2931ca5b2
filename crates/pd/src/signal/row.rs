//! [`Row`]: steps with everything that they touch, run one after the other by one node.

use super::RowFormat;
use super::arithmetic::{Arithmetic, Operands};
use super::bound_step::BoundStep;
use super::moves::Moves;
use super::order::Step;
use super::place::{ObjectGroup, ObjectPlace, SignalObject};
use super::row_blocks::RowBlocks;
use super::shared::Grants;
use super::world::{BlockTime, BufferId, Inlets, SignalWorld};
use crate::control::{Machine, ObjectId};
use rt::vectors::{Wide, widest};
use std::sync::Arc;

/// Steps that run one after the other, and the blocks between them.
///
/// A block is used again as soon as the last step has read it, so that few of them are in use: they stay near the core.
pub(crate) struct Row {
    steps: Vec<RowStep>,
    blocks: Vec<Box<[f32]>>,
    /// The objects of the steps, which are claimed together.
    objects: Arc<ObjectGroup>,
    /// Outlets of the object that computes.
    taken: Vec<Box<[f32]>>,
    time: Arc<BlockTime>,
    /// Sample rate in hertz.
    rate: f32,
}

/// A step of a row. Blocks are numbers of [`Row::blocks`].
struct RowStep {
    action: Action,
    /// Inlets that are numbers, each with the block that is filled with it.
    numbers: Box<[(usize, u32)]>,
    /// Of a step with one outlet as [`Inlets`] finds them.
    inlets: Box<[u32]>,
    outlets: Box<[u32]>,
    grants: Grants,
}

/// What a step does.
enum Action {
    /// Fills its outlet with the number at an inlet of an object that does not compute.
    Fill(ObjectPlace, usize),
    /// Adds the second signal to the first.
    Add(Operands),
    /// Computes the operation that an object of the group is.
    Combine(usize, Operands),
    /// Lets an object of the group compute.
    Perform(usize),
}

impl Row {
    /// A row of `steps`, whose objects it moves together. The signals of `inputs` come from outside and those of `outputs` go there:
    /// their blocks are used for nothing else.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        machine: &mut Machine,
        steps: Vec<BoundStep>,
        ports: (&[BufferId], &[BufferId]),
        parts: (&RowFormat, Arc<BlockTime>),
    ) -> (Self, RowBlocks) {
        let objects = machine.join(&performed(machine, &steps));
        let is_arithmetic = |place: &ObjectPlace| place.write().object.arithmetic().is_some();
        let found = |id| {
            let place = machine.signal_object(id)?;
            Some((place.clone(), is_arithmetic(place)))
        };
        Self::of_objects(found, (steps, objects), ports, parts)
    }

    /// As [`Row::new`], of objects that stay where they are and compute until `moves` are carried out.
    ///
    /// Real-time: setup.
    pub(super) fn planned(
        machine: &Machine,
        steps: Vec<BoundStep>,
        ports: (&[BufferId], &[BufferId]),
        parts: (&RowFormat, Arc<BlockTime>),
        moves: &mut Moves,
    ) -> (Self, RowBlocks) {
        let performed = performed(machine, &steps);
        let objects = ObjectPlace::empty_group(performed.len());
        moves.add(&performed, ObjectPlace::all_of(&objects));
        let found = |id| {
            let place = moves.place(id).or_else(|| machine.signal_object(id))?;
            Some((place.clone(), moves.is_arithmetic(id)))
        };
        Self::of_objects(found, (steps, objects), ports, parts)
    }

    /// A row of `objects`; `find` gives the place of an object of signals, and true if it is an operation of two numbers.
    fn of_objects(
        find: impl Fn(ObjectId) -> Option<(ObjectPlace, bool)>,
        (steps, objects): (Vec<BoundStep>, Arc<ObjectGroup>),
        (inputs, outputs): (&[BufferId], &[BufferId]),
        (format, time): (&RowFormat, Arc<BlockTime>),
    ) -> (Self, RowBlocks) {
        let mut blocks = RowBlocks::new(&steps, inputs, outputs);
        let mut next = 0;
        let mut row_steps = Vec::with_capacity(steps.len());
        for (at, bound) in steps.into_iter().enumerate() {
            let place = bound.step.object().map(&find);
            if let Some(None) = place {
                // An object without signals writes none: its outlets are silent.
                continue;
            }
            let [mut inlets, outlets] = blocks.of_step(at, &bound);
            let operands = Operands::new(&inlets, outlets.first().copied().unwrap_or_default());
            let action = match (&bound.step, place.flatten()) {
                (Step::Fill { inlet, .. }, Some((place, _))) => Action::Fill(place, *inlet),
                (_, Some((_, is_arithmetic))) => {
                    next += 1;
                    match is_arithmetic {
                        true => Action::Combine(next - 1, operands),
                        false => Action::Perform(next - 1),
                    }
                }
                (_, None) => Action::Add(operands),
            };
            if let [outlet] = *outlets {
                inlets
                    .iter_mut()
                    .for_each(|block| *block = beside(*block, outlet));
            }
            let numbers = bound.numbers.iter();
            let numbers = numbers.map(|(inlet, buffer)| (*inlet, blocks.block(*buffer)));
            row_steps.push(RowStep {
                action,
                numbers: numbers.collect(),
                inlets,
                outlets,
                grants: bound.grants,
            });
        }
        let mut row = Self {
            steps: row_steps,
            blocks: vec![Box::default(); blocks.count()],
            objects,
            taken: Vec::with_capacity(1024),
            time,
            rate: format.rate,
        };
        row.resize(format);
        (row, blocks)
    }

    /// Adjusts blocks and objects to a format.
    ///
    /// Real-time: setup.
    pub(super) fn prepare(&mut self, format: &RowFormat) {
        for object in self.objects.write().iter_mut() {
            object.object.prepare(format);
        }
        self.rate = format.rate;
        self.resize(format);
    }

    fn resize(&mut self, format: &RowFormat) {
        for block in &mut self.blocks {
            if block.len() != format.frames {
                *block = vec![0.0; format.frames].into_boxed_slice();
            }
        }
        for object in self.objects.write().iter_mut() {
            object.has_new_numbers = true;
        }
    }

    /// A block.
    #[inline]
    pub(crate) fn block(&self, at: u32) -> &[f32] {
        &self.blocks[at as usize]
    }

    /// A block, to be written.
    #[inline]
    pub(crate) fn block_mut(&mut self, at: u32) -> &mut [f32] {
        &mut self.blocks[at as usize]
    }

    /// Number of objects that compute.
    pub(super) fn object_count(&self) -> usize {
        self.objects.read().len()
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    pub(crate) fn run(&mut self) {
        widest(Running(self));
    }
}

/// The objects that steps let compute.
fn performed(machine: &Machine, steps: &[BoundStep]) -> Vec<ObjectId> {
    let performed = steps.iter().filter_map(BoundStep::performed);
    let performs = |id: &ObjectId| machine.signal_object(*id).is_some();
    performed.filter(performs).collect()
}

/// A row that computes a block. Sums and products of signals are loops within its own one, in wide vectors.
struct Running<'r>(&'r mut Row);

impl Wide for Running<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let row = self.0;
        let (mut objects, blocks) = (row.objects.write(), &mut row.blocks[..]);
        let surroundings = (&*row.time, row.rate);
        for step in &row.steps {
            let at = match &step.action {
                Action::Fill(place, inlet) => {
                    let number = place.write().number(*inlet);
                    blocks[step.outlets[0] as usize].fill(number);
                    continue;
                }
                Action::Add(operands) => {
                    operands.compute(Arithmetic::SUM, blocks);
                    continue;
                }
                Action::Combine(at, _) | Action::Perform(at) => *at,
            };
            let object = &mut objects[at];
            if std::mem::take(&mut object.has_new_numbers) {
                step.fill_numbers(object, blocks);
            }
            if let Action::Combine(_, operands) = step.action {
                if let Some(arithmetic) = object.object.arithmetic() {
                    operands.compute(arithmetic, blocks);
                }
                continue;
            }
            match *step.outlets {
                [] => {
                    let inlets = step.only_inlets(blocks);
                    step.perform(object, &inlets, &mut [], surroundings);
                }
                [outlet] => {
                    let (inlets, outlets) = step.one_outlet(blocks, outlet);
                    step.perform(object, &inlets, outlets, surroundings);
                }
                _ => step.perform_all(object, blocks, &mut row.taken, surroundings),
            }
        }
    }
}

impl RowStep {
    /// The inlets of a step, and its only outlet.
    #[inline(always)]
    fn one_outlet<'b>(
        &'b self,
        blocks: &'b mut [Box<[f32]>],
        outlet: u32,
    ) -> (Inlets<'b>, &'b mut [Box<[f32]>]) {
        let (before, rest) = blocks.split_at_mut(outlet as usize);
        let (outlets, behind) = rest.split_at_mut(1);
        let inlets = Inlets {
            before,
            behind,
            at: &self.inlets,
            numbers: &self.numbers,
        };
        (inlets, outlets)
    }

    /// The inlets of a step that writes none of `blocks`.
    #[inline(always)]
    fn only_inlets<'b>(&'b self, blocks: &'b [Box<[f32]>]) -> Inlets<'b> {
        Inlets {
            before: blocks,
            behind: &[],
            at: &self.inlets,
            numbers: &self.numbers,
        }
    }

    /// Fills the blocks of inlets that are numbers.
    #[cold]
    fn fill_numbers(&self, object: &SignalObject, blocks: &mut [Box<[f32]>]) {
        for (inlet, to) in &self.numbers {
            blocks[*to as usize].fill(object.number(*inlet));
        }
    }

    /// Lets an object compute a block.
    #[inline(always)]
    fn perform(
        &self,
        object: &mut SignalObject,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        (time, rate): (&BlockTime, f32),
    ) {
        let mut world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            time,
            rate,
        };
        object.object.perform(inlets, outlets, &mut world);
    }

    /// Lets an object with several outlets compute a block. They are taken out of `blocks` meanwhile.
    #[inline(never)]
    fn perform_all(
        &self,
        object: &mut SignalObject,
        blocks: &mut [Box<[f32]>],
        taken: &mut Vec<Box<[f32]>>,
        surroundings: (&BlockTime, f32),
    ) {
        let all = self.outlets.iter();
        taken.extend(all.map(|to| std::mem::take(&mut blocks[*to as usize])));
        self.perform(object, &self.only_inlets(blocks), taken, surroundings);
        for (outlet, to) in self.outlets.iter().zip(taken.drain(..)) {
            blocks[*outlet as usize] = to;
        }
    }
}

/// Number of a block beside that of the only outlet, as [`Inlets`] finds it.
fn beside(block: u32, outlet: u32) -> u32 {
    debug_assert_ne!(block, outlet, "a block is not used again by its reader");
    match block > outlet {
        true => (block - outlet - 1) | Inlets::BEHIND,
        false => block,
    }
}
