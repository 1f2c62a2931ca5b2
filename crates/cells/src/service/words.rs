//! Messages in words that set a number: each new process of a cell is told the newest ones again.
//!
//! Such a message has a name and one number, as `cutoff 500`. Others may do what is to be done once, such as to begin a note: they
//! are not told again.

use super::CellService;
use crate::inner_events::InnerText;
use graph::NodeId;
use std::sync::atomic::Ordering;

/// Most messages that are kept.
const MAX_WORDS: usize = 1024;

impl CellService {
    /// The newest messages that set a number, each with the name of its node.
    ///
    /// Real-time: setup.
    pub fn words(&self) -> Vec<(String, String)> {
        let named = self.words.iter().filter_map(|((node, _), text)| {
            let node = self.options.graph.node(*node)?;
            Some((node.name.clone(), text.clone()))
        });
        named.collect()
    }

    /// Takes those that the supervisor before had.
    ///
    /// Real-time: setup.
    pub fn set_words(&mut self, all: Vec<(String, String)>) {
        for (node, text) in all {
            if let Some(node) = self.options.graph.find(&node) {
                self.keep_words(node, &text);
            }
        }
    }

    /// Keeps a message for the next processes, if it sets a number.
    pub(super) fn keep_words(&mut self, node: NodeId, text: &str) {
        let mut words = text.split_whitespace();
        let (Some(name), Some(number), None) = (words.next(), words.next(), words.next()) else {
            return;
        };
        let key = (node, name.to_owned());
        let has_room = self.words.len() < MAX_WORDS || self.words.contains_key(&key);
        if number.parse::<f32>().is_ok() && has_room {
            self.words.insert(key, text.to_owned());
        }
    }

    /// Tells each process that has come since the last call what was said to the ones before.
    ///
    /// Real-time: setup.
    pub fn retell_words(&mut self) {
        let graph = &self.options.graph;
        self.words
            .retain(|(node, _), _| graph.node(*node).is_some());
        for cell in &mut self.cells {
            // Relaxed: nothing travels with it.
            let starts = cell.status.starts.load(Ordering::Relaxed);
            if starts == cell.told_starts || cell.status.process().is_none() {
                continue;
            }
            cell.told_starts = starts;
            let own = self.words.iter().filter(|((node, _), _)| {
                let name = graph.node(*node).map(|it| it.name.as_str());
                name.is_some_and(|name| cell.spec.nodes.iter().any(|it| it == name))
            });
            for ((node, _), text) in own {
                if let Some(text) = InnerText::new(*node, 0, text) {
                    // Where there are too many the rest is lost, as all was before.
                    let _ = cell.texts.0.push(text);
                }
            }
        }
    }
}
