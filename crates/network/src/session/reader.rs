//! Reads the section `[network]`: a graph by `text`'s rules, then queues, then the static check.

use super::actors;
use super::catalogue::{DEFAULT_PIECE, KINDS, MAX_CHANNELS, MAX_PIECE};
use super::spec::NetworkSpec;
use super::{MAX_NODES, SECTION};
use crate::checks::{self, CheckError};
use crate::network::Network;
use crate::topology::{QueueSpec, Topology};
use graph::{Diagnostic, Edge, Graph, Node, ParamRange, Severity, SourceSpan, nearest};
use std::ops::RangeInclusive;
use text::Source;
use text::toml::read_section_graph;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest number of frames that a queue may have, or begin with.
pub(super) const MAX_FRAMES: usize = 1 << 24;
/// Largest number of chains in `edges`.
pub(super) const MAX_EDGES: usize = 4096;
/// Memory that the nodes of one network may need for themselves, in samples.
const MAX_NODE_MEMORY: usize = 1 << 24;

/// A network that was read, and what is wrong with it.
#[derive(Debug)]
pub struct NetworkReading {
    /// The network; none if there is an error.
    pub network: Option<NetworkSpec>,
    /// Everything that is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the network of a `.toml` session; `None` if it has none. Errors of the TOML syntax are left to the session's
/// reader.
pub fn read(text: &str) -> Option<NetworkReading> {
    let (mut document, _) = DeTable::parse_recoverable(text);
    let section = document.get_mut().get_mut(SECTION)?;
    let index = Source::new(text);
    let mut reader = SectionReader {
        text,
        at: index.span(section.span()),
        index,
        found: Vec::new(),
    };
    let network = match section.get_mut() {
        DeValue::Table(table) => reader.network(table),
        _ => {
            reader.error(reader.at, "`network` is a table: [network]");
            None
        }
    };
    Some(NetworkReading {
        network: network.filter(|_| !reader.has_errors()),
        diagnostics: reader.found,
    })
}

/// Options of the queues of one chain, from `[network.queues]`.
struct QueueOptions {
    /// Place of its key: edges of that chain stand there too.
    key: SourceSpan,
    initial: usize,
    size: Option<usize>,
}

struct SectionReader<'t> {
    text: &'t str,
    index: Source<'t>,
    /// Place of the section.
    at: SourceSpan,
    found: Vec<Diagnostic>,
}

impl<'t> SectionReader<'t> {
    fn error(&mut self, at: SourceSpan, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push(Diagnostic::error(at, message));
        self.found.last_mut().expect("it was put there")
    }

    fn has_errors(&self) -> bool {
        self.found.iter().any(Diagnostic::is_error)
    }

    fn network(&mut self, table: &mut DeTable<'t>) -> Option<NetworkSpec> {
        self.check_outline(table)?;
        lists_to_text(table);
        keys_to_edges(table);
        let channels = self.count(table, "channels", 1, 1..=MAX_CHANNELS);
        let piece = self.count(table, "piece", DEFAULT_PIECE, 1..=MAX_PIECE);
        let defaults = [("channels", channels as f64), ("piece", piece as f64)];
        let (graph, found) = read_section_graph(self.text, table, &defaults, &KINDS);
        self.found.extend(found.into_iter().map(|mut found| {
            // A key that no kind knows would change nothing, and the network be another one than was meant.
            found.severity = Severity::Error;
            found
        }));
        let options = self.queue_options(table);
        if self.has_errors() {
            return None;
        }
        let mut network = self.actors(&graph)?;
        let queue_places = self.queues(&graph, &options, &mut network);
        if self.has_errors() {
            return None;
        }
        let topology = network.topology().clone();
        match checks::check(&topology) {
            Ok(result) => Some(NetworkSpec::new(topology, graph, result)),
            Err(error) => {
                self.check_failed(&error, (&topology, &graph, &queue_places));
                None
            }
        }
    }

    /// Checks that there are nodes and edges, and not too many, before they are read.
    fn check_outline(&mut self, table: &DeTable<'t>) -> Option<()> {
        self.only(
            table,
            &["nodes", "edges", "queues", "channels", "piece"],
            "`network`",
        );
        let nodes = table
            .get("nodes")
            .and_then(|nodes| nodes.get_ref().as_table());
        if !nodes.is_some_and(|nodes| (1..=MAX_NODES).contains(&nodes.len())) {
            let message = format!("a network has 1 to {MAX_NODES} nodes: [network.nodes]");
            self.error(self.at, message);
            return None;
        }
        let edges = table
            .get("edges")
            .and_then(|edges| edges.get_ref().as_array());
        if edges.is_none_or(|edges| edges.len() > MAX_EDGES) {
            let found = self.error(self.at, "a network has a list of edges");
            found.help = "edges = [\"in -> low -> out\"]".into();
            return None;
        }
        Some(())
    }

