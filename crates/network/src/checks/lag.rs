//! [`lag_range`]: how far a network's output falls behind its input.

use super::balance::repetition_vector;
use super::biconnected::Part;
use super::error::CheckError;
use super::simulate::{MAX_FIRINGS, Simulation, SimulationError};
use super::sizes::sufficient_sizes;
use crate::topology::Topology;
use graph::NodeId;

/// Range of the difference between frames written to a network and frames read from it, when everything that can fire has
/// fired after each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagRange {
    /// Frames that the output is behind at most: the latency of a node that must give a frame for each frame.
    pub max: u64,
    /// Frames that the output is behind at least; negative if it is ahead.
    pub min: i64,
}

/// Simulates the network frame by frame until it repeats. The node `input` produces one frame a firing, and `output` consumes
/// one.
///
/// # Errors
///
/// Its rates contradict each other, it comes to a deadlock, or an iteration has too many firings.
pub fn lag_range(
    topology: &Topology,
    input: NodeId,
    output: NodeId,
) -> Result<LagRange, CheckError> {
    let repetitions = repetition_vector(topology)?;
    // Checks that there is no deadlock.
    sufficient_sizes(topology)?;
    let unbounded = vec![None; topology.queues.len()];
    let whole = Part::whole(topology, &repetitions);
    let mut simulation = Simulation::new(topology, &whole, &unbounded);
    let (input, output) = (input.0 as usize, output.0 as usize);
    simulation.allow_all_but(input);
    let mut lag = LagRange { max: 0, min: 0 };
    let (mut written, mut before) = (0u64, simulation.fills());
    loop {
        for _ in 0..repetitions[input].max(1) {
            written += 1;
            simulation
                .fire_once(input)
                .map_err(|error| error.for_user(topology))?;
            let behind = written as i64 - simulation.fired(output) as i64;
            lag.max = lag.max.max(behind.max(0) as u64);
            lag.min = lag.min.min(behind);
        }
        let now = simulation.fills();
        if now == before {
            return Ok(lag);
        }
        if u128::from(written) > MAX_FIRINGS {
            return Err(SimulationError::TooManyFirings(written.into()).for_user(topology));
        }
        before = now;
    }
}
