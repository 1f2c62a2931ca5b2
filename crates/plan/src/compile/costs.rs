//! Estimated cost of an operation.

use super::ops::{Op, OpKind};
use super::wiring::{WiredNode, Wiring};
use crate::PlanOptions;
use graph::Signal;
use units::Nanos;

/// Cost of copying 64 frames of one channel, in nanoseconds.
const COPY_NS: u64 = 8;

/// Cost of an operation: the measured cost of its node, else the cost that the graph states, else the typical cost of the
/// kind.
pub(super) fn cost(wiring: &Wiring<'_>, op: Op, options: &PlanOptions) -> Nanos {
    let node = &wiring.nodes[op.node as usize];
    match options.costs.by_node.get(&node.id) {
        Some(measured) if op.kind.is_the_nodes_own() => *measured,
        _ => stated_cost(node, op.kind, options),
    }
}

/// The same without measurements: equal on every machine.
pub(super) fn stated_cost(node: &WiredNode<'_>, kind: OpKind, options: &PlanOptions) -> Nanos {
    match (kind, node.node.cost) {
        (OpKind::Silence, _) => Nanos(0),
        (OpKind::WriteLine(_) | OpKind::Send(_) | OpKind::Receive(_), _) => {
            scaled(COPY_NS, node, options)
        }
        // Into the line, and out again.
        (OpKind::Align(_), _) => scaled(2 * COPY_NS, node, options),
        (OpKind::Process | OpKind::ReadLine(_) | OpKind::Sink, Some(stated)) => stated,
        (OpKind::Process | OpKind::ReadLine(_) | OpKind::Sink, None) => {
            scaled(u64::from(node.kind.typical_ns), node, options)
        }
    }
}

/// From 64 frames of one channel to a block of the node's widest port, rounded up.
fn scaled(ns: u64, node: &WiredNode<'_>, options: &PlanOptions) -> Nanos {
    let ports = node.node.inputs.iter().chain(&node.node.outputs);
    let widths = ports.map(|p| match p.signal {
        Signal::Audio(channels) => u64::from(channels.0),
        _ => 1,
    });
    let widest = widths.max().unwrap_or(1).max(1);
    let frames = u64::from(options.block.0) * widest;
    Nanos(ns.saturating_mul(frames).div_ceil(64))
}
