//! The tables `[snapshot.NAME]`: values of parameters that are recalled by name while a session plays.
//!
//! ```toml
//! [snapshot.verse]
//! tone = { freq = 440, volume = 0.1 }
//! echo = { enabled = false, bypass = false, time = 0.3 }
//! "voice.1.osc" = { freq = 220 }
//! ```
//!
//! A snapshot has the nodes and parameters that it names and leaves all others as they are. The text is a
//! [`Section`] of the session: it is kept as it is written until a snapshot changes.

use super::item::{Item, Key, in_order};
use super::value::number;
use super::write::{key, quoted, value};
use crate::diagnostics::Diagnostics;
use crate::session::{Section, Session};
use ::toml::de::{DeTable, DeValue};
use graph::{Catalogue, Diagnostic, Graph, Node, ParamRange, ParamValue, SourceSpan, number_text};
use std::collections::BTreeMap;

/// Name of the section.
const SECTION: &str = "snapshot";

/// Snapshots by name.
pub type Snapshots = BTreeMap<String, Snapshot>;

/// States of nodes, by the names of the nodes.
pub type Snapshot = BTreeMap<String, NodeState>;

/// Values of a node in a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeState {
    /// Switches of the node: `enabled` and `bypass`.
    pub switches: BTreeMap<String, bool>,
    /// Parameters that may change while it plays.
    pub params: BTreeMap<String, f64>,
}

/// Switches of a node.
const SWITCHES: [&str; 2] = ["enabled", "bypass"];

/// Reads the snapshots of a session, or of a preset: of the whole text, so that the mistakes have their places. Nodes that
/// `graph` does not have are a warning, and stay in the snapshot.
pub fn read_snapshots(
    text: &str,
    graph: &Graph,
    catalogue: &Catalogue,
) -> (Snapshots, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::new(text, &[]);
    let (table, _) = DeTable::parse_recoverable(text);
    let mut snapshots = Snapshots::new();
    let mut reader = SnapshotReader {
        graph,
        catalogue,
        diagnostics: &mut diagnostics,
    };
    if let Some(all) = table.get_ref().get(SECTION) {
        for (name, item) in reader.table(all, "[snapshot.verse] and below it tone = { freq = 440 }")
        {
            let nodes = reader.table(item, "tone = { freq = 440 }").into_iter();
            let nodes: Vec<_> = nodes.collect();
            let states = nodes
                .into_iter()
                .map(|(node, state)| reader.node(node, state));
            snapshots.insert(name.get_ref().to_string(), states.collect());
        }
    }
    (snapshots, diagnostics.sorted())
}

/// Replaces the snapshots of `session`.
pub fn set_snapshots(session: &mut Session, snapshots: &Snapshots) {
    session.sections.retain(|section| section.name != SECTION);
    if !snapshots.is_empty() {
        session.sections.push(Section {
            name: SECTION.into(),
            span: SourceSpan::NONE,
            text: write_snapshots(snapshots),
            elsewhere: Vec::new(),
        });
    }
}

/// The text of the snapshots that `session` has; empty without any.
pub fn snapshots_text(session: &Session) -> String {
    let sections = session.sections.iter();
    let own = sections.filter(|section| section.name == SECTION);
    own.map(|section| section.text.as_str()).collect()
}

/// The tables of `snapshots`, a line for each node.
pub fn write_snapshots(snapshots: &Snapshots) -> String {
    let mut text = String::new();
    for (name, nodes) in snapshots {
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}[{SECTION}.{}]\n", key(name));
        for (node, state) in nodes {
            let switches = state
                .switches
                .iter()
                .map(|(k, on)| format!("{} = {on}", key(k)));
            let params = state.params.iter();
            let params =
                params.map(|(k, v)| format!("{} = {}", key(k), value(&ParamValue::Number(*v))));
            let all: Vec<String> = switches.chain(params).collect();
            text += &format!("{} = {{ {} }}\n", key(node), all.join(", "));
        }
    }
    text
}

/// Gives the nodes of `graph` the values of `snapshot`, before it plays. Gives the names that are left out: of nodes that
/// it does not have, and of parameters that a node does not have.
pub fn recall(graph: &mut Graph, snapshot: &Snapshot, catalogue: &Catalogue) -> Vec<String> {
    let mut left_out = Vec::new();
    for (name, state) in snapshot {
        let Some(node) = graph.find(name).and_then(|id| graph.node_mut(id)) else {
            left_out.push(name.clone());
            continue;
        };
        for (param, value) in &state.params {
            match why_not_recalled(node, param, *value, catalogue) {
                Some(_) => left_out.push(format!("{name}.{param}")),
                None => node.set(param, ParamValue::Number(*value)),
            }
        }
        if let Some(is_enabled) = state.switches.get("enabled") {
            node.enabled = *is_enabled;
        }
        if let Some(is_bypassed) = state.switches.get("bypass") {
            node.bypassed = *is_bypassed;
        }
    }
    left_out
}

