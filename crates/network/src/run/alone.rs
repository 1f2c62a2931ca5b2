//! On one thread: the simplest schedule, and what the others are held against.

use crate::error::{RunError, RunOptions, RunSummary};
use crate::live::{Live, Step};
use crate::network::Network;
use crate::started::Started;
use crate::stuck::Way;

/// Which node has its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FiringOrder {
    /// One after the other, one firing each.
    #[default]
    RoundRobin,
    /// One after the other, each for as long as it can.
    UntilBlocked,
    /// Any, as this number has it; one firing each.
    Random(u64),
}

/// Runs a network to its end on the caller's thread.
///
/// # Errors
///
/// It did not come to its end.
///
/// Real-time: waits, on the nodes.
pub fn run_on_caller(
    network: Network,
    options: &RunOptions,
    order: FiringOrder,
) -> Result<RunSummary, RunError> {
    let mut started = Started::new(network, options)?;
    let mut dice = match order {
        FiringOrder::Random(seed) => Dice(seed),
        FiringOrder::RoundRobin | FiringOrder::UntilBlocked => Dice(0),
    };
    let (count, mut sinks) = (started.lives.len(), started.sinks());
    // So many turns in a row without a firing; a node that is drawn at random may be drawn again.
    let (mut idle, mut next) = (0, 0);
    loop {
        if started.options.is_stopped() {
            return Err(RunError::Interrupted);
        }
        if idle >= count {
            let mut lives: Vec<&mut Live> = started.lives.iter_mut().collect();
            match started.circuit.resolve(&mut lives)? {
                Way::Over => return Ok(started.summary()),
                Way::Go(nodes) => next = nodes.first().copied().unwrap_or(0),
            }
            idle = 0;
        }
        let node = next;
        next = match order {
            FiringOrder::Random(_) => dice.below(count),
            FiringOrder::RoundRobin | FiringOrder::UntilBlocked => (node + 1) % count,
        };
        idle = match turn(&mut started, node, order)? {
            Turn::Idle => idle + 1,
            Turn::Fired => 0,
            Turn::Ended => {
                let live = &started.lives[node];
                sinks -= usize::from(live.is_sink);
                if live.is_sink && sinks == 0 {
                    return Ok(started.summary());
                }
                0
            }
        };
    }
}

/// What a node did in its turn.
enum Turn {
    Idle,
    Fired,
    Ended,
}

fn turn(started: &mut Started, node: usize, order: FiringOrder) -> Result<Turn, RunError> {
    let mut turn = Turn::Idle;
    loop {
        match started.lives[node].step() {
            Step::Fired if order == FiringOrder::UntilBlocked && !started.options.is_stopped() => {
                turn = Turn::Fired;
            }
            Step::Fired => return Ok(Turn::Fired),
            Step::Ended => return Ok(Turn::Ended),
            Step::Held(_) => return Ok(turn),
            Step::Failed(failure) => return Err(started.failed(node, failure)),
        }
    }
}

/// Numbers that look random (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % count as u64) as usize
    }
}
