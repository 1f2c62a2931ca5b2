//! [`Chain`]: sums, products and the like one behind the other, which a row computes by itself, a run of frames at a time in registers.
//!
//! ```text
//!   osc~ ─▶ block ─▶ *~ 0.5 ─▶ +~ ─▶ -~ 0.5 ─▶ block
//!                    └ a chain: one load, three operations, one store ┘
//! ```
//!
//! A result between two steps goes to a block only if somebody else reads it.

use super::arithmetic::{Arithmetic, Operation};
use super::loops::RUN;
use super::place::{Filling, SignalObject};

/// Operations of which each one takes what the one before has found.
pub(super) struct Chain {
    /// The block that the first operation takes.
    first: u32,
    steps: Vec<ChainStep>,
    /// Objects with inlets that are numbers.
    numbers: Vec<(usize, Inlets)>,
}

/// Inlets of an object that are numbers, each with the block that is filled with it.
type Inlets = Box<[(usize, u32)]>;

/// An operation of a chain. It is small: a block has some hundred of them.
struct ChainStep {
    effect: Effect,
    /// The block at its other side, if it is a signal.
    block: u32,
    /// The object whose number is at its other side, if it is one.
    object: u32,
    /// Its outlet, and whether what it finds goes there.
    to: u32,
    is_kept: bool,
    /// True if only one inlet reads what it finds.
    has_one_reader: bool,
}

/// The change that a step makes to what comes in, with a block or with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Add,
    Subtract,
    SubtractFrom,
    Multiply,
    Larger,
    Smaller,
    AddNumber,
    SubtractNumber,
    MultiplyNumber,
    LargerNumber,
    SmallerNumber,
}

impl Effect {
    /// That of an operation.
    fn of(arithmetic: Arithmetic) -> Self {
        match (arithmetic.operation, arithmetic.scalar) {
            (Operation::Add, None) => Self::Add,
            (Operation::Subtract, None) => Self::Subtract,
            (Operation::Multiply, None) => Self::Multiply,
            (Operation::Larger, None) => Self::Larger,
            (Operation::Smaller, None) => Self::Smaller,
            (Operation::Add, Some(_)) => Self::AddNumber,
            (Operation::Subtract, Some(_)) => Self::SubtractNumber,
            (Operation::Multiply, Some(_)) => Self::MultiplyNumber,
            (Operation::Larger, Some(_)) => Self::LargerNumber,
            (Operation::Smaller, Some(_)) => Self::SmallerNumber,
        }
    }

    /// The same of the two sides exchanged, if it is among them.
    fn exchanged(self) -> Option<Self> {
        match self {
            Self::Add | Self::Multiply => Some(self),
            Self::Subtract => Some(Self::SubtractFrom),
            _ => None,
        }
    }
}

/// A run of frames.
type Run<const FRAMES: usize = RUN> = [f32; FRAMES];

impl Chain {
    /// A chain of one operation of `object`: of blocks at `inlets`, to another one.
    pub(super) fn new(
        (arithmetic, object): (Arithmetic, Option<usize>),
        inlets: &[u32],
        numbers: Inlets,
        (to, has_one_reader): (u32, bool),
    ) -> Self {
        let first = inlets.first().copied().unwrap_or_default();
        let step = ChainStep {
            effect: Effect::of(arithmetic),
            // A second inlet that is missing is the first.
            block: inlets.get(1).copied().unwrap_or(first),
            object: object.map_or(0, |object| {
                u32::try_from(object).expect("fewer objects than blocks")
            }),
            to,
            is_kept: true,
            has_one_reader,
        };
        let numbers = object.map(|object| (object, numbers));
        let numbers = numbers.filter(|(_, numbers)| !numbers.is_empty());
        Self {
            first,
            steps: vec![step],
            numbers: numbers.into_iter().collect(),
        }
    }

