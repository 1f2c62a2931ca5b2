//! Cells that do work of nodes elsewhere, in commands: their lanes are those of the start.

use super::CellService;
use crate::section::CellSpec;
use graph::Graph;

impl CellService {
    /// Refuses a new cell that would do work of nodes elsewhere, or have nodes whose work another one does.
    pub(super) fn check_added_work(&self, spec: &CellSpec) -> Result<(), String> {
        if !spec.work.is_empty() {
            return Err(
                "`work` is no key of a cell that is added: write it in the session".to_owned(),
            );
        }
        match spec.nodes.iter().find_map(|it| self.worker_of(it)) {
            Some((node, cell)) => Err(format!(
                "the cell `{cell}` does the work of `{node}`, which stays in no cell"
            )),
            None => Ok(()),
        }
    }

    /// Refuses to remove a cell that does work of nodes elsewhere.
    pub(super) fn check_removed_work(&self, at: usize) -> Result<(), String> {
        let spec = &self.cells[at].spec;
        match spec.work.first() {
            Some(node) => Err(format!(
                "the cell `{0}` does the work of `{node}`: it can be stopped, with stop_cell {0}",
                spec.name
            )),
            None => Ok(()),
        }
    }

    /// The cell `spec` once the graph is `graph`: with the new names of nodes whose work it does, which must be there.
    pub(super) fn with_work_after(
        &self,
        spec: CellSpec,
        graph: &Graph,
    ) -> Result<CellSpec, String> {
        let before = &self.options.graph;
        let name = |name: &String| {
            let node = before.find(name).and_then(|id| graph.node(id));
            let node = node.filter(|node| self.options.registry.has_work(node));
            let refused = || {
                let cell = &spec.name;
                format!(
                    "the cell `{cell}` does the work of `{name}`, which therefore stays as it is"
                )
            };
            node.map(|node| node.name.clone()).ok_or_else(refused)
        };
        let work: Vec<String> = spec.work.iter().map(name).collect::<Result<_, _>>()?;
        Ok(match work == spec.work {
            true => spec,
            false => spec.with_work(work),
        })
    }

    /// The node of this name and the cell that does its work.
    fn worker_of(&self, node: &str) -> Option<(&str, &str)> {
        self.cells.iter().find_map(|cell| {
            let found = cell.spec.work.iter().find(|it| *it == node)?;
            Some((found.as_str(), cell.spec.name.as_str()))
        })
    }
}
