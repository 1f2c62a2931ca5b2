//! What can be known of a network before it runs: whether its rates fit, whether it can go on for ever, how large its
//! queues must be. Pure functions of its [`Topology`].
//!
//! A node that sees a window and takes less of it is one that takes as much, on a queue that owes the difference: so the
//! theory of synchronous dataflow holds (Lee and Messerschmitt), with debts for what filters remember.

mod balance;
mod cover;
mod error;
mod latency;
mod least;
mod parts;
mod series;
mod steady;
mod unroll;

pub use balance::repetition_vector;
pub use error::CheckError;
pub use latency::{LagRange, lag_range};
pub use least::{Least, MOST_QUEUES, least_sizes};

use crate::shape::Topology;
use parts::{Part, parts};
use steady::steady_sizes;
use unroll::{Bounds, Patience, Stop, TOO_MANY, unroll};

/// What is known of a network before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// How often each node fires until all queues hold as much again: the solution of the balance equations.
    pub repetitions: Vec<u64>,
    /// Frames of each queue with which it never waits for room for ever: what was asked for, where that was.
    pub sizes: Vec<usize>,
}

/// All that is known of a network before it runs. Queues that have a size keep it. The least sizes that there are take
/// longer: [`least_sizes`].
///
/// # Errors
///
/// Its rates contradict each other, it comes to a deadlock, a size is too small, or it takes too long to find out.
pub fn check(shape: &Topology) -> Result<CheckResult, CheckError> {
    Ok(CheckResult {
        repetitions: repetition_vector(shape)?,
        sizes: fixed_sizes(shape)?,
    })
}

/// Sizes of the queues, in frames, with which the network goes on for ever, whatever was asked for. Where several ways
/// join nodes whose rates meet again only after millions of firings, they are larger than they would have to be.
///
/// # Errors
///
/// Its rates contradict each other, or it comes to a deadlock.
pub fn sufficient_sizes(shape: &Topology) -> Result<Vec<usize>, CheckError> {
    let free = vec![None; shape.queues.len()];
    sizes(shape, &free)
}

/// As [`sufficient_sizes`], where queues that have a size keep it.
///
/// # Errors
///
/// As there, or a size is too small.
pub fn fixed_sizes(shape: &Topology) -> Result<Vec<usize>, CheckError> {
    let fixed: Vec<_> = shape
        .queues
        .iter()
        .map(|queue| queue.size.map(|size| size as u64))
        .collect();
    let found = sizes(shape, &fixed)?;
    let asked = shape.queues.iter().map(|queue| queue.size);
    Ok(asked
        .zip(found)
        .map(|(asked, found)| asked.unwrap_or(found))
        .collect())
}

/// Whether the network goes on for ever with these sizes.
///
/// # Errors
///
/// As for [`sufficient_sizes`]; where a size is too small, [`CheckError::QueueTooSmall`].
pub fn verify_sizes(shape: &Topology, sizes: &[usize]) -> Result<(), CheckError> {
    let bounds: Vec<_> = sizes.iter().map(|size| Some(*size as u64)).collect();
    self::sizes(shape, &bounds).map(drop)
}

/// What each queue needs, within its bound.
fn sizes(shape: &Topology, bounds: &Bounds) -> Result<Vec<usize>, CheckError> {
    let repetitions = repetition_vector(shape)?;
    for (queue, bound) in shape.queue_ids().zip(bounds) {
        let needed = shape.initial_frames(queue) as u64;
        if let Some(size) = bound.filter(|size| *size < needed) {
            return Err(CheckError::too_small(shape, queue, size, needed));
        }
    }
    let mut sizes: Vec<_> = shape
        .queue_ids()
        .map(|queue| shape.min_size(queue))
        .collect();
    let mut patience = Patience(TOO_MANY);
    for part in parts(shape, &repetitions) {
        for (queue, size) in part
            .queues
            .iter()
            .zip(of_part(shape, &part, bounds, &mut patience)?)
        {
            sizes[queue.0] = sizes[queue.0].max(size as usize);
        }
    }
    Ok(sizes)
}

/// The same of a part.
fn of_part(
    shape: &Topology,
    part: &Part,
    bounds: &Bounds,
    patience: &mut Patience,
) -> Result<Vec<u64>, CheckError> {
    if let Some(queue) = part.single() {
        let needed = least::alone(shape, queue);
        return match bounds[queue.0] {
            Some(size) if size < needed => Err(CheckError::too_small(shape, queue, size, needed)),
            _ => Ok(vec![needed]),
        };
    }
    let bounds: Vec<_> = part.queues.iter().map(|queue| bounds[queue.0]).collect();
    match unroll(shape, part, &bounds, patience) {
        // Sizes that are smaller than these may do as well, but nobody knows.
        Err(stop @ Stop::TooLong(_)) => steady_sizes(shape, part)
            .filter(|sizes| {
                let mut each = bounds.iter().zip(sizes);
                each.all(|(bound, size)| bound.is_none_or(|bound| bound >= *size))
            })
            .ok_or_else(|| stop.error(shape)),
        played => played.map_err(|stop| stop.error(shape)),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
