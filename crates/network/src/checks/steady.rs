//! Sizes for parts whose rates meet again only after more firings than can be played: sufficient, and not the least.
//!
//! Have every node fire evenly, each a while after the nodes that it reads from. Let `R` frames pass along a queue in a
//! round, and let its reader begin so much of a round after its writer that
//!
//! ```text
//! R * while >= window - consume + produce - first
//! ```
//!
//! Then the frames are there for each firing, however the firings of the two lie: of what the writer gives evenly, at most
//! one firing's frames are still to come. And the queue never holds more than
//!
//! ```text
//! R * while + first + consume - produce
//! ```
//!
//! when the writer needs room. Since there is a way to go on with that, every way goes on. A circle of whiles that add
//! up to more than nothing has no such way.

use super::parts::Part;
use crate::shape::{NodeId, Ports, QueueId, Topology};

/// The sizes, in the part's order; none if there are none of this kind, or they are too large.
pub(super) fn steady_sizes(shape: &Topology, part: &Part) -> Option<Vec<u64>> {
    let begins = begins(shape, part)?;
    let size = |queue: &QueueId| {
        let (from, to) = ends(shape, part, *queue);
        let (input, output) = (shape.input(*queue), shape.output(*queue));
        let passes = passing(shape, part, *queue) * (begins[to] - begins[from]);
        let more = shape.initial_frames(*queue) + input.consume + output.window - output.produce;
        // One more for what was rounded.
        let size = (passes + more as f64).ceil() + 1.0;
        let is_right = size.is_finite() && size <= Ports::MAX as f64;
        is_right.then(|| (size as u64).max(shape.min_size(*queue) as u64))
    };
    part.queues.iter().map(size).collect()
}

/// When each node begins, in rounds.
fn begins(shape: &Topology, part: &Part) -> Option<Vec<f64>> {
    let mut begins = vec![0.0_f64; part.nodes.len()];
    for _ in 0..=part.nodes.len() {
        let mut is_settled = true;
        for queue in &part.queues {
            let (from, to) = ends(shape, part, *queue);
            let (input, output) = (shape.input(*queue), shape.output(*queue));
            let frames =
                (input.overlap() + output.produce) as f64 - shape.initial_frames(*queue) as f64;
            let earliest = begins[from] + frames / passing(shape, part, *queue);
            // Circles that come out even may not go round for ever by what is rounded.
            if earliest > begins[to] + 1e-12 * begins[to].abs() {
                begins[to] = earliest;
                is_settled = false;
            }
        }
        if is_settled {
            return Some(begins);
        }
    }
    None
}

fn ends(shape: &Topology, part: &Part, queue: QueueId) -> (usize, usize) {
    let place = |node: NodeId| {
        let found = part.nodes.binary_search(&node);
        found.expect("a part has the nodes of its queues")
    };
    let ends = &shape.queues[queue.0];
    (place(ends.from.0), place(ends.to.0))
}

/// Frames that pass along a queue in a round.
fn passing(shape: &Topology, part: &Part, queue: QueueId) -> f64 {
    let (from, _) = ends(shape, part, queue);
    part.counts[from] as f64 * shape.output(queue).produce as f64
}
