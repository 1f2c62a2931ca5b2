//! [`KeptChanges`]: what commands and the device have changed, as the guardian keeps it for the next supervisor.
//!
//! | key | value |
//! |---|---|
//! | `session` | its text, as it was read at the start |
//! | `edits` | what commands have changed of nodes and edges, in words, where it finds no room: it is lost |
//! | `driver` | name of the driver, and its rate |
//! | `connections` | those of the device's ports, as JSON |
//! | `loop` | the range that the transport repeats, in frames |
//! | `marks` | the files that the session reads, as they were at the start |
//! | `snapshots` | all of them, saved or not, once one has changed |
//! | `words` | messages in words that set a number: node and message, as JSON |
//! | `history` | numbers of the steps of undo and redo, in their order |
//! | `step NUMBER` | such a step |
//! | `left` | nodes that edits have taken out of cells: `undo` puts them there again |
//! | `parts` | statements of a session that uses parts, as they were written |
//! | `param NODE.PARAM` | its value, as JSON |
//! | `cells` | all cells, once a command or the policy service has changed one; and the session as it plays, once commands have changed nodes or edges. Both stand in one entry, so they fit each other |

use crate::failure::Failure;
use crate::output::messages;
use divisi::cells::{
    CellPart, CellService, CellSpec, CellState, ChangeTable, HandedSession, KeptCell, Monitor,
};
use divisi::control::KeptHistory;
use divisi::driver::{DriverConfig, DriverInfo, PortConnections};
use divisi::graph::{Graph, NodeId, ParamValue};
use divisi::prelude::Engine;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::ops::Range;

/// Changes of a run.
pub(super) struct KeptChanges {
    pub(super) table: ChangeTable,
    has_told: bool,
}

const PARAM: &str = "param ";
/// Longest text of a session that is kept; a longer one is read again.
const MAX_SESSION: usize = 2 << 20;

impl KeptChanges {
    pub(super) fn new(table: ChangeTable) -> Self {
        Self {
            table,
            has_told: false,
        }
    }

    /// From now on the guardian has them.
    pub(super) fn leave(&mut self, monitor: &Monitor) {
        if let Err(error) = monitor.keep_changes(&mut self.table) {
            self.tell_lost(&error.to_string());
        }
    }

    /// The text of the session, as the first supervisor has read it.
    pub(super) fn session(&self) -> Option<&str> {
        self.table.get("session")
    }

    pub(super) fn note_session(&mut self, text: &str) {
        if text.len() <= MAX_SESSION {
            self.set("session", text);
        }
    }

    /// Changes of nodes and edges by the supervisor before, which are lost. The next call gives nothing.
    pub(super) fn take_edits(&mut self) -> Option<String> {
        let what = self.table.get("edits")?.to_owned();
        self.table.remove("edits");
        // They lead from what is not there.
        self.note_history(&KeptHistory::default());
        Some(what)
    }

    /// Name of the driver that was opened first.
    pub(super) fn driver(&self) -> Option<&str> {
        self.table.get("driver")?.split(' ').next()
    }

    /// Notes the device. Refuses one of another rate than before: the cells that play on have that of the first one.
    pub(super) fn note_device(&mut self, info: &DriverInfo) -> Result<(), Failure> {
        let here = format!("{} {}", info.name, info.rate.hz());
        let rate = |text: &str| text.split(' ').nth(1).map(str::to_owned);
        let before = self.table.get("driver").and_then(rate);
        if before.is_some() && before != rate(&here) {
            let message = format!(
                "the device has another rate than before, {}: start again",
                info.rate
            );
            return Err(Failure::failed(message));
        }
        self.set("driver", &here);
        Ok(())
    }

    /// Has the driver make the connections that there were.
    pub(super) fn configure(&self, config: &mut DriverConfig) {
        let kept = self.table.get("connections");
        let kept = kept.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(Value::Object(ports)) = kept else {
            return;
        };
        let names = |others: &Value| {
            let others = others.as_array().into_iter().flatten();
            others
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect()
        };
        let ports = ports.iter().map(|(port, others)| PortConnections {
            port: port.clone(),
            others: names(others),
        });
        let ports: Vec<PortConnections> = ports.collect();
        // Ports that the session connects to what was not there stay ready for it; others that were not connected stay so.
        let is_kept = |it: &PortConnections| ports.iter().any(|kept| kept.port == it.port);
        config.connections.retain(|it| !is_kept(it));
        config.connections.extend(ports);
        config.auto_connect = false;
    }

    pub(super) fn note_connections(&mut self, connections: &[PortConnections]) {
        let ports = connections.iter();
        let ports: serde_json::Map<String, Value> = ports
            .map(|it| (it.port.clone(), json!(it.others)))
            .collect();
        self.set("connections", &Value::Object(ports).to_string());
    }

