//! What is written, to a graph that is checked against the catalogue.

use crate::draft::{Dialect, Draft, DraftNode, Word};
use crate::findings::Findings;
use crate::params;
use crate::source::Span;
use graph::{Catalogue, Graph, Kind, Node, ParamValue, PortCount, PortSignal, PortSpec};

/// Among so many findings an unknown kind is answered with the list of all.
const LISTS: usize = 16;

/// The most ports that all nodes of one session may have together: a short text can ask for very many.
const MOST_PORTS: usize = 2_000_000;

/// What the nodes of a draft have become.
pub(crate) struct Nodes<'d> {
    pub(crate) graph: Graph,
    /// For each node its name, as written.
    pub(crate) words: Vec<&'d Word<'d>>,
    /// For each node whether its ports are known; where not, nothing more is said about them.
    pub(crate) has_ports: Vec<bool>,
}

/// Turns what is written into a graph; says what is wrong with it. A text without a node is a mistake, unless it
/// `has_others`: parts that other readers own.
pub(crate) fn assemble(
    draft: &Draft<'_>,
    dialect: Dialect,
    has_others: bool,
    catalogue: &Catalogue,
    findings: &mut Findings<'_>,
) -> Graph {
    let mut nodes = Nodes {
        graph: Graph::default(),
        words: Vec::with_capacity(draft.nodes.len()),
        has_ports: Vec::with_capacity(draft.nodes.len()),
    };
    nodes.graph.reserve(draft.nodes.len(), draft.edges.len());
    let mut assembler = Assembler {
        dialect,
        catalogue,
        findings,
        ports_left: MOST_PORTS,
    };
    for written in &draft.nodes {
        assembler.add(written, &mut nodes);
    }
    if draft.nodes.is_empty() && !has_others && assembler.findings.list.is_empty() {
        let there_is = match assembler.findings.source.text.trim().is_empty() {
            true => "the file is empty",
            false => "there is no node",
        };
        let more = assembler.findings.error(0..0, there_is);
        more.help(match dialect {
            Dialect::Ag => "write one: o = { kind: \"osc\", freq: 440, in: 0, out: 1, };",
            Dialect::Toml => "write one: [nodes.tone] and below it kind = \"osc\" and freq = 440",
        });
    }
    crate::edges::connect(draft, &mut nodes, findings);
    nodes.graph
}

struct Assembler<'a, 'f, 't> {
    dialect: Dialect,
    catalogue: &'a Catalogue,
    findings: &'f mut Findings<'t>,
    ports_left: usize,
}

/// How many ports or channels a node asks for, a whole number however large, and where.
pub(crate) type Count = Option<(f64, Span)>;

/// The counts that a node asks for.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) inputs: Count,
    pub(crate) outputs: Count,
    pub(crate) channels: Count,
}

