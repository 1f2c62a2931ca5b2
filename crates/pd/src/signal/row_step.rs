//! [`RowStep`]: a step of a row, with the blocks that it reads and writes.

use super::BLOCK;
use super::chain::Chain;
use super::lanes::{Cut, LanePlace, SideBySide, Slices};
use super::place::{Filling, ObjectPlace, SignalObject};
use super::recursion::RecursionKind;
use super::shared::Grants;
use super::world::{Inlets, SignalWorld, Surroundings};

/// A step of a row. Its blocks are numbers of those of the row.
pub(super) struct RowStep {
    pub action: Action,
    /// Inlets that are numbers, each with the block that is filled with it.
    pub numbers: Box<[(usize, u32)]>,
    /// Of a step with one outlet as [`Inlets`] finds them.
    pub inlets: Box<[u32]>,
    pub outlets: Box<[u32]>,
    pub grants: Grants,
    /// True if the object computes the blocks of a batch one after the other.
    pub is_cut: bool,
}

/// Work of a step.
pub(super) enum Action {
    /// Fills its outlet with the number at an inlet of an object that does not compute.
    Fill(ObjectPlace, usize),
    /// Computes sums, and operations that objects of the group are.
    Chain(Chain),
    /// Lets an object of the group compute.
    Perform(usize),
    /// Computes the recursions that the next steps are, and leaves these out.
    Recur(SideBySide),
    /// Computes the filters, and the operations between them, that the next steps are, and leaves these out.
    Slice(Slices),
}

impl RowStep {
    /// Puts itself behind other steps, into the last one if both are links of a chain; false then.
    pub(super) fn add_to(mut self, steps: &mut Vec<Self>) -> bool {
        let last = steps.last_mut().map(|step| &mut step.action);
        if let (Some(Action::Chain(last)), Action::Chain(_)) = (last, &self.action)
            && let Action::Chain(chain) = self.action
        {
            match last.join(chain) {
                Some(chain) => self.action = Action::Chain(chain),
                None => return false,
            }
        }
        steps.push(self);
        true
    }

    /// The recursions that the steps behind this one are.
    pub(super) fn recurring(kind: RecursionKind, places: Vec<LanePlace>) -> Self {
        Self::of_others(Action::Recur(SideBySide::new(kind, places.into())))
    }

    /// An action of the steps behind.
    pub(super) fn of_others(action: Action) -> Self {
        Self {
            action,
            numbers: Box::default(),
            inlets: Box::default(),
            outlets: Box::default(),
            grants: Grants::default(),
            is_cut: false,
        }
    }

    /// The inlets of a step, and its only outlet.
    #[inline(always)]
    pub(super) fn one_outlet<'b>(
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
    pub(super) fn only_inlets<'b>(&'b self, blocks: &'b [Box<[f32]>]) -> Inlets<'b> {
        Inlets {
            before: blocks,
            behind: &[],
            at: &self.inlets,
            numbers: &self.numbers,
        }
    }

    /// Lets `steps` compute blocks in slices. Notes if blocks were filled with numbers.
    #[inline(always)]
    pub(super) fn run_slices(
        slices: &Slices,
        steps: &[Self],
        objects: &mut [SignalObject],
        (blocks, rate): (&mut [Box<[f32]>], f32),
        (cut, filling): (Cut, &mut Filling),
    ) {
        for step in steps {
            match &step.action {
                Action::Chain(chain) => chain.fill(objects, blocks, filling),
                Action::Perform(at) => step.take_numbers(&mut objects[*at], blocks, filling),
                _ => {}
            }
        }
        let chain = |at: usize| match &steps[at].action {
            Action::Chain(chain) => Some(chain),
            _ => None,
        };
        slices.run(chain, objects, (blocks, rate), cut);
    }

    /// Fills the blocks of inlets that are numbers, if they have changed, and notes it.
    #[inline(always)]
    pub(super) fn take_numbers(
        &self,
        object: &mut SignalObject,
        blocks: &mut [Box<[f32]>],
        filling: &mut Filling,
    ) {
        if object.take_numbers(filling) {
            self.fill_numbers(object, blocks);
        }
    }

