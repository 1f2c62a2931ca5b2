//! [`Row`]: steps with everything that they touch, run one after the other by one node.

use super::RowFormat;
use super::arithmetic::Arithmetic;
use super::bound_step::BoundStep;
use super::chain::Chain;
use super::joined_blocks::JoinedBlocks;
use super::lanes::{LanePlace, Scratch, SideBySide};
use super::loops::RUN;
use super::moves::Moves;
use super::order::Step;
use super::place::{ObjectGroup, ObjectPlace, SignalObject};
use super::recursion::RecursionKind;
use super::row_blocks::RowBlocks;
use super::shared::Grants;
use super::together::{Links, OrderedSteps};
use super::traits::Traits;
use super::world::{BlockTime, BufferId, Inlets, SignalWorld, Surroundings};
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
    /// For steps that are computed together.
    scratch: Scratch,
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
    /// Computes sums, and operations that objects of the group are.
    Chain(Chain),
    /// Lets an object of the group compute.
    Perform(usize),
    /// Computes the recursions that the next steps are, and leaves these out.
    Recur(SideBySide),
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
        let OrderedSteps {
            steps,
            together,
            may_join,
        } = steps;
        let mut blocks = RowBlocks::new(&steps, inputs, outputs);
        let mut links = Links::new(&steps, outputs);
        let mut next = 0;
        let mut row_steps = Vec::with_capacity(steps.len());
        let mut steps = steps.into_iter().enumerate();
        for (kind, count) in together {
            let (first, mut signals) = (row_steps.len(), Vec::new());
            let mut places = Vec::with_capacity(count);
            for (at, bound) in steps.by_ref().take(count) {
                let place = bound.step.object().map(&find);
                if let Some(None) = place {
                    // An object without signals writes none: its outlets are silent.
                    continue;
                }
                let place = place.flatten();
                let performs = place.is_some() && !matches!(bound.step, Step::Fill { .. });
                signals.push((bound.step.inlets(), bound.step.outlets()));
                let (step, lane) = RowStep::new((at, bound), place, next, &mut blocks);
                step.add_to(&mut row_steps);
                places.push(lane);
                next += usize::from(performs);
            }
            if let Some(kind) = kind {
                row_steps.insert(first, RowStep::recurring(kind, places));
                if let Some(before) = links.link(first, &signals) {
                    RowStep::link(&mut row_steps, before, first);
                }
            }
        }
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
            Action::Fill(..) | Action::Chain(_) => usize::MAX,
            Action::Recur(_) => 1,
        });
        let most = joins.min().unwrap_or(1).min(most);
        let (joined, has_changed) = self.joined.set(&mut self.blocks, most);
        if has_changed {
            for object in objects.iter_mut() {
                object.has_new_numbers = true;
            }
        }
        joined
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

impl WideWork for Running<'_> {
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
        let mut steps = row.steps.iter();
        while let Some(step) = steps.next() {
            let at = match &step.action {
                Action::Recur(lanes) => {
                    if is_in_runs {
                        let together = lanes.count();
                        let (now, behind) = steps.as_slice().split_at(together);
                        steps = behind.iter();
                        for (step, at) in now.iter().zip(lanes.objects()) {
                            let object = &mut objects[at];
                            if std::mem::take(&mut object.has_new_numbers) {
                                step.fill_numbers(object, blocks);
                            }
                        }
                        lanes.run(&mut objects, (blocks, &mut row.scratch), row.rate);
                    }
                    continue;
                }
                Action::Fill(place, inlet) => {
                    let number = place.write().number(*inlet);
                    blocks[step.outlets[0] as usize].fill(number);
                    continue;
                }
                Action::Chain(chain) => {
                    chain.run(&mut objects, blocks);
                    continue;
                }
                Action::Perform(at) => *at,
            };
            let object = &mut objects[at];
            if std::mem::take(&mut object.has_new_numbers) {
                step.fill_numbers(object, blocks);
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
    /// The step `at` of a row, of the object at `place`, which is to be number `next` of those that compute. Gives too where its signals
    /// are.
    fn new(
        (at, bound): (usize, BoundStep),
        place: Option<(ObjectPlace, Traits)>,
        next: usize,
        blocks: &mut RowBlocks,
    ) -> (Self, LanePlace) {
        let [mut inlets, outlets] = blocks.of_step(at, &bound);
        let read = bound.step.outlets().into_iter().zip(&outlets);
        let read = read.map(|(signal, block)| blocks.is_read(signal).then_some(*block));
        let lane = LanePlace::new(next, &inlets, &Vec::from_iter(read));
        let numbers = bound.numbers.iter();
        let numbers = numbers.map(|(inlet, buffer)| (*inlet, blocks.block(*buffer)));
        let numbers = Box::from_iter(numbers);
        let chain = |of| {
            let written = bound.step.outlets();
            let has_one_reader = written.first().is_some_and(|to| blocks.has_one_reader(*to));
            let to = outlets.first().copied().unwrap_or_default();
            Action::Chain(Chain::new(
                of,
                &inlets,
                numbers.clone(),
                (to, has_one_reader),
            ))
        };
        let action = match (&bound.step, place) {
            (Step::Fill { inlet, .. }, Some((place, _))) => Action::Fill(place, *inlet),
            (_, Some((_, traits))) => match traits.arithmetic {
                Some(arithmetic) => chain((arithmetic, Some(next))),
                None => Action::Perform(next),
            },
            (_, None) => chain((Arithmetic::SUM, None)),
        };
        if let [outlet] = *outlets {
            inlets
                .iter_mut()
                .for_each(|block| *block = beside(*block, outlet));
        }
        let step = Self {
            action,
            numbers,
            inlets,
            outlets,
            grants: bound.grants,
        };
        (step, lane)
    }

    /// Puts itself behind other steps, into the last one if both are links of a chain.
    fn add_to(mut self, steps: &mut Vec<Self>) {
        let last = steps.last_mut().map(|step| &mut step.action);
        if let (Some(Action::Chain(last)), Action::Chain(_)) = (last, &self.action)
            && let Action::Chain(chain) = self.action
        {
            match last.join(chain) {
                Some(chain) => self.action = Action::Chain(chain),
                None => return,
            }
        }
        steps.push(self);
    }

    /// The recursions that the steps behind this one are.
    fn recurring(kind: RecursionKind, places: Vec<LanePlace>) -> Self {
        Self {
            action: Action::Recur(SideBySide::new(kind, places.into())),
            numbers: Box::default(),
            inlets: Box::default(),
            outlets: Box::default(),
            grants: Grants::default(),
        }
    }

    /// Links lanes with those before.
    fn link(steps: &mut [Self], before: usize, now: usize) {
        let (first, second) = steps.split_at_mut(now);
        if let (Action::Recur(before), Action::Recur(now)) =
            (&mut first[before].action, &mut second[0].action)
        {
            before.lead_to(now);
        }
    }

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
        surroundings: Surroundings<'_>,
    ) {
        let mut world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            surroundings,
        };
        object.object.perform(inlets, outlets, &mut world);
    }

    /// Number of blocks that an object may compute as one.
    fn joins(&self, object: &mut SignalObject, surroundings: Surroundings<'_>) -> usize {
        let world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            surroundings,
        };
        object.object.joins(&world)
    }

    /// Lets an object with several outlets compute a block. They are taken out of `blocks` meanwhile.
    #[inline(never)]
    fn perform_all(
        &self,
        object: &mut SignalObject,
        blocks: &mut [Box<[f32]>],
        taken: &mut Vec<Box<[f32]>>,
        surroundings: Surroundings<'_>,
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
