//! [`ServedCell`]: a cell as the service knows it, its states, and what becomes of a change.

use crate::inner_events::TEXTS;
use crate::monitor::CellTexts;
use crate::section::CellSpec;
use crate::slots::Slot;
use crate::status::CellStatus;
use graph::{Graph, NodeId};
use std::sync::Arc;

/// State of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// It plays.
    Playing,
    /// Its process comes up.
    Starting,
    /// It was stopped.
    Stopped,
    /// It was stopped for one of higher precedence, and starts when there is room.
    Yielded,
    /// It failed too often.
    GivenUp,
}

impl CellState {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Starting => "starting",
            Self::Stopped => "stopped",
            Self::Yielded => "yielded",
            Self::GivenUp => "given up",
        }
    }
}

/// A change that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeDone {
    /// Frame from which on it is heard, if the graph changed.
    pub frame: Option<u64>,
    /// Cells that were stopped for it.
    pub yielded: Vec<String>,
    /// Cells that have started again by themselves.
    pub resumed: Vec<String>,
    /// A note on work that is still to come.
    pub note: Option<String>,
}

/// A cell, and its number with the monitor.
pub(super) struct ServedCell {
    pub(super) index: usize,
    pub(super) spec: CellSpec,
    pub(super) status: Arc<CellStatus>,
    /// Name of its node in the supervisor's graph.
    pub(super) node: String,
    pub(super) slots: Arc<[Slot]>,
    pub(super) texts: CellTexts,
    /// Numbers of the parts that its process may have.
    pub(super) parts: Vec<u64>,
    /// Edits of a process that plays have numbered the slots.
    pub(super) is_renumbered: bool,
    /// Number of its processes when the last one was told what was said to those before.
    pub(super) told_starts: u32,
    /// It was stopped: by an order, or for one of higher precedence.
    pub(super) stopped: Option<CellState>,
    /// Moves between cores that the service made by itself.
    pub(super) moves: u32,
    /// p99 of its response when it was last taken.
    pub(super) response: Option<f64>,
}

impl ServedCell {
    pub(super) fn state(&self) -> CellState {
        match self.stopped {
            Some(state) => state,
            None if self.status.is_gone() => CellState::GivenUp,
            None if self.status.process().is_some() => CellState::Playing,
            None => CellState::Starting,
        }
    }

    /// Workers that its process has, and that have a core.
    pub(super) fn workers(&self) -> usize {
        self.workers_on(&self.spec)
    }

    /// The same on the cores of `spec`: on other cores it gets a process with as many, unless it does work of nodes elsewhere.
    pub(super) fn workers_on(&self, spec: &CellSpec) -> usize {
        let keeps = spec.cores == self.spec.cores || !self.spec.work.is_empty();
        let has = match self.stopped {
            None if keeps => self.status.workers().max(1),
            _ => spec.process_workers(),
        };
        has.min(spec.workers())
    }

    /// Returns true if messages in words wait for its process, which takes one in each block.
    pub(super) fn has_texts(&self) -> bool {
        self.is_going_on() && self.texts.0.slots() < TEXTS
    }

    /// Returns true if it plays, or will by itself.
    pub(super) fn is_going_on(&self) -> bool {
        matches!(self.state(), CellState::Playing | CellState::Starting)
    }

    /// Returns true if a node of the whole graph is one of its nodes.
    pub(super) fn has(&self, graph: &Graph, node: NodeId) -> bool {
        let name = graph.node(node).map(|it| it.name.as_str());
        name.is_some_and(|name| self.spec.nodes.iter().any(|it| it == name))
    }
}
