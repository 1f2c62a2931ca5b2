//! [`Split`]: a graph, cut at the borders of its cells.
//!
//! ```text
//!   a ──▶ b ──▶ c        cell: b
//!
//!   supervisor   a ──▶ [cell] ──▶ b' ──▶ c        b' passes on what the cell's node puts out
//!   cell         a' ──▶ b ──▶ [out]               a' puts out what came from the supervisor
//! ```
//!
//! A stand-in (`a'`, `b'`) has the id and the ports of its original. Several edges to one input are added in the order
//! of their sources' ids, so each sum has its terms in the same order as in the whole graph: the bits stay.

use crate::border::{BorderPort, CELL, INPUT, OUTPUT, TAP};
use crate::inner_events::inner_words;
use crate::section::CellSpec;
use crate::slots::{Slot, slots};
use crate::transport::TRANSPORT_WORDS;
use graph::{
    Adjacency, Catalogue, Diagnostic, Edge, Graph, Node, NodeId, Port, PortRef, Role, Signal,
    SourceSpan, nearest,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use units::Channels;

/// Largest number of channels that enter a cell.
pub(crate) const MAX_INPUTS: usize = 256;

/// Nodes that edits may add to a part, before its process is started anew.
const INNER_IDS: usize = 1024;

/// A graph, cut at the borders of its cells.
#[derive(Clone, Debug)]
pub struct Split {
    /// Graph that the supervisor plays: each cell is a node of it.
    pub outer: Graph,
    /// The cells, in the order of their specifications.
    pub cells: Vec<CellPart>,
}

/// The part of a graph that one cell plays.
#[derive(Clone, Debug)]
pub struct CellPart {
    /// The cell.
    pub spec: CellSpec,
    /// Name of its node in the supervisor's graph.
    pub node: String,
    /// Its nodes, with stand-ins for what enters and a node that collects what leaves.
    pub graph: Graph,
    /// Signals that enter, in the order of the node's inputs.
    pub inputs: Vec<BorderPort>,
    /// Signals that leave, in the order of the node's outputs.
    pub outputs: Vec<BorderPort>,
    /// Targets of events from outside.
    pub(crate) slots: Arc<[Slot]>,
    /// Edits of a process that plays have numbered the targets.
    pub(crate) is_renumbered: bool,
}

impl CellPart {
    /// Number of channels that enter.
    pub fn input_channels(&self) -> usize {
        self.inputs.iter().map(|it| it.channels()).sum()
    }

    /// Words of a request and of a reply, without their headers, for a block of `frames`.
    pub fn message_words(&self, frames: usize) -> (usize, usize) {
        let words = |ports: &[BorderPort]| ports.iter().map(|it| it.words(frames)).sum();
        let inner = TRANSPORT_WORDS + inner_words(frames);
        (words(&self.inputs) + inner, words(&self.outputs))
    }
}

/// Cuts `graph` at the borders of `cells`.
///
/// # Errors
///
/// Every mistake, at the place of the cell, the node or the edge: an unknown node, one in two cells, a node that cannot be
/// in a cell, an edge that carries no audio across a border, a path that leaves a cell and comes back.
///
/// Real-time: setup.
pub fn split(
    graph: &Graph,
    cells: &[CellSpec],
    catalogue: &Catalogue,
) -> Result<Split, Vec<Diagnostic>> {
    let cutter = Cutter::new(graph, cells, catalogue)?;
    let mut mistakes = cutter.returning_paths();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let borders: Vec<_> = (0..cells.len()).map(|cell| cutter.border(cell)).collect();
    let wide = borders.iter().zip(cells).filter(|((inputs, _), _)| {
        inputs.iter().map(|it| it.channels()).sum::<usize>() > MAX_INPUTS
    });
    let wide = wide.map(|(_, cell)| {
        let message = format!(
            "more than {MAX_INPUTS} channels enter the cell `{}`",
            cell.name
        );
        Diagnostic::error(cell.span, message)
    });
    mistakes.extend(wide);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut outer = cutter.outer();
    let mut parts = Vec::new();
    for (at, (inputs, outputs)) in borders.into_iter().enumerate() {
        let node = place_cell(&mut outer, &cells[at], (&inputs, &outputs));
        parts.push(CellPart {
            spec: cells[at].clone(),
            node,
            graph: cutter.inner(at, (&inputs, &outputs)),
            slots: slots(graph, |id| cutter.cell_of(id) == Some(at), catalogue),
            is_renumbered: false,
            inputs,
            outputs,
        });
    }
    Ok(Split {
        outer,
        cells: parts,
    })
}

/// A graph and the cell of each of its nodes.
struct Cutter<'a> {
    graph: &'a Graph,
    cells: &'a [CellSpec],
    home: HashMap<NodeId, usize>,
}

