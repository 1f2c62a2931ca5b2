//! Test graphs of known shapes: line, rake, diamond, random.
//!
//! Each is a [`Graph`] of the kinds `osc`, `mix`, `sink` and, in between, `mod`, or `work` where the caller says how
//! many nanoseconds an inner node shall burn. The same call gives the same graph on every platform.

use crate::{Edge, Graph, Node, NodeId, ParamValue, Port, PortRef, Signal, SourceSpan};
use units::{Channels, SplitMix64};

/// Maximum number of nodes of a shape, and of a session.
pub const MAX_NODES: usize = 262_144;

/// There is no such shape of that size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {shape} has {asked} nodes; take {}", .nearest.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "))]
pub struct SizeError {
    /// The shape.
    pub shape: &'static str,
    /// Number of nodes that was asked for.
    pub asked: usize,
    /// The nearest sizes there are, smaller first. Ask for one of these.
    pub nearest: Vec<usize>,
}

/// `nodes` nodes in a chain: an oscillator, inner nodes, a sink.
///
/// # Errors
///
/// [`SizeError`] for fewer than 2 nodes.
pub fn line(nodes: usize, work_ns: Option<f64>) -> Result<Graph, SizeError> {
    check("line", nodes, &[2, MAX_NODES])?;
    let mut shape = Builder::new(work_ns);
    let mut last = shape.source(1.0);
    for _ in 2..nodes {
        last = shape.then_inner(last);
    }
    shape.sink_after(last);
    Ok(shape.graph)
}

/// k teeth of an oscillator and two inner nodes, into a mix, into a sink: 3k + 2 nodes.
///
/// # Errors
///
/// [`SizeError`] for any other number.
pub fn rake(nodes: usize, work_ns: Option<f64>) -> Result<Graph, SizeError> {
    let teeth = nodes.saturating_sub(2) / 3;
    let below = (3 * teeth + 2).clamp(5, 3 * MAX_MIXED + 2);
    check("rake", nodes, &[below, (below + 3).min(3 * MAX_MIXED + 2)])?;
    let mut shape = Builder::new(work_ns);
    let ends: Vec<NodeId> = (0..teeth)
        .map(|_| {
            let source = shape.source(1.0 / teeth as f64);
            let inner = shape.then_inner(source);
            shape.then_inner(inner)
        })
        .collect();
    let mix = shape.mix(ends.len(), 1);
    for (port, end) in ends.into_iter().enumerate() {
        shape.connect((end, 0), (mix, port));
    }
    shape.sink_after(mix);
    Ok(shape.graph)
}

/// A source, a split, two smaller diamonds side by side, a join, a sink; two single nodes in the smallest: 6, 16, 36,
/// 76, … nodes. The sources and sinks of smaller diamonds are inner nodes.
///
/// # Errors
///
/// [`SizeError`] for any other number.
pub fn diamond(nodes: usize, work_ns: Option<f64>) -> Result<Graph, SizeError> {
    let (mut size, mut levels) = (6, 0);
    while size * 2 + 4 <= nodes.min(MAX_NODES) {
        size = size * 2 + 4;
        levels += 1;
    }
    let above = Some(size * 2 + 4).filter(|s| *s <= MAX_NODES);
    check("diamond", nodes, &[size, above.unwrap_or(size)])?;
    let mut shape = Builder::new(work_ns);
    let source = shape.source(0.5f64.powi(levels + 1));
    let last = shape.diamond_after(source, levels);
    shape.sink_after(last);
    Ok(shape.graph)
}

/// A random graph without cycles, in layers: oscillators, inner nodes that each hear one to three earlier ones, and a
/// mix into a sink for every output that feeds nothing else.
///
/// # Errors
///
/// [`SizeError`] for fewer than 3 nodes.
pub fn random(nodes: usize, seed: u64, work_ns: Option<f64>) -> Result<Graph, SizeError> {
    check("random graph", nodes, &[3, MAX_NODES])?;
    let mut dice = Dice(SplitMix64(seed));
    let mut shape = Builder::new(work_ns);
    let inner = nodes - 2;
    let width = inner.isqrt();
    let sources = 1 + dice.below(width);
    let mut read = vec![false; inner];
    let mut layer = 0..0;
    for at in 0..inner {
        if at < sources {
            shape.source(1.0 / sources as f64);
            continue;
        }
        if at == sources || at == layer.end + width {
            layer = layer.end..at;
        }
        let inputs = some_earlier(&mut dice, at, &layer);
        let node = shape.inner(inputs.len());
        for from in inputs {
            read[from] = true;
            shape.connect((NodeId(from as u32), 0), (node, 0));
        }
    }
    let loose: Vec<usize> = (0..inner).filter(|at| !read[*at]).collect();
    let ports = loose.len().min(MAX_MIXED);
    let mix = shape.mix(ports, 1);
    for (i, from) in loose.into_iter().enumerate() {
        shape.connect((NodeId(from as u32), 0), (mix, i % ports));
    }
    shape.sink_after(mix);
    Ok(shape.graph)
}

