//! What a turn is thought to cost.

use crate::PlanOptions;
use crate::turns::{Act, Turn};
use crate::wiring::{Member, Wiring};
use graph::Signal;
use units::Nanos;

/// What copying 64 frames of one channel is thought to cost, in nanoseconds.
const COPY_NS: u64 = 8;

/// What a turn is thought to cost: what was measured, else what the text says, else what its kind says.
pub(crate) fn cost(wiring: &Wiring<'_>, turn: Turn, options: &PlanOptions) -> Nanos {
    let member = &wiring.members[turn.member as usize];
    match options.costs.by_node.get(&member.id) {
        Some(measured) if matches!(turn.act, Act::Run | Act::Read(_) | Act::Keep) => *measured,
        _ => stated_cost(member, turn, options),
    }
}

/// The same without what was measured: equal on every machine.
pub(crate) fn stated_cost(member: &Member<'_>, turn: Turn, options: &PlanOptions) -> Nanos {
    let typical = match turn.act {
        Act::Mute => return Nanos(0),
        Act::Write(_) | Act::Send(_) | Act::Receive(_) => scaled(COPY_NS, member, options),
        // In, and out again.
        Act::Align(_) => scaled(2 * COPY_NS, member, options),
        Act::Run | Act::Read(_) | Act::Keep => {
            scaled(u64::from(member.kind.typical_ns), member, options)
        }
    };
    match (member.node.cost, turn.act) {
        (Some(said), Act::Run | Act::Read(_) | Act::Keep) => said,
        _ => typical,
    }
}

/// From 64 frames of one channel to the block and the node's widest port.
fn scaled(ns: u64, member: &Member<'_>, options: &PlanOptions) -> Nanos {
    let ports = member.node.inputs.iter().chain(&member.node.outputs);
    let widths = ports.map(|p| match p.signal {
        Signal::Audio(channels) => u64::from(channels.0),
        _ => 1,
    });
    let widest = widths.max().unwrap_or(1).max(1);
    let frames = u64::from(options.block.0) * widest;
    Nanos(ns.saturating_mul(frames).div_ceil(64))
}
