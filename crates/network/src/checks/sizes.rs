//! Sufficient sizes of queues, part by part.

use super::balance::repetition_vector;
use super::biconnected::{Part, parts};
use super::error::CheckError;
use super::even_schedule::even_sizes;
use super::simulate::{Bounds, FiringBudget, MAX_FIRINGS, SimulationError, simulate};
use crate::topology::{QueueId, Topology};
use units::gcd;

/// Result of the static check of a network that can run for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Firings of each node in one iteration, after which all queues hold as many frames as before it: the solution of
    /// the balance equations.
    pub repetitions: Vec<u64>,
    /// Size of each queue in frames, with which the network never blocks for lack of room: the size that the topology
    /// sets, or else a sufficient one.
    pub sizes: Vec<usize>,
}

/// Checks a network. Queues that have a size keep it; the other sizes are sufficient and not always minimal.
///
/// # Errors
///
/// Its rates contradict each other, it comes to a deadlock, a size is too small, or it takes too long to find out.
pub fn check(topology: &Topology) -> Result<CheckResult, CheckError> {
    let set = topology.queues.iter().map(|queue| queue.size);
    let bounds: Vec<_> = set
        .clone()
        .map(|size| size.map(|size| size as u64))
        .collect();
    let found = bounded_sizes(topology, &bounds)?;
    let sizes = set.zip(found).map(|(set, found)| set.unwrap_or(found));
    Ok(CheckResult {
        repetitions: repetition_vector(topology)?,
        sizes: sizes.collect(),
    })
}

/// Sufficient sizes of the queues in frames, whatever sizes the topology sets. Larger than necessary where parallel paths
/// join nodes whose rates meet again only after millions of firings.
///
/// # Errors
///
/// Its rates contradict each other, or it comes to a deadlock.
pub fn sufficient_sizes(topology: &Topology) -> Result<Vec<usize>, CheckError> {
    bounded_sizes(topology, &vec![None; topology.queues.len()])
}

/// Checks that the network runs for ever with these sizes.
///
/// # Errors
///
/// As for [`sufficient_sizes`]; if a size is too small, [`CheckError::QueueTooSmall`].
pub fn verify_sizes(topology: &Topology, sizes: &[usize]) -> Result<(), CheckError> {
    let bounds: Vec<_> = sizes.iter().map(|size| Some(*size as u64)).collect();
    bounded_sizes(topology, &bounds).map(drop)
}

/// The size that each queue needs, within its bound.
fn bounded_sizes(topology: &Topology, bounds: &Bounds) -> Result<Vec<usize>, CheckError> {
    let repetitions = repetition_vector(topology)?;
    for (queue, bound) in topology.queue_ids().zip(bounds) {
        let needed = topology.initial_frames(queue) as u64;
        if let Some(size) = bound.filter(|size| *size < needed) {
            return Err(CheckError::too_small(topology, queue, size, needed));
        }
    }
    let mut sizes: Vec<_> = topology
        .queue_ids()
        .map(|queue| topology.min_size(queue))
        .collect();
    let mut budget = FiringBudget(MAX_FIRINGS);
    for part in parts(topology, &repetitions) {
        let found = part_sizes(topology, &part, bounds, &mut budget)?;
        for (queue, size) in part.queues.iter().zip(found) {
            sizes[queue.0] = sizes[queue.0].max(size as usize);
        }
    }
    Ok(sizes)
}

/// The same for the queues of one part, in the part's order.
fn part_sizes(
    topology: &Topology,
    part: &Part,
    bounds: &Bounds,
    budget: &mut FiringBudget,
) -> Result<Vec<u64>, CheckError> {
    if let Some(queue) = part.single() {
        let needed = single_queue_size(topology, queue);
        return match bounds[queue.0] {
            Some(size) if size < needed => {
                Err(CheckError::too_small(topology, queue, size, needed))
            }
            _ => Ok(vec![needed]),
        };
    }
    let bounds: Vec<_> = part.queues.iter().map(|queue| bounds[queue.0]).collect();
    match simulate(topology, part, &bounds, budget) {
        // Sizes below those of the even schedule may be sufficient too, but this is not known.
        Err(error @ SimulationError::TooManyFirings(_)) => even_sizes(topology, part)
            .filter(|sizes| {
                let mut each = bounds.iter().zip(sizes);
                each.all(|(bound, size)| bound.is_none_or(|bound| bound >= *size))
            })
            .ok_or_else(|| error.for_user(topology)),
        result => result.map_err(|error| error.for_user(topology)),
    }
}

/// Size of a queue that is a part by itself.
///
/// With `d` = gcd(produce, consume), the queue always holds its initial frames plus a multiple of `d`. Over an iteration it
/// comes to hold every such number below the reader's window; the largest of them, with which the reader cannot fire,
/// must leave room for the writer's window:
///
/// ```text
/// size = (window - 1) - ((window - 1 - initial) mod d) + writer's window
/// ```
///
/// Minimal for one queue (Bhattacharyya, Murthy and Lee, *Software Synthesis from Dataflow Graphs*, 1996, for plain windows).
fn single_queue_size(topology: &Topology, queue: QueueId) -> u64 {
    let (input, output) = (topology.input(queue), topology.output(queue));
    let (initial, window) = (topology.initial_frames(queue) as i128, input.window as i128);
    let step = gcd(output.produce as u128, input.consume as u128) as i128;
    let blocked = window - 1 - (window - 1 - initial).rem_euclid(step);
    let size = (blocked + output.window as i128) as u64;
    size.max(topology.min_size(queue) as u64)
}
