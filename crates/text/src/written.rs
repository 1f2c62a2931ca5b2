//! Statements of a session that uses parts, as they were written, so that the writer can give them back.

use crate::fold::WrittenNode;
use graph::{Graph, Node, ParamValue};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The statements `edges`, `include`, `nodes` and `part` of a session that uses parts, counts or expressions, with their
/// comments. They hold as long as the graph is the one that they gave.
#[derive(Clone, Debug)]
pub struct WrittenParts {
    /// The lines above the first header.
    pub(crate) lines: String,
    /// The tables.
    pub(crate) tables: String,
    /// The session's nodes that stand for several: instances of parts, and nodes with a count.
    pub(crate) nodes: Vec<WrittenNode>,
    /// Fingerprint of the graph that was read.
    graph: u64,
}

/// Parts are equal if their texts are; all else follows from those.
impl PartialEq for WrittenParts {
    fn eq(&self, other: &Self) -> bool {
        (&self.lines, &self.tables) == (&other.lines, &other.tables)
    }
}

impl WrittenParts {
    pub(crate) fn new(
        (lines, tables): (String, String),
        nodes: Vec<WrittenNode>,
        graph: &Graph,
    ) -> Self {
        Self {
            lines,
            tables,
            nodes,
            graph: fingerprint(graph),
        }
    }

    /// The statements in words that outlive this process, for [`Self::from_words`].
    pub fn to_words(&self) -> [String; 3] {
        let (lines, tables) = (self.lines.clone(), self.tables.clone());
        [lines, tables, self.graph.to_string()]
    }

    /// The statements in words of the same program. Which nodes stand for several is not in them: a picture shows each.
    pub fn from_words([lines, tables, graph]: [String; 3]) -> Option<Self> {
        Some(Self {
            lines,
            tables,
            nodes: Vec::new(),
            graph: graph.parse().ok()?,
        })
    }

    /// Returns true if `graph` is the one that the statements gave.
    pub(crate) fn give(&self, graph: &Graph) -> bool {
        self.graph == fingerprint(graph)
    }
}

/// A number that changes with anything that a graph states.
fn fingerprint(graph: &Graph) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (id, node) in graph.nodes() {
        id.hash(&mut hasher);
        hash_node(node, &mut hasher);
    }
    for edge in graph.edges() {
        (edge.from, edge.to).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns true for the fingerprint of a patch, which is set anew whenever a session is read.
pub(crate) fn is_fingerprint(node: &Node, key: &str) -> bool {
    key == "version" && node.effective_kind() == "pd"
}

fn hash_node(node: &Node, hasher: &mut DefaultHasher) {
    (&node.name, &node.kind, &node.stand_in).hash(hasher);
    for (key, value) in &node.params {
        if is_fingerprint(node, key) {
            continue;
        }
        key.hash(hasher);
        match value {
            ParamValue::Number(number) => (0, number.to_bits()).hash(hasher),
            ParamValue::Text(text) => (1, text).hash(hasher),
            ParamValue::Flag(on) => (2, on).hash(hasher),
        }
    }
    (node.cost, node.every, node.enabled, node.bypassed).hash(hasher);
    (node.inputs.len(), node.outputs.len()).hash(hasher);
    // Ports that drive parameters state how.
    for port in node.inputs.iter().filter(|port| port.modulation.is_some()) {
        format!("{} {:?}", port.driven_name(), port.modulation).hash(hasher);
    }
}