    /// Takes over the operation of `next`, which comes right behind, if it takes what this one finds. Gives it back if not.
    pub(super) fn join(&mut self, mut next: Self) -> Option<Self> {
        let ([.., last], [step]) = (&mut self.steps[..], &mut next.steps[..]) else {
            return Some(next);
        };
        if next.first != last.to {
            let exchanged = step.effect.exchanged().filter(|_| step.block == last.to);
            let Some(effect) = exchanged else {
                return Some(next);
            };
            (step.effect, step.block) = (effect, next.first);
        }
        last.is_kept = !last.has_one_reader;
        self.steps.append(&mut next.steps);
        self.numbers.append(&mut next.numbers);
        None
    }

    /// Computes a block.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn run(&self, objects: &[SignalObject], blocks: &mut [Box<[f32]>]) {
        let frames = blocks[self.first as usize].len();
        for run in 0..frames / RUN {
            self.run_whole::<RUN>(run, objects, blocks);
        }
        if !frames.is_multiple_of(RUN) {
            self.run_part(frames / RUN, objects, blocks);
        }
    }

    /// Fills the blocks of inlets that are numbers, where these have changed, and notes it.
    #[inline(always)]
    pub(super) fn fill(
        &self,
        objects: &mut [SignalObject],
        blocks: &mut [Box<[f32]>],
        filling: &mut Filling,
    ) {
        for (object, numbers) in &self.numbers {
            let object = &mut objects[*object];
            if object.take_numbers(filling) {
                fill(numbers, object, blocks);
            }
        }
    }

    /// The run `run` of so many frames: what goes from step to step stays in registers.
    #[inline(always)]
    pub(super) fn run_whole<const FRAMES: usize>(
        &self,
        run: usize,
        objects: &[SignalObject],
        blocks: &mut [Box<[f32]>],
    ) {
        let Some(mut now) = run_of::<FRAMES>(blocks, self.first, run).copied() else {
            return;
        };
        for step in &self.steps {
            let other = || run_of::<FRAMES>(blocks, step.block, run);
            let number = || objects[step.object as usize].scalar;
            if step.effect.change(&mut now, other, number).is_none() {
                return;
            }
            if step.is_kept
                && let Some(to) = blocks[step.to as usize].as_chunks_mut().0.get_mut(run)
            {
                *to = now;
            }
        }
    }

    /// Computes what is less than a run, as one with silence behind.
    #[inline(never)]
    fn run_part(&self, run: usize, objects: &[SignalObject], blocks: &mut [Box<[f32]>]) {
        let part = |blocks: &[Box<[f32]>], at: u32| {
            let mut whole = [0.0; RUN];
            let from = blocks[at as usize].get(run * RUN..).unwrap_or_default();
            whole[..from.len()].copy_from_slice(from);
            whole
        };
        let mut now = part(blocks, self.first);
        for step in &self.steps {
            let other = part(blocks, step.block);
            let number = || objects[step.object as usize].scalar;
            step.effect.change(&mut now, || Some(&other), number);
            if let Some(to) = blocks[step.to as usize].get_mut(run * RUN..)
                && step.is_kept
            {
                to.copy_from_slice(&now[..to.len()]);
            }
        }
    }
}

/// A run of a block.
#[inline(always)]
fn run_of<const FRAMES: usize>(
    blocks: &[Box<[f32]>],
    block: u32,
    run: usize,
) -> Option<&Run<FRAMES>> {
    blocks[block as usize].as_chunks().0.get(run)
}

/// Fills blocks with the numbers at inlets.
#[cold]
fn fill(numbers: &[(usize, u32)], object: &SignalObject, blocks: &mut [Box<[f32]>]) {
    for (inlet, to) in numbers {
        blocks[*to as usize].fill(object.number(*inlet));
    }
}