impl<'a> Assembler<'a, '_, '_> {
    fn add<'d>(&mut self, written: &'d DraftNode<'d>, nodes: &mut Nodes<'d>) {
        let name = &written.name;
        if let Some(first) = nodes.graph.find(&name.text) {
            let first = nodes.words[first.0 as usize].at.clone();
            self.findings
                .error(
                    name.at.clone(),
                    format!("there are two nodes `{}`", name.text),
                )
                .help("give one of them another name")
                .also(first, "the first one is here");
            return;
        }
        let (node, has_ports) = self.node(written);
        nodes
            .graph
            .add(node)
            .expect("the name has just been looked for");
        nodes.words.push(name);
        nodes.has_ports.push(has_ports);
    }

    fn node(&mut self, written: &DraftNode<'_>) -> (Node, bool) {
        let kind = written.kind.as_ref().map_or("", |word| &word.text);
        let mut node = Node::new(written.name.text.as_ref(), kind);
        node.params
            .reserve_exact(written.entries.len().min(params::MOST_KEYS) + 2);
        node.span = self.findings.source.place(written.name.at.clone());
        node.cost = written.cost;
        node.every = written.every;
        node.enabled = written.enabled;
        let counts = params::counts(written, self.dialect, self.findings);
        let Some(kind) = self.kind(written, &counts, &mut node) else {
            params::keep(written, &mut node);
            return (node, false);
        };
        params::check(written, kind, self.dialect, &mut node, self.findings);
        let has_ports = self.give_ports(written, kind, counts, &mut node);
        (node, has_ports)
    }

    /// The kind that will play. Where there is none, that is said.
    fn kind(
        &mut self,
        written: &DraftNode<'_>,
        counts: &Counts,
        node: &mut Node,
    ) -> Option<&'a Kind> {
        let name = &written.name;
        if let Some(kind) = self.catalogue.get(&node.kind) {
            if let Some(word) = &written.stand_in {
                let message = format!("`{}` is a known kind and needs no stand-in", kind.name);
                self.findings.warning(word.at.clone(), message);
            }
            return Some(kind);
        }
        if let Some(word) = &written.stand_in {
            let kind = self.known(word)?;
            node.stand_in = Some(kind.name.into());
            return Some(kind);
        }
        match (&written.kind, self.dialect) {
            (Some(word), Dialect::Toml) => self.known(word),
            (None, Dialect::Toml) => {
                let message = format!("`{}` has no kind", name.text);
                let more = self.findings.error(name.at.clone(), message);
                more.help("say what it is: kind = \"osc\"");
                None
            }
            (_, Dialect::Ag) => self.stand_in(written, counts, node),
        }
    }

    fn known(&mut self, word: &Word<'_>) -> Option<&'a Kind> {
        let kind = self.catalogue.get(&word.text);
        if kind.is_none() {
            let names: Vec<&str> = self.catalogue.kinds().map(|k| k.name).collect();
            let meant = self.findings.nearest(&word.text, names.iter().copied());
            let message = format!("there is no kind `{}`", word.text);
            let is_early = self.findings.list.len() < LISTS;
            let more = self.findings.error(word.at.clone(), message);
            match meant {
                None if is_early => more.help(format!("it is one of {}", names.join(", "))),
                meant => more.meant(meant),
            };
        }
        kind
    }

    /// What the format's readers play for a kind that they do not know.
    fn stand_in(
        &mut self,
        written: &DraftNode<'_>,
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
            self.findings.error(at, message);
            return None;
        };
        let names: Vec<&str> = self.catalogue.kinds().map(|k| k.name).collect();
        let meant = self.findings.nearest(&node.kind, names.into_iter());
        let message = match &written.kind {
            Some(word) => format!(
                "there is no kind `{}`; `{name}` plays in its stead",
                word.text
            ),
            None => format!(
                "`{}` has no kind; `{name}` plays in its stead",
                written.name.text
            ),
        };
        self.findings.warning(at, message).meant(meant);
        node.stand_in = Some(name.into());
        Some(kind)
    }

    /// Gives `node` its ports and leaves its counts in canonical form. Whether the ports are known after that.
    fn give_ports(
        &mut self,
        written: &DraftNode<'_>,
        kind: &Kind,
        counts: Counts,
        node: &mut Node,
    ) -> bool {
        let all = [
            ("in", counts.inputs, has_many(&kind.inputs)),
            ("out", counts.outputs, has_many(&kind.outputs)),
            ("channels", counts.channels, has_width(kind)),
        ];
        for (key, count, _) in &all {
            if let Some((n, _)) = count {
                node.set(*key, ParamValue::Number(*n));
            }
        }
        for (key, message) in Catalogue::assign_ports(kind, node) {
            let at = all.iter().find(|(k, ..)| *k == key);
            let at = at.and_then(|(_, count, _)| count.as_ref().map(|(_, at)| at.clone()));
            let at = at.unwrap_or_else(|| written.name.at.clone());
            self.findings.error(at, message);
        }
        node.params
            .retain(|(key, _)| all.iter().all(|(k, ..)| k != key));
        let [inputs, outputs, channels] = all;
        self.count_of(kind, "inputs", node.inputs.len(), &inputs);
        self.count_of(kind, "outputs", node.outputs.len(), &outputs);
        if inputs.2 {
            node.set("in", ParamValue::Number(node.inputs.len() as f64));
        }
        if outputs.2 {
            node.set("out", ParamValue::Number(node.outputs.len() as f64));
        }
        self.channels(kind, &channels, node);
        self.has_room(written, node)
    }

    /// Holds a count that is not free against what it is.
    fn count_of(&mut self, kind: &Kind, side: &str, has: usize, asked: &(&str, Count, bool)) {
        let (key, Some((n, at)), false) = asked else {
            return;
        };
        if *n == has as f64 {
            return;
        }
        let message = format!("`{}` has {has} {side}, not {n}", kind.name);
        match self.dialect {
            Dialect::Ag => self
                .findings
                .warning(at.clone(), message)
                .help("its own are used"),
            Dialect::Toml => {
                let help = format!("leave `{key}` out");
                self.findings.error(at.clone(), message).help(help)
            }
        };
    }

    fn channels(&mut self, kind: &Kind, (_, count, free): &(&str, Count, bool), node: &mut Node) {
        let Some((n, at)) = count else {
            return;
        };
        if !free && *n != 1.0 {
            let message = format!("`{}` has no `channels` to choose", kind.name);
            self.findings
                .warning(at.clone(), message)
                .help("leave it out");
        } else if *n != 1.0 {
            node.set("channels", ParamValue::Number(*n));
        }
    }

    /// Whether the session still has room for the node's ports; takes them back where not.
    fn has_room(&mut self, written: &DraftNode<'_>, node: &mut Node) -> bool {
        let ports = node.inputs.len() + node.outputs.len();
        if let Some(left) = self.ports_left.checked_sub(ports) {
            self.ports_left = left;
            return true;
        }
        (node.inputs, node.outputs) = (Vec::new(), Vec::new());
        let message = format!("`{}` brings the session over {MOST_PORTS} ports", node.name);
        let at = written.name.at.clone();
        self.findings
            .error(at, message)
            .help("ask for fewer with `in` and `out`");
        false
    }
}

/// The kind that plays for an unknown one with so many inputs and outputs.
pub(crate) fn stand_in(inputs: u32, outputs: u32) -> &'static str {
    match (inputs, outputs) {
        (0, 1) => "osc",
        (1, 0) => "sink",
        (1, 1) => "mod",
        _ => "mix",
    }
}

/// Whether the node may choose how many there are.
fn has_many(specs: &[PortSpec]) -> bool {
    specs.iter().any(|spec| spec.count != PortCount::One)
}

/// Whether the node may choose how wide they are.
fn has_width(kind: &Kind) -> bool {
    let mut specs = kind.inputs.iter().chain(&kind.outputs);
    specs.any(|spec| spec.signal == PortSignal::AsNode)
}
