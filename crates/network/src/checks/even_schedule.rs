//! Sizes for parts whose iteration has more firings than are simulated: sufficient, and larger than necessary.
//!
//! Let every node fire evenly, at a constant rate, and begin some time after the nodes that it reads from. In an iteration `R`
//! frames pass along a queue. If its reader begins a delay `D` (in iterations) after its writer, with
//!
//! ```text
//! R D ≥ window - consume + produce - initial
//! ```
//!
//! then the frames for each firing are there in time, however the two nodes' firings interleave: an even writer is behind
//! its rate by at most one firing. And when the writer needs room, the queue holds at most
//!
//! ```text
//! R D + initial + consume - produce        frames, besides the window that is written
//! ```
//!
//! Since this schedule never blocks with these sizes, no other schedule blocks for ever. The smallest begins are longest paths
//! (Bellman and Ford); a cycle whose delays add up to more than 0 has no such schedule.

use super::biconnected::Part;
use crate::topology::{NodePorts, QueueId, Topology};

/// Sizes of a part's queues, in the part's order; `None` if there is no even schedule, or a size is too large.
pub(super) fn even_sizes(topology: &Topology, part: &Part) -> Option<Vec<u64>> {
    let begins = begins(topology, part)?;
    let size = |queue: &QueueId| {
        let (writer, reader) = ends(topology, part, *queue);
        let (input, output) = (topology.input(*queue), topology.output(*queue));
        let delayed = frames_passed(topology, part, *queue) * (begins[reader] - begins[writer]);
        let others =
            topology.initial_frames(*queue) + input.consume + output.window - output.produce;
        // One more for rounding.
        let size = (delayed + others as f64).ceil() + 1.0;
        let is_valid = size.is_finite() && size <= NodePorts::MAX as f64;
        is_valid.then(|| (size as u64).max(topology.min_size(*queue) as u64))
    };
    part.queues.iter().map(size).collect()
}

/// Begin of each node, in iterations.
fn begins(topology: &Topology, part: &Part) -> Option<Vec<f64>> {
    let mut begins = vec![0.0_f64; part.nodes.len()];
    for _ in 0..=part.nodes.len() {
        let mut is_settled = true;
        for queue in &part.queues {
            let (writer, reader) = ends(topology, part, *queue);
            let (input, output) = (topology.input(*queue), topology.output(*queue));
            let initial = topology.initial_frames(*queue);
            let frames = (input.overlap() + output.produce) as f64 - initial as f64;
            let earliest = begins[writer] + frames / frames_passed(topology, part, *queue);
            // A cycle whose delays add up to 0 must not go on for ever because of rounding.
            if earliest > begins[reader] + 1e-12 * begins[reader].abs() {
                begins[reader] = earliest;
                is_settled = false;
            }
        }
        if is_settled {
            return Some(begins);
        }
    }
    None
}

/// Writer and reader of a queue, as indices within the part.
fn ends(topology: &Topology, part: &Part, queue: QueueId) -> (usize, usize) {
    let ends = &topology.queues[queue.0];
    (part.index_of(ends.from.node), part.index_of(ends.to.node))
}

/// Frames that pass along a queue in an iteration.
fn frames_passed(topology: &Topology, part: &Part, queue: QueueId) -> f64 {
    let (writer, _) = ends(topology, part, queue);
    part.repetitions[writer] as f64 * topology.output(queue).produce as f64
}
