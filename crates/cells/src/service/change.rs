//! [`Pending`]: a change under way. A cell that is added comes up first, then the graph with its node plays.
//!
//! | step | left by |
//! |---|---|
//! | the process comes up | its first message: its link is laid out for the node |
//! | the graph is edited | the engine takes the edit; while it is busy, it is tried again |
//! | the graph plays | the audio thread has taken it: the change is done |
//!
//! A mistake in any step takes the steps before it back.

use super::pending::{GraphChange, Pending, Reason, StartingCell, Step};
use super::served::{ChangeDone, ServedCell};
use super::{CellService, MAX_CELLS, check_machine_cores};
use crate::monitor::{NewCell, Order};
use crate::node::CellLink;
use crate::section::CellSpec;
use crate::split::unused_name;
use engine::{Engine, EngineError};
use graph::{Graph, edits_between, error_chain};
use std::collections::HashMap;
use std::sync::mpsc::TryRecvError;
use std::sync::{MutexGuard, PoisonError};
use units::Frames;

use super::demands::{Candidate, admit_candidates};
use super::inside::told;
use super::outer::{ranked, rename};
use super::replaced::kept_workers;

impl CellService {
    pub(super) fn add(&mut self, name: &str, text: String) -> Result<Pending, String> {
        if self.find(name).is_ok() {
            return Err(format!("there is a cell `{name}` already"));
        }
        if name.is_empty() || self.cells.len() >= MAX_CELLS {
            return Err(format!(
                "a cell has a name, and there are at most {MAX_CELLS}"
            ));
        }
        let spec = CellSpec::from_text(name, &text)?;
        check_machine_cores(&spec.cores)?;
        self.check_added_work(&spec)?;
        let mut specs: Vec<CellSpec> = self.cells.iter().map(|it| it.spec.clone()).collect();
        specs.push(spec.clone());
        let (outer, part) = self.split_with(&specs)?;
        let part = part.ok_or("the cell has no part of the graph")?;
        let yielded = self.admit(&spec, None)?;
        let yielded = self.yield_cells(&yielded);
        let index = self.next_index;
        self.next_index += 1;
        let session = self.handed(&self.options.graph, &specs).to_bytes();
        let NewCell {
            link,
            texts,
            status,
            came,
        } = self.monitor.add(index, &part, (session, None));
        let cell = ServedCell {
            index,
            spec,
            status,
            node: part.node.clone(),
            slots: part.slots.clone(),
            texts,
            parts: vec![part.number()],
            is_renumbered: part.is_renumbered,
            told_starts: 0,
            stopped: None,
            moves: 0,
            response: None,
        };
        let node = part.node;
        Ok(Pending {
            step: Step::Starting(Box::new(StartingCell {
                cell,
                link,
                came,
                node,
                outer,
                handed: self.options.graph.clone(),
            })),
            done: ChangeDone {
                yielded,
                ..ChangeDone::default()
            },
        })
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<Pending, String> {
        let at = self.find(name)?;
        self.check_removed_work(at)?;
        let kept = (0..self.cells.len()).filter(|it| *it != at);
        let kept: Vec<&ServedCell> = kept.map(|it| &self.cells[it]).collect();
        let plays = kept.iter().filter(|cell| cell.stopped.is_none());
        let candidates = plays.map(|cell| Candidate {
            spec: &cell.spec,
            workers: cell.workers(),
        });
        let in_cells = self.nodes_in_cells(None, Some(at));
        admit_candidates(
            &candidates.collect::<Vec<_>>(),
            None,
            &self.options,
            (in_cells, &self.work_away()),
        )?;
        let specs: Vec<CellSpec> = kept.iter().map(|cell| cell.spec.clone()).collect();
        let (outer, _) = self.split_with(&specs)?;
        Ok(Pending {
            step: Step::Editing(Box::new(outer), GraphChange::Removes(name.to_owned())),
            done: ChangeDone::default(),
        })
    }

    /// The supervisor's graph with these cells, and the part of the last one.
    fn split_with(
        &self,
        specs: &[CellSpec],
    ) -> Result<(Graph, Option<crate::split::CellPart>), String> {
        let mut split = self.split_of(&self.options.graph, specs)?;
        // Nodes of cells that stay have the names under which they play.
        for part in &mut split.cells {
            let playing = self.cells.iter().find(|it| it.spec.name == part.spec.name);
            let name = match playing {
                Some(cell) => cell.node.clone(),
                None => {
                    let name = format!("cell {} {}", part.spec.name, self.next_index);
                    unused_name(&split.outer, &name)
                }
            };
            rename(&mut split.outer, &part.node, name.clone())?;
            part.node = name;
        }
        Ok((split.outer, split.cells.into_iter().last()))
    }

    /// Goes on with the change under way. Gives its result, once it is known.
    pub(super) fn advance(&mut self, engine: &mut Engine) -> Option<Result<ChangeDone, String>> {
        let Pending { step, done } = self.pending.take()?;
        let mut done = Some(done);
        let next = match step {
            Step::Done => return done.map(Ok),
            Step::Resizing(at, cores, made) => match made.try_recv() {
                Err(TryRecvError::Empty) => Step::Resizing(at, cores, made),
                Ok(Ok(())) => {
                    self.pending = Some(self.resized(at, cores, done.take()?));
                    return None;
                }
                Ok(Err(why)) => return Some(Err(self.taken_back(why))),
                Err(TryRecvError::Disconnected) => {
                    return Some(Err("the cells have ended".to_owned()));
                }
            },
            Step::Starting(starting) => match starting.came.try_recv() {
                Err(TryRecvError::Empty) => Step::Starting(starting),
                Ok(Ok(latency)) => self.came_up(*starting, latency),
                failed => {
                    self.monitor.order(Order::Remove(starting.cell.index));
                    let why = failed.ok().and_then(Result::err);
                    let why = why.unwrap_or_else(|| "the cells have ended".to_owned());
                    return Some(Err(self.taken_back(why)));
                }
            },
            Step::Editing(outer, change) => match self.edit(&outer, engine) {
                Err(EngineError::Busy) => Step::Editing(outer, change),
                Ok(()) => {
                    self.retire(&change);
                    Step::Swapping(change)
                }
                Err(error) => {
                    if let GraphChange::Adds(cell, node) = change {
                        self.links().remove(&node);
                        self.monitor.order(Order::Remove(cell.index));
                    }
                    return Some(Err(self.taken_back(error_chain(&error))));
                }
            },
            Step::Graph(edit) => {
                let reason = edit.reason;
                match self.advance_edit(edit, engine) {
                    Ok(edit) => Step::Graph(edit),
                    Err(result) => return Some(self.edited(reason, result, done.take()?)),
                }
            }
            Step::Live(edit) => match self.advance_live(edit, done.take()?) {
                Ok(pending) => {
                    self.pending = Some(pending);
                    return None;
                }
                Err(result) => return Some(result),
            },
            Step::Swapping(change) if engine.is_swapping() => Step::Swapping(change),
            Step::Swapping(change) => Step::Fading(change, engine.swap_frame()),
            // As long as the fade lasts, what was removed is heard.
            Step::Fading(change, frame) if !engine.is_settled() => Step::Fading(change, frame),
            Step::Fading(change, frame) => {
                self.settle(change);
                let frame = Some(frame);
                return done.map(|done| Ok(ChangeDone { frame, ..done }));
            }
        };
        self.pending = done.map(|done| Pending { step: next, done });
        None
    }

    /// The outcome of a change of the graph that was begun with `begun`.
    fn edited(
        &mut self,
        reason: Reason,
        result: Result<ChangeDone, String>,
        begun: ChangeDone,
    ) -> Result<ChangeDone, String> {
        match (result, reason) {
            (Ok(ChangeDone { frame, .. }), _) => Ok(ChangeDone { frame, ..begun }),
            // It has its cores all the same.
            (Err(why), Reason::Resized { has, .. }) => Ok(kept_workers(begun, has, &why)),
            (Err(why), Reason::Edited) => Err(self.taken_back(match begun.note {
                Some(note) => format!("{why} ({note})"),
                None => why,
            })),
        }
    }

    /// The node of a cell that goes leaves the graph.
    fn retire(&self, change: &GraphChange) {
        if let GraphChange::Removes(name) = change
            && let Ok(at) = self.find(name)
        {
            self.monitor.order(Order::Retire(self.cells[at].index));
        }
    }

    /// Lays the link of a new process out for its node.
    fn came_up(&mut self, starting: StartingCell, latency: u32) -> Step {
        let StartingCell {
            cell,
            mut link,
            node,
            outer,
            handed,
            ..
        } = starting;
        link.told = told(
            (&cell.slots, &cell.status.own()),
            (&self.options.graph, &handed),
            self.catalogue(),
        );
        link.graph_latency = Frames(latency);
        self.links().insert(node.clone(), link);
        Step::Editing(Box::new(outer), GraphChange::Adds(Box::new(cell), node))
    }

    /// Edits the graph that plays into `outer`. Values that were set while it played stay.
    fn edit(&self, outer: &Graph, engine: &mut Engine) -> Result<(), EngineError> {
        let mut outer = ranked(outer);
        let playing: Vec<_> = engine
            .graph()
            .nodes()
            .map(|(_, node)| node.clone())
            .collect();
        for node in playing {
            let Some(id) = outer.find(&node.name) else {
                continue;
            };
            if let Some(other) = outer.node_mut(id)
                && other.kind == node.kind
            {
                other.params.clone_from(&node.params);
            }
        }
        let catalogue = self.options.registry.catalogue();
        let edits = edits_between(engine.graph(), &outer, catalogue);
        engine.edit(edits).map(|_| ())
    }

    pub(super) fn links(&self) -> MutexGuard<'_, HashMap<String, CellLink>> {
        let links = self.options.links.lock();
        links.unwrap_or_else(PoisonError::into_inner)
    }

    /// The new graph plays.
    fn settle(&mut self, change: GraphChange) {
        self.is_edited = true;
        match change {
            GraphChange::Adds(cell, _) => self.cells.push(*cell),
            GraphChange::Removes(name) => {
                if let Ok(at) = self.find(&name) {
                    let cell = self.cells.remove(at);
                    self.monitor.order(Order::Remove(cell.index));
                }
            }
        }
    }

    /// Goes on as before a change that failed: with the costs of the graph that stays, and those that have yielded to it.
    pub(super) fn taken_back(&mut self, why: String) -> String {
        if self.options.capacity.is_some() {
            self.options.costs = (self.options.costs_of)(&self.options.graph);
        }
        self.resume();
        why
    }
}
