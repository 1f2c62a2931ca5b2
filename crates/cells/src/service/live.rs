//! [`LiveEdit`]: an edit that leaves the border of one cell as it is, made by the engine of its process. No process is started.
//!
//! | of the edit | must be |
//! |---|---|
//! | parts that change | one |
//! | the supervisor's graph, the ports that enter and leave the cell | as before |
//! | numbers of its nodes that may change while they play | as before |
//! | the cell | one that plays with a deadline, and whose threads nobody switches |
//! | its latency, the memory and files that it needs | as the process finds: it answers no where they are not |
//!
//! The cell gets a new process where any of it is not so ([`super::edit`]).

use super::CellService;
use super::outer::has_replaced;
use super::pending::{GraphGoal, LiveEdit, Pending, Step};
use super::served::ChangeDone;
use crate::checkpoint::CheckpointMemory;
use crate::handed::{HandedSession, leave, leave_again, left_bytes};
use crate::live_edit::{answered, ask, asked};
use crate::monitor::{HandedPart, Order};
use crate::section::CellSpec;
use crate::slots::grown;
use crate::split::Split;
use graph::{Catalogue, Graph, NodeId, edits_between};
use rt::mirror::SharedWords;
use std::collections::HashSet;
use std::fs::File;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longest wait for the monitor, which looks every two milliseconds.
const SHARE_LIMIT: Duration = Duration::from_secs(1);
/// Longest time until the process answers.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Most nodes that have left cells: the last ones.
const MAX_LEFT: usize = 4096;

impl CellService {
    /// Asks the only cell whose part changes for the edit, if that can be one of its own. Gives what there is to wait for.
    pub(super) fn ask_cell(
        &mut self,
        goal: &GraphGoal,
        (before, after): (&Split, &Split),
        (graph, specs): (&Graph, &[CellSpec]),
    ) -> Option<LiveEdit> {
        let at = changed_part(before, after, self.catalogue())?;
        let cell = &self.cells[at];
        let is_ready = self.monitor.is_live
            && cell.stopped.is_none()
            && cell.status.process().is_some()
            && !cell.spec.policy.is_switched();
        let (old, new) = (&before.cells[at].graph, &after.cells[at].graph);
        if !is_ready || !keeps_values(old, new, self.catalogue()) {
            return None;
        }
        let mut part = after.cells[at].clone();
        part.slots = grown(&cell.slots, &part.slots, |id| stays(old, new, id));
        part.is_renumbered = true;
        if !cell.texts.1.take(&part.slots) {
            return None;
        }
        let handed = HandedSession {
            slots: part.slots.clone(),
            ..self.handed(graph, specs)
        };
        let (session, process) = (handed.to_bytes(), cell.status.process());
        let (memory, head) = self.share(at)?;
        let left = left_bytes(&memory)?;
        if leave(&memory, &session, part.number()).is_err() {
            // It is longer than the memory.
            let _ = leave_again(&memory, &left);
            return None;
        }
        let number = asked(head.words()).wrapping_add(1) & (u64::MAX >> 1);
        ask(head.words(), number);
        Some(LiveEdit {
            graph: graph.clone(),
            specs: specs.to_vec(),
            at,
            part,
            session,
            number,
            head,
            memory,
            before: left,
            process,
            since: Instant::now(),
            goal: goal.clone(),
        })
    }

    /// The memory of the process of a cell, and its first words.
    fn share(&self, at: usize) -> Option<(File, SharedWords)> {
        let (sender, shared) = mpsc::channel();
        self.monitor
            .order(Order::Share(self.cells[at].index, sender));
        let file = shared.recv_timeout(SHARE_LIMIT).ok().flatten()?;
        let head = CheckpointMemory::of(file.try_clone().ok()?).map_head()?;
        Some((file.into(), head))
    }

    /// Goes on with an edit that a process makes. Gives it back as long as there is no answer.
    pub(super) fn advance_live(
        &mut self,
        edit: Box<LiveEdit>,
        done: ChangeDone,
    ) -> Result<Pending, Result<ChangeDone, String>> {
        let answer = answered(edit.head.words(), edit.number);
        let has_gone = self.cells[edit.at].status.process() != edit.process;
        match answer {
            Some(Ok(frame)) => {
                self.settle_live(*edit);
                let frame = Some(self.monitor.engine_frame(frame));
                Err(Ok(ChangeDone { frame, ..done }))
            }
            None if !has_gone && edit.since.elapsed() < ANSWER_LIMIT => {
                let step = Step::Live(edit);
                Ok(Pending { step, done })
            }
            refused => {
                let why = refused.and_then(Result::err);
                let why = why.unwrap_or_else(|| "it has not answered".to_owned());
                // A supervisor after this one finds the part that plays.
                let _ = leave_again(&edit.memory, &edit.before);
                let name = &self.cells[edit.at].spec.name;
                let note = Some(format!(
                    "its own engine cannot make the edit of `{name}`: {why}"
                ));
                let begun = self.begin_beside(edit.goal);
                let begun = begun.map_err(|why| Err(self.taken_back(why)))?;
                let done = ChangeDone { note, ..done };
                Ok(Pending { done, ..begun })
            }
        }
    }