impl<'a> Cutter<'a> {
    fn new(
        graph: &'a Graph,
        cells: &'a [CellSpec],
        catalogue: &Catalogue,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let mut home = HashMap::new();
        for (at, cell) in cells.iter().enumerate() {
            for name in &cell.nodes {
                let Some(id) = graph.find(name) else {
                    mistakes.push(unknown_node(graph, cell, name));
                    continue;
                };
                if let Some(there) = home.insert(id, at) {
                    let (a, b) = (&cells[there].name, &cell.name);
                    let message = format!("`{name}` is in the cells `{a}` and `{b}`");
                    mistakes.push(Diagnostic::error(cell.span, message));
                }
                let node = graph.node(id).expect("it was found");
                mistakes.extend(why_outside(node, catalogue).map(|why| {
                    let message = format!("`{name}` cannot be in the cell `{}`: {why}", cell.name);
                    node.mistake(message)
                }));
            }
        }
        match mistakes.is_empty() {
            true => Ok(Self { graph, cells, home }),
            false => Err(mistakes),
        }
    }

    fn cell_of(&self, node: NodeId) -> Option<usize> {
        self.home.get(&node).copied()
    }

    fn signal(&self, from: PortRef) -> Option<Signal> {
        let node = self.graph.node(from.node)?;
        Some(node.outputs.get(usize::from(from.port))?.signal)
    }

    /// Paths that leave a cell and come back to it.
    fn returning_paths(&self) -> Vec<Diagnostic> {
        let cells = self.cells.len() as u32;
        let vertex = |id: NodeId| match self.cell_of(id) {
            Some(cell) => cell as u32,
            None => cells + id.0,
        };
        let edges = self.graph.edges().iter();
        let edges = edges.map(|edge| (vertex(edge.from.node), vertex(edge.to.node)));
        let edges = edges.filter(|(from, to)| from != to).collect();
        let contracted = Adjacency::new(self.cells.len() + self.graph.id_bound(), edges);
        let component = contracted.strong_components();
        let mut members = HashMap::<u32, usize>::new();
        for part in &component {
            *members.entry(*part).or_default() += 1;
        }
        let returns = (0..self.cells.len()).filter(|cell| members[&component[*cell]] > 1);
        let mistakes = returns.map(|cell| {
            let spec = &self.cells[cell];
            let outside = self.graph.nodes().find(|(id, _)| {
                self.cell_of(*id) != Some(cell)
                    && component[vertex(*id) as usize] == component[cell]
            });
            let name = outside.map_or("", |(_, node)| &node.name);
            let message = format!(
                "a path leaves the cell `{}` and comes back to it, through `{name}`",
                spec.name
            );
            Diagnostic::error(spec.span, message).help(format!("put `{name}` into the cell too"))
        });
        mistakes.collect()
    }

    /// The ports that enter and leave a cell.
    fn border(&self, cell: usize) -> (Vec<BorderPort>, Vec<BorderPort>) {
        let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        for edge in self.graph.edges() {
            let is_in = |id| self.cell_of(id) == Some(cell);
            match (is_in(edge.from.node), is_in(edge.to.node)) {
                (false, true) => inputs.insert(edge.from),
                (true, false) => outputs.insert(edge.from),
                _ => false,
            };
        }
        let port = |from: PortRef| BorderPort {
            from,
            signal: self.signal(from).unwrap_or(Signal::Event),
        };
        (
            inputs.into_iter().map(port).collect(),
            outputs.into_iter().map(port).collect(),
        )
    }

    /// The supervisor's graph: taps in place of the nodes whose outputs leave their cell, and none of the others.
    fn outer(&self) -> Graph {
        let mut outer = self.graph.clone();
        for id in self.home.keys() {
            outer.remove(*id);
        }
        let leaves = |edge: &&Edge| {
            let from = self.cell_of(edge.from.node);
            from.is_some() && from != self.cell_of(edge.to.node)
        };
        for edge in self.graph.edges().iter().filter(leaves) {
            if outer.node(edge.from.node).is_none()
                && let Some(node) = self.graph.node(edge.from.node)
            {
                let stand_in = Node {
                    inputs: node.outputs.clone(),
                    ..stand_in(node, TAP)
                };
                let placed = outer.restore(edge.from.node, stand_in);
                debug_assert!(placed.is_ok());
            }
            if self.cell_of(edge.to.node).is_none() {
                outer.connect(*edge);
            }
        }
        outer
    }

