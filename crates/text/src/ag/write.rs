//! A session as `.ag`, or what of it the format cannot say.

use crate::Session;
use crate::assemble::stand_in;
use crate::number::write_micros;
use crate::params::TOML_ONLY;
use graph::{Catalogue, Edge, Graph, Node, ParamRange, ParamValue, Signal};
use std::fmt;

/// One thing that `.ag` has no words for. Take it out of the session, or write it as `.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// A setting; the format has only `deadline`.
    Setting(&'static str),
    /// A section, by name.
    Section(String),
    /// A node's name that is not letters, digits, `-` and `_` behind a letter.
    Name(String),
    /// Something about a node.
    Node {
        /// Which.
        node: String,
        /// What: `channels`, `every`, `enabled`, a key, …
        what: String,
    },
    /// An edge that carries events or control values, by its nodes.
    Edge {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".ag has no words for ")?;
        match self {
            Self::Setting(name) => write!(f, "the setting `{name}`"),
            Self::Section(name) => write!(f, "the section `{name}`"),
            Self::Name(name) => write!(f, "a node called `{name}`"),
            Self::Node { node, what } => write!(f, "{what} of the node `{node}`"),
            Self::Edge { from, to } => write!(f, "the signal from `{from}` to `{to}`"),
        }
    }
}

impl std::error::Error for Unsupported {}

/// Writes `session`; reading it gives an equal one. The catalogue says which keys are numbers: a negative one stands in
/// quotes.
///
/// # Errors
///
/// Everything that the format cannot say.
pub fn write(session: &Session, catalogue: &Catalogue) -> Result<String, Vec<Unsupported>> {
    let mut writer = Writer {
        text: String::new(),
        cannot: Vec::new(),
        catalogue,
    };
    writer.settings(session);
    for (_, node) in session.graph.nodes() {
        writer.node(node);
    }
    for edge in session.graph.edges() {
        writer.edge(edge, &session.graph);
    }
    match writer.cannot.is_empty() {
        true => Ok(writer.text),
        false => Err(writer.cannot),
    }
}

struct Writer<'c> {
    text: String,
    cannot: Vec<Unsupported>,
    catalogue: &'c Catalogue,
}

impl Writer<'_> {
    fn settings(&mut self, session: &Session) {
        let settings = &session.settings;
        if settings.rate.is_some() {
            self.cannot.push(Unsupported::Setting("rate"));
        }
        if settings.block.is_some() {
            self.cannot.push(Unsupported::Setting("block"));
        }
        for section in &session.sections {
            self.cannot.push(Unsupported::Section(section.name.clone()));
        }
        if let Some(deadline) = settings.deadline {
            self.text += &format!("deadline = {};\n", write_micros(deadline));
        }
    }

    fn cannot(&mut self, node: &Node, what: impl Into<String>) {
        self.cannot.push(Unsupported::Node {
            node: node.name.clone(),
            what: what.into(),
        });
    }

    fn node(&mut self, node: &Node) {
        if !is_name(&node.name) {
            self.cannot.push(Unsupported::Name(node.name.clone()));
        }
        if node.every != 1 {
            self.cannot(node, "`every`");
        }
        if !node.enabled {
            self.cannot(node, "`enabled`");
        }
        let (inputs, outputs) = (node.inputs.len(), node.outputs.len());
        let usual = stand_in(inputs as u32, outputs as u32);
        if node.stand_in.as_ref().is_some_and(|kind| kind != usual) {
            self.cannot(node, "the stand-in");
        }
        self.text += &format!("{} = {{ ", node.name);
        if !node.kind.is_empty() {
            self.text += &format!("kind: {}, ", quoted(&node.kind));
        }
        for (key, value) in &node.params {
            self.param(node, key, value);
        }
        self.text += &format!("in: {inputs}, out: {outputs}, ");
        if let Some(cost) = node.cost {
            self.text += &format!("wcet: {}, ", write_micros(cost));
        }
        self.text += "};\n";
    }

    fn param(&mut self, node: &Node, key: &str, value: &ParamValue) {
        if matches!(key, "in" | "out") {
            return;
        }
        let range = self
            .catalogue
            .get(node.effective_kind())
            .and_then(|k| k.param(key));
        let range = range.map(|(_, param)| &param.range);
        let is_free = is_name(key) && !matches!(key, "kind" | "wcet") && !TOML_ONLY.contains(&key);
        let written = match value {
            ParamValue::Text(text) => Some(quoted(text)),
            ParamValue::Number(n) if !n.is_finite() => None,
            ParamValue::Number(n) if n.is_sign_positive() => Some(n.to_string()),
            ParamValue::Number(n) if matches!(range, Some(ParamRange::Number { .. })) => {
                Some(format!("\"{n}\""))
            }
            ParamValue::Flag(on) if range == Some(&ParamRange::Flag) => Some(format!("\"{on}\"")),
            _ => None,
        };
        match written.filter(|_| is_free) {
            Some(value) => self.text += &format!("{key}: {value}, "),
            None => self.cannot(node, format!("`{key}`")),
        }
    }

    fn edge(&mut self, edge: &Edge, graph: &Graph) {
        let (Some(from), Some(to)) = (graph.node(edge.from.node), graph.node(edge.to.node)) else {
            return;
        };
        let port = from.outputs.get(usize::from(edge.from.port));
        if port.is_none_or(|port| !matches!(port.signal, Signal::Audio(_))) {
            self.cannot.push(Unsupported::Edge {
                from: from.name.clone(),
                to: to.name.clone(),
            });
        }
        let (a, b) = (edge.from.port + 1, edge.to.port + 1);
        self.text += &format!("{}.{a} -> {}.{b};\n", from.name, to.name);
    }
}

fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// In quotes, with JSON escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
