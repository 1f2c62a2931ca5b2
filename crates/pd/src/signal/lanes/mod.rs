//! Equal recursions of several objects, computed side by side in the lanes of vectors.
//!
//! A filter waits for the sample before, which takes as long as some ten other sums. Eight of them in eight lanes wait together. Each lane
//! computes what its object would by itself: the same products and sums, in the same order.
//!
//! | file | holds |
//! |---|---|
//! | `kernel` | what a recursion is, and its loops |
//! | `kernels` | the recursions |
//! | `slices` | filters one behind the other, which wait together too |
//! | `transpose` | signals to lanes, and back |

mod kernel;
mod kernels;
mod slices;
mod transpose;

use super::BLOCK;
use super::loops::RUN;
use super::place::SignalObject;
use super::recursion::{LANES, RecursionKind};
use kernel::{Kernel, Lane, Numbers, RunMemory, behind_block};
use rt::vectors::{WideWork, in_eights};
pub(super) use slices::{Sliced, Slices};

/// Frames that go to lanes and back at once: so few that all stay in registers, and that the processor brings the next ones while lanes wait
/// for their samples before.
const PART: usize = 8;

/// Where recursions of a row keep their states, between which they wait for no more than the sample before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Behind all that there is.
    Whole,
    /// Behind each block of a batch.
    Blocks,
}

/// Places of the signals of a recursion, in the blocks of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanePlace {
    /// The object, in its group.
    pub object: usize,
    pub inlets: [u32; 4],
    /// `None` where nobody reads the signal.
    pub outlets: [Option<u32>; 2],
}

impl LanePlace {
    /// The place of a step with these blocks.
    pub(super) fn new(object: usize, inlets: &[u32], outlets: &[Option<u32>]) -> Self {
        Self {
            object,
            inlets: [0, 1, 2, 3].map(|at| inlets.get(at).copied().unwrap_or_default()),
            outlets: [0, 1].map(|at| outlets.get(at).copied().flatten()),
        }
    }
}

/// Equal recursions.
pub(super) struct SideBySide {
    kind: RecursionKind,
    places: Box<[LanePlace]>,
}

/// Memory for the signals of a run: no run finds anything in it that another one has left. To clear it would cost a part of the time.
#[derive(Default)]
pub(super) struct Scratch {
    /// Samples side by side.
    samples: Box<[f32]>,
    signals: Box<[f32]>,
}

impl Scratch {
    /// Memory for any lanes.
    ///
    /// Real-time: setup.
    pub(super) fn new() -> Self {
        let memory = || vec![0.0; 4 * LANES * RUN].into_boxed_slice();
        Self {
            samples: memory(),
            signals: memory(),
        }
    }
}

impl SideBySide {
    /// Recursions of one kind, [`LANES`] at most.
    pub(super) fn new(kind: RecursionKind, places: Box<[LanePlace]>) -> Self {
        Self { kind, places }
    }

    /// Number of recursions.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Their objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| place.object)
    }

    /// Computes a block, whose length is a multiple of a run, or those of a batch.
    ///
    /// Real-time: hot.
    pub(super) fn run(
        &self,
        objects: &mut [SignalObject],
        (blocks, scratch): (&mut [Box<[f32]>], &mut Scratch),
        rate: f32,
        cut: Cut,
    ) {
        let blocks = (blocks, scratch);
        match self.places.len() {
            0..=2 => self.run_in::<2>(objects, blocks, rate, cut),
            3..=4 => self.run_in::<4>(objects, blocks, rate, cut),
            _ => self.run_in::<LANES>(objects, blocks, rate, cut),
        }
    }

    fn run_in<const L: usize>(
        &self,
        objects: &mut [SignalObject],
        (blocks, scratch): (&mut [Box<[f32]>], &mut Scratch),
        rate: f32,
        cut: Cut,
    ) {
        let mut numbers = Numbers::<L>::new();
        for (lane, place) in self.places.iter().enumerate() {
            let object = &objects[place.object];
            let number = (self.kind != RecursionKind::FollowedPole).then(|| object.number(1));
            if let Some(found) = object.object.recursion(rate, number) {
                numbers.set(lane, &found);
            }
        }
        let parts = (self, (blocks, scratch), &mut numbers, cut);
        match self.kind {
            RecursionKind::LowPass => in_eights(Running(parts, kernels::LowPass)),
            RecursionKind::HighPass => in_eights(Running(parts, kernels::HighPass)),
            RecursionKind::BandPass => in_eights(Running(parts, kernels::BandPass)),
            RecursionKind::Biquad => in_eights(Running(parts, kernels::Biquad)),
            RecursionKind::FixedPole => in_eights(Running(parts, kernels::FixedPole)),
            RecursionKind::FollowedPole => in_eights(Running(parts, kernels::FollowedPole)),
            RecursionKind::RealPole => in_eights(Running(parts, kernels::RealPole)),
            RecursionKind::ComplexPole => in_eights(Running(parts, kernels::ComplexPole)),
            // They wait for nothing, and no row puts them side by side.
            RecursionKind::RealZero
            | RecursionKind::ReversedRealZero
            | RecursionKind::ComplexZero
            | RecursionKind::ReversedComplexZero => {}
        }
        for (lane, place) in self.places.iter().enumerate() {
            objects[place.object]
                .object
                .set_recursion(numbers.state(lane));
        }
    }
}