    /// A graph with the values that commands have set, but for nodes of `inside`.
    pub(super) fn apply_params(&self, graph: &Graph, inside: &[CellPart]) -> Graph {
        let mut graph = graph.clone();
        let inside: HashSet<&str> = (inside.iter())
            .flat_map(|part| part.spec.nodes.iter().map(String::as_str))
            .collect();
        for (target, value) in self.table.all(PARAM) {
            let Some((node, param)) = target.rsplit_once('.') else {
                continue;
            };
            let found = Some(node).filter(|node| !inside.contains(node));
            let found = found.and_then(|node| graph.find(node));
            if let (Some(id), Some(value)) = (found, read_value(value))
                && let Some(node) = graph.node_mut(id)
            {
                node.set(param, value);
            }
        }
        graph
    }

    pub(super) fn note_param(&mut self, node: &str, param: &str, value: &ParamValue) {
        let value = match value {
            // Infinite ones have no JSON.
            ParamValue::Number(number) => json!(number),
            ParamValue::Text(text) => json!(text),
            ParamValue::Flag(flag) => json!(flag),
        };
        self.set(&format!("{PARAM}{node}.{param}"), &value.to_string());
    }

    /// Marks of the session's files at the start; these are made by `make` once.
    pub(super) fn marks(&mut self, make: impl FnOnce() -> String) -> String {
        if let Some(marks) = self.table.get("marks") {
            return marks.to_owned();
        }
        let marks = make();
        self.set("marks", &marks);
        marks
    }

    pub(super) fn note_snapshots(&mut self, text: &str) {
        self.set("snapshots", text);
    }

    /// The snapshots, if one has changed since the session was read.
    pub(super) fn snapshots(&self) -> Option<String> {
        self.table.get("snapshots").map(str::to_owned)
    }

    /// Notes messages in words that new processes are told again: node, message.
    pub(super) fn note_words(&mut self, words: &[(String, String)]) {
        match words.is_empty() {
            true => self.table.remove("words"),
            false => self.set("words", &json!(words).to_string()),
        }
    }

    /// The messages that new processes are told again.
    pub(super) fn words(&self) -> Vec<(String, String)> {
        let kept = self.table.get("words");
        let words = kept.and_then(|text| serde_json::from_str(text).ok());
        words.unwrap_or_default()
    }

    /// Notes values that controllers have set: node, parameter, value.
    pub(super) fn note_controlled(&mut self, values: &[(String, String, f32)]) {
        for (node, param, value) in values {
            self.note_param(node, param, &ParamValue::Number(f64::from(*value)));
        }
    }

    /// Notes the values of parameters that controllers can set, of nodes outside of cells.
    pub(super) fn note_bound(&mut self, engine: &Engine) {
        for it in engine.controllers() {
            let node = engine.graph().find(&it.node);
            let node = node.and_then(|node| engine.graph().node(node));
            if let Some(value) = node.and_then(|node| node.number(&it.param)) {
                self.note_param(&it.node, &it.param, &ParamValue::Number(value));
            }
        }
    }

    /// The session as it played, if commands had changed its nodes or edges.
    pub(super) fn edited(&self) -> Option<HandedSession> {
        let kept = serde_json::from_str::<Value>(self.table.get("cells")?).ok()?;
        read_session(&kept)
    }

    /// Forgets the session as it played, which cannot be read, and the cells that were parts of it.
    pub(super) fn forget_edited(&mut self) {
        self.table.remove("cells");
        self.note_history(&KeptHistory::default());
    }

    /// The cells as they were, with their keys; `None` if nothing has changed those of the session. Cells of nodes that are
    /// not in `graph` are left out.
    pub(super) fn cells(
        &self,
        filed: &[CellSpec],
        graph: &Graph,
    ) -> Option<(Vec<KeptCell>, Vec<CellSpec>)> {
        let text = self.table.get("cells")?;
        let kept = serde_json::from_str::<Value>(text).ok()?;
        let cells = kept["cells"].as_array()?.iter().filter_map(read_cell);
        let cells = cells.filter_map(|it| it.spec(filed).map(|spec| (it, spec)));
        let is_there = |spec: &CellSpec| spec.nodes.iter().all(|it| graph.find(it).is_some());
        Some(cells.filter(|(_, spec)| is_there(spec)).unzip())
    }

    /// Notes the cells of a service, and nodes and edges if commands have changed them.
    pub(super) fn note_service(&mut self, service: &CellService) {
        self.table.remove("edits");
        self.note_words(&service.words());
        let Some(session) = service.kept_session() else {
            return self.note_cells(&service.kept(), Map::new());
        };
        self.note_statements(service);
        self.note_cells(&service.kept(), session_words(session));
        match self.table.get("cells") {
            // The text has all values: those of nodes that have gone would come back.
            Some(_) => self.forget_params(),
            None => {
                let what = service.changed_nodes();
                self.set("edits", what.as_deref().unwrap_or("all"));
            }
        }
    }