    #[cold]
    fn fill_numbers(&self, object: &SignalObject, blocks: &mut [Box<[f32]>]) {
        for (inlet, to) in &self.numbers {
            blocks[*to as usize].fill(object.number(*inlet));
        }
    }

    /// Lets an object compute a block.
    #[inline(always)]
    pub(super) fn perform(
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

    /// Lets an object compute the blocks of a batch one after the other. Its signals are copied to and from blocks of their own.
    #[inline(never)]
    pub(super) fn perform_in_parts(
        &self,
        object: &mut SignalObject,
        (blocks, own): (&mut [Box<[f32]>], &mut OwnBlocks),
        times: &[f64],
        surroundings: Surroundings<'_>,
    ) {
        let (last, _) = surroundings.time.state();
        let first = last + 1 - times.len() as u64;
        let outlets = &mut own.outlets[..self.outlets.len()];
        for (part, (tick, now)) in (first..).zip(times).enumerate() {
            surroundings.time.begin_part(part, tick, *now);
            object.take_kept(tick);
            for (own, at) in own.inlets.iter_mut().zip(&self.inlets) {
                own.copy_from_slice(run_of(&blocks[self.block_of(*at)], part));
            }
            let inlets = Inlets {
                before: &own.inlets,
                behind: &[],
                at: &own.numbers[..self.inlets.len()],
                numbers: &self.numbers,
            };
            self.perform(object, &inlets, outlets, surroundings);
            for (outlet, from) in self.outlets.iter().zip(&*outlets) {
                let to = &mut blocks[*outlet as usize][part * BLOCK..][..BLOCK];
                to.copy_from_slice(from);
            }
        }
        surroundings.time.end_parts(last, times[times.len() - 1]);
    }

    /// Number of the block of an inlet.
    fn block_of(&self, inlet: u32) -> usize {
        match (inlet & Inlets::BEHIND, &*self.outlets) {
            (0, _) => inlet as usize,
            (_, [outlet, ..]) => (inlet ^ Inlets::BEHIND) as usize + *outlet as usize + 1,
            (_, []) => 0,
        }
    }

    /// Number of blocks that an object may compute as one.
    pub(super) fn joins(&self, object: &mut SignalObject, surroundings: Surroundings<'_>) -> usize {
        let world = SignalWorld {
            clocks: &mut object.clocks,
            grants: &self.grants,
            surroundings,
        };
        object.object.joins(&world)
    }

    /// Lets an object with several outlets compute a block. They are taken out of `blocks` meanwhile.
    #[inline(never)]
    pub(super) fn perform_all(
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

/// Blocks of 64 frames, for an object that computes those of a batch one after the other.
#[derive(Default)]
pub(super) struct OwnBlocks {
    inlets: Vec<Box<[f32]>>,
    /// Those of the inlets, counted from 0.
    numbers: Vec<u32>,
    outlets: Vec<Box<[f32]>>,
}

impl OwnBlocks {
    /// As many as any of the steps needs.
    ///
    /// Real-time: setup.
    pub(super) fn of(steps: &[RowStep]) -> Self {
        let blocks = |counts: &dyn Fn(&RowStep) -> usize| {
            let most = steps.iter().map(counts).max().unwrap_or(0);
            vec![vec![0.0; BLOCK].into_boxed_slice(); most]
        };
        let inlets = blocks(&|step| step.inlets.len());
        Self {
            numbers: (0..).take(inlets.len()).collect(),
            inlets,
            outlets: blocks(&|step| step.outlets.len()),
        }
    }
}

/// A block of a batch.
fn run_of(batch: &[f32], part: usize) -> &[f32] {
    &batch[part * BLOCK..][..BLOCK]
}

/// Number of a block beside that of the only outlet, as [`Inlets`] finds it.
pub(super) fn beside(block: u32, outlet: u32) -> u32 {
    debug_assert_ne!(block, outlet, "a block is not used again by its reader");
    match block > outlet {
        true => (block - outlet - 1) | Inlets::BEHIND,
        false => block,
    }
}