    /// The graph of a cell.
    fn inner(&self, cell: usize, (inputs, outputs): (&[BorderPort], &[BorderPort])) -> Graph {
        let mut inner = self.graph.clone();
        for (id, _) in self.graph.nodes() {
            if self.cell_of(id) != Some(cell) {
                inner.remove(id);
            }
        }
        for input in inputs {
            if let (None, Some(node)) = (
                inner.node(input.from.node),
                self.graph.node(input.from.node),
            ) {
                let placed = inner.restore(input.from.node, stand_in(node, INPUT));
                debug_assert!(placed.is_ok());
            }
        }
        let is_in = |id| self.cell_of(id) == Some(cell);
        let entering = self.graph.edges().iter();
        for edge in entering.filter(|it| !is_in(it.from.node) && is_in(it.to.node)) {
            inner.connect(*edge);
        }
        let mut collector = Node::new(unused_name(&inner, "cell output"), OUTPUT);
        collector.inputs = ports("in", outputs);
        collector.outputs = vec![mono("out")];
        let mut sink = Node::new(unused_name(&inner, "cell end"), "sink");
        sink.inputs = vec![mono("in")];
        // Ids for the nodes that edits add, which are those of the whole graph.
        (0..INNER_IDS).for_each(|_| {
            inner.reserve_id();
        });
        let collector = inner.add(collector).expect("the name is not used");
        let sink = inner.add(sink).expect("the name is not used");
        for (port, output) in (0..).zip(outputs) {
            connect(
                &mut inner,
                output.from,
                PortRef {
                    node: collector,
                    port,
                },
            );
        }
        let at = |node| PortRef { node, port: 0 };
        connect(&mut inner, at(collector), at(sink));
        inner
    }
}

/// Puts the node of a cell into the supervisor's graph, and returns its name.
fn place_cell(
    outer: &mut Graph,
    cell: &CellSpec,
    (inputs, outputs): (&[BorderPort], &[BorderPort]),
) -> String {
    let name = unused_name(outer, &format!("cell {}", cell.name));
    let mut node = Node::new(name.clone(), CELL);
    (node.inputs, node.outputs) = (ports("in", inputs), ports("out", outputs));
    node.span = cell.span;
    let node = outer.add(node).expect("the name is not used");
    for (port, input) in (0..).zip(inputs) {
        connect(outer, input.from, PortRef { node, port });
    }
    for (port, output) in (0..).zip(outputs) {
        connect(outer, PortRef { node, port }, output.from);
    }
    name
}

fn connect(graph: &mut Graph, from: PortRef, to: PortRef) {
    let span = SourceSpan::NONE;
    graph.connect(Edge { from, to, span });
}

/// A node with the name and the outputs of `node`.
fn stand_in(node: &Node, kind: &str) -> Node {
    Node {
        outputs: node.outputs.clone(),
        channels: node.channels,
        output_channels: node.output_channels,
        span: node.span,
        ..Node::new(node.name.clone(), kind)
    }
}

fn ports(stem: &str, border: &[BorderPort]) -> Vec<Port> {
    let ports = border.iter().enumerate();
    let port =
        |(at, port): (usize, &BorderPort)| Port::new(format!("{stem}{}", at + 1), port.signal);
    ports.map(port).collect()
}

fn mono(name: &str) -> Port {
    Port::new(name, Signal::Audio(Channels(1)))
}

pub(crate) fn unused_name(graph: &Graph, stem: &str) -> String {
    let mut name = stem.to_owned();
    while graph.find(&name).is_some() {
        name.push('\'');
    }
    name
}

fn unknown_node(graph: &Graph, cell: &CellSpec, name: &str) -> Diagnostic {
    let message = format!("the cell `{}` names `{name}`, which is no node", cell.name);
    let mistake = Diagnostic::error(cell.span, message);
    match nearest(name, graph.nodes().map(|(_, node)| node.name.as_str())) {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake,
    }
}

/// The reason for which a node must stay with the supervisor.
pub(crate) fn why_outside(node: &Node, catalogue: &Catalogue) -> Option<&'static str> {
    let kind = catalogue.get(node.effective_kind())?;
    match () {
        () if kind.name == "midi_input" || kind.name == "midi_output" => {
            Some("the supervisor has the MIDI ports")
        }
        () if kind.role == Role::Sink => Some("the supervisor plays it on the device"),
        () if kind.role == Role::Source => Some("the supervisor has the device"),
        () if kind.writes.is_some() => Some("it writes a file, which a new start would replace"),
        () => None,
    }
}
