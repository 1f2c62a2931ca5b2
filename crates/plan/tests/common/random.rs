//! Random graphs without a cycle that lacks a delay.

use super::Patch;
use graph::NodeId;
use proptest::collection::vec;
use proptest::prelude::*;
use units::Frames;

/// One node: kind, channels, delay in frames, `every`, whether it is enabled, its latency.
type NodeSeed = (u8, u8, u8, u8, bool, u32);
/// One edge: from, output, to, input.
type EdgeSeed = (u16, u8, u16, u8);

const KINDS: [&str; 12] = [
    "osc", "mod", "mod", "mod", "mod", "mix", "mix", "sink", "delay", "delay", "player", "synth",
];
const DELAYS: [u32; 8] = [0, 1, 2, 20, 63, 64, 65, 1000];

/// Latency of a node: most have none.
fn latency() -> impl Strategy<Value = u32> {
    prop_oneof![6 => Just(0), 1 => 1..200_u32, 1 => Just(64)]
}

/// A patch of up to `most` nodes.
pub(crate) fn patches(most: usize) -> impl Strategy<Value = Patch> {
    let node = (
        any::<u8>(),
        prop_oneof![6 => Just(1), 1 => 2..=3u8],
        any::<u8>(),
        prop_oneof![8 => Just(1), 1 => 2..4u8],
        prop::bool::weighted(0.9),
        latency(),
    );
    let edge = (any::<u16>(), any::<u8>(), any::<u16>(), any::<u8>());
    (vec(node, 1..most), vec(edge, 0..4 * most)).prop_map(|(nodes, edges)| patch(&nodes, &edges))
}

/// The same, but edges go where they like: with cycles of all sorts.
pub(crate) fn wild_patches(most: usize) -> impl Strategy<Value = Patch> {
    let node = (
        0..KINDS.len() as u8 - 2,
        Just(1),
        any::<u8>(),
        Just(1),
        prop::bool::weighted(0.9),
        latency(),
    );
    let edge = (any::<u16>(), any::<u8>(), any::<u16>(), any::<u8>());
    (vec(node, 1..most), vec(edge, 0..2 * most)).prop_map(|(nodes, edges)| {
        let mut patch = patch(&nodes, &[]);
        for seed in edges {
            connect(&mut patch, seed, true);
        }
        patch
    })
}

fn patch(nodes: &[NodeSeed], edges: &[EdgeSeed]) -> Patch {
    let mut patch = Patch::default();
    for seed in nodes {
        add(&mut patch, *seed);
    }
    for seed in edges {
        connect(&mut patch, *seed, false);
    }
    patch
}

fn add(patch: &mut Patch, (kind, channels, delay, every, enabled, late): NodeSeed) {
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    let frames = DELAYS[usize::from(delay) % DELAYS.len()];
    let params = [
        ("channels", f64::from(channels)),
        ("time", f64::from(frames) / 48_000.0),
    ];
    let id = patch.add_with(kind, &params);
    let node = patch.graph.node_mut(id).expect("it was just added");
    node.every = every.into();
    node.enabled = enabled;
    if late > 0 {
        patch.options.latencies.insert(id, Frames(late));
    }
}

/// Connects if the signals fit, and if the edge goes forward or into a delay of at least a frame, or anywhere if
/// `wild`.
fn connect(patch: &mut Patch, (from, output, to, input): EdgeSeed, wild: bool) {
    let count = patch.graph.id_bound() as u16;
    // Half of the edges are short: then there are long ways.
    let from = from % count;
    let to = if to % 2 == 0 {
        from + to / 2 % 8
    } else {
        to / 2
    } % count;
    let (from, to) = (NodeId(from.into()), NodeId(to.into()));
    let [gives, takes] = [from, to].map(|id| patch.graph.node(id).expect("none was removed"));
    if gives.outputs.is_empty() || takes.inputs.is_empty() {
        return;
    }
    let output = u16::from(output) % gives.outputs.len() as u16;
    let input = u16::from(input) % takes.inputs.len() as u16;
    let sent = gives.outputs[usize::from(output)].signal;
    let fits = sent.fits(takes.inputs[usize::from(input)].signal);
    let cuts = takes.kind == "delay" && takes.number("time").is_some_and(|t| t > 0.0);
    if fits && (wild || from < to || cuts) {
        patch.wire_ports((from, output), (to, input));
    }
}
