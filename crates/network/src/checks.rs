//! What can be known of a network before it runs: whether its rates fit, whether it can go on for ever, how large its
//! queues must be. Pure functions of its [`Shape`].
//!
//! A node that sees a window and takes less of it is one that takes as much, on a queue that owes the difference: so the
//! theory of synchronous dataflow holds (Lee and Messerschmitt), with debts for what filters remember.

mod balance;
mod error;
mod latency;
mod least;
mod unroll;

pub use balance::balance;
pub(crate) use balance::gcd;
pub use error::CheckError;
pub use latency::{Lag, lag};
pub use least::{MOST_QUEUES, least_sizes};

use crate::shape::Shape;
use unroll::{Bounds, unroll};

/// What is known of a network before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How often each node fires until all queues hold as much again: the solution of the balance equations.
    pub repetitions: Vec<u64>,
    /// Frames of each queue with which it never waits for room for ever: what was asked for, where that was.
    pub sizes: Vec<usize>,
    /// The sizes with the fewest samples in all, where there are few queues and they could be found.
    pub least: Option<Vec<usize>>,
}

/// All that is known of a network before it runs. Queues that have a size keep it.
///
/// # Errors
///
/// Its rates contradict each other, it comes to a deadlock, or a size is too small.
pub fn check(shape: &Shape) -> Result<Verdict, CheckError> {
    let repetitions = balance(shape)?;
    let sizes = fixed_sizes(shape)?;
    let least = match shape.queues.len() {
        0..=MOST_QUEUES => least_sizes(shape)?,
        _ => None,
    };
    Ok(Verdict {
        repetitions,
        sizes,
        least,
    })
}

/// Sizes of the queues, in frames, with which the network goes on for ever, whatever was asked for.
///
/// # Errors
///
/// Its rates contradict each other, or it comes to a deadlock.
pub fn sufficient_sizes(shape: &Shape) -> Result<Vec<usize>, CheckError> {
    let free = vec![None; shape.queues.len()];
    sizes(shape, &free)
}

/// As [`sufficient_sizes`], where queues that have a size keep it.
///
/// # Errors
///
/// As there, or a size is too small.
pub fn fixed_sizes(shape: &Shape) -> Result<Vec<usize>, CheckError> {
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
/// As for [`sufficient_sizes`]; where a size is too small, [`CheckError::TooSmall`].
pub fn holds_with(shape: &Shape, sizes: &[usize]) -> Result<(), CheckError> {
    let bounds: Vec<_> = sizes.iter().map(|size| Some(*size as u64)).collect();
    self::sizes(shape, &bounds).map(drop)
}

/// What each queue needs, within its bound.
fn sizes(shape: &Shape, bounds: &Bounds) -> Result<Vec<usize>, CheckError> {
    let repetitions = balance(shape)?;
    for (queue, bound) in shape.queue_ids().zip(bounds) {
        let needed = shape.first(queue) as u64;
        if let Some(size) = bound.filter(|size| *size < needed) {
            return Err(CheckError::too_small(shape, queue, size, needed));
        }
    }
    let peaks = unroll(shape, &repetitions, bounds).map_err(|stop| stop.error(shape))?;
    let peaks = shape.queue_ids().zip(peaks);
    Ok(peaks
        .map(|(queue, peak)| (peak as usize).max(shape.least(queue)))
        .collect())
}

#[cfg(all(test, not(loom)))]
mod tests;
