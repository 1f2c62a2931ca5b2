//! [`Transition`]: the graph that plays while an edit's connections fade.
//!
//! It is the edited graph together with what the edit removed, for as long as that still sounds. Each connection
//! that came or went has a node in it that fades:
//!
//! ```text
//!   before      osc ───────────────────▶ out
//!   while       osc ──────▶ fade out ──▶ out       10 ms; a frame's gains add up to 1
//!                └─▶ filter ─▶ fade in ─▶ out
//!   after       osc ──▶ filter ────────▶ out
//! ```
//!
//! A connection into a node that is new itself needs no fade, as the node's outputs fade in; nor does one into a node
//! that goes. Sinks have no outputs, so connections to them fade. Events and control numbers come and go at once.
//! An edit during a fade begins from the gains of that moment.
//!
//! Where the graphs before and after make a cycle together, there are two transitions: first the connections that go fade
//! out, and when they are silent, those that come fade in.

use crate::resources::fade;
use graph::{Catalogue, Edge, Graph, NodeId, PortRef, Role, Signal, SourceSpan};
use std::collections::{BTreeMap, BTreeSet};

/// A connection by its ends.
type Ends = (PortRef, PortRef);
/// A fade that changes its direction: its node, and true if it fades in now.
pub(super) type Reversal = (NodeId, bool);

/// The graph that plays while connections fade.
pub(super) struct Transition {
    pub(super) graph: Graph,
    /// By connection, in an order that does not depend on the run: it decides the order of additions.
    fades: BTreeMap<Ends, ConnectionFade>,
    /// Absolute frame after which all fades are over; `None` until it plays.
    pub(super) ends_at: Option<u64>,
    /// The graph in which it ends, if that is not yet the one after the edit: all that the edit adds comes then.
    pub(super) ends_in: Option<Graph>,
}

/// The fade of one connection.
#[derive(Clone, Copy)]
struct ConnectionFade {
    node: NodeId,
    is_in: bool,
    /// Number of equal edges that it stands for.
    count: usize,
    /// Number of equal edges beside it, which stay.
    stays: usize,
}

/// The graphs before and after an edit, and the edges of both.
struct EditedGraphs<'a> {
    before: &'a Graph,
    after: &'a Graph,
    catalogue: &'a Catalogue,
    /// Fades that run before the edit.
    running: BTreeMap<Ends, ConnectionFade>,
    /// Edges before the edit, without the nodes that fade.
    edges_before: Vec<Ends>,
}

impl Transition {
    /// The transition from `before`, or from the transition that plays, to `after`; `None` if no connection needs to
    /// fade. Reserves ids in `after`. Gives the fades that change their direction too.
    pub(super) fn new(
        (before, running): (&Graph, Option<&Self>),
        after: &mut Graph,
        catalogue: &Catalogue,
    ) -> Option<(Self, Vec<Reversal>)> {
        let before = running.map_or(before, |running| &running.graph);
        let change = EditedGraphs::new((before, running), after, catalogue);
        let faded = change.faded();
        let kept = change.kept(&faded);
        let is_there = |to: PortRef| change.after.node(to.node).is_some();
        let audible = faded.into_iter();
        let audible = audible.filter(|((_, to), _)| is_there(*to) || kept.contains(&to.node));
        let audible: Vec<_> = audible.collect();
        if audible.is_empty() {
            return None;
        }
        let (running, edges_before) = (change.running, change.edges_before);
        let (mut fades, mut reversals) = (BTreeMap::new(), Vec::new());
        for (ends, fade) in audible {
            let is_in = fade.is_in;
            let old: Option<&ConnectionFade> = running.get(&ends);
            let node = old.map_or_else(|| after.reserve_id(), |old| old.node);
            if old.is_some_and(|old| old.is_in != is_in) {
                reversals.push((node, is_in));
            }
            fades.insert(ends, ConnectionFade { node, ..fade });
        }
        let graph = union(before, after, (&kept, &fades, &edges_before));
        let transition = Self {
            graph,
            fades,
            ends_at: None,
            ends_in: None,
        };
        Some((transition, reversals))
    }

