//! A network on the caller's thread: the simplest scheduler, and the reference for the other one.

use crate::error::{RunError, RunOptions, RunSummary};
use crate::network::Network;
use crate::run::deadlock::Resolution;
use crate::run::instance::{NetworkInstance, run_error};
use crate::run::node::{FireOutcome, RunningNode};
use units::SplitMix64;

/// Order in which nodes are tried. It changes no sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FiringOrder {
    /// In turn, one firing each.
    #[default]
    RoundRobin,
    /// In turn, each until it blocks: fewest changes between nodes.
    UntilBlocked,
    /// At random from this seed, one firing each: for tests.
    Random(u64),
}

/// Runs a network to its end on the caller's thread.
///
/// # Errors
///
/// The network did not run to its end.
///
/// Real-time: waits, on the actors.
pub fn run_on_caller(
    network: Network,
    options: &RunOptions,
    order: FiringOrder,
) -> Result<RunSummary, RunError> {
    let mut instance = NetworkInstance::new(network, options)?;
    let mut random = SplitMix64(match order {
        FiringOrder::Random(seed) => seed,
        _ => 0,
    });
    let (count, mut sinks) = (instance.nodes.len(), instance.sink_count());
    // Attempts in a row without a firing. At random, a node may have been tried twice; then `resolve` says so.
    let (mut idle, mut next) = (0, 0);
    loop {
        if instance.options.is_stopped() {
            return Err(RunError::Interrupted);
        }
        if idle >= count {
            let mut nodes: Vec<&mut RunningNode> = instance.nodes.iter_mut().collect();
            match instance.queues.resolve(&mut nodes)? {
                Resolution::Finished => return Ok(instance.summary()),
                Resolution::Resume(nodes) => next = nodes.first().copied().unwrap_or(0),
            }
            idle = 0;
        }
        let node = next;
        next = match order {
            FiringOrder::Random(_) => random.below(count),
            FiringOrder::RoundRobin | FiringOrder::UntilBlocked => (node + 1) % count,
        };
        idle = match run_node(&mut instance, node, order)? {
            FireOutcome::Fired => 0,
            FireOutcome::Ended => {
                let is_sink = instance.nodes[node].is_sink;
                sinks -= usize::from(is_sink);
                if is_sink && sinks == 0 {
                    return Ok(instance.summary());
                }
                0
            }
            _ => idle + 1,
        };
    }
}

/// Fires a node once, or until it blocks. Returns `Fired` if it fired at least once and has not ended.
fn run_node(
    instance: &mut NetworkInstance,
    node: usize,
    order: FiringOrder,
) -> Result<FireOutcome, RunError> {
    let mut has_fired = false;
    loop {
        match instance.nodes[node].try_fire() {
            FireOutcome::Fired => {
                has_fired = true;
                if order != FiringOrder::UntilBlocked || instance.options.is_stopped() {
                    return Ok(FireOutcome::Fired);
                }
            }
            FireOutcome::Blocked if has_fired => return Ok(FireOutcome::Fired),
            FireOutcome::Failed(failure) => {
                return Err(run_error(&instance.queues.topology, node, failure));
            }
            outcome => return Ok(outcome),
        }
    }
}
