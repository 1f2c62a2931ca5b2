//! The rules by which signals meet, and the width of the nodes that state none.
//!
//! | an edge from M to N channels | |
//! |---|---|
//! | M = N | channel to channel |
//! | 1 to N | copied to each |
//! | M to 1 | added, as several edges to one input are |
//! | any other | refused |
//!
//! A node whose ports follow it (`PortSignal::AsNode`) states their width as `channels` or `layout`. Without that it takes the widest of the
//! signals that enter such a port, and of the file that it names. This is a fixed point along the edges: a width only grows, and
//! never beyond the widest signal that a node states, so loops settle as well.

use crate::layout::MAX_CHANNELS;
use crate::{
    Catalogue, Diagnostic, Edge, Gains, Graph, Kind, Layout, Node, NodeId, PortCount, PortRef,
    PortSignal, PortSpec, Signal,
};
use std::collections::BinaryHeap;
use units::Channels;

/// Widths of a node's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Width of the ports that follow the node.
    pub channels: Channels,
    /// Width of the ports that follow the output, if it is another.
    pub output: Option<Channels>,
}

impl From<Channels> for Widths {
    fn from(channels: Channels) -> Self {
        Self {
            channels,
            output: None,
        }
    }
}

/// Gives the widths of the file that a node names; `None` if it names none, or one that cannot be read.
pub type ChannelProbe<'a> = &'a dyn Fn(&Node) -> Option<Widths>;

/// Help for an edge whose ends do not fit.
pub const CHANNELS_HELP: &str = "equal numbers of channels fit; one is copied to many, and many are added into one; for the rest there \
     are `split`, `join` and `matrix`";

impl Signal {
    /// Returns true if an output with this signal may feed an input with the signal `input`.
    pub fn fits(self, input: Self) -> bool {
        match (self, input) {
            (Self::Audio(from), Self::Audio(to)) => {
                from == to || from == Channels(1) || to == Channels(1)
            }
            (from, to) => from == to,
        }
    }
}

impl Kind {
    /// Returns true if a node of this kind chooses the width of its ports.
    pub fn has_width(&self) -> bool {
        let mut specs = self.inputs.iter().chain(&self.outputs);
        specs.any(PortSpec::follows_the_width)
    }

    /// Returns true if a node of this kind may state a `layout`.
    pub fn has_layout(&self) -> bool {
        let mut specs = self.inputs.iter().chain(&self.outputs);
        let has_output = specs.any(|spec| spec.signal == PortSignal::AsOutput);
        self.layout_outputs.is_some() || (self.has_width() && !has_output)
    }

    /// Returns true if `node` states the width of its ports by other parameters than `channels`.
    pub(crate) fn states_width(&self, node: &Node) -> bool {
        let layout = node.text("layout").filter(|_| self.has_layout());
        let matrix = self.matrix.and_then(|key| node.text(key));
        layout.is_some_and(|name| Layout::named(name).is_some())
            || matrix.is_some_and(|text| Gains::parse(text).is_ok())
    }

    /// Returns true if `node` leaves the width of its ports to the signals that enter it.
    pub fn infers_width(&self, node: &Node) -> bool {
        self.has_width() && node.param("channels").is_none() && !self.states_width(node)
    }
}

impl Catalogue {
    /// Gives `node` these widths, and the ports that follow them.
    pub fn set_widths(&self, node: &mut Node, widths: Widths) {
        if let Some(kind) = self.get(node.effective_kind()) {
            (node.channels, node.output_channels) = (widths.channels, widths.output);
            Self::assign_ports(kind, node);
        }
    }
}

impl PortSpec {
    fn follows_the_width(&self) -> bool {
        self.signal == PortSignal::AsNode || self.count == PortCount::Channels
    }

    /// The spec among `specs` of port number `port`.
    fn of(specs: &[Self], port: u16) -> Option<&Self> {
        let series = || specs.last().filter(|spec| spec.count != PortCount::One);
        specs.get(usize::from(port)).or_else(series)
    }
}

/// The nodes that state no width, each with the one that it takes, where that is not the one that it has. `edges` are the graph's; a
/// port that drives a parameter is passed over. Only nodes for which `is_free` holds change.
///
/// Real-time: setup.
pub fn inferred_channels(
    graph: &Graph,
    edges: &[Edge],
    catalogue: &Catalogue,
    probe: ChannelProbe<'_>,
    is_free: impl Fn(NodeId) -> bool,
) -> Vec<(NodeId, Widths)> {
    let mut inference = Inference::new(graph, catalogue);
    for (id, node) in graph.nodes() {
        inference.add(id, node, is_free(id), probe);
    }
    if inference.is_wide {
        inference.spread(edges);
    }
    let free = inference.nodes.iter().enumerate();
    let free = free.filter(|(_, it)| it.kind.is_some() && it.is_free);
    let ids = free.map(|(id, it)| {
        let (channels, output) = (it.width, it.output);
        (NodeId(id as u32), Widths { channels, output })
    });
    let has = |node: &Node, it: &Widths| {
        (node.channels, node.output_channels) == (it.channels, it.output)
    };
    ids.filter(|(id, it)| graph.node(*id).is_some_and(|node| !has(node, it)))
        .collect()
}

