//! [`GraphEdit`]: nodes and edges change while cells play.
//!
//! A cell whose part changes gets another process, which plays beside the present one until it has taken over its state.
//! Then the graph goes from one to the other, with the fade of each edit.
//!
//! | step | heard | left by |
//! |---|---|---|
//! | `Starting` | the cells as they were | the first messages of all new processes |
//! | `Joining` | the same | the old processes have got all messages in words; the engine takes the new processes' nodes, whose outputs nobody reads |
//! | `Following` | the same; both get each request | the new processes answer in time |
//! | `Editing`, `Swapping` | the fade begins | the new graph plays |
//! | `Fading` | the fade | its end: the old processes go |
//! | `Leaving` | the cells as they were | a mistake before: the new nodes are out again |
//!
//! A node that is added plays in a cell if all that it is connected with plays there; else with the rest.

use super::CellService;
use super::draft::Draft;
use super::follower::Follower;
use super::inside::told;
use super::outer::{edits_to, node_of, playing, ranked, rename};
use super::pending::{EditState, GraphEdit, GraphGoal, Pending, Reason};
use super::served::{ChangeDone, ServedCell};
use crate::checkpoint::CheckpointMemory;
use crate::monitor::{NewCell, Order};
use crate::section::CellSpec;
use crate::split::{CellPart, unused_name};
use engine::{Engine, EngineError};
use graph::{Edge, Edit, Graph, Node, PortRef, error_chain};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longest wait for the monitor, which looks every two milliseconds.
const SHARE_LIMIT: Duration = Duration::from_secs(1);

impl CellService {
    /// Begins to change nodes and edges. [`Self::poll`] says when it is heard.
    ///
    /// # Errors
    ///
    /// The reason for which nothing changes.
    ///
    /// Real-time: setup.
    pub fn begin_edit(&mut self, goal: GraphGoal) -> Result<(), String> {
        if self.pending.is_some() {
            return Err("another change of cells is under way".to_owned());
        }
        let drafted = self.draft(goal.clone())?;
        let yielded = self.admit_edit(&drafted)?;
        let parts = (&drafted.before, &drafted.after);
        let graph = (&drafted.graph, &drafted.specs[..]);
        let mut pending = match self.ask_cell(&goal, parts, graph) {
            Some(edit) => Pending::live(edit),
            None => self
                .follow_all(drafted)
                .map_err(|why| self.taken_back(why))?,
        };
        pending.done.yielded = yielded;
        self.pending = Some(pending);
        Ok(())
    }

    /// Begins to change nodes and edges by new processes beside those that play.
    pub(super) fn begin_beside(&mut self, goal: GraphGoal) -> Result<Pending, String> {
        let drafted = self.draft(goal)?;
        self.follow_all(drafted)
    }

    /// Starts a new process for each cell whose part changes, and for the one that has other cores.
    pub(super) fn follow_all(&mut self, drafted: Draft) -> Result<Pending, String> {
        let Draft {
            graph,
            specs,
            before,
            mut after,
            reason,
        } = drafted;
        let mut followers = Vec::new();
        let parts = std::mem::take(&mut after.cells);
        for (at, (old, part)) in before.cells.iter().zip(parts).enumerate() {
            let is_resized = matches!(reason, Reason::Resized { at: it, .. } if it == at);
            let is_changed = is_resized || old.number() != part.number();
            let name = match is_changed {
                // The number of its process, which no node has had that plays.
                true => {
                    let name = format!(
                        "cell {} {}",
                        part.spec.name,
                        self.next_index + followers.len()
                    );
                    unused_name(&after.outer, &name)
                }
                false => self.cells[at].node.clone(),
            };
            rename(&mut after.outer, &part.node, name.clone())?;
            if is_changed {
                let part = CellPart { node: name, ..part };
                followers.push((at, part));
            }
        }
        if let Some((at, _)) = followers
            .iter()
            .find(|it| self.cells[it.0].stopped.is_some())
        {
            let name = &self.cells[*at].spec.name;
            return Err(format!(
                "the cell `{name}` is stopped, and its nodes would change: start it first"
            ));
        }
        let session = self.handed(&graph, &specs).to_bytes();
        let followers = followers.into_iter();
        let followers = followers.map(|(at, part)| self.follow(at, part, &session));
        let edit = GraphEdit {
            followers: followers.collect(),
            handed: graph.clone(),
            graph,
            outer: after.outer,
            specs,
            reason,
            state: EditState::Starting,
            since: Instant::now(),
        };
        Ok(Pending::edit(edit))
    }

