//! [`Row`]: steps with everything that they touch, run one after the other by one node.

use super::bound_step::BoundStep;
use super::joined_blocks::JoinedBlocks;
use super::lanes::{Cut, Scratch, Slices};
use super::loops::RUN;
use super::moves::Moves;
use super::place::{Fill, ObjectGroup, ObjectPlace};
use super::row_blocks::RowBlocks;
use super::row_builder::RowBuilder;
use super::row_step::{Action, OwnBlocks, RowStep};
use super::together::OrderedSteps;
use super::traits::Traits;
use super::world::{BlockTime, BufferId, Surroundings};
use super::{BatchTimes, MAX_BATCH, RowFormat};
use crate::control::{Machine, ObjectId};
use rt::vectors::{WideWork, widest};
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
    /// Frames of a block.
    frames: usize,
    joined: JoinedBlocks,
    batch: Batch,
    /// For steps that are computed side by side.
    scratch: Scratch,
}

/// Needs of a row that computes batches of blocks.
struct Batch {
    /// True if the row may.
    may_batch: bool,
    /// Ends of the blocks that are computed.
    times: BatchTimes,
    count: usize,
    /// For an object that computes one block after the other.
    own: OwnBlocks,
}

impl Batch {
    fn new(may_batch: bool) -> Self {
        Self {
            may_batch,
            times: [0.0; MAX_BATCH],
            count: 1,
            own: OwnBlocks::default(),
        }
    }
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
        let traits = |id| Some(Traits::of(&*machine.signal_object(id)?.write().object));
        let steps = OrderedSteps::new(steps, traits);
        let objects = machine.join(&performed(machine, &steps.steps));
        let found = |id| {
            let place = machine.signal_object(id)?;
            Some((place.clone(), Traits::of(&*place.write().object)))
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
        let traits = |id| machine.signal_object(id).map(|_| moves.traits(id));
        let steps = OrderedSteps::new(steps, traits);
        let performed = performed(machine, &steps.steps);
        let objects = ObjectPlace::empty_group(performed.len());
        moves.add(&performed, ObjectPlace::all_of(&objects));
        let found = |id| {
            let place = moves.place(id).or_else(|| machine.signal_object(id))?;
            Some((place.clone(), moves.traits(id)))
        };
        Self::of_objects(found, (steps, objects), ports, parts)
    }

