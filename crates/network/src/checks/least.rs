//! The queue sizes with the fewest samples in all, by search: exact, for few queues.
//!
//! From the sizes that each queue needs by itself, the one with the fewest samples is played first. If it is stuck, in a
//! circle of nodes that wait for each other, then in every larger one that is not, at least one of the circle's full
//! queues has the room that is waited for there: so each of these is one size to try next. Whatever plays through
//! first, in the order of samples, is the least.

use super::CheckError;
use super::balance::{balance, gcd};
use super::unroll::{Stop, unroll};
use crate::shape::{QueueId, Shape};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// More queues than these are not searched.
pub const MOST_QUEUES: usize = 10;
/// The most firings that are played for it, about.
const MOST_WORK: u128 = 20_000_000;

/// The sizes, in frames, with the fewest samples in all; none if they were not found with a reasonable effort.
///
/// # Errors
///
/// The rates contradict each other, or there is a deadlock that no size resolves.
pub fn least_sizes(shape: &Shape) -> Result<Option<Vec<usize>>, CheckError> {
    let counts = balance(shape)?;
    let round: u128 = counts
        .iter()
        .map(|count| u128::from(*count))
        .sum::<u128>()
        .max(1);
    let first: Vec<u64> = shape.queue_ids().map(|queue| alone(shape, queue)).collect();
    let mut seen = HashSet::from([first.clone()]);
    let mut next = BinaryHeap::from([Reverse((samples(shape, &first), first))]);
    let mut work = 0;
    while let Some(Reverse((_, sizes))) = next.pop() {
        work += round;
        if work > MOST_WORK {
            return Ok(None);
        }
        let bounds: Vec<_> = sizes.iter().copied().map(Some).collect();
        let stop = match unroll(shape, &counts, &bounds) {
            Ok(_) => return Ok(Some(sizes.iter().map(|size| *size as usize).collect())),
            Err(stop) => stop,
        };
        let Stop::Stuck(circle) = &stop else {
            return Ok(None);
        };
        let full = circle
            .iter()
            .filter_map(|waiting| Some((waiting.queue, waiting.needed?)));
        let mut is_for_ever = true;
        for (queue, needed) in full {
            is_for_ever = false;
            let mut larger = sizes.clone();
            larger[queue.0] = needed;
            if seen.insert(larger.clone()) {
                next.push(Reverse((samples(shape, &larger), larger)));
            }
        }
        if is_for_ever {
            return Err(stop.error(shape));
        }
    }
    Ok(None)
}

fn samples(shape: &Shape, sizes: &[u64]) -> u128 {
    let one =
        |(queue, size): (QueueId, &u64)| u128::from(*size) * shape.input(queue).channels as u128;
    shape.queue_ids().zip(sizes).map(one).sum()
}

/// What a queue needs by itself. It holds, at all times, what it began with but for multiples of the common divisor of
/// what is written and read; going round, it comes to hold each such number of frames near the window, also the largest
/// with which the reader cannot fire: then the writer must have room.
fn alone(shape: &Shape, queue: QueueId) -> u64 {
    let (input, output) = (shape.input(queue), shape.output(queue));
    let (first, window) = (shape.first(queue) as i128, input.window as i128);
    let step = gcd(output.produce as u128, input.consume as u128) as i128;
    let too_few = window - 1 - (window - 1 - first).rem_euclid(step);
    let with_room = too_few + output.room as i128;
    (with_room.max(0) as u64).max(shape.least(queue) as u64)
}
