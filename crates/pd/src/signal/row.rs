//! [`Row`]: steps with everything that they touch, run one after the other by one node.

use super::RowFormat;
use super::bound_step::BoundStep;
use super::order::Step;
use super::place::{ObjectGroup, ObjectPlace, SignalObject};
use super::row_blocks::RowBlocks;
use super::shared::Grants;
use super::world::{BlockTime, BufferId, Inlets, SignalWorld};
use crate::control::{Machine, ObjectId};
use std::slice;
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
    inlets: Box<[u32]>,
    outlets: Box<[u32]>,
    grants: Grants,
}

/// What a step does.
enum Action {
    /// Fills its outlet with the number at an inlet of an object that does not compute.
    Fill(ObjectPlace, usize),
    /// Adds the second signal to the first.
    Add,
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
        (inputs, outputs): (&[BufferId], &[BufferId]),
        (format, time): (&RowFormat, Arc<BlockTime>),
    ) -> (Self, RowBlocks) {
        let mut blocks = RowBlocks::new(&steps, inputs, outputs);
        let performed = steps.iter().filter_map(BoundStep::performed);
        let performs = |id: &ObjectId| machine.signal_object(*id).is_some();
        let performed = Vec::from_iter(performed.filter(performs));
        let objects = machine.join(&performed);
        let mut next = 0;
        let mut row_steps = Vec::with_capacity(steps.len());
        for (at, bound) in steps.into_iter().enumerate() {
            let action = match &bound.step {
                Step::Fill { object, inlet, .. } => (machine.signal_object(*object))
                    .map(|place| Action::Fill(place.clone(), *inlet)),
                Step::Add { .. } => Some(Action::Add),
                Step::Perform { object, .. } => machine.signal_object(*object).map(|_| {
                    next += 1;
                    Action::Perform(next - 1)
                }),
            };
            let Some(action) = action else {
                // An object without signals writes none: its outlets are silent.
                continue;
            };
            let [inlets, outlets] = blocks.of_step(at, &bound);
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
        let (mut objects, blocks) = (self.objects.write(), &mut self.blocks);
        for step in &self.steps {
            match &step.action {
                Action::Fill(place, inlet) => {
                    let number = place.write().number(*inlet);
                    blocks[step.outlets[0] as usize].fill(number);
                }
                Action::Add => {
                    let [new, sum] = [0, 1].map(|at| step.inlets[at] as usize);
                    let mut to = std::mem::take(&mut blocks[step.outlets[0] as usize]);
                    add(&blocks[new], &blocks[sum], &mut to);
                    blocks[step.outlets[0] as usize] = to;
                }
                Action::Perform(at) => {
                    let object = &mut objects[*at];
                    if std::mem::take(&mut object.has_new_numbers) {
                        for (inlet, to) in &step.numbers {
                            blocks[*to as usize].fill(object.number(*inlet));
                        }
                    }
                    let surroundings = (&step.grants, &*self.time, self.rate);
                    match &*step.outlets {
                        [] => perform(object, (blocks, &step.inlets), &mut [], surroundings),
                        [outlet] => {
                            let mut to = std::mem::take(&mut blocks[*outlet as usize]);
                            let outlets = slice::from_mut(&mut to);
                            perform(object, (blocks, &step.inlets), outlets, surroundings);
                            blocks[*outlet as usize] = to;
                        }
                        outlets => {
                            let all = outlets.iter();
                            (self.taken)
                                .extend(all.map(|to| std::mem::take(&mut blocks[*to as usize])));
                            let taken = &mut self.taken;
                            perform(object, (blocks, &step.inlets), taken, surroundings);
                            for (outlet, to) in outlets.iter().zip(self.taken.drain(..)) {
                                blocks[*outlet as usize] = to;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Lets an object compute a block.
#[inline(always)]
fn perform(
    object: &mut SignalObject,
    (blocks, at): (&[Box<[f32]>], &[u32]),
    outlets: &mut [Box<[f32]>],
    (grants, time, rate): (&Grants, &BlockTime, f32),
) {
    let mut world = SignalWorld {
        clocks: &mut object.clocks,
        grants,
        time,
        rate,
    };
    let inlets = Inlets { blocks, at };
    object.object.perform(&inlets, outlets, &mut world);
}

/// The sum of two signals.
fn add(new: &[f32], sum: &[f32], to: &mut [f32]) {
    for ((to, new), sum) in to.iter_mut().zip(new).zip(sum) {
        *to = new + sum;
    }
}
