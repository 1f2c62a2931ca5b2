//! Resolves the syntax of a text into a graph, checked against the catalogue.
//!
//! Nodes first: each gets its kind ([`mod@params`] checks its parameters) and its ports. Then [`edges`] looks up the ports
//! that edges name, gives nodes without `channels` their width, and checks that the ends of edges fit.
//!
//! | wrong | becomes, besides the report |
//! |---|---|
//! | the value of a parameter | its default |
//! | a second node of a name | no node |
//! | the kind of a node | a node with its name and unknown ports: its edges are not reported once more |
//! | an edge | no edge |

mod edges;
mod modulation;
pub(crate) mod params;

use crate::ReadContext;
use crate::ast::{Ast, AstNode, Dialect, Ident};
use crate::diagnostics::Diagnostics;
use graph::{Catalogue, Graph, Kind, Node, ParamValue, PortCount, PortSpec, series_len};
use params::{Count, Counts};

/// Number of diagnostics after which the list of all kinds is no longer added to an unknown one.
const MAX_LISTS: usize = 16;

/// Largest number of ports of all nodes together: a short text can ask for very many.
const MAX_PORTS: usize = 2_000_000;

/// The resolved nodes.
struct Nodes<'d> {
    graph: Graph,
    /// The name of each node as it is written.
    names: Vec<&'d Ident<'d>>,
    /// True for each node whose ports are known.
    has_ports: Vec<bool>,
    /// Number of ports that the session may still have.
    ports_left: usize,
}

/// Turns the syntax tree into a graph and reports its errors. A text without a node is an error if `needs_nodes`.
pub(crate) fn resolve(
    ast: &Ast<'_>,
    dialect: Dialect,
    needs_nodes: bool,
    context: &ReadContext<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> Graph {
    let mut nodes = Nodes {
        graph: Graph::default(),
        names: Vec::with_capacity(ast.nodes.len()),
        has_ports: Vec::with_capacity(ast.nodes.len()),
        ports_left: MAX_PORTS,
    };
    nodes.graph.reserve(ast.nodes.len(), ast.edges.len());
    let mut resolver = Resolver {
        dialect,
        catalogue: context.catalogue,
        diagnostics,
        ports_left: MAX_PORTS,
    };
    for written in &ast.nodes {
        resolver.diagnostics.copy = written.copy;
        resolver.add(written, &mut nodes);
    }
    resolver.diagnostics.copy = 0;
    if ast.nodes.is_empty() && needs_nodes && !resolver.diagnostics.has_errors() {
        let message = match resolver.diagnostics.source.text.trim().is_empty() {
            true => "the file is empty",
            false => "there is no node",
        };
        let more = resolver.diagnostics.error(0..0, message);
        more.help(match dialect {
            Dialect::Ag => "write one: o = { kind: \"osc\", freq: 440, in: 0, out: 1, };",
            Dialect::Toml => "write one: [nodes.tone] and below it kind = \"osc\" and freq = 440",
        });
    }
    nodes.ports_left = resolver.ports_left;
    edges::connect(ast, &mut nodes, context, diagnostics);
    if let Some(tempo) = &ast.tempo {
        nodes.graph.set_tempo(tempo.clone());
    }
    nodes.graph
}

/// Resolves nodes.
struct Resolver<'a, 'f, 't> {
    dialect: Dialect,
    catalogue: &'a Catalogue,
    diagnostics: &'f mut Diagnostics<'t>,
    ports_left: usize,
}