/// One to three nodes before `at`, without repeats: the first from the layer before, the others mostly too.
fn some_earlier(dice: &mut Dice, at: usize, layer: &std::ops::Range<usize>) -> Vec<usize> {
    let mut all = Vec::with_capacity(3);
    for turn in 0..1 + dice.below(3) {
        let near = turn == 0 || dice.below(4) > 0;
        let from = if near && !layer.is_empty() {
            layer.start + dice.below(layer.len())
        } else {
            dice.below(at)
        };
        if !all.contains(&from) {
            all.push(from);
        }
    }
    all
}

/// Maximum number of inputs of one mix.
const MAX_MIXED: usize = 4096;

/// `nearest` are the sizes around `nodes`: it must be one of them, or within them where every size is one.
fn check(shape: &'static str, asked: usize, nearest: &[usize; 2]) -> Result<(), SizeError> {
    let [least, most] = *nearest;
    let every_size = most == MAX_NODES;
    if asked == least || asked == most || (every_size && (least..most).contains(&asked)) {
        return Ok(());
    }
    let mut nearest = match (every_size, asked < least) {
        (true, true) => vec![least],
        (true, false) => vec![most],
        (false, _) => vec![least, most],
    };
    if asked < least {
        nearest.truncate(1);
    }
    nearest.dedup();
    Err(SizeError {
        shape,
        asked,
        nearest,
    })
}

struct Builder {
    graph: Graph,
    work_ns: Option<f64>,
    sources: usize,
}

impl Builder {
    fn new(work_ns: Option<f64>) -> Self {
        Self {
            graph: Graph::default(),
            work_ns,
            sources: 0,
        }
    }

    /// Names wear the node's number, from 1: `osc1`, `mod2`, …
    fn add(&mut self, kind: &str, inputs: usize, outputs: usize) -> NodeId {
        let name = format!("{kind}{}", self.graph.len() + 1);
        let mut node = Node::new(name, kind);
        let many = matches!(kind, "mix" | "work");
        node.inputs = ports("in", inputs, many);
        node.outputs = ports("out", outputs, many);
        self.graph.add(node).expect("the number makes it new")
    }

    fn set(&mut self, node: NodeId, key: &str, value: f64) {
        let node = self.graph.node_mut(node).expect("just added");
        node.set(key, ParamValue::Number(value));
    }

    /// The counts come last, as a reader leaves them.
    fn set_counts(&mut self, id: NodeId) {
        let node = self.graph.node(id).expect("just added");
        let (inputs, outputs) = (node.inputs.len(), node.outputs.len());
        self.set(id, "in", inputs as f64);
        self.set(id, "out", outputs as f64);
    }

    /// An oscillator at one of the tones of a slightly stretched scale, so that no two sound alike.
    fn source(&mut self, volume: f64) -> NodeId {
        let tone = self.sources;
        self.sources += 1;
        let node = self.add("osc", 0, 1);
        self.set(
            node,
            "freq",
            110.0 + 55.0 * (tone % 64) as f64 + (tone / 64 % 32) as f64,
        );
        self.set(node, "volume", volume);
        node
    }

    fn inner(&mut self, inputs: usize) -> NodeId {
        let Some(ns) = self.work_ns else {
            let node = self.add("mod", 1, 1);
            self.set(node, "freq", 1.0 + (node.0 % 16) as f64);
            self.set(node, "volume", 1.0 / inputs.max(1) as f64);
            return node;
        };
        let node = self.add("work", 1, 1);
        self.set(node, "ns", ns);
        self.set_counts(node);
        node
    }

    fn mix(&mut self, inputs: usize, outputs: usize) -> NodeId {
        let node = self.add("mix", inputs, outputs);
        self.set_counts(node);
        node
    }

    fn connect(&mut self, from: (NodeId, usize), to: (NodeId, usize)) {
        let end = |(node, port): (NodeId, usize)| PortRef {
            node,
            port: u16::try_from(port).expect("a mix has at most 4096 inputs"),
        };
        self.graph.connect(Edge {
            from: end(from),
            to: end(to),
            span: SourceSpan::NONE,
        });
    }

