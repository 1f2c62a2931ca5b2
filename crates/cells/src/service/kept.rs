//! [`KeptCell`]: a cell, as the next supervisor gets it after this one is lost.

use super::CellService;
use super::inside::told;
use super::served::CellState;
use crate::handed::HandedSession;
use crate::section::{CellSpec, read_cells};
use crate::slots::{slot_bytes, slots_of};
use crate::split::CellPart;
use ::text::Session;
use graph::{Graph, Node};
use std::collections::BTreeSet;

/// A cell, in words that outlive a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCell {
    /// Number of the cell.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its keys, if it is not the session's.
    pub text: Option<String>,
    /// The cores that it has.
    pub cores: Vec<usize>,
    /// Reason why it is stopped, if it is.
    pub stopped: Option<CellState>,
    /// Numbers of the parts that its process may have. It had the session with the values of its time.
    pub parts: Vec<u64>,
    /// Targets of events, where edits have numbered them.
    pub slots: Vec<u8>,
}

impl KeptCell {
    /// The cells of a session, which number their indices.
    ///
    /// Real-time: setup.
    pub fn filed(cells: &[CellSpec]) -> Vec<Self> {
        let cells = cells.iter().enumerate();
        let cells = cells.map(|(index, spec)| Self {
            index,
            name: spec.name.clone(),
            text: None,
            cores: spec.cores.clone(),
            stopped: None,
            parts: Vec::new(),
            slots: Vec::new(),
        });
        cells.collect()
    }

    /// Gives a part the numbers of its targets that its process knows.
    ///
    /// Real-time: setup.
    pub fn number_targets(&self, part: &mut CellPart) {
        if !self.slots.is_empty() {
            part.slots = slots_of(&self.slots);
            part.is_renumbered = true;
        }
    }

    /// The cell with its keys; `filed` are those of the session. `None` if the session has another cell by now.
    ///
    /// Real-time: setup.
    pub fn spec(&self, filed: &[CellSpec]) -> Option<CellSpec> {
        let spec = match &self.text {
            Some(text) => CellSpec::from_text(&self.name, text).ok()?,
            None => filed.iter().find(|it| it.name == self.name)?.clone(),
        };
        Some(CellSpec {
            cores: self.cores.clone(),
            ..spec
        })
    }
}

impl CellService {
    /// The cells as they are now, for the next supervisor.
    ///
    /// Real-time: setup.
    pub fn kept(&self) -> Vec<KeptCell> {
        let (filed, _) = read_cells(&self.options.session);
        let is_filed = |name: &str| filed.iter().any(|it| it.name == name);
        let has_text = |name: &str| self.has_new_graph || !is_filed(name);
        let cells = self.cells.iter().map(|cell| KeptCell {
            index: cell.index,
            name: cell.spec.name.clone(),
            text: has_text(&cell.spec.name).then(|| cell.spec.keys.to_string()),
            cores: cell.spec.cores.clone(),
            stopped: cell.stopped,
            parts: cell.parts.clone(),
            slots: match cell.is_renumbered {
                true => slot_bytes(&cell.slots),
                false => Vec::new(),
            },
        });
        cells.collect()
    }

    /// The session as it plays, if nodes or edges are others than those of its file.
    ///
    /// Real-time: setup.
    pub fn kept_session(&self) -> Option<HandedSession> {
        let specs = || self.cells.iter().map(|cell| cell.spec.clone());
        let handed = || self.handed(&self.options.graph, &specs().collect::<Vec<_>>());
        self.has_new_graph.then(handed)
    }

    /// Nodes that edits have taken out of cells, each with its cell: the last ones.
    ///
    /// Real-time: setup.
    pub fn left(&self) -> &[(String, String)] {
        &self.left
    }

    /// Takes what [`left`](Self::left) gave to a supervisor before.
    ///
    /// Real-time: setup.
    pub fn set_left(&mut self, left: Vec<(String, String)>) {
        self.left = left;
    }