impl<'a> Resolver<'a, '_, '_> {
    fn add<'d>(&mut self, written: &'d AstNode<'d>, nodes: &mut Nodes<'d>) {
        let name = &written.name;
        if let Some(first) = nodes.graph.find(&name.text) {
            let first = nodes.names[first.0 as usize].at.clone();
            self.diagnostics
                .error(
                    name.at.clone(),
                    format!("there are two nodes `{}`", name.text),
                )
                .help("give one of them another name")
                .note(first, "the first one is here");
            return;
        }
        let (node, has_ports) = self.node(written);
        nodes
            .graph
            .add(node)
            .expect("the name has just been looked for");
        nodes.names.push(name);
        nodes.has_ports.push(has_ports);
    }

    fn node(&mut self, written: &AstNode<'_>) -> (Node, bool) {
        let kind = written.kind.as_ref().map_or("", |word| &word.text);
        let mut node = Node::new(written.name.text.as_ref(), kind);
        node.params
            .reserve_exact(written.entries.len().min(params::MAX_KEYS) + 2);
        node.span = self.diagnostics.span(written.name.at.clone());
        node.cost = written.cost;
        node.every = written.every;
        node.enabled = written.enabled;
        node.bypassed = written.bypassed;
        let counts = params::counts(written, self.dialect, self.diagnostics);
        let Some(kind) = self.kind(written, &counts, &mut node) else {
            params::keep_unchecked(written, &mut node);
            return (node, false);
        };
        params::check(written, kind, self.dialect, &mut node, self.diagnostics);
        let has_ports = self.give_ports(written, kind, counts, &mut node);
        (node, has_ports)
    }

    /// The kind that will run. If there is none, that is reported.
    fn kind(
        &mut self,
        written: &AstNode<'_>,
        counts: &Counts,
        node: &mut Node,
    ) -> Option<&'a Kind> {
        let name = &written.name;
        if let Some(kind) = self.catalogue.get(&node.kind) {
            if let Some(word) = &written.stand_in {
                let message = format!("`{}` is a known kind and needs no stand-in", kind.name);
                self.diagnostics.warning(word.at.clone(), message);
            }
            return Some(kind);
        }
        if let Some(word) = &written.stand_in {
            let kind = self.kind_named(word)?;
            node.stand_in = Some(kind.name.into());
            return Some(kind);
        }
        match (&written.kind, self.dialect) {
            (Some(word), Dialect::Toml) => self.kind_named(word),
            (None, Dialect::Toml) => {
                let message = format!("`{}` has no kind", name.text);
                let more = self.diagnostics.error(name.at.clone(), message);
                more.help("add one: kind = \"osc\"");
                None
            }
            (_, Dialect::Ag) => self.stand_in(written, counts, node),
        }
    }

    fn kind_named(&mut self, word: &Ident<'_>) -> Option<&'a Kind> {
        let kind = self.catalogue.get(&word.text);
        if kind.is_none() {
            let names: Vec<&str> = self.catalogue.kinds().map(|k| k.name).collect();
            let suggestion = self.diagnostics.nearest(&word.text, names.iter().copied());
            let message = format!("there is no kind `{}`", word.text);
            let is_early = self.diagnostics.list.len() < MAX_LISTS;
            let more = self.diagnostics.error(word.at.clone(), message);
            match suggestion {
                None if is_early => more.help(format!("it must be one of {}", names.join(", "))),
                suggestion => more.did_you_mean(suggestion),
            };
        }
        kind
    }

    /// The kind that runs for an unknown one in an `.ag` file, by its number of ports.
    fn stand_in(
        &mut self,
        written: &AstNode<'_>,
        counts: &Counts,
        node: &mut Node,
    ) -> Option<&'a Kind> {
        let of = |count: &Count| count.as_ref().map_or(0, |(n, _)| *n as u32);
        let name = stand_in(of(&counts.inputs), of(&counts.outputs));
        let at = written.kind.as_ref().unwrap_or(&written.name).at.clone();
        let Some(kind) = self.catalogue.get(name) else {
            let message = format!(
                "there is no kind `{}`, nor `{name}` to stand in for it",
                node.kind
            );
            self.diagnostics.error(at, message);
            return None;
        };
        let names: Vec<&str> = self.catalogue.kinds().map(|k| k.name).collect();
        let suggestion = self.diagnostics.nearest(&node.kind, names.into_iter());
        let message = match &written.kind {
            Some(word) => format!("there is no kind `{}`; `{name}` runs instead", word.text),
            None => format!("`{}` has no kind; `{name}` runs instead", written.name.text),
        };
        self.diagnostics
            .warning(at, message)
            .did_you_mean(suggestion);
        node.stand_in = Some(name.into());
        Some(kind)
    }

    /// Gives `node` its ports and leaves its counts in canonical form. Returns true if the ports are known.
    fn give_ports(
        &mut self,
        written: &AstNode<'_>,
        kind: &Kind,
        counts: Counts,
        node: &mut Node,
    ) -> bool {
        let all = [
            ("in", counts.inputs, has_many(&kind.inputs)),
            ("out", counts.outputs, has_many(&kind.outputs)),
            ("channels", counts.channels, kind.has_width()),
        ];
        for (key, count, _) in &all {
            if let Some((n, _)) = count {
                node.set(*key, ParamValue::Number(*n));
            }
        }
        for (key, message) in Catalogue::assign_ports(kind, node) {
            let at = all.iter().find(|(k, ..)| *k == key);
            let at = at.and_then(|(_, count, _)| count.as_ref().map(|(_, at)| at.clone()));
            let entry = written.entries.iter().find(|entry| entry.key.text == key);
            let at = at.or_else(|| entry.map(|entry| entry.value_at.clone()));
            let at = at.unwrap_or_else(|| written.name.at.clone());
            self.diagnostics.error(at, message);
        }
        node.params
            .retain(|(key, _)| all.iter().all(|(k, ..)| k != key));
        let [inputs, outputs, channels] = all;
        self.count_of(kind, "inputs", node.inputs.len(), &inputs);
        self.count_of(kind, "outputs", node.outputs.len(), &outputs);
        if inputs.2 {
            let count = series_len(&kind.inputs, node.inputs.len());
            node.set("in", ParamValue::Number(count as f64));
        }
        if outputs.2 {
            let count = series_len(&kind.outputs, node.outputs.len());
            node.set("out", ParamValue::Number(count as f64));
        }
        self.channels(kind, &channels, node);
        self.has_room(written, node)
    }

    /// Reports a count that the kind does not let a node choose, if it is not what the kind has.
    fn count_of(
        &mut self,
        kind: &Kind,
        side: &str,
        actual: usize,
        requested: &(&str, Count, bool),
    ) {
        let (key, Some((n, at)), false) = requested else {
            return;
        };
        // The ports of the others are counted when all edges are known.
        if *n == actual as f64 || has_series(kind) {
            return;
        }
        let message = format!("`{}` has {actual} {side}, not {n}", kind.name);
        match self.dialect {
            Dialect::Ag => self
                .diagnostics
                .warning(at.clone(), message)
                .help("the ports of the kind are used"),
            Dialect::Toml => {
                let help = format!("leave `{key}` out");
                self.diagnostics.error(at.clone(), message).help(help)
            }
        };
    }

    fn channels(&mut self, kind: &Kind, (_, count, free): &(&str, Count, bool), node: &mut Node) {
        let Some((n, at)) = count else {
            return;
        };
        if !free && *n != 1.0 {
            let message = format!("`{}` has no `channels` to choose", kind.name);
            self.diagnostics
                .warning(at.clone(), message)
                .help("leave it out");
        } else if *free {
            node.set("channels", ParamValue::Number(*n));
        }
    }

    /// Returns true if the session has room for the node's ports; else removes them and reports it.
    fn has_room(&mut self, written: &AstNode<'_>, node: &mut Node) -> bool {
        let ports = node.inputs.len() + node.outputs.len();
        if let Some(left) = self.ports_left.checked_sub(ports) {
            self.ports_left = left;
            return true;
        }
        (node.inputs, node.outputs) = (Vec::new(), Vec::new());
        let message = format!(
            "with `{}` the session has more than {MAX_PORTS} ports",
            node.name
        );
        let at = written.name.at.clone();
        self.diagnostics
            .error(at, message)
            .help("ask for fewer with `in` and `out`");
        false
    }
}

/// The kind that runs for an unknown one with this many inputs and outputs.
pub(crate) fn stand_in(inputs: u32, outputs: u32) -> &'static str {
    match (inputs, outputs) {
        (0, 1) => "osc",
        (1, 0) => "sink",
        (1, 1) => "mod",
        _ => "mix",
    }
}

/// Returns true if a node may choose the number of these ports.
fn has_many(specs: &[PortSpec]) -> bool {
    specs
        .iter()
        .any(|spec| matches!(spec.count, PortCount::Many { .. }))
}

/// Returns true if nodes of this kind have a port for each channel.
fn has_series(kind: &Kind) -> bool {
    let mut specs = kind.inputs.iter().chain(&kind.outputs);
    specs.any(|spec| spec.count == PortCount::Channels)
}