/// Returns the reason why the parameter `name` of `node` cannot be recalled with `value`.
pub fn why_not_recalled(
    node: &Node,
    name: &str,
    value: f64,
    catalogue: &Catalogue,
) -> Option<String> {
    let kind = node.effective_kind();
    let param = catalogue.get(kind).and_then(|kind| kind.param(name));
    match param.map(|(_, param)| (param.live, &param.range)) {
        None => Some(format!(
            "{} has no parameter {}",
            quoted(kind),
            quoted(name)
        )),
        Some((false, _)) => Some(format!("{} cannot change while it plays", quoted(name))),
        Some((true, ParamRange::Number { min, max, .. })) if !(*min..=*max).contains(&value) => {
            Some(format!(
                "{} must be from {} to {}",
                quoted(name),
                number_text(*min),
                number_text(*max)
            ))
        }
        Some(_) => None,
    }
}

struct SnapshotReader<'a, 'f, 's> {
    graph: &'a Graph,
    catalogue: &'a Catalogue,
    diagnostics: &'f mut Diagnostics<'s>,
}

impl SnapshotReader<'_, '_, '_> {
    /// The entries of a table; anything else is reported with `form`.
    fn table<'i, 't>(
        &mut self,
        item: &'i Item<'t>,
        form: &str,
    ) -> Vec<(&'i Key<'t>, &'i Item<'t>)> {
        match item.get_ref() {
            DeValue::Table(table) => in_order(table),
            _ => {
                let more = self.diagnostics.error(item.span(), "this is a table");
                more.help(form);
                Vec::new()
            }
        }
    }

    fn node(&mut self, name: &Key<'_>, item: &Item<'_>) -> (String, NodeState) {
        let mut state = NodeState::default();
        let id = self.graph.find(name.get_ref());
        let node = id.and_then(|id| self.graph.node(id));
        if node.is_none() {
            let names = self.graph.nodes().map(|(_, node)| node.name.as_str());
            let names: Vec<&str> = names.collect();
            let meant = self.diagnostics.nearest(name.get_ref(), names.into_iter());
            let message = format!(
                "there is no node `{}`: recalled, it is left out",
                name.get_ref()
            );
            let more = self.diagnostics.warning(name.span(), message);
            more.did_you_mean(meant);
        }
        for (key, item) in self.table(item, "tone = { freq = 440, volume = 0.1 }") {
            let word = key.get_ref().to_string();
            match (item.get_ref(), number(item.get_ref())) {
                (DeValue::Boolean(on), _) if SWITCHES.contains(&word.as_str()) => {
                    state.switches.insert(word, *on);
                }
                (_, Some(number)) if !SWITCHES.contains(&word.as_str()) => {
                    let why =
                        node.and_then(|it| why_not_recalled(it, &word, number, self.catalogue));
                    match why {
                        Some(why) => drop(self.diagnostics.error(item.span(), why)),
                        None => drop(state.params.insert(word, number)),
                    }
                }
                _ => {
                    let message = "a snapshot holds finite numbers, and `enabled` and `bypass` as true or false";
                    self.diagnostics.error(item.span(), message);
                }
            }
        }
        (name.get_ref().to_string(), state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::catalogue;

    const TEXT: &str = "edges = [\"tone -> out\"]\n[nodes.tone]\nkind = \"osc\"\nfreq = 1\n[nodes.out]\nkind = \"sink\"\n";

    fn read(text: &str) -> (Snapshots, Vec<Diagnostic>) {
        let session = super::super::read(TEXT, &catalogue()).session;
        read_snapshots(text, &session.graph, &catalogue())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut all = Snapshots::new();
        let verse = all.entry("a \"b\"".into()).or_default();
        let state = verse.entry("tone".into()).or_default();
        state.params.insert("freq".into(), 0.1 + 0.2);
        state.switches.insert("enabled".into(), false);
        state.switches.insert("bypass".into(), true);
        verse
            .entry("gone.0".into())
            .or_default()
            .params
            .insert("x".into(), -3.0);
        all.insert("empty".into(), Snapshot::new());
        let (again, found) = read(&write_snapshots(&all));
        assert_eq!(again, all);
        assert!(found.iter().all(|it| !it.is_error()), "{found:?}");
        let mut session = super::super::read(TEXT, &catalogue()).session;
        set_snapshots(&mut session, &all);
        let text = super::super::write(&session, &catalogue());
        let again = super::super::read(&text, &catalogue());
        assert!(!again.has_errors(), "{:?}", again.diagnostics);
        assert_eq!(read(&snapshots_text(&again.session)).0, all);
        set_snapshots(&mut session, &Snapshots::new());
        assert!(session.sections.is_empty());
    }

    #[test]
    fn a_mistake_has_its_place_and_costs_only_itself() {
        let text = "\n[snapshot.a]\ntone = { freqq = 1, freq = 2 }\ntona = { freq = 3 }\nout = 4\n";
        let (all, found) = read(text);
        assert_eq!(all["a"]["tone"].params["freq"], 2.0);
        let shown: Vec<_> = found
            .iter()
            .map(|it| (it.span.line, it.is_error()))
            .collect();
        assert_eq!(shown, [(3, true), (4, false), (5, true)], "{found:?}");
    }
}
