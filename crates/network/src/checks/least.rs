//! The queue sizes with the fewest samples in all: exact.
//!
//! Each part of the network is looked at by itself. A queue that is a part alone has a formula. In any other part sizes
//! are played: where all stops, in a circle of nodes that wait for each other, the circle's full queues say why. These
//! sizes are raised as far as the part still stops: then whatever goes on has, in at least one of these queues, more than
//! that. Such *demands* are gathered, and the cheapest sizes that meet all that are known are played next. As soon as
//! they go on, nothing cheaper does: it would miss a demand. Of queues in a row that can stand in for each other
//! ([`stand_ins`]) only one is looked at.
//!
//! That larger sizes never hinder, and that a part stops in the same state whatever the order of its firings, is what
//! makes it right (a synchronous dataflow graph; the dependencies are those of Stuijk, Geilen and Basten).

use super::CheckError;
use super::balance::repetition_vector;
use super::cover::{Cover, Demand};
use super::parts::{Part, parts};
use super::series::stand_ins;
use super::unroll::{Patience, Stop, unroll};
use crate::shape::{QueueId, Topology};
use units::gcd;

/// A part with more queues than these is not searched.
pub const MOST_QUEUES: usize = 16;
/// The most firings that are played for it.
const MOST_WORK: u128 = 10_000_000;
/// The most steps that are made to meet demands.
const MOST_STEPS: u64 = 5_000_000;

/// What became of the search for the least sizes. It comes to an end where rows of queues have nodes that mostly move the
/// same amounts, however many rows there are, and nearly always where rows of up to three move different ones; it gives up
/// on longer rows of ever different amounts, where very many ways to share the room among them are as good.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Least {
    /// The sizes, in frames: no other ones have fewer samples in all.
    Found(Vec<usize>),
    /// More queues than [`MOST_QUEUES`] are joined by several ways: it was not tried.
    TooMany {
        /// How many.
        queues: usize,
    },
    /// They were not found with a reasonable effort.
    GaveUp,
}

/// The sizes, in frames, with the fewest samples in all.
///
/// # Errors
///
/// The rates contradict each other, or there is a deadlock that no size resolves.
pub fn least_sizes(shape: &Topology) -> Result<Least, CheckError> {
    let counts = repetition_vector(shape)?;
    let mut sizes = vec![0; shape.queues.len()];
    let mut effort = Effort {
        firings: Patience(MOST_WORK),
        steps: MOST_STEPS,
    };
    let mut missing = None;
    for part in parts(shape, &counts) {
        if let Some(queue) = part.single() {
            sizes[queue.0] = alone(shape, queue) as usize;
            continue;
        }
        let found = match part.queues.len() {
            0..=MOST_QUEUES => Search::new(shape, &part, &mut effort).run(),
            queues => Err(End::Not(Least::TooMany { queues })),
        };
        match found {
            Ok(found) => {
                for (queue, size) in part.queues.iter().zip(found) {
                    sizes[queue.0] = size as usize;
                }
            }
            Err(End::Not(why)) => missing = missing.or(Some(why)),
            Err(End::Deadlock(stop)) => return Err(stop.error(shape)),
        }
    }
    Ok(missing.unwrap_or(Least::Found(sizes)))
}

/// What a queue needs by itself. It holds, at all times, what it began with but for multiples of the common divisor of
/// what is written and read; going round, it comes to hold each such number of frames near the window, also the largest
/// with which the reader cannot fire: then the writer must have room.
pub(super) fn alone(shape: &Topology, queue: QueueId) -> u64 {
    let with_room = Grid::of(shape, queue).base;
    with_room.max(shape.min_size(queue) as u64)
}

/// The sizes of a queue that differ in what can be done with them: every `step` frames.
#[derive(Clone, Copy)]
struct Grid {
    /// One of them: the writer has room where the reader cannot fire.
    base: u64,
    step: u64,
}

impl Grid {
    fn of(shape: &Topology, queue: QueueId) -> Self {
        let (input, output) = (shape.input(queue), shape.output(queue));
        let (first, window) = (shape.initial_frames(queue) as i128, input.window as i128);
        let step = gcd(output.produce as u128, input.consume as u128) as i128;
        let too_few = window - 1 - (window - 1 - first).rem_euclid(step);
        Self {
            base: (too_few + output.window as i128) as u64,
            step: step as u64,
        }
    }

    /// The next size above one that does more than that.
    fn above(self, size: u64) -> u64 {
        self.base + size.saturating_sub(self.base).div_euclid(self.step) * self.step + self.step
    }
}

/// What may still be done.
struct Effort {
    firings: Patience,
    steps: u64,
}

/// Why a part has no sizes.
enum End {
    /// They were not found.
    Not(Least),
    /// There are none.
    Deadlock(Stop),
}

