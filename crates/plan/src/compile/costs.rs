//! Estimated cost of an operation.

use super::ops::{Op, OpKind};
use super::wiring::{WiredNode, Wiring};
use crate::PlanOptions;
use graph::{PortCount, PortSpec, Signal};
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
        (OpKind::Process | OpKind::ReadLine(_) | OpKind::Sink, None) => typical(node, options),
    }
}

/// Cost that the node's own parameter states, else the typical one of its kind.
fn typical(node: &WiredNode<'_>, options: &PlanOptions) -> Nanos {
    let stated = node.kind.cost_param.and_then(|key| node.node.number(key));
    match stated {
        Some(ns) => Nanos(ns.max(0.0) as u64),
        None => {
            let ns = u64::from(node.kind.typical_ns).saturating_mul(series_factor(node));
            scaled(ns, node, options)
        }
    }
}

/// Number of times that the node has the default number of ports, rounded up: a mixer of 100 inputs costs 50 times what
/// one of two does.
fn series_factor(node: &WiredNode<'_>) -> u64 {
    let factor = |specs: &[PortSpec], ports: usize| {
        let default = specs.iter().map(|spec| match spec.count {
            PortCount::One | PortCount::Channels => 1,
            PortCount::Many { default, .. } => u64::from(default),
        });
        (ports as u64).div_ceil(default.sum::<u64>().max(1))
    };
    let inputs = factor(&node.kind.inputs, node.node.kind_inputs().len());
    inputs
        .max(factor(&node.kind.outputs, node.node.outputs.len()))
        .max(1)
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
