//! [`KeptHistory`]: the last steps of a history in words, which outlive a supervisor.
//!
//! | key of a step | value |
//! |---|---|
//! | `graph` | the graph before, in words of the host of cells |
//! | `params` | the values before: node, parameter, bits of the number |
//! | `snapshots` | the snapshots before, if they changed |

use super::{EditHistory, PreviousState, UndoEntry};
use crate::cells::CellHost;
use graph::{Catalogue, Graph};
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::sync::Arc;
use text::toml::snapshots::{read_snapshots, write_snapshots};

/// Most bytes of all steps that are kept. A longer history begins later for a next supervisor.
const MAX_BYTES: usize = 1 << 20;

/// Steps by their numbers, the last one at the end of each list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptHistory {
    /// Those that can be taken back.
    pub undo: Vec<(u64, Arc<str>)>,
    /// Those that were.
    pub redo: Vec<(u64, Arc<str>)>,
}

impl EditHistory {
    /// Number that is another one whenever the steps are others.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The last steps, as many as there is room for.
    pub(crate) fn kept(&self, host: &dyn CellHost) -> KeptHistory {
        let mut room = MAX_BYTES;
        KeptHistory {
            undo: kept(&self.undo, host, &mut room),
            redo: kept(&self.redo, host, &mut room),
        }
    }

    /// Goes on with the steps of a supervisor before. Those that cannot be read are left out, with all that are older.
    pub(crate) fn restore(&mut self, kept: &KeptHistory, catalogue: &Catalogue) {
        let read = |all: &[(u64, Arc<str>)]| {
            let last = all.iter().rev();
            let read = last.map_while(|(number, text)| read_entry(*number, text, catalogue));
            let mut read: Vec<UndoEntry> = read.collect();
            read.reverse();
            read
        };
        (self.undo, self.redo) = (read(&kept.undo), read(&kept.redo));
        let numbers = kept.undo.iter().chain(&kept.redo).map(|it| it.0);
        self.next = numbers.max().map_or(0, |last| last.saturating_add(1));
    }
}

fn kept(all: &[UndoEntry], host: &dyn CellHost, room: &mut usize) -> Vec<(u64, Arc<str>)> {
    let last = all.iter().rev().map_while(|entry| {
        let words = entry.words(host);
        *room = room.checked_sub(words.len())?;
        Some((entry.number, words))
    });
    let mut last: Vec<(u64, Arc<str>)> = last.collect();
    last.reverse();
    last
}

impl UndoEntry {
    fn words(&self, host: &dyn CellHost) -> Arc<str> {
        let write = || {
            let (key, value) = match &self.change {
                PreviousState::Graph(graph) => ("graph", json!(host.write_graph(graph))),
                PreviousState::Kept(words) => ("graph", json!(**words)),
                PreviousState::Params(values) => {
                    let values = values.iter();
                    let values =
                        values.map(|(node, name, value)| json!([node, name, value.to_bits()]));
                    ("params", values.collect())
                }
            };
            let mut words = Map::from_iter([(key.to_owned(), value)]);
            if let Some(snapshots) = &self.snapshots {
                words.insert("snapshots".to_owned(), json!(write_snapshots(snapshots)));
            }
            Value::Object(words).to_string().into()
        };
        self.words.get_or_init(write).clone()
    }
}

fn read_entry(number: u64, words: &Arc<str>, catalogue: &Catalogue) -> Option<UndoEntry> {
    let value = serde_json::from_str::<Value>(words).ok()?;
    let change = match value["graph"].as_str() {
        Some(graph) => PreviousState::Kept(graph.into()),
        None => PreviousState::Params(read_params(&value["params"])?),
    };
    // Nodes that there are no more stay in their snapshots.
    let snapshots = value["snapshots"].as_str();
    let snapshots =
        snapshots.map(|text| Arc::new(read_snapshots(text, &Graph::default(), catalogue).0));
    Some(UndoEntry {
        number,
        snapshots,
        words: OnceCell::from(words.clone()),
        ..UndoEntry::to(change)
    })
}

fn read_params(values: &Value) -> Option<Vec<(String, String, f64)>> {
    let read = |value: &Value| {
        let text = |at: usize| value[at].as_str().map(str::to_owned);
        Some((text(0)?, text(1)?, f64::from_bits(value[2].as_u64()?)))
    };
    values.as_array()?.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(number: u64, value: f64) -> UndoEntry {
        let values = vec![("tone".to_owned(), "freq".to_owned(), value)];
        UndoEntry {
            number,
            ..UndoEntry::to(PreviousState::Params(values))
        }
    }

    #[test]
    fn a_step_is_read_back_and_what_is_none_ends_the_history() {
        let catalogue = Catalogue::default();
        let mut history = EditHistory::default();
        let step = |number: u64, text: &str| (number, Arc::<str>::from(text));
        let bits = f64::NAN.to_bits();
        let undo = vec![
            step(3, r#"{"params":[["a","freq",0]]}"#),
            step(4, "{"),
            step(
                5,
                &format!(r#"{{"params":[["tone","freq",{bits}]],"snapshots":""}}"#),
            ),
            step(6, r#"{"graph":"text"}"#),
        ];
        let kept = KeptHistory {
            undo,
            redo: vec![step(9, r#"{"params":[["tone"]]}"#)],
        };
        history.restore(&kept, &catalogue);
        assert_eq!((history.undo.len(), history.redo.len()), (2, 0));
        assert!(matches!(&history.undo[0].change, PreviousState::Params(all) if all[0].2.is_nan()));
        assert!(history.undo[0].snapshots.is_some());
        assert!(matches!(&history.undo[1].change, PreviousState::Kept(it) if &**it == "text"));
        // No number comes again.
        history.remember(params(0, 1.0));
        assert_eq!(history.undo[2].number, 10);
    }
}
