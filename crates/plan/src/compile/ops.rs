//! Pass 3: nodes become operations, each a step of the plan or of a loop, and dependencies between them.
//!
//! Most nodes are one operation. A delay is two, on one delay line:
//!
//! ```text
//!   node       osc ------> delay ------> mix
//!
//!   ops        process     write         process
//!                 |--------->|              ^
//!                          read ------------|
//! ```
//!
//! If its shortest delay is no shorter than the block, the two do not depend on each other: the read finds what earlier
//! cycles wrote. Otherwise the read waits for the write; if that closes a cycle, the pass `order` makes a loop of it.

use super::wiring::{NodePart, WiredEdge, Wiring};
use crate::{DelayLine, PlanOptions};
use graph::Adjacency;
use std::collections::HashMap;
use units::Frames;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpKind {
    /// Runs the node's processor.
    Process,
    /// Runs the processor of a delay, which reads its line.
    ReadLine(DelayLine),
    /// Fills the line of a delay.
    WriteLine(DelayLine),
    /// Keeps the input of a sink.
    Sink,
    /// Writes silence: a node that is not enabled.
    Silence,
    /// Copies one output of the node to a later stage: an index into [`Ops::relays`].
    Send(u32),
    /// Reads it there.
    Receive(u32),
    /// Delays one output of the node: an index into [`Wiring::aligners`].
    Align(u32),
}

impl OpKind {
    /// Returns true for the operation whose cost is the node's: the one that is measured.
    pub(super) fn is_the_nodes_own(self) -> bool {
        matches!(self, Self::Process | Self::ReadLine(_) | Self::Sink)
    }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// Index into [`Wiring::nodes`].
    pub(super) node: u32,
    pub(super) kind: OpKind,
    /// Its pipeline stage.
    pub(super) lag: u32,
    /// Number of the copy of its node that it runs; 0 is the original.
    pub(super) copy: u16,
}

impl Op {
    /// An operation of the original node in the first stage.
    pub(super) fn new(node: u32, kind: OpKind) -> Self {
        Self {
            node,
            kind,
            lag: 0,
            copy: 0,
        }
    }
}

/// One output that is read in a later stage than it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relay {
    pub(super) node: u32,
    pub(super) output: u16,
    /// The stage that reads it.
    pub(super) stage: u32,
    /// The operation that sends.
    pub(super) send: u32,
    /// The operation that receives.
    pub(super) receive: u32,
}

/// A delay shorter than the block: its read depends on its write.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortDelay {
    pub(super) write: u32,
    pub(super) read: u32,
    /// The shortest delay.
    pub(super) min: Frames,
}

/// All operations and their dependencies.
#[derive(Debug)]
pub(super) struct Ops {
    /// By node; of a delay the read comes first. Behind these relays and copies.
    pub(super) all: Vec<Op>,
    /// The first operation of each node: the one that has its outputs.
    first: Vec<u32>,
    /// Dependencies: (before, after).
    pub(super) dependencies: Vec<(u32, u32)>,
    /// The delays that are shorter than the block; their dependencies are among the others.
    pub(super) short_delays: Vec<ShortDelay>,
    /// Outputs that cross from stage to stage, sorted.
    pub(super) relays: Vec<Relay>,
    /// Operations of copies: (node, operation), sorted.
    pub(super) copies: Vec<(u32, u32)>,
    /// By operation and the node that it reads: the operation of the copy that it reads, if that is not the original.
    pub(super) copy_sources: HashMap<(u32, u32), u32>,
}

impl Ops {
    /// The operation that has the inputs of `node`.
    pub(super) fn input_op(&self, node: u32) -> u32 {
        let first = self.first[node as usize];
        first + u32::from(matches!(self.all[first as usize].kind, OpKind::ReadLine(_)))
    }

    /// The operation that reads `edge`: of a delay that drives its parameter it is the one that reads the line.
    pub(super) fn reader(&self, edge: &WiredEdge) -> u32 {
        match edge.drives {
            true => self.output_op(edge.to),
            false => self.input_op(edge.to),
        }
    }

    /// The operation that has the outputs of `node`.
    pub(super) fn output_op(&self, node: u32) -> u32 {
        self.first[node as usize]
    }

    /// All operations that read `edge`: of the original and of every copy.
    pub(super) fn all_readers(&self, edge: &WiredEdge) -> impl Iterator<Item = u32> + '_ {
        let node = edge.to;
        let from = self.copies.partition_point(|(n, _)| *n < node);
        let copies = self.copies[from..].iter();
        let copies = copies.take_while(move |(n, _)| *n == node);
        std::iter::once(self.reader(edge)).chain(copies.map(|(_, op)| *op))
    }

    /// Source from which `op` reads the signal of an edge to it: an operation and one of its outputs.
    pub(super) fn source(&self, op: u32, edge: &WiredEdge) -> (u32, u16) {
        if let Some(copy) = self.copy_sources.get(&(op, edge.from)) {
            return (*copy, edge.output);
        }
        let writer = self.output_op(edge.from);
        let stage = self.all[self.reader(edge) as usize].lag;
        if self.all[writer as usize].lag == stage {
            return (writer, edge.output);
        }
        let key = (edge.from, edge.output, stage);
        let key_of = |r: &Relay| (r.node, r.output, r.stage);
        let at = self.relays.binary_search_by_key(&key, key_of);
        let at = at.expect("every edge between stages has a relay");
        (self.relays[at].receive, 0)
    }

    /// The dependencies of reads on writes in short delays.
    pub(super) fn short_dependencies(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.short_delays.iter().map(|s| (s.write, s.read))
    }

    /// The graph of dependencies.
    pub(super) fn adjacency(&self) -> Adjacency {
        Adjacency::new(self.all.len(), self.dependencies.clone())
    }
}

/// Splits nodes into operations.
pub(super) fn split(wiring: &Wiring<'_>, options: &PlanOptions) -> Ops {
    let mut ops = Ops {
        all: Vec::with_capacity(wiring.nodes.len()),
        first: Vec::with_capacity(wiring.nodes.len()),
        dependencies: Vec::with_capacity(wiring.edges.len()),
        short_delays: Vec::new(),
        relays: Vec::new(),
        copies: Vec::new(),
        copy_sources: HashMap::new(),
    };
    for (index, node) in (0..).zip(&wiring.nodes) {
        let first = ops.all.len() as u32;
        ops.first.push(first);
        let mut add = |kind| ops.all.push(Op::new(index, kind));
        match node.part {
            NodePart::Process => add(OpKind::Process),
            NodePart::Sink { .. } => add(OpKind::Sink),
            NodePart::Silence => add(OpKind::Silence),
            NodePart::Align(aligner) => add(OpKind::Align(aligner)),
            NodePart::Delay(line) => {
                add(OpKind::ReadLine(line));
                add(OpKind::WriteLine(line));
                if line.min < options.block {
                    ops.short_delays.push(ShortDelay {
                        write: first + 1,
                        read: first,
                        min: line.min,
                    });
                }
            }
        }
    }
    let edges = wiring.edges.iter();
    let between = edges.map(|edge| (ops.output_op(edge.from), ops.reader(edge)));
    ops.dependencies = ops.short_dependencies().chain(between).collect();
    ops
}