    /// The edited part plays.
    fn settle_live(&mut self, edit: LiveEdit) {
        let cell = &mut self.cells[edit.at];
        let number = edit.part.number();
        let part = HandedPart {
            session: edit.session,
            number,
            spec: edit.part.spec.clone(),
        };
        (cell.slots, cell.is_renumbered) = (edit.part.slots, true);
        cell.parts = vec![number];
        self.monitor
            .order(Order::Hand(self.cells[edit.at].index, Box::new(part)));
        self.take_graph(edit.graph, edit.specs);
    }

    /// Nodes and edges are these from now on.
    pub(super) fn take_graph(&mut self, graph: Graph, specs: Vec<CellSpec>) {
        let mut gone = Vec::new();
        for (cell, spec) in self.cells.iter_mut().zip(specs) {
            let nodes = cell.spec.nodes.iter();
            let nodes = nodes.filter(|name| graph.find(name).is_none());
            gone.extend(nodes.map(|node| (node.clone(), cell.spec.name.clone())));
            (cell.spec.nodes, cell.spec.keys) = (spec.nodes, spec.keys);
            cell.spec.work = spec.work;
        }
        let nodes = self.cells.iter().flat_map(|cell| &cell.spec.nodes);
        note_left(&mut self.left, gone, &nodes.map(String::as_str).collect());
        self.options.graph = graph;
        (self.is_edited, self.has_new_graph) = (true, true);
    }
}

/// Notes nodes that have gone from cells, behind those before: none that is in a cell by now.
fn note_left(
    left: &mut Vec<(String, String)>,
    gone: Vec<(String, String)>,
    others: &HashSet<&str>,
) {
    let again: HashSet<&str> = gone.iter().map(|it| it.0.as_str()).collect();
    left.retain(|(name, _)| !others.contains(name.as_str()) && !again.contains(name.as_str()));
    left.extend(gone);
    left.drain(..left.len().saturating_sub(MAX_LEFT));
}

/// The place of the only part that changes, if all around it stays.
fn changed_part(before: &Split, after: &Split, catalogue: &Catalogue) -> Option<usize> {
    let pairs = || before.cells.iter().zip(&after.cells);
    let mut changed = (0..)
        .zip(pairs())
        .filter(|(_, (a, b))| a.number() != b.number());
    let (at, (old, new)) = changed.next().filter(|_| changed.next().is_none())?;
    let is_same = (&old.inputs, &old.outputs) == (&new.inputs, &new.outputs);
    let names = pairs().all(|(a, b)| a.node == b.node);
    let (old, new) = (&before.outer, &after.outer);
    let outer = || !has_replaced(old, new) && edits_between(old, new, catalogue).is_empty();
    (is_same && names && outer()).then_some(at)
}

/// Returns true if a node is the same in both graphs, perhaps with another name.
fn stays(before: &Graph, after: &Graph, id: NodeId) -> bool {
    let kind = |graph: &Graph| graph.node(id).map(|node| node.effective_kind().to_owned());
    kind(before).is_some_and(|it| kind(after) == Some(it))
}

/// Returns true if all nodes that stay have the numbers that they had, of parameters that may change while they play.
fn keeps_values(before: &Graph, after: &Graph, catalogue: &Catalogue) -> bool {
    let staying = before.nodes().filter(|(id, _)| stays(before, after, *id));
    staying.into_iter().all(|(id, node)| {
        let kind = catalogue.get(node.effective_kind());
        let live = kind.into_iter().flat_map(|kind| &kind.params);
        let mut live = live.filter(|param| param.live);
        let other = after.node(id);
        live.all(|param| node.number(param.name) == other.and_then(|it| it.number(param.name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_have_left_cells_are_the_last_ones_and_in_none() {
        let gone = |name: String, cell: &str| (name, cell.to_owned());
        let mut left = Vec::new();
        for number in 0..MAX_LEFT + 10 {
            let gone = vec![gone(format!("n{number}"), "a")];
            note_left(&mut left, gone, &HashSet::new());
        }
        assert_eq!(left.len(), MAX_LEFT);
        assert_eq!(left.first().unwrap().0, "n10");
        // One comes back, another one leaves another cell.
        let other = gone("n11".to_owned(), "b");
        note_left(&mut left, vec![other.clone()], &HashSet::from(["n10"]));
        assert_eq!(left.len(), MAX_LEFT - 1);
        assert_eq!((&left[0].0[..], left.last()), ("n12", Some(&other)));
    }
}