    /// A row of `objects`; `find` gives the place of an object of signals, and what is known of it.
    fn of_objects(
        find: impl Fn(ObjectId) -> Option<(ObjectPlace, Traits)>,
        (steps, objects): (OrderedSteps, Arc<ObjectGroup>),
        (inputs, outputs): (&[BufferId], &[BufferId]),
        (format, time): (&RowFormat, Arc<BlockTime>),
    ) -> (Self, RowBlocks) {
        let (may_join, may_batch) = (steps.may_join, steps.may_batch);
        let (row_steps, blocks) = RowBuilder::build(find, steps, (inputs, outputs));
        let recurs = |step: &RowStep| matches!(step.action, Action::Recur(_));
        let scratch = match row_steps.iter().any(recurs) {
            true => Scratch::new(),
            false => Scratch::default(),
        };
        let mut row = Self {
            steps: row_steps,
            blocks: vec![Box::default(); blocks.count()],
            objects,
            taken: Vec::with_capacity(1024),
            time,
            rate: format.rate,
            frames: format.frames,
            joined: JoinedBlocks::new(may_join),
            batch: Batch::new(may_batch),
            scratch,
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
        self.frames = format.frames;
        self.joined.resize(&mut self.blocks, format);
        for object in self.objects.write().iter_mut() {
            object.fill = Fill::New;
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

    /// Makes ready to compute several blocks as one, without an overlap, and gives their number: `most` or a part of it, a power of two.
    ///
    /// Real-time: hot.
    pub(super) fn join(&mut self, most: usize) -> usize {
        if !self.joined.may_join {
            return 1;
        }
        let mut objects = self.objects.write();
        let surroundings = Surroundings {
            time: &self.time,
            rate: self.rate,
            frames: self.frames,
        };
        let joins = self.steps.iter().map(|step| match step.action {
            Action::Perform(at) => step.joins(&mut objects[at], surroundings),
            Action::Fill(..) | Action::Chain(_) | Action::Slice(_) => usize::MAX,
            Action::Recur(_) => 1,
        });
        let most = joins.min().unwrap_or(1).min(most);
        let (joined, lacks_numbers) = self.joined.set(&mut self.blocks, most);
        if lacks_numbers {
            self.joined.fill_late(&mut objects);
        }
        joined
    }

    /// Makes room for batches, if the row may compute such; `format` is its own.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_batches(&mut self, format: &RowFormat) {
        if !self.batch.may_batch || self.blocks.is_empty() {
            return;
        }
        self.joined
            .allow_batches(MAX_BATCH, &mut self.blocks, format);
        self.batch.own = OwnBlocks::of(&self.steps);
        self.steps
            .iter()
            .for_each(|step| step.grants.allow_batches());
    }

    /// Makes room for messages that come before the signals of their block, to objects that compute by themselves.
    ///
    /// Real-time: setup.
    pub(super) fn allow_early(&mut self) {
        let mut objects = self.objects.write();
        for step in &self.steps {
            if let Action::Perform(at) = step.action {
                objects[at].allow_early();
            }
        }
    }

    /// Number of blocks of a batch that may be computed now, `most` at most.
    ///
    /// Real-time: hot.
    pub(crate) fn batch(&mut self, most: usize) -> usize {
        let most = most.min(self.joined.most());
        if most < 2 {
            return 1;
        }
        let mut objects = self.objects.write();
        let surroundings = Surroundings {
            time: &self.time,
            rate: self.rate,
            frames: self.frames,
        };
        let limits = self.steps.iter().map(|step| match step.action {
            Action::Perform(at) => step.joins(&mut objects[at], surroundings),
            _ => usize::MAX,
        });
        limits.min().unwrap_or(most).clamp(1, most)
    }

    /// Computes a batch of blocks that end at these times, or one block; the last one is that of now.
    ///
    /// Real-time: hot.
    pub(crate) fn run_batch(&mut self, times: &[f64]) {
        self.use_blocks(times.len());
        if times.len() == 1 {
            return self.run();
        }
        self.batch.times[..times.len()].copy_from_slice(times);
        self.batch.count = times.len();
        self.time.set_parts(times.len());
        widest(Running::<true>(self));
        self.time.set_parts(1);
    }

    /// Takes the blocks for so many at once into use.
    #[inline]
    fn use_blocks(&mut self, count: usize) {
        let (_, lacks_numbers) = self.joined.set(&mut self.blocks, count);
        if lacks_numbers {
            self.joined.fill_late(&mut self.objects.write());
        }
    }

    /// Number of objects that compute.
    pub(super) fn object_count(&self) -> usize {
        self.objects.read().len()
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    pub(crate) fn run(&mut self) {
        widest(Running::<false>(self));
    }
}

/// The objects that steps let compute.
fn performed(machine: &Machine, steps: &[BoundStep]) -> Vec<ObjectId> {
    let performed = steps.iter().filter_map(BoundStep::performed);
    let performs = |id: &ObjectId| machine.signal_object(*id).is_some();
    performed.filter(performs).collect()
}

/// A row that computes a block, or a batch. Sums and products of signals are loops within its own one, in wide vectors.
struct Running<'r, const IS_BATCH: bool>(&'r mut Row);

impl<const IS_BATCH: bool> WideWork for Running<'_, IS_BATCH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let row = self.0;
        let (mut objects, blocks) = (row.objects.write(), &mut row.blocks[..]);
        let surroundings = Surroundings {
            time: &row.time,
            rate: row.rate,
            frames: row.frames,
        };
        let is_in_runs = blocks[0].len() % RUN == 0;
        let cut = if IS_BATCH { Cut::Blocks } else { Cut::Whole };
        let mut filling = row.joined.filling();
        let mut steps = row.steps.iter();
        while let Some(step) = steps.next() {
            let at = match &step.action {
                Action::Recur(lanes) => {
                    if is_in_runs {
                        let together = lanes.count();
                        let (now, behind) = steps.as_slice().split_at(together);
                        steps = behind.iter();
                        for (step, at) in now.iter().zip(lanes.objects()) {
                            step.take_numbers(&mut objects[at], blocks, &mut filling);
                        }
                        lanes.run(&mut objects, (blocks, &mut row.scratch), row.rate, cut);
                    }
                    continue;
                }
                Action::Slice(slices) => {
                    if Slices::fit(blocks[0].len()) {
                        let (now, behind) = steps.as_slice().split_at(slices.count());
                        steps = behind.iter();
                        let blocks = (&mut *blocks, row.rate);
                        let cut = (cut, &mut filling);
                        RowStep::run_slices(slices, now, &mut objects, blocks, cut);
                    }
                    continue;
                }
                Action::Fill(place, inlet) => {
                    let number = place.write().number(*inlet);
                    blocks[step.outlets[0] as usize].fill(number);
                    continue;
                }
                Action::Chain(chain) => {
                    chain.fill(&mut objects, blocks, &mut filling);
                    chain.run(&objects, blocks);
                    continue;
                }
                Action::Perform(at) => *at,
            };
            let object = &mut objects[at];
            step.take_numbers(object, blocks, &mut filling);
            if IS_BATCH && (step.is_cut || object.keeps_early()) {
                let times = &row.batch.times[..row.batch.count];
                let blocks = (&mut *blocks, &mut row.batch.own);
                step.perform_in_parts(object, blocks, times, surroundings);
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
        row.joined.note_numbers(&filling);
    }
}