    fn forget_params(&mut self) {
        let targets = self
            .table
            .all(PARAM)
            .map(|(target, _)| format!("{PARAM}{target}"));
        let targets: Vec<String> = targets.collect();
        targets.iter().for_each(|key| self.table.remove(key));
    }

    fn note_cells(&mut self, cells: &[KeptCell], mut known: Map<String, Value>) {
        let cells = cells.iter().map(|cell| {
            json!({
                "index": cell.index,
                "name": cell.name,
                "text": cell.text,
                "cores": cell.cores,
                "stopped": cell.stopped.map(CellState::name),
                "parts": cell.parts,
                "slots": cell.slots,
            })
        });
        known.insert("cells".to_owned(), Value::Array(cells.collect()));
        self.set("cells", &Value::Object(known).to_string());
    }

    /// Repeats the range that was repeated.
    pub(super) fn restore_loop(&self, engine: &mut Engine) {
        let range = self.table.get("loop").and_then(|text| {
            let (begin, end) = text.split_once("..")?;
            Some(begin.parse().ok()?..end.parse().ok()?)
        });
        if range.is_some() {
            // It was accepted before.
            let _ = engine.loop_transport(range, 0);
        }
    }

    pub(super) fn note_loop(&mut self, range: Option<&Range<u64>>) {
        match range {
            Some(range) => self.set("loop", &format!("{}..{}", range.start, range.end)),
            None => self.table.remove("loop"),
        }
    }

    /// Keeps a value. Where there is no room the history makes room.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        if self.table.set(key, value) {
            return;
        }
        self.note_history(&KeptHistory::default());
        if !self.table.set(key, value) {
            self.tell_lost("there are too many");
        }
    }

    /// Says once that changes would be lost with the supervisor.
    fn tell_lost(&mut self, why: &str) {
        if !std::mem::replace(&mut self.has_told, true) {
            let message = format!("a next supervisor would not have all changes: {why}");
            messages::print_note(&message);
        }
    }
}

/// A session with the ids of its nodes, as JSON.
pub(super) fn session_words(session: HandedSession) -> Map<String, Value> {
    let ids = session.ids.into_iter();
    let ids = ids.map(|(name, id)| (name, json!(id.0)));
    Map::from_iter([
        ("text".to_owned(), json!(session.text)),
        ("ids".to_owned(), Value::Object(ids.collect())),
    ])
}

/// Reads what [`session_words`] gave.
pub(super) fn read_session(words: &Value) -> Option<HandedSession> {
    let ids = words["ids"].as_object()?.iter();
    let ids = ids.map(|(name, id)| Some((name.clone(), NodeId(id.as_u64()?.try_into().ok()?))));
    let mut session = HandedSession::new(words["text"].as_str()?);
    session.ids = ids.collect::<Option<_>>()?;
    Some(session)
}

fn read_cell(cell: &Value) -> Option<KeptCell> {
    let numbers = |value: &Value| {
        let all = value.as_array().cloned().unwrap_or_default();
        all.into_iter().filter_map(|it| it.as_u64())
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(KeptCell {
        index: cell["index"].as_u64()?.try_into().ok()?,
        name: text(&cell["name"])?,
        text: text(&cell["text"]),
        cores: numbers(&cell["cores"])
            .filter_map(|core| core.try_into().ok())
            .collect(),
        stopped: cell["stopped"].as_str().and_then(CellState::named),
        parts: numbers(&cell["parts"]).collect(),
        slots: numbers(&cell["slots"])
            .filter_map(|it| it.try_into().ok())
            .collect(),
    })
}

fn read_value(text: &str) -> Option<ParamValue> {
    match serde_json::from_str(text).ok()? {
        Value::Number(number) => Some(ParamValue::Number(number.as_f64()?)),
        Value::String(text) => Some(ParamValue::Text(text)),
        Value::Bool(flag) => Some(ParamValue::Flag(flag)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_command_and_a_controller_counts() {
        let mut kept = KeptChanges::new(ChangeTable::default());
        let controlled = |value| [("low".to_owned(), "freq".to_owned(), value)];
        kept.note_controlled(&controlled(500.5));
        kept.note_param("low", "freq", &ParamValue::Number(700.0));
        let found = |kept: &KeptChanges| kept.table.get("param low.freq").map(str::to_owned);
        assert_eq!(found(&kept).as_deref(), Some("700.0"));
        (0..1000).for_each(|step| kept.note_controlled(&controlled(step as f32)));
        assert_eq!(found(&kept).as_deref(), Some("999.0"));
        assert_eq!(kept.table.all(PARAM).count(), 1);
    }
}
