//! Writes a session as `.ag`, or lists what the format has no syntax for.

use crate::resolve::params::TOML_ONLY;
use crate::resolve::stand_in;
use crate::session::Session;
use crate::time::to_micros;
use graph::{
    Catalogue, Edge, Graph, Kind, Node, ParamRange, ParamValue, PortSpec, Signal, TempoMap,
    series_len,
};

/// A part of a session that `.ag` has no syntax for. Remove it from the session, or write `.toml`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A setting other than `deadline`.
    #[error(".ag has no syntax for the setting `{0}`")]
    Setting(&'static str),
    /// A section, by name.
    #[error(".ag has no syntax for the section `{0}`")]
    Section(String),
    /// A node's name that is not a letter followed by letters, digits, `-` and `_`.
    #[error(".ag has no syntax for a node called `{0}`")]
    Name(String),
    /// A property of a node.
    #[error(".ag has no syntax for {what} of the node `{node}`")]
    Node {
        /// The name of the node.
        node: String,
        /// The property: `channels`, `every`, `enabled`, a key, …
        what: String,
    },
    /// An edge that drives a parameter.
    #[error(".ag has no syntax for an edge from `{from}` that drives `{param}` of `{to}`")]
    Modulation {
        /// The name of the source node.
        from: String,
        /// The name of the target node.
        to: String,
        /// The parameter.
        param: String,
    },
    /// An edge that carries events or control values.
    #[error(".ag has no syntax for the signal from `{from}` to `{to}`")]
    Edge {
        /// The name of the source node.
        from: String,
        /// The name of the target node.
        to: String,
    },
}

/// Writes `session`; reading it gives an equal one. The catalogue says which parameters are numbers: negative ones are put
/// in quotes.
///
/// # Errors
///
/// Every part of the session that the format has no syntax for.
pub fn write(session: &Session, catalogue: &Catalogue) -> Result<String, Vec<Unsupported>> {
    let mut writer = Writer {
        text: String::new(),
        unsupported: Vec::new(),
        catalogue,
    };
    writer.settings(session);
    for (_, node) in session.graph.nodes() {
        writer.node(node);
    }
    for edge in session.graph.edges() {
        writer.edge(edge, &session.graph);
    }
    match writer.unsupported.is_empty() {
        true => Ok(writer.text),
        false => Err(writer.unsupported),
    }
}

struct Writer<'c> {
    text: String,
    unsupported: Vec<Unsupported>,
    catalogue: &'c Catalogue,
}

impl Writer<'_> {
    fn settings(&mut self, session: &Session) {
        let settings = &session.settings;
        if settings.rate.is_some() {
            self.unsupported.push(Unsupported::Setting("rate"));
        }
        if settings.block.is_some() {
            self.unsupported.push(Unsupported::Setting("block"));
        }
        if *session.graph.tempo() != TempoMap::default() {
            self.unsupported.push(Unsupported::Setting("tempo"));
        }
        for section in &session.sections {
            self.unsupported
                .push(Unsupported::Section(section.name.clone()));
        }
        if let Some(deadline) = settings.deadline {
            self.text += &format!("deadline = {};\n", to_micros(deadline));
        }
    }

    fn unsupported(&mut self, node: &Node, what: impl Into<String>) {
        self.unsupported.push(Unsupported::Node {
            node: node.name.clone(),
            what: what.into(),
        });
    }

    fn node(&mut self, node: &Node) {
        if !is_name(&node.name) {
            self.unsupported.push(Unsupported::Name(node.name.clone()));
        }
        if node.every != 1 {
            self.unsupported(node, "`every`");
        }
        if !node.enabled {
            self.unsupported(node, "`enabled`");
        }
        if node.bypassed {
            self.unsupported(node, "`bypass`");
        }
        let (inputs, outputs) = (node.kind_inputs().len(), node.outputs.len());
        let usual = stand_in(inputs as u32, outputs as u32);
        if node.stand_in.as_ref().is_some_and(|kind| kind != usual) {
            self.unsupported(node, "the stand-in");
        }
        self.text += &format!("{} = {{ ", node.name);
        if !node.kind.is_empty() {
            self.text += &format!("kind: {}, ", quoted(&node.kind));
        }
        for (key, value) in &node.params {
            self.param(node, key, value);
        }
        let kind = self.catalogue.get(node.effective_kind());
        let series = |specs: fn(&Kind) -> &Vec<PortSpec>, all: usize| {
            kind.map_or(all, |kind| series_len(specs(kind), all))
        };
        let (inputs, outputs) = (
            series(|kind| &kind.inputs, inputs),
            series(|kind| &kind.outputs, outputs),
        );
        self.text += &format!("in: {inputs}, out: {outputs}, ");
        if let Some(cost) = node.cost {
            self.text += &format!("wcet: {}, ", to_micros(cost));
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
            None => self.unsupported(node, format!("`{key}`")),
        }
    }

    fn edge(&mut self, edge: &Edge, graph: &Graph) {
        let (Some(from), Some(to)) = (graph.node(edge.from.node), graph.node(edge.to.node)) else {
            return;
        };
        let input = to.inputs.get(usize::from(edge.to.port));
        if let Some(input) = input.filter(|input| input.modulation.is_some()) {
            return self.unsupported.push(Unsupported::Modulation {
                from: from.name.clone(),
                to: to.name.clone(),
                param: input.name.clone(),
            });
        }
        let port = from.outputs.get(usize::from(edge.from.port));
        if port.is_none_or(|port| !matches!(port.signal, Signal::Audio(_))) {
            self.unsupported.push(Unsupported::Edge {
                from: from.name.clone(),
                to: to.name.clone(),
            });
        }
        let (a, b) = (edge.from.port + 1, edge.to.port + 1);
        self.text += &format!("{}.{a} -> {}.{b};\n", from.name, to.name);
    }
}

/// Returns true if `word` is a name of the format.
pub(super) fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A string in quotes, with JSON escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
