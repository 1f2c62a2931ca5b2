//! [`Pending`]: a change under way, as data; `change` and `edit` carry it out.

use super::follower::Follower;
use super::served::{ChangeDone, ServedCell};
use crate::node::CellLink;
use crate::section::CellSpec;
use crate::split::CellPart;
use ::text::Section;
use graph::{Edit, Graph, NodeId};
use rt::mirror::SharedWords;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};
use units::Frames;

/// Longest time until the new processes follow.
const FOLLOW_LIMIT: Duration = Duration::from_secs(10);

/// A change under way.
pub(super) struct Pending {
    pub(super) step: Step,
    pub(super) done: ChangeDone,
}

/// Nodes and edges as they are to become.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphGoal {
    /// These changes are made.
    Edits(Vec<Edit>),
    /// The graph becomes this one: what has the same name stays.
    Graph(Box<Graph>),
    /// These changes are made, and the cells have the nodes that these sections give them.
    Session(Vec<Edit>, Vec<Section>),
}

/// An edit that a process makes.
pub(super) struct LiveEdit {
    /// The whole graph afterwards, with what is set meanwhile.
    pub(super) graph: Graph,
    pub(super) specs: Vec<CellSpec>,
    pub(super) at: usize,
    pub(super) part: CellPart,
    pub(super) session: Arc<[u8]>,
    /// Number of the edit.
    pub(super) number: u64,
    pub(super) head: SharedWords,
    pub(super) memory: File,
    /// The session that lay in the memory.
    pub(super) before: Vec<u8>,
    pub(super) process: Option<u32>,
    pub(super) since: Instant,
    /// The change to be made another way if the process does not make it.
    pub(super) goal: GraphGoal,
}

/// The next step of the change.
pub(super) enum Step {
    /// Nothing.
    Done,
    /// The cell at this place has its cores.
    Resizing(usize, Vec<usize>, Receiver<Result<(), String>>),
    /// The process of a new cell has come up.
    Starting(Box<StartingCell>),
    /// The engine takes the edit.
    Editing(Box<Graph>, GraphChange),
    /// The new graph plays.
    Swapping(GraphChange),
    /// The fade lasts, which began at this frame.
    Fading(GraphChange, u64),
    /// Nodes and edges change.
    Graph(Box<GraphEdit>),
    /// The process of a cell edits its own nodes.
    Live(Box<LiveEdit>),
}

/// A cell that comes up, and the graph with its node.
pub(super) struct StartingCell {
    pub(super) cell: ServedCell,
    pub(super) link: CellLink,
    pub(super) came: Receiver<Result<u32, String>>,
    pub(super) node: String,
    pub(super) outer: Graph,
    /// The graph as the process has read it.
    pub(super) handed: Graph,
}

/// The cell for which the graph changes.
pub(super) enum GraphChange {
    /// It is added, as the node of this name.
    Adds(Box<ServedCell>, String),
    /// The one of this name goes.
    Removes(String),
}

impl Pending {
    pub(super) fn done(done: ChangeDone) -> Self {
        let step = Step::Done;
        Self { step, done }
    }

    pub(super) fn edit(edit: GraphEdit) -> Self {
        Self {
            step: Step::Graph(Box::new(edit)),
            done: ChangeDone::default(),
        }
    }

    pub(super) fn live(edit: LiveEdit) -> Self {
        Self {
            step: Step::Live(Box::new(edit)),
            done: ChangeDone::default(),
        }
    }

    /// The change of the graph that is under way.
    pub(super) fn graph_edit(&mut self) -> Option<&mut GraphEdit> {
        match &mut self.step {
            Step::Graph(edit) => Some(edit),
            _ => None,
        }
    }

    /// The whole graph after the change that is under way.
    pub(super) fn coming_graph(&mut self) -> Option<&mut Graph> {
        match &mut self.step {
            Step::Graph(edit) => Some(&mut edit.graph),
            Step::Live(edit) => Some(&mut edit.graph),
            _ => None,
        }
    }

    pub(super) fn resize(
        at: usize,
        cores: Vec<usize>,
        made: Receiver<Result<(), String>>,
        yielded: Vec<String>,
    ) -> Self {
        Self {
            step: Step::Resizing(at, cores, made),
            done: ChangeDone {
                yielded,
                ..ChangeDone::default()
            },
        }
    }
}

/// A change of the graph under way.
pub(super) struct GraphEdit {
    /// The whole graph afterwards, with what is set meanwhile.
    pub(super) graph: Graph,
    /// The same as the new processes read it.
    pub(super) handed: Graph,
    /// The supervisor's graph afterwards.
    pub(super) outer: Graph,
    pub(super) specs: Vec<CellSpec>,
    pub(super) reason: Reason,
    pub(super) followers: Vec<Follower>,
    pub(super) state: EditState,
    pub(super) since: Instant,
}

/// Reason for which cells get new processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Nodes or edges change.
    Edited,
    /// The cell at this place has other cores, and a process with so many workers.
    Resized { at: usize, has: usize },
}

/// The step of a change of the graph.
pub(super) enum EditState {
    Starting,
    Joining,
    Following,
    Editing,
    Swapping,
    Fading(u64),
    Leaving(String),
}

impl GraphEdit {
    pub(super) fn await_start(&mut self) -> Result<EditState, String> {
        for follower in self.followers.iter_mut().filter(|it| !it.has_come) {
            match follower.came.try_recv() {
                Err(TryRecvError::Empty) => return Ok(EditState::Starting),
                Ok(Ok(latency)) => {
                    follower.has_come = true;
                    if let Some(link) = &mut follower.link {
                        link.graph_latency = Frames(latency);
                    }
                }
                failed => {
                    let why = failed.ok().and_then(Result::err);
                    return Err(why.unwrap_or_else(|| "the cells have ended".to_owned()));
                }
            }
        }
        Ok(EditState::Joining)
    }

    /// Waits for the messages in words that wait for a process before: the next one begins behind them.
    pub(super) fn await_texts(&self) -> Result<EditState, String> {
        match self.since.elapsed() < FOLLOW_LIMIT {
            true => Ok(EditState::Joining),
            false => Err("messages still wait for its process: try again".to_owned()),
        }
    }

    pub(super) fn await_steady(&mut self) -> Result<EditState, String> {
        let steady = self.followers.iter_mut().map(Follower::looks_steady);
        let are_steady = steady.filter(|it| !it).count() == 0;
        match are_steady {
            true => Ok(EditState::Editing),
            false if self.since.elapsed() < FOLLOW_LIMIT => Ok(EditState::Following),
            false => Err("its new process does not keep up".to_owned()),
        }
    }

    /// The new process that gets what is sent to `node` too, and its node, once it is there.
    pub(super) fn follower_of(
        &mut self,
        node: NodeId,
    ) -> Option<(&mut ServedCell, Option<NodeId>)> {
        let graph = &self.graph;
        let found = self
            .followers
            .iter_mut()
            .find(|it| it.cell.has(graph, node));
        found.map(|it| (&mut it.cell, it.id))
    }
}