    /// The options of `[network.queues]`, in the order of their keys.
    fn queue_options(&mut self, table: &DeTable<'t>) -> Vec<QueueOptions> {
        let queues = table
            .get("queues")
            .and_then(|queues| queues.get_ref().as_table());
        let mut all = Vec::new();
        for (key, value) in queues.into_iter().flatten() {
            let at = self.index.span(key.span());
            let Some(options) = value.get_ref().as_table() else {
                self.error(at, "a queue is a table: { size = 4096 }");
                continue;
            };
            self.only(options, &["size", "initial"], "a queue");
            let size = self.count(options, "size", 0, 1..=MAX_FRAMES);
            all.push(QueueOptions {
                key: at,
                initial: self.count(options, "initial", 0, 0..=MAX_FRAMES),
                size: (size > 0).then_some(size),
            });
        }
        all
    }

    /// The network's nodes, in the graph's order.
    fn actors(&mut self, graph: &Graph) -> Option<Network> {
        let mut network = Network::new();
        let mut memory = 0;
        for (_, node) in graph.nodes() {
            self.check_node(node);
            memory += actors::memory(node);
            if memory > MAX_NODE_MEMORY {
                self.error(node.span, "the nodes up to this one need too much memory");
                return None;
            }
            match actors::create(node) {
                Ok(actor) => drop(
                    network
                        .add_boxed(node.name.clone(), actor)
                        .map_err(|error| {
                            self.error(node.span, error.to_string());
                        }),
                ),
                Err(error) => drop(self.error(node.span, format!("`{}`: {error}", node.name))),
            }
        }
        for kind in ["input", "output"] {
            let count = graph.nodes().filter(|(_, node)| node.kind == kind).count();
            if count != 1 {
                let message =
                    format!("a network has one node of kind `{kind}`, and this one has {count}");
                self.error(self.at, message);
            }
        }
        // Without all its nodes, the network is numbered differently from the graph.
        (!self.has_errors()).then_some(network)
    }

    /// Reports values that a graph's node may have and a network's may not.
    fn check_node(&mut self, node: &Node) {
        let kind = KINDS
            .get(&node.kind)
            .expect("a graph without errors has known kinds");
        for param in &kind.params {
            let is_whole =
                matches!(param.range, ParamRange::Number { .. }) && param.unit.is_empty();
            let value = node.number(param.name).filter(|_| is_whole);
            if let Some(value) = value.filter(|value| value.fract() != 0.0) {
                self.error(
                    node.span,
                    format!("`{}` is {value} and must be a whole number", param.name),
                );
            }
        }
        if actors::whole(node, "channels") > MAX_CHANNELS {
            self.error(
                node.span,
                format!("a network's node has 1 to {MAX_CHANNELS} channels"),
            );
        }
        let is_switched = !node.enabled || node.bypassed;
        if node.every != 1 || is_switched || node.cost.is_some() || node.stand_in.is_some() {
            let message = "`every`, `enabled`, `bypass`, `cost_us` and `stand_in` have no meaning in a network";
            self.error(node.span, message);
        }
    }

    /// Connects the graph's edges as queues; where each stands.
    fn queues(
        &mut self,
        graph: &Graph,
        options: &[QueueOptions],
        network: &mut Network,
    ) -> Vec<SourceSpan> {
        let options_of = |edge: &Edge| {
            let same = |other: &&Edge| (other.from, other.to) == (edge.from, edge.to);
            graph
                .edges()
                .iter()
                .filter(same)
                .find_map(|same| key_of(same, options))
        };
        let mut places = Vec::new();
        for edge in graph
            .edges()
            .iter()
            .filter(|edge| key_of(edge, options).is_none())
        {
            let chosen = options_of(edge);
            let queue = QueueSpec {
                from: edge.from,
                to: edge.to,
                initial: chosen.map_or(0, |chosen| chosen.initial),
                size: chosen.and_then(|chosen| chosen.size),
            };
            match network.connect_with(queue) {
                Ok(_) => places.push(edge.span),
                Err(error) => {
                    let found = self.error(edge.span, error.to_string());
                    found.help = "a port has one queue: `split` and `add` make more ports".into();
                }
            }
        }
        places
    }

