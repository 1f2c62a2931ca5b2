//! Admission of one cell, or of an edit, beside the cells that play: who yields, and who comes back.

use super::demands::{Candidate, WorkAway, WorstCosts, admit_candidates, work_away};
use super::draft::Draft;
use super::{CellService, CellState};
use crate::section::{CellSpec, shared_cores};
use graph::Graph;

impl CellService {
    /// Checks a cell beside the others, of which it replaces the one at `replaced`. Gives those that yield to it.
    pub(super) fn admit(
        &self,
        spec: &CellSpec,
        replaced: Option<usize>,
    ) -> Result<Vec<usize>, String> {
        let others = (0..self.cells.len()).filter(|at| Some(*at) != replaced);
        let others = others.filter(|at| self.cells[*at].stopped.is_none());
        let others: Vec<usize> = others.collect();
        let mut specs: Vec<&CellSpec> = others.iter().map(|at| &self.cells[*at].spec).collect();
        specs.push(spec);
        if let Some(mistake) = shared_cores(&specs).into_iter().next() {
            return Err(mistake.message);
        }
        if let Some(mistake) = self
            .options
            .machine
            .split_siblings(&specs)
            .into_iter()
            .next()
        {
            return Err(format!("{}; {}", mistake.message, mistake.help));
        }
        let mut candidates: Vec<Candidate<'_>> = others
            .iter()
            .map(|at| Candidate {
                spec: &self.cells[*at].spec,
                workers: self.cells[*at].workers(),
            })
            .collect();
        let running = replaced.map(|at| self.cells[at].workers_on(spec));
        candidates.push(Candidate {
            spec,
            workers: running.unwrap_or(spec.workers()),
        });
        let changed = candidates.len() - 1;
        let yields = admit_candidates(
            &candidates,
            Some(changed),
            &self.options,
            (self.nodes_in_cells(Some(spec), None), &self.work_away()),
        )?;
        Ok(yields.into_iter().map(|at| others[at]).collect())
    }

    /// The nodes whose deferred work cells do, also those that are stopped: no other process does it then.
    pub(super) fn work_away(&self) -> WorkAway<'_> {
        work_away(self.cells.iter().map(|cell| &cell.spec))
    }

    /// Names of all nodes in cells, also in those that are stopped; with those of `added`, without those of `removed`.
    pub(super) fn nodes_in_cells(
        &self,
        added: Option<&CellSpec>,
        removed: Option<usize>,
    ) -> Vec<String> {
        let kept = (0..self.cells.len()).filter(|at| Some(*at) != removed);
        let kept = kept.map(|at| &self.cells[at].spec).chain(added);
        kept.flat_map(|spec| spec.nodes.iter().cloned()).collect()
    }

    pub(super) fn yield_cells(&mut self, yields: &[usize]) -> Vec<String> {
        for at in yields {
            self.halt(*at, CellState::Yielded);
        }
        let names = yields.iter().map(|at| self.cells[*at].spec.name.clone());
        names.collect()
    }

    /// Starts cells that have yielded and fit again beside the others, those of higher precedence first.
    pub(super) fn resume(&mut self) -> Vec<String> {
        let yielded = |at: &usize| self.cells[*at].stopped == Some(CellState::Yielded);
        let mut waiting: Vec<usize> = (0..self.cells.len()).filter(yielded).collect();
        waiting.sort_by_key(|at| std::cmp::Reverse(self.cells[*at].spec.precedence));
        let mut resumed = Vec::new();
        for at in waiting {
            let spec = self.cells[at].spec.clone();
            if self
                .admit(&spec, Some(at))
                .is_ok_and(|yields| yields.is_empty())
            {
                self.run(at);
                resumed.push(spec.name);
            }
        }
        resumed
    }

    /// Checks the cells whose parts change, with the costs of their new nodes. Gives those that yield to them.
    pub(super) fn admit_edit(&mut self, drafted: &Draft) -> Result<Vec<String>, String> {
        if self.options.capacity.is_none() {
            return Ok(Vec::new());
        }
        let costs = (self.options.costs_of)(&drafted.graph);
        let costs = std::mem::replace(&mut self.options.costs, costs);
        let graph = std::mem::replace(&mut self.options.graph, drafted.graph.clone());
        let admitted = self.admit_parts(drafted, (&costs, &graph));
        self.options.graph = graph;
        match admitted {
            Ok(yields) => Ok(self.yield_cells(&yields)),
            Err(why) => {
                self.options.costs = costs;
                Err(why)
            }
        }
    }

    /// Checks what changes of a graph, which was another one with other costs. Gives the cells that yield.
    fn admit_parts(
        &self,
        drafted: &Draft,
        (costs, graph): (&WorstCosts, &Graph),
    ) -> Result<Vec<usize>, String> {
        let pairs = drafted.before.cells.iter().zip(&drafted.after.cells);
        let changed = (0..)
            .zip(pairs)
            .filter(|(_, (a, b))| a.number() != b.number());
        let mut yields = Vec::new();
        for (at, _) in changed {
            let spec = CellSpec {
                cores: self.cells[at].spec.cores.clone(),
                ..drafted.specs[at].clone()
            };
            yields.extend(self.admit(&spec, Some(at))?);
        }
        let specs = || drafted.specs.iter();
        let in_cells: Vec<String> = specs().flat_map(|it| it.nodes.iter().cloned()).collect();
        let away = work_away(specs());
        let rest = |graph: &Graph, costs: &WorstCosts| {
            let names = graph.nodes().map(|(_, node)| node.name.clone());
            let rest: Vec<String> = names.filter(|name| !in_cells.contains(name)).collect();
            costs.of_nodes(&rest, &away).per_block()
        };
        if rest(&drafted.graph, &self.options.costs) > rest(graph, costs) {
            let plays = self
                .cells
                .iter()
                .zip(specs())
                .filter(|(cell, _)| cell.stopped.is_none());
            let candidates = plays.map(|(cell, spec)| Candidate {
                spec,
                workers: cell.workers(),
            });
            let candidates: Vec<Candidate<'_>> = candidates.collect();
            let elsewhere = (in_cells.clone(), &away);
            admit_candidates(&candidates, None, &self.options, elsewhere)?;
        }
        Ok(yields)
    }
}
