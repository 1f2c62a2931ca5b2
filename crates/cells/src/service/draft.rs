//! [`Draft`]: a graph as an edit makes it, with the cells' parts of it.

use super::CellService;
use super::pending::{GraphGoal, Reason};
use crate::section::CellSpec;
use crate::split::{Split, split};
use graph::{Diagnostic, Graph, edits_back};

/// A graph as it becomes.
pub(super) struct Draft {
    pub(super) graph: Graph,
    pub(super) specs: Vec<CellSpec>,
    pub(super) before: Split,
    pub(super) after: Split,
    pub(super) reason: Reason,
}

impl CellService {
    /// The graph as it becomes, and the cells' parts of it.
    pub(super) fn draft(&self, goal: GraphGoal) -> Result<Draft, String> {
        let before = &self.options.graph;
        // A graph that there was has the homes that there were.
        let is_known = matches!(goal, GraphGoal::Graph(_));
        let mut sections = None;
        let edits = match goal {
            GraphGoal::Edits(edits) => edits,
            GraphGoal::Session(edits, cells) => {
                sections = Some(cells);
                edits
            }
            GraphGoal::Graph(graph) => edits_back(before, &graph, self.catalogue()),
        };
        let mut graph = before.clone();
        for edit in edits {
            graph.apply(edit).map_err(|error| error.to_string())?;
        }
        let specs = match sections {
            Some(sections) => self.specs_filed(&graph, sections)?,
            None => self.specs_after(&graph, is_known)?,
        };
        let old: Vec<CellSpec> = self.cells.iter().map(|it| it.spec.clone()).collect();
        Ok(Draft {
            before: self.split_of(before, &old)?,
            after: self.split_of(&graph, &specs)?,
            reason: Reason::Edited,
            graph,
            specs,
        })
    }

    /// The parts of `graph` for these cells.
    pub(super) fn split_of(&self, graph: &Graph, specs: &[CellSpec]) -> Result<Split, String> {
        split(graph, specs, self.catalogue()).map_err(|mistakes| {
            let words = |it: Diagnostic| [it.message, it.help];
            let words = mistakes.into_iter().flat_map(words);
            let words: Vec<String> = words.filter(|it| !it.is_empty()).collect();
            words.join("; ")
        })
    }
}