    /// A whole graph of the session as text, with the ids of its nodes.
    ///
    /// Real-time: setup.
    pub fn written(&self, graph: &Graph) -> HandedSession {
        let session = Session {
            sections: Vec::new(),
            ..self.options.session.clone()
        };
        HandedSession::with_cells(&session, (graph, &[]), self.catalogue())
    }

    /// The session but its graph.
    pub fn session(&self) -> &Session {
        &self.options.session
    }

    /// Takes the session that its file holds by now: what a next supervisor is to go on with.
    ///
    /// Real-time: setup.
    pub fn note_filed(&mut self, session: &Session) {
        self.options.session = session.clone();
        self.has_new_graph = true;
    }

    /// Changes that commands have made to nodes and edges, in words; `None` if all are the session's.
    ///
    /// Real-time: setup.
    pub fn changed_nodes(&self) -> Option<String> {
        changed_nodes(&self.options.filed, &self.options.graph)
    }

    /// Has each process be told the values that the session that it reads has not.
    pub(super) fn tell_links(&mut self) {
        let graphs = (&self.options.graph, &self.options.filed);
        for cell in &self.cells {
            let told = told((&cell.slots, &cell.status.own()), graphs, self.catalogue());
            if let Some(link) = self.links().get_mut(&cell.node) {
                link.told = told;
            }
        }
    }
}

/// Names that are told of each change.
const MAX_NAMES: usize = 8;

fn changed_nodes(filed: &Graph, now: &Graph) -> Option<String> {
    let names = |graph: &Graph, other: &Graph| {
        let nodes = graph.nodes().map(|(_, node)| node.name.clone());
        let nodes = nodes.filter(|name| other.find(name).is_none());
        nodes.collect::<Vec<String>>()
    };
    let is_other = |node: &&Node| {
        let before = filed.find(&node.name).and_then(|id| filed.node(id));
        let facts = |it: &Node| (it.kind.clone(), it.enabled, it.bypassed);
        before.is_some_and(|before| facts(before) != facts(node))
    };
    let nodes = now.nodes().map(|(_, node)| node).filter(is_other);
    let others: Vec<String> = nodes.map(|node| node.name.clone()).collect();
    let (old, new) = (edges(filed), edges(now));
    let only = |all: &BTreeSet<String>, others: &BTreeSet<String>| {
        all.difference(others).cloned().collect::<Vec<String>>()
    };
    let all = [
        ("added", names(now, filed)),
        ("removed", names(filed, now)),
        ("changed", others),
        ("connected", only(&new, &old)),
        ("disconnected", only(&old, &new)),
    ];
    let all = all.into_iter().filter(|(_, names)| !names.is_empty());
    let words = all.map(|(what, names)| {
        let more = match names.len() > MAX_NAMES {
            true => format!(" and {} more", names.len() - MAX_NAMES),
            false => String::new(),
        };
        let few: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
        format!("{what} {}{more}", few.join(", "))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The edges of a graph, in words.
fn edges(graph: &Graph) -> BTreeSet<String> {
    let edges = graph.edges().iter().filter_map(|edge| {
        let (from, to) = (graph.node(edge.from.node)?, graph.node(edge.to.node)?);
        let (out, input) = (
            from.outputs.get(usize::from(edge.from.port))?,
            to.inputs.get(usize::from(edge.to.port))?,
        );
        // What has one port only needs no name of it.
        let out = match from.outputs.len() {
            1 => String::new(),
            _ => format!(".{}", out.name),
        };
        let input = match (to.kind_inputs().len(), input.modulation) {
            (_, Some(_)) => format!(".{}", input.driven_name()),
            (1, None) => String::new(),
            _ => format!(".{}", input.name),
        };
        Some(format!("{}{out} -> {}{input}", from.name, to.name))
    });
    edges.collect()
}

impl CellState {
    /// The state of this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Playing,
            Self::Starting,
            Self::Stopped,
            Self::Yielded,
            Self::GivenUp,
        ];
        all.into_iter().find(|it| it.name() == name)
    }
}
