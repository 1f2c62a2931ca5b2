//! How late a network's output is, when its input comes frame by frame.

use super::CheckError;
use super::parts::Part;
use super::unroll::{Play, Stop, TOO_MANY};
use crate::shape::{NodeId, Topology};

/// How a network's output keeps step with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagRange {
    /// So many frames the output is behind at worst, when all that can fire has fired after each frame.
    pub max: u64,
    /// So many frames it is behind at best; below 0 it is ahead.
    pub min: i64,
}

/// Plays the network frame by frame until it repeats. `input` gives one frame a firing, `output` takes one.
///
/// # Errors
///
/// Its rates contradict each other, it comes to a deadlock, or it does not repeat for too long.
pub fn lag_range(shape: &Topology, input: NodeId, output: NodeId) -> Result<LagRange, CheckError> {
    let counts = super::repetition_vector(shape)?;
    super::sufficient_sizes(shape)?;
    let free = vec![None; shape.queues.len()];
    let whole = Part::whole(shape, &counts);
    let mut play = Play::new(shape, &whole, &free);
    play.let_all_but(input.0);
    let mut lag = LagRange { max: 0, min: 0 };
    let (mut given, mut before) = (0u64, play.fills());
    loop {
        for _ in 0..counts[input.0].max(1) {
            given += 1;
            play.fire_once(input.0).map_err(|stop| stop.error(shape))?;
            let behind = given as i64 - play.fired(output.0) as i64;
            lag.max = lag.max.max(behind.max(0) as u64);
            lag.min = lag.min.min(behind);
        }
        let now = play.fills();
        if now == before {
            return Ok(lag);
        }
        if u128::from(given) > TOO_MANY {
            return Err(Stop::TooLong(given.into()).error(shape));
        }
        before = now;
    }
}