    /// The first half of the transition to `after`: to that graph without the connections that come. For graphs that make a
    /// cycle together. `None` if no connection goes.
    pub(super) fn first_half(
        before: (&Graph, Option<&Self>),
        after: &Graph,
        catalogue: &Catalogue,
    ) -> Option<(Self, Vec<Reversal>)> {
        let mut between = after.clone();
        let playing = before.1.map_or(before.0, |running| &running.graph);
        let edges_before = EditedGraphs::new((playing, before.1), after, catalogue).edges_before;
        let edges_before: BTreeSet<Ends> = edges_before.into_iter().collect();
        for edge in after.edges() {
            if !edges_before.contains(&(edge.from, edge.to)) {
                between.disconnect(edge.from, edge.to);
            }
        }
        let (mut first, reversals) = Self::new(before, &mut between, catalogue)?;
        first.ends_in = Some(between);
        Some((first, reversals))
    }

    /// Its nodes that fade, each with the input behind it.
    pub(super) fn targets(&self) -> impl Iterator<Item = (NodeId, PortRef)> + '_ {
        self.fades.iter().map(|((_, to), fade)| (fade.node, *to))
    }
}

impl<'a> EditedGraphs<'a> {
    fn new(
        (before, running): (&'a Graph, Option<&Transition>),
        after: &'a Graph,
        catalogue: &'a Catalogue,
    ) -> Self {
        let running = running.map(|it| it.fades.clone()).unwrap_or_default();
        let by_node: BTreeMap<NodeId, PortRef> =
            (running.iter().map(|((from, _), fade)| (fade.node, *from))).collect();
        let edges = before.edges().iter();
        let edges = edges.filter(|edge| !by_node.contains_key(&edge.to.node));
        let edges = edges.map(|edge| {
            let from = by_node.get(&edge.from.node);
            (from.copied().unwrap_or(edge.from), edge.to)
        });
        Self {
            edges_before: edges.collect(),
            before,
            after,
            catalogue,
            running,
        }
    }

    /// Returns true if `node` is a sink of either graph.
    fn is_sink(&self, node: NodeId) -> bool {
        let there = self.after.node(node).or_else(|| self.before.node(node));
        let kind = there.and_then(|node| self.catalogue.get(node.effective_kind()));
        kind.is_some_and(|kind| kind.role == Role::Sink)
    }

    /// Returns true if the edge carries audio between enabled nodes of `graph`.
    fn is_audible(&self, graph: &Graph, (from, to): Ends) -> bool {
        let is_enabled = |id| graph.node(id).is_some_and(|node| node.enabled);
        let is_audio = is_audio(graph, from);
        is_audio && is_enabled(from.node) && (is_enabled(to.node) || !self.is_sink(to.node))
    }

    /// The connections that fade. Their nodes are not chosen yet.
    fn faded(&self) -> Vec<(Ends, ConnectionFade)> {
        let mut counts: BTreeMap<Ends, (usize, usize)> = BTreeMap::new();
        for ends in &self.edges_before {
            let is_audible = self.is_audible(self.before, *ends);
            counts.entry(*ends).or_default().0 += usize::from(is_audible);
        }
        for edge in self.after.edges() {
            let ends = (edge.from, edge.to);
            let is_audible = self.is_audible(self.after, ends);
            counts.entry(ends).or_default().1 += usize::from(is_audible);
        }
        let faded = counts.into_iter().filter_map(|(ends, (before, after))| {
            let running = self.running.get(&ends);
            let is_faded = match (before, after) {
                _ if running.is_some() => true,
                (0, 0) => false,
                (0, _) => self.needs_fade(self.before, ends),
                (_, 0) => self.needs_fade(self.after, ends),
                _ => before != after,
            };
            // Of equal edges, those that are there before and after stay as they are.
            let stays = running.map_or(before, |fade| fade.stays).min(after);
            let fade = ConnectionFade {
                node: NodeId(0),
                is_in: after > stays,
                count: (before.max(after) - stays).max(1),
                stays,
            };
            is_faded.then_some((ends, fade))
        });
        faded.collect()
    }

    /// Returns true if a connection that comes or goes changes the input of a node that plays on: its target is a sink, or
    /// it is in `graph` as well, which is the graph without the connection.
    fn needs_fade(&self, graph: &Graph, (_, to): Ends) -> bool {
        graph.node(to.node).is_some() || self.is_sink(to.node)
    }

    /// The removed nodes that play on: those from which a connection fades out, and all nodes that they read.
    fn kept(&self, faded: &[(Ends, ConnectionFade)]) -> BTreeSet<NodeId> {
        let is_removed = |id: &NodeId| self.after.node(*id).is_none();
        let ends = faded.iter().filter(|(_, fade)| !fade.is_in);
        let sources = ends.clone().map(|((from, _), _)| from.node);
        let sinks = ends.map(|((_, to), _)| to.node);
        let sinks = sinks.filter(|id| self.is_sink(*id));
        let mut next: Vec<NodeId> = sources.chain(sinks).filter(is_removed).collect();
        let mut kept = BTreeSet::new();
        let mut inputs: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (from, to) in &self.edges_before {
            inputs.entry(to.node).or_default().push(from.node);
        }
        while let Some(id) = next.pop() {
            if kept.insert(id) {
                let read = inputs.get(&id).into_iter().flatten();
                next.extend(read.copied().filter(is_removed));
            }
        }
        kept
    }
}

/// Returns true if `from` is an output of audio.
fn is_audio(graph: &Graph, from: PortRef) -> bool {
    signal(graph, from).is_some_and(|signal| matches!(signal, Signal::Audio(_)))
}

fn signal(graph: &Graph, from: PortRef) -> Option<Signal> {
    let port = graph.node(from.node)?.outputs.get(usize::from(from.port))?;
    Some(port.signal)
}

/// `after` with what plays on of `before`, and the nodes that fade.
fn union(
    before: &Graph,
    after: &Graph,
    (kept, fades, edges_before): (&BTreeSet<NodeId>, &BTreeMap<Ends, ConnectionFade>, &[Ends]),
) -> Graph {
    let mut graph = after.clone();
    for id in kept {
        let mut node = before.node(*id).expect("a kept node played before").clone();
        while graph.find(&node.name).is_some() {
            node.name.push_str(" (removed)");
        }
        let restored = graph.restore(*id, node);
        debug_assert!(restored.is_ok(), "an id is never used again");
    }
    for (id, node) in before.nodes().filter(|(_, node)| node.enabled) {
        if let Some(there) = graph.node_mut(id) {
            there.enabled = node.enabled;
        }
    }
    for (from, to) in edges_before {
        if kept.contains(&to.node) && !fades.contains_key(&(*from, *to)) {
            graph.connect(edge(*from, *to));
        }
    }
    for (ends, fade) in fades {
        insert(&mut graph, *ends, *fade);
    }
    graph
}

/// Puts the node that fades into a connection.
fn insert(graph: &mut Graph, (from, to): Ends, fade: ConnectionFade) {
    let Some(signal) = signal(graph, from) else {
        return;
    };
    graph.disconnect(from, to);
    let name = |id| graph.node(id).map_or("", |node| node.name.as_str());
    let name = format!(
        "{}.{} -> {}.{} (fade)",
        name(from.node),
        from.port,
        name(to.node),
        to.port
    );
    let restored = graph.restore(fade.node, fade::node(name, signal, fade.is_in));
    debug_assert!(
        restored.is_ok(),
        "the id was reserved, and no session has such a name"
    );
    let node = fade.node;
    graph.connect(edge(from, PortRef { node, port: 0 }));
    for _ in 0..fade.stays {
        graph.connect(edge(from, to));
    }
    for _ in 0..fade.count {
        graph.connect(edge(PortRef { node, port: 0 }, to));
    }
}

fn edge(from: PortRef, to: PortRef) -> Edge {
    let span = SourceSpan::NONE;
    Edge { from, to, span }
}