/// The search in one part. Queues are counted as the part has them.
struct Search<'a> {
    shape: &'a Topology,
    part: &'a Part,
    effort: &'a mut Effort,
    grids: Vec<Grid>,
    /// Queues that stay as they are by themselves.
    stays: Vec<bool>,
    cover: Cover,
}

/// What came of playing sizes.
enum Played {
    /// They go on; so many frames each queue needed.
    On(Vec<u64>),
    /// They stop, for want of room in these queues.
    Stops(Vec<usize>),
}

impl<'a> Search<'a> {
    fn new(shape: &'a Topology, part: &'a Part, effort: &'a mut Effort) -> Self {
        let queues = part.queues.iter();
        let least = queues.clone().map(|queue| alone(shape, *queue)).collect();
        let price = queues
            .clone()
            .map(|queue| shape.input(*queue).channels as u64);
        Self {
            grids: queues
                .clone()
                .map(|queue| Grid::of(shape, *queue))
                .collect(),
            stays: stand_ins(shape, part),
            cover: Cover::new(least, price.collect(), effort.steps),
            shape,
            part,
            effort,
        }
    }

    fn run(&mut self) -> Result<Vec<u64>, End> {
        let found = self.search();
        self.effort.steps = self.cover.steps;
        found
    }

    fn search(&mut self) -> Result<Vec<u64>, End> {
        // If this stops, it is for ever.
        self.play(&vec![None; self.part.queues.len()])?;
        loop {
            let sizes = self.cover.cheapest().map_err(|_| End::Not(Least::GaveUp))?;
            let mut bounds: Vec<_> = sizes.iter().copied().map(Some).collect();
            let mut is_first = true;
            // What one demand names has no bound when the next one is looked for: so none is found twice.
            while let Played::Stops(full) = self.play(&bounds)? {
                let demand = self.demand(&bounds, &full)?;
                if demand.is_empty() {
                    debug_assert!(false, "queues that stay as they are hinder nobody alone");
                    return Err(End::Not(Least::GaveUp));
                }
                demand.iter().for_each(|(queue, _)| bounds[*queue] = None);
                self.cover.add(demand);
                is_first = false;
            }
            if is_first {
                return Ok(sizes);
            }
        }
    }

    fn play(&mut self, bounds: &[Option<u64>]) -> Result<Played, End> {
        let stop = match unroll(self.shape, self.part, bounds, &mut self.effort.firings) {
            Ok(peaks) => return Ok(Played::On(peaks)),
            Err(stop) => stop,
        };
        let Stop::Stuck(circle) = &stop else {
            return Err(End::Not(Least::GaveUp));
        };
        let full = circle.iter().filter(|waiting| waiting.needed.is_some());
        let place = |queue| self.part.queues.binary_search(queue).ok();
        let full: Vec<usize> = full.filter_map(|waiting| place(&waiting.queue)).collect();
        match full.is_empty() {
            true => Err(End::Deadlock(stop)),
            false => Ok(Played::Stops(full)),
        }
    }

    /// What must be met by any sizes that go on, where `bounds` stop for want of room in `full`.
    fn demand(&mut self, bounds: &[Option<u64>], full: &[usize]) -> Result<Demand, End> {
        // Without the other bounds the same circle comes to be.
        let mut bounds: Vec<Option<u64>> = bounds.to_vec();
        let is_other = |queue: &usize| !full.contains(queue) && !self.stays[*queue];
        (0..bounds.len())
            .filter(is_other)
            .for_each(|queue| bounds[queue] = None);
        let mut demand = Demand::new();
        for &queue in full {
            if let Some(bound) = bounds[queue].filter(|_| !self.stays[queue])
                && let Some(more) = self.raise(&mut bounds, queue, bound)?
            {
                demand.push((queue, more));
            }
        }
        Ok(demand)
    }

    /// Raises the bound of `queue` as far as the part still stops, or takes it away where that does not help; else the
    /// least size with which it goes on.
    fn raise(
        &mut self,
        bounds: &mut [Option<u64>],
        queue: usize,
        bound: u64,
    ) -> Result<Option<u64>, End> {
        bounds[queue] = None;
        let Played::On(peaks) = self.play(bounds)? else {
            return Ok(None);
        };
        // It goes on with the peak, and stops with the bound.
        let grid = self.grids[queue];
        let steps = |size: u64| size.saturating_sub(bound).div_ceil(grid.step);
        let mut on = grid.above(bound);
        let (mut stops_at, mut goes_at) = (0, steps(peaks[queue]).max(1));
        while goes_at - stops_at > 1 {
            let middle = stops_at + (goes_at - stops_at) / 2;
            let size = grid.above(bound + (middle - 1) * grid.step);
            bounds[queue] = Some(size);
            match self.play(bounds)? {
                Played::On(_) => goes_at = middle,
                Played::Stops(_) => stops_at = middle,
            }
        }
        on += (goes_at - 1) * grid.step;
        bounds[queue] = Some(on - 1);
        Ok(Some(on))
    }
}