/// Recursions, the blocks of their row, memory, and their numbers.
type Parts<'r, const L: usize> = (
    &'r SideBySide,
    (&'r mut [Box<[f32]>], &'r mut Scratch),
    &'r mut Numbers<L>,
    Cut,
);

/// Recursions that compute a block.
struct Running<'r, K, const L: usize, const S: usize>(Parts<'r, L>, K);

impl<K: Kernel<S>, const L: usize, const S: usize> WideWork for Running<'_, K, L, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (lanes, (blocks, scratch), numbers, cut) = self.0;
        let samples = scratch.samples.as_chunks_mut().0.as_chunks_mut().0;
        let signals = scratch.signals.as_chunks_mut().0.as_chunks_mut().0;
        let (Some(samples), Some(signals)) = (samples.first_chunk_mut(), signals.first_chunk_mut())
        else {
            debug_assert!(false, "a row that computes lanes has memory for any");
            return;
        };
        let mut state = numbers.state;
        for run in 0..blocks[0].len() / RUN {
            lanes.compute::<K, L, S>((numbers, &mut state), (blocks, (samples, signals)), run);
            if cut == Cut::Blocks {
                const { assert!(RUN == BLOCK) };
                state = behind_block(lanes.kind, state);
            }
        }
        numbers.state = state;
    }
}

impl SideBySide {
    /// Computes a run.
    #[inline(always)]
    fn compute<K: Kernel<S>, const L: usize, const S: usize>(
        &self,
        (numbers, state): (&Numbers<L>, &mut [Lane<L>; 2]),
        (blocks, (samples, signals)): (&mut [Box<[f32]>], RunMemory<'_, L, S>),
        run: usize,
    ) {
        let places = &self.places[..];
        let inlets = Inlets {
            places,
            blocks,
            run,
        };
        if L == 2 {
            // Plain loops turn two lanes best where they are long.
            K::run_whole(numbers, state, &inlets, (samples, signals));
        } else {
            K::take(numbers, &inlets, signals);
            K::run_parts(numbers, state, signals);
        }
        if numbers.passes.contains(&true) {
            numbers.pass(&inlets, &mut signals[0]);
        }
        for (outlet, signals) in signals.iter().enumerate().take(K::OUTLETS) {
            let blocks_of = places.iter().map(|place| place.outlets[outlet]);
            give(blocks_of, signals, blocks, run);
        }
    }
}

/// Writes a run of each lane. All blocks that somebody reads differ, and the run of all inlets was taken before.
#[inline(always)]
fn give(
    outlets: impl Iterator<Item = Option<u32>>,
    signals: &[[f32; RUN]],
    blocks: &mut [Box<[f32]>],
    run: usize,
) {
    for (outlet, signal) in outlets.zip(signals) {
        if let Some(block) = outlet
            && let Some(to) = blocks[block as usize].as_chunks_mut().0.get_mut(run)
        {
            *to = *signal;
        }
    }
}

/// Signals of a run, of several recursions.
struct Inlets<'r> {
    places: &'r [LanePlace],
    blocks: &'r [Box<[f32]>],
    run: usize,
}

impl Inlets<'_> {
    /// The run of the signal at an inlet. Lanes that nothing runs in take what the last one takes.
    #[inline(always)]
    fn get(&self, lane: usize, inlet: usize) -> &[f32; RUN] {
        let place = &self.places[lane.min(self.places.len() - 1)];
        run_of(&self.blocks[place.inlets[inlet] as usize], self.run)
    }
}

/// A part of a run.
#[inline(always)]
fn part_of(run: &[f32; RUN], at: usize) -> &[f32; PART] {
    run.as_chunks().0.get(at).unwrap_or(&[0.0; PART])
}

/// A run of a block; silence where there is none.
#[inline(always)]
fn run_of(block: &[f32], at: usize) -> &[f32; RUN] {
    block.as_chunks().0.get(at).unwrap_or(&[0.0; RUN])
}