    fn then_inner(&mut self, from: NodeId) -> NodeId {
        let node = self.inner(1);
        self.connect((from, 0), (node, 0));
        node
    }

    fn sink_after(&mut self, from: NodeId) {
        let sink = self.add("sink", 1, 0);
        self.connect((from, 0), (sink, 0));
    }

    /// Adds all between a diamond's source and its sink, and returns the join.
    fn diamond_after(&mut self, source: NodeId, levels: i32) -> NodeId {
        let split = self.mix(1, 2);
        self.connect((source, 0), (split, 0));
        let mut ends = [source; 2];
        for (port, end) in ends.iter_mut().enumerate() {
            let first = self.inner(1);
            self.connect((split, port), (first, 0));
            *end = first;
            if levels > 0 {
                let join = self.diamond_after(first, levels - 1);
                *end = self.then_inner(join);
            }
        }
        let join = self.mix(2, 1);
        for (port, end) in ends.into_iter().enumerate() {
            self.connect((end, 0), (join, port));
        }
        join
    }
}

/// Named as the catalogue names them: one alone by the stem, unless it is the first of a run.
fn ports(stem: &str, count: usize, many: bool) -> Vec<Port> {
    let name = |i: usize| match many {
        true => format!("{stem}{i}"),
        false => stem.into(),
    };
    (1..=count)
        .map(|i| Port::new(name(i), Signal::Audio(Channels(1))))
        .collect()
}

/// A generator of numbers in a range.
struct Dice(SplitMix64);

impl Dice {
    /// A number below `bound`; below 1 where that is 0.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.bits()) * bound.max(1) as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Adjacency;

    fn all_ports_exist(graph: &Graph) -> bool {
        graph.edges().iter().all(|e| {
            let from = graph.node(e.from.node).unwrap();
            let to = graph.node(e.to.node).unwrap();
            from.outputs.len() > e.from.port.into() && to.inputs.len() > e.to.port.into()
        })
    }

    fn is_one_piece_without_cycles(graph: &Graph) -> bool {
        let ends = graph.edges().iter().map(|e| (e.from.node.0, e.to.node.0));
        let both = ends.clone().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let pieces = Adjacency::new(graph.len(), both).strong_components();
        let order = Adjacency::new(graph.len(), ends.collect()).topological_order();
        order.len() == graph.len() && pieces.iter().all(|piece| *piece == 0)
    }

    #[test]
    fn every_shape_has_the_size_it_was_asked_for() {
        for work in [None, Some(1000.0)] {
            let mut all = vec![line(2, work), line(5, work)];
            all.extend([5, 8, 11, 101].map(|n| rake(n, work)));
            all.extend([6, 16, 36, 76, 156, 316, 636].map(|n| diamond(n, work)));
            all.extend([3, 4, 5, 26, 500].map(|n| random(n, 7, work)));
            let sizes = [
                2, 5, 5, 8, 11, 101, 6, 16, 36, 76, 156, 316, 636, 3, 4, 5, 26, 500,
            ];
            for (graph, size) in all.into_iter().zip(sizes) {
                let graph = graph.unwrap();
                assert_eq!(graph.len(), size);
                assert!(all_ports_exist(&graph) && is_one_piece_without_cycles(&graph));
            }
        }
    }

    #[test]
    fn a_wrong_size_names_the_nearest_right_ones() {
        let nearest = |r: Result<Graph, SizeError>| r.unwrap_err().nearest;
        assert_eq!(nearest(line(1, None)), [2]);
        assert_eq!(nearest(rake(9, None)), [8, 11]);
        assert_eq!(nearest(rake(0, None)), [5]);
        assert_eq!(nearest(diamond(20, None)), [16, 36]);
        assert_eq!(nearest(diamond(1, None)), [6]);
        assert_eq!(nearest(random(usize::MAX, 1, None)), [MAX_NODES]);
        assert_eq!(
            diamond(17, None).unwrap_err().to_string(),
            "no diamond has 17 nodes; take 16 or 36"
        );
        assert!(rake(usize::MAX, None).is_err() && diamond(usize::MAX, None).is_err());
    }

    #[test]
    fn one_seed_gives_one_graph() {
        assert_eq!(random(100, 1, None), random(100, 1, None));
        assert_ne!(random(100, 1, None), random(100, 2, None));
        let graph = random(40, 2019, None).unwrap();
        let ends = graph.edges().iter();
        let sum: u64 = ends
            .zip(1..)
            .map(|(e, i)| i * u64::from(e.from.node.0 * 100 + e.to.node.0))
            .sum();
        assert_eq!(sum, 5_582_346, "the graph of a seed has changed");
    }
}
