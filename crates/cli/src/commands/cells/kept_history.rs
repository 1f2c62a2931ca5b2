//! Steps of undo, and what they rest on, as the guardian keeps them for the next supervisor.

use super::kept::KeptChanges;
use divisi::cells::CellService;
use divisi::control::KeptHistory;
use divisi::text::WrittenParts;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

const HISTORY: &str = "history";
const STEP: &str = "step ";
const LEFT: &str = "left";
const PARTS: &str = "parts";

type Steps = Vec<(u64, Arc<str>)>;

impl KeptChanges {
    /// Keeps these steps, and no others. A step that finds no room is left out, with all that are older.
    pub(super) fn note_history(&mut self, history: &KeptHistory) {
        let mut keep = |steps: &Steps| -> Vec<u64> {
            let last = steps.iter().rev();
            let kept = last.take_while(|(number, text)| self.table.set(&key(*number), text));
            let mut kept: Vec<u64> = kept.map(|(number, _)| *number).collect();
            kept.reverse();
            kept
        };
        let (mut undo, mut redo) = (keep(&history.undo), keep(&history.redo));
        loop {
            // The order comes last, so a step that it names is there.
            let order = json!({ "undo": undo, "redo": redo }).to_string();
            let is_kept = self.table.set(HISTORY, &order);
            let has_more_room = self.remove_others([&undo, &redo]);
            if is_kept || !(has_more_room || drop_oldest(&mut undo, &mut redo)) {
                return;
            }
        }
    }

    /// Removes all steps but these. Returns true if there were any.
    fn remove_others(&mut self, numbers: [&Vec<u64>; 2]) -> bool {
        let numbers: HashSet<String> = numbers.into_iter().flatten().map(u64::to_string).collect();
        let old = self.table.all(STEP).map(|(number, _)| number.to_owned());
        let old: Vec<String> = old.filter(|number| !numbers.contains(number)).collect();
        for number in &old {
            self.table.remove(&format!("{STEP}{number}"));
        }
        !old.is_empty()
    }

    /// The steps that a supervisor before has kept.
    pub(super) fn history(&self) -> KeptHistory {
        let order = self.table.get(HISTORY).unwrap_or_default();
        let order: Value = serde_json::from_str(order).unwrap_or_default();
        let steps = |numbers: &Value| -> Steps {
            let numbers = numbers.as_array().into_iter().flatten();
            let numbers = numbers.filter_map(Value::as_u64);
            let steps = numbers.filter_map(|it| Some((it, self.table.get(&key(it))?.into())));
            steps.collect()
        };
        KeptHistory {
            undo: steps(&order["undo"]),
            redo: steps(&order["redo"]),
        }
    }

    /// Notes what a session does not say as it plays: its statements of parts, and the cells that nodes have left.
    pub(super) fn note_statements(&mut self, service: &CellService) {
        match &service.session().parts {
            Some(parts) => self.set(PARTS, &json!(parts.to_words()).to_string()),
            None => self.table.remove(PARTS),
        }
        match service.left().is_empty() {
            true => self.table.remove(LEFT),
            false => self.set(LEFT, &json!(service.left()).to_string()),
        }
    }

    /// Statements of a session that uses parts, as they were written.
    pub(super) fn parts(&self) -> Option<WrittenParts> {
        let words = serde_json::from_str(self.table.get(PARTS)?).ok()?;
        WrittenParts::from_words(words)
    }

    /// The cells that nodes have left.
    pub(super) fn left(&self) -> Vec<(String, String)> {
        let left = self.table.get(LEFT);
        let left = left.and_then(|text| serde_json::from_str(text).ok());
        left.unwrap_or_default()
    }
}

/// Drops the step that is wanted last. Returns false if there is none.
fn drop_oldest(undo: &mut Vec<u64>, redo: &mut Vec<u64>) -> bool {
    let steps = if undo.is_empty() { redo } else { undo };
    let has_any = !steps.is_empty();
    steps.drain(..usize::from(has_any));
    has_any
}

fn key(number: u64) -> String {
    format!("{STEP}{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::cells::ChangeTable;

    fn steps(numbers: &[u64], bytes: usize) -> Steps {
        let text = "x".repeat(bytes);
        let steps = numbers.iter().map(|it| (*it, format!("{it}{text}").into()));
        steps.collect()
    }

    #[test]
    fn the_steps_of_now_are_kept_and_make_room_for_all_else() {
        let mut kept = KeptChanges::new(ChangeTable::default());
        let first = KeptHistory {
            undo: steps(&[1, 2, 3], 9),
            redo: steps(&[7], 0),
        };
        kept.note_history(&first);
        assert_eq!(kept.history(), first);
        let second = KeptHistory {
            undo: steps(&[2], 9),
            redo: Vec::new(),
        };
        kept.note_history(&second);
        assert_eq!(kept.history(), second);
        assert_eq!(kept.table.all(STEP).count(), 1);
        // Without room for all of them the newest stay.
        let large = KeptHistory {
            undo: steps(&[4, 5, 6], 1_500_000),
            redo: Vec::new(),
        };
        kept.note_history(&large);
        let found: Vec<u64> = kept.history().undo.iter().map(|it| it.0).collect();
        assert_eq!(found, [5, 6]);
        kept.note_session(&"s".repeat(1 << 21));
        assert_eq!(kept.session().map(str::len), Some(1 << 21));
        assert_eq!(kept.history(), KeptHistory::default());
    }

    #[test]
    fn steps_make_room_for_their_order() {
        let history = KeptHistory {
            undo: steps(&[1, 2, 3], 100),
            redo: steps(&[4], 100),
        };
        let numbers = |steps: &Steps| -> Vec<u64> { steps.iter().map(|it| it.0).collect() };
        let mut lens = Vec::new();
        // All bytes of a table but so many.
        for left in (0..600).step_by(5) {
            let mut kept = KeptChanges::new(ChangeTable::default());
            assert!(kept.table.set("else", &"e".repeat((4 << 20) - 4 - left)));
            kept.note_history(&history);
            let found = kept.history();
            let found = [numbers(&found.undo), numbers(&found.redo)];
            let count = found[0].len() + found[1].len();
            assert_eq!(kept.table.all(STEP).count(), count, "{left}: without order");
            assert!(numbers(&history.undo).ends_with(&found[0]), "{found:?}");
            lens.push(count);
        }
        assert_eq!((lens[0], lens.last()), (0, Some(&4)));
        assert!(
            lens.is_sorted() && (1..4).all(|it| lens.contains(&it)),
            "{lens:?}"
        );
    }
}