    /// Reports what the static check found.
    fn check_failed(
        &mut self,
        error: &CheckError,
        (topology, graph, queues): (&Topology, &Graph, &[SourceSpan]),
    ) {
        let (at, help) = match error {
            CheckError::Unconnected(node, _) => {
                let node = graph.node(*node);
                (
                    node.map_or(self.at, |node| node.span),
                    "lead an edge to it or from it",
                )
            }
            CheckError::InconsistentRates { queue, .. } => (
                queues[queue.0],
                "all paths between two nodes need the same rate: change a factor or a hop on one of them",
            ),
            CheckError::Deadlock { cycle, .. } => (
                cycle.first().map_or(self.at, |(_, queue)| queues[queue.0]),
                "a queue of the cycle needs frames to begin with: `initial` in [network.queues]",
            ),
            CheckError::QueueTooSmall { queue, .. } => (
                queues[queue.0],
                "set a larger `size`, or none: then a sufficient one is found",
            ),
            _ => (
                self.at,
                "choose pieces and factors with larger common divisors",
            ),
        };
        let mut found = Diagnostic::error(at, error.to_string()).help(help);
        if let CheckError::Deadlock { cycle, .. } = error {
            for (node, queue) in cycle.iter().skip(1) {
                let why = format!("`{}` waits here", topology.node(*node).name);
                found = found.related(queues[queue.0], why);
            }
        }
        self.found.push(found);
    }

    /// The whole number that `table` has for `key`; `default` if there is none or it is wrong.
    fn count(
        &mut self,
        table: &DeTable<'t>,
        key: &str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> usize {
        let Some(value) = table.get(key) else {
            return default;
        };
        let count = match value.get_ref() {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        };
        let count = count.and_then(|n| usize::try_from(n).ok());
        count.filter(|n| range.contains(n)).unwrap_or_else(|| {
            let (min, max) = range.into_inner();
            let at = self.index.span(value.span());
            self.error(at, format!("`{key}` is a whole number from {min} to {max}"));
            default
        })
    }

    /// Reports keys of `table` that are not in `known`.
    fn only(&mut self, table: &DeTable<'t>, known: &[&str], owner: &str) {
        for (key, _) in table
            .iter()
            .filter(|(key, _)| !known.contains(&key.get_ref().as_ref()))
        {
            let at = self.index.span(key.span());
            let name = key.get_ref();
            let found = self.error(at, format!("{owner} has no `{name}`"));
            if let Some(meant) = nearest(name, known.iter().copied()) {
                found.help = format!("did you mean `{meant}`?");
            }
        }
    }
}

/// The options whose key `edge` was read from; none if it is one of the section's `edges`.
fn key_of<'a>(edge: &Edge, options: &'a [QueueOptions]) -> Option<&'a QueueOptions> {
    options.iter().find(|options| {
        let (key, at) = (options.key, edge.span);
        let columns = key.column..key.column + key.len;
        key.line == at.line && columns.contains(&at.column)
    })
}

/// Turns each node's list `coefs` into a text of numbers, since the value of a graph's parameter is no list.
fn lists_to_text(section: &mut DeTable<'_>) {
    let number = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::Float(n) => n.as_str().replace('_', ""),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => n.to_string(),
            Err(_) => "-".into(),
        },
        _ => "-".into(),
    };
    let Some(DeValue::Table(nodes)) = section.get_mut("nodes").map(Spanned::get_mut) else {
        return;
    };
    for (_, node) in nodes {
        if let DeValue::Table(node) = node.get_mut()
            && let Some(coefs) = node.get_mut("coefs")
            && let DeValue::Array(list) = coefs.get_ref()
        {
            let list: Vec<String> = list.iter().map(number).collect();
            *coefs.get_mut() = DeValue::String(list.join(" ").into());
        }
    }
}

/// Adds the chains that are keys of `queues` to the section's `edges`: so they are read by the same rules.
fn keys_to_edges(section: &mut DeTable<'_>) {
    let queues = section
        .get("queues")
        .and_then(|queues| queues.get_ref().as_table());
    let keys = queues.into_iter().flatten().map(|(key, _)| {
        let chain = DeValue::String(key.get_ref().clone());
        Spanned::new(key.span(), chain)
    });
    let keys: Vec<_> = keys.collect();
    if let Some(DeValue::Array(edges)) = section.get_mut("edges").map(Spanned::get_mut) {
        keys.into_iter().for_each(|key| edges.push(key));
    }
}