    /// Starts the new process of the cell at `at`.
    fn follow(&mut self, at: usize, part: CellPart, session: &std::sync::Arc<[u8]>) -> Follower {
        let (sender, shared) = mpsc::channel();
        self.monitor
            .order(Order::Share(self.cells[at].index, sender));
        let before = shared.recv_timeout(SHARE_LIMIT).ok().flatten();
        let head = before.as_ref().and_then(|file| file.try_clone().ok());
        let head = head.and_then(|file| CheckpointMemory::of(file).map_head());
        let path = before.as_ref().map(|file| {
            let (own, number) = (std::process::id(), file.as_raw_fd());
            format!("/proc/{own}/fd/{number}")
        });
        let index = self.next_index;
        self.next_index += 1;
        let NewCell {
            link,
            texts,
            status,
            came,
        } = self.monitor.add(index, &part, (session.clone(), path));
        let old = &self.cells[at];
        let (parts, is_renumbered) = (vec![part.number()], part.is_renumbered);
        // It has the cores of the one before, which may have moved.
        let spec = CellSpec {
            cores: old.spec.cores.clone(),
            ..part.spec
        };
        let cell = ServedCell {
            index,
            spec,
            status,
            node: part.node,
            slots: part.slots,
            texts,
            parts,
            is_renumbered,
            told_starts: 0,
            stopped: None,
            moves: old.moves,
            response: None,
        };
        Follower {
            at,
            cell,
            link: Some(link),
            came,
            has_come: false,
            id: None,
            seen: (0, 0),
            is_steady: false,
            _before: before,
            head,
        }
    }

    /// Goes on with a change of the graph. Gives it back as long as it is not made.
    pub(super) fn advance_edit(
        &mut self,
        mut edit: Box<GraphEdit>,
        engine: &mut Engine,
    ) -> Result<Box<GraphEdit>, Result<ChangeDone, String>> {
        let next = match &edit.state {
            EditState::Starting => edit.await_start(),
            EditState::Joining => self.join(&mut edit, engine),
            EditState::Following => edit.await_steady(),
            EditState::Editing => self.edit_to(&mut edit, engine),
            EditState::Swapping if engine.is_swapping() => Ok(EditState::Swapping),
            EditState::Swapping => Ok(EditState::Fading(engine.swap_frame())),
            EditState::Fading(from) => {
                if engine.is_settled() {
                    let frame = Some(*from);
                    self.settle_edit(*edit);
                    let done = ChangeDone::default();
                    return Err(Ok(ChangeDone { frame, ..done }));
                }
                return Ok(edit);
            }
            EditState::Leaving(why) => {
                let nodes = edit.followers.iter().filter_map(|it| it.id);
                let nodes: Vec<Edit> = nodes.map(Edit::Remove).collect();
                let why = why.clone();
                let left =
                    nodes.is_empty() || !matches!(engine.edit(nodes), Err(EngineError::Busy));
                if left {
                    self.drop_followers(&edit);
                    return Err(Err(why));
                }
                return Ok(edit);
            }
        };
        edit.state = next.unwrap_or_else(EditState::Leaving);
        Ok(edit)
    }