/// Notes for edges that add several channels into one.
///
/// Real-time: setup.
pub fn channel_sums(graph: &Graph) -> Vec<Diagnostic> {
    let sums = graph.edges().iter().filter_map(|edge| {
        let (from, to) = (graph.node(edge.from.node)?, graph.node(edge.to.node)?);
        let sent = from.outputs.get(usize::from(edge.from.port))?.signal;
        let accepted = to.inputs.get(usize::from(edge.to.port))?.signal;
        match (sent, accepted) {
            (Signal::Audio(Channels(many)), Signal::Audio(Channels(1))) if many > 1 => {
                let message = format!(
                    "`{}` adds {many} channels of `{}` into one",
                    to.name, from.name
                );
                Some(Diagnostic::note(edge.span, message))
            }
            _ => None,
        }
    });
    sums.collect()
}

/// One node while widths spread.
#[derive(Clone, Default)]
struct Width<'a> {
    kind: Option<&'a Kind>,
    is_free: bool,
    width: Channels,
    output: Option<Channels>,
}

struct Inference<'a> {
    graph: &'a Graph,
    catalogue: &'a Catalogue,
    /// By id.
    nodes: Vec<Width<'a>>,
    /// True if some signal has more than one channel.
    is_wide: bool,
}

impl<'a> Inference<'a> {
    fn new(graph: &'a Graph, catalogue: &'a Catalogue) -> Self {
        Self {
            graph,
            catalogue,
            nodes: vec![Width::default(); graph.id_bound()],
            is_wide: false,
        }
    }

    fn add(&mut self, id: NodeId, node: &Node, is_free: bool, probe: ChannelProbe<'_>) {
        let Some(kind) = self.catalogue.get(node.effective_kind()) else {
            return;
        };
        let is_free = is_free && kind.infers_width(node);
        let found = is_free.then(|| probe(node)).flatten();
        let valid = |width: Channels| width.clamp(Channels(1), MAX_CHANNELS);
        let (width, output) = match found {
            Some(found) => (valid(found.channels), found.output.map(valid)),
            None if is_free => (Channels(1), None),
            None => (node.channels, node.output_channels),
        };
        let is_wide = |spec: &PortSpec| matches!(spec.signal, PortSignal::Fixed(Channels(2..)));
        let is_join = |spec: &PortSpec| is_free && spec.count == PortCount::Channels;
        self.is_wide |= width > Channels(1)
            || output > Some(Channels(1))
            || kind.outputs.iter().any(is_wide)
            || kind.inputs.iter().any(is_join);
        self.nodes[id.0 as usize] = Width {
            kind: Some(kind),
            is_free,
            width,
            output,
        };
    }

    /// Carries widths along `edges`, the widest first, so that each node is widened once.
    fn spread(&mut self, edges: &[Edge]) {
        let mut from: Vec<(u32, &Edge)> = edges.iter().map(|e| (e.from.node.0, e)).collect();
        from.sort_by_key(|(node, _)| *node);
        let mut next = BinaryHeap::new();
        for (_, edge) in &from {
            let width = self.sent(edge);
            self.widen(edge, width, &mut next);
        }
        while let Some((width, node)) = next.pop() {
            if self.nodes[node as usize].width != width {
                continue;
            }
            let first = from.partition_point(|(n, _)| *n < node);
            for (_, edge) in from[first..].iter().take_while(|(n, _)| *n == node) {
                let width = self.sent(edge);
                self.widen(edge, width, &mut next);
            }
        }
    }

    /// Width of the signal that an edge carries; 0 if that is no audio.
    fn sent(&self, edge: &Edge) -> Channels {
        let Some(node) = self.nodes.get(edge.from.node.0 as usize) else {
            return Channels(0);
        };
        if !node.is_free {
            let there = self.graph.node(edge.from.node);
            let port = there.and_then(|node| node.outputs.get(usize::from(edge.from.port)));
            return match port.map(|port| port.signal) {
                Some(Signal::Audio(channels)) => channels,
                _ => Channels(0),
            };
        }
        let kind = node.kind;
        let spec = kind.and_then(|kind| PortSpec::of(&kind.outputs, edge.from.port));
        match spec.map(|spec| spec.signal) {
            Some(PortSignal::AsNode) => node.width,
            Some(PortSignal::AsOutput) => node.output.unwrap_or(node.width),
            Some(PortSignal::Fixed(channels)) => channels,
            _ => Channels(0),
        }
    }

    /// Returns true if `port` drives a parameter, or its node does not exist.
    fn is_modulation(&self, port: PortRef) -> bool {
        self.graph.node(port.node).is_none_or(|node| {
            let input = node.inputs.get(usize::from(port.port));
            input.is_some_and(|input| input.modulation.is_some())
        })
    }

    /// Widens the node that an edge enters to `width`, if it follows what enters there.
    fn widen(&mut self, edge: &Edge, width: Channels, next: &mut BinaryHeap<(Channels, u32)>) {
        let id = edge.to.node;
        let is_modulation = self.is_modulation(edge.to);
        let Some(to) = self.nodes.get_mut(id.0 as usize) else {
            return;
        };
        let spec = to
            .kind
            .and_then(|kind| PortSpec::of(&kind.inputs, edge.to.port));
        let width = match spec {
            Some(spec) if spec.count == PortCount::Channels => {
                Channels(edge.to.port.saturating_add(1)).min(MAX_CHANNELS)
            }
            Some(spec) if spec.follows_the_width() => width,
            _ => return,
        };
        if to.is_free && to.width < width && !is_modulation {
            to.width = width;
            next.push((width, id.0));
        }
    }
}