impl Effect {
    /// Changes a run, with `other` or with `number`. Gives nothing if there is no other.
    #[inline(always)]
    fn change<'b, const FRAMES: usize>(
        self,
        run: &mut Run<FRAMES>,
        other: impl Fn() -> Option<&'b Run<FRAMES>>,
        number: impl Fn() -> f32,
    ) -> Option<()> {
        match self {
            Self::Add => each(run, other()?, |a, b| a + b),
            Self::Subtract => each(run, other()?, |a, b| a - b),
            Self::SubtractFrom => each(run, other()?, |a, b| b - a),
            Self::Multiply => each(run, other()?, |a, b| a * b),
            Self::Larger => each(run, other()?, |a, b| if a > b { a } else { b }),
            Self::Smaller => each(run, other()?, |a, b| if a < b { a } else { b }),
            Self::AddNumber => each_with(run, number(), |a, b| a + b),
            Self::SubtractNumber => each_with(run, number(), |a, b| a - b),
            Self::MultiplyNumber => each_with(run, number(), |a, b| a * b),
            Self::LargerNumber => each_with(run, number(), |a, b| if a > b { a } else { b }),
            Self::SmallerNumber => each_with(run, number(), |a, b| if a < b { a } else { b }),
        }
        Some(())
    }
}

#[inline(always)]
fn each<const FRAMES: usize>(
    run: &mut Run<FRAMES>,
    other: &Run<FRAMES>,
    function: impl Fn(f32, f32) -> f32,
) {
    for (a, b) in run.iter_mut().zip(other) {
        *a = function(*a, *b);
    }
}

#[inline(always)]
fn each_with<const FRAMES: usize>(
    run: &mut Run<FRAMES>,
    number: f32,
    function: impl Fn(f32, f32) -> f32,
) {
    for a in run {
        *a = function(*a, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u32 = 8;

    /// Three blocks of signals, and others that nothing has written.
    fn blocks(frames: usize) -> Vec<Box<[f32]>> {
        let sample = |block: u32, at: usize| (at as f32 * 0.37 + block as f32).sin();
        let block = |block: u32| match block {
            0 => vec![0.0; frames].into(),
            1..4 => (0..frames).map(|at| sample(block, at)).collect(),
            _ => vec![9.0; frames].into(),
        };
        (0..BLOCKS).map(block).collect()
    }

    fn step(operation: Operation, inlets: [u32; 2], to: u32, has_one_reader: bool) -> Chain {
        let arithmetic = Arithmetic {
            operation,
            scalar: None,
        };
        let numbers = Box::default();
        Chain::new((arithmetic, None), &inlets, numbers, (to, has_one_reader))
    }

    #[test]
    fn steps_compute_what_each_would_alone_and_keep_what_others_read() {
        for frames in [1, 24, 64, 100, 128] {
            let mut chain = step(Operation::Add, [1, 2], 4, true);
            // What comes from before at the right: the difference turns around.
            let second = step(Operation::Subtract, [3, 4], 5, false);
            let third = step(Operation::Multiply, [5, 5], 6, true);
            let fourth = step(Operation::Larger, [6, 1], 7, true);
            for next in [second, third, fourth] {
                assert!(chain.join(next).is_none());
            }
            let mut found = blocks(frames);
            chain.run(&[], &mut found);
            let check = |at: usize| {
                let [a, b, c] = [1, 2, 3].map(|block: usize| found[block][at]);
                let middle = c - (a + b);
                let square = middle * middle;
                let larger = if square > a { square } else { a };
                let written = [4, 5, 6, 7].map(|block: usize| found[block][at]);
                assert_eq!(written, [9.0, middle, 9.0, larger]);
            };
            (0..frames).for_each(check);
        }
    }

    #[test]
    fn what_reads_something_else_is_no_step_of_it() {
        let mut chain = step(Operation::Add, [1, 2], 4, true);
        assert!(chain.join(step(Operation::Add, [1, 3], 5, true)).is_some());
        // The smaller of two is not the same with its sides exchanged: the one at the right stays if a number is none.
        assert!(
            chain
                .join(step(Operation::Smaller, [1, 4], 5, true))
                .is_some()
        );
        assert!(chain.join(step(Operation::Add, [1, 4], 5, true)).is_none());
    }
}