    /// Puts the new processes' nodes into the graph that plays, beside those of the old ones.
    fn join(&mut self, edit: &mut GraphEdit, engine: &mut Engine) -> Result<EditState, String> {
        if edit.followers.is_empty() {
            return Ok(EditState::Editing);
        }
        if edit
            .followers
            .iter()
            .any(|it| self.cells[it.at].has_texts())
        {
            return edit.await_texts();
        }
        let mut graph = engine.graph().clone();
        let (mut edits, mut ids) = (Vec::new(), Vec::new());
        for follower in &edit.followers {
            let (node, entering) = node_of(&edit.outer, &follower.cell.node)?;
            let mut apply = |edit: Edit| {
                let id = graph.apply(edit.clone());
                edits.push(edit);
                id.map_err(|error| error.to_string())
            };
            let id = apply(Edit::Add(node))?.ok_or("its node is not there")?;
            ids.push(id);
            for (source, from, port) in entering {
                // What is new itself is connected with the rest of the edit.
                if let Some((there, node)) = playing(engine.graph(), &source)
                    && usize::from(from) < node.outputs.len()
                {
                    let from = PortRef {
                        node: there,
                        port: from,
                    };
                    let to = PortRef { node: id, port };
                    let span = graph::SourceSpan::NONE;
                    apply(Edit::Connect(Edge { from, to, span }))?;
                }
            }
        }
        for follower in &mut edit.followers {
            follower.ask(true);
            if let Some(mut link) = follower.link.take() {
                let told = told(
                    (&follower.cell.slots, &follower.cell.status.own()),
                    (&edit.graph, &edit.handed),
                    self.catalogue(),
                );
                link.told = told;
                self.links().insert(follower.cell.node.clone(), link);
            }
        }
        match engine.edit(edits) {
            Ok(_) => {
                (edit.followers.iter_mut().zip(ids)).for_each(|(it, id)| it.id = Some(id));
                edit.since = Instant::now();
                Ok(EditState::Following)
            }
            Err(EngineError::Busy) => {
                for follower in &mut edit.followers {
                    follower.link = self.links().remove(&follower.cell.node);
                }
                match edit.followers.iter().all(|it| it.link.is_some()) {
                    true => Ok(EditState::Joining),
                    false => Err("the engine is busy: try again".to_owned()),
                }
            }
            Err(error) => Err(error_chain(&error)),
        }
    }

    /// Has the graph that plays become the new one.
    fn edit_to(&mut self, edit: &mut GraphEdit, engine: &mut Engine) -> Result<EditState, String> {
        let mut outer = ranked(&edit.outer);
        let playing: Vec<Node> = (engine.graph().nodes().map(|(_, node)| node.clone())).collect();
        for node in playing {
            let value = |graph: &Graph| {
                let id = graph.find(&node.name)?;
                graph.node(id).map(|it| it.params.clone())
            };
            let is_same = value(&self.options.graph) == value(&edit.graph);
            let there = outer.find(&node.name);
            if let (true, Some(other)) = (is_same, there.and_then(|id| outer.node_mut(id)))
                && other.kind == node.kind
            {
                other.params.clone_from(&node.params);
            }
        }
        let whole = (&self.options.graph, &edit.graph);
        let edits = edits_to(&outer, engine.graph(), whole, self.catalogue());
        match engine.edit(edits) {
            Ok(_) => {
                for follower in &edit.followers {
                    follower.ask(false);
                    self.monitor
                        .order(Order::Retire(self.cells[follower.at].index));
                    // What was lost before it was heard is no loss.
                    follower.cell.status.begin_count();
                }
                Ok(EditState::Swapping)
            }
            Err(EngineError::Busy) => Ok(EditState::Editing),
            Err(error) => Err(error_chain(&error)),
        }
    }

    /// The new graph plays: the old processes go.
    fn settle_edit(&mut self, edit: GraphEdit) {
        let GraphEdit {
            graph,
            specs,
            followers,
            reason,
            ..
        } = edit;
        let had_new_graph = self.has_new_graph;
        self.take_graph(graph, specs);
        if let Reason::Resized { .. } = reason {
            self.has_new_graph = had_new_graph;
        }
        for follower in followers {
            let old = std::mem::replace(&mut self.cells[follower.at], follower.cell);
            let next = &self.cells[follower.at].status;
            self.monitor.end_status(&old.status, Some(next));
            self.monitor.order(Order::Remove(old.index));
        }
    }

    fn drop_followers(&mut self, edit: &GraphEdit) {
        for follower in &edit.followers {
            follower.ask(false);
            self.links().remove(&follower.cell.node);
            self.monitor.order(Order::Remove(follower.cell.index));
            self.monitor.end_status(&follower.cell.status, None);
        }
    }
}
