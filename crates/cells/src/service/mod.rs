//! [`CellService`]: the policy service. It decides which cells play on which cores, while they play.
//!
//! | file | holds |
//! |---|---|
//! | `demands` | what cells need of the machine, and who yields to whom |
//! | `admit` | one cell or an edit, beside the other cells |
//! | `cores` | cores that there are |
//! | `inside` | events for nodes inside cells |
//! | `kept` | the cells as the next supervisor gets them |
//! | `controllers` | their parameters, for live controllers |
//! | `words` | messages in words, for new processes |
//! | `taps` | outputs that stay inside cells, for meters |
//! | `text` | the keys of a cell that arrive as JSON |
//! | `govern`, `moves` | how many cores each cell has, by what it was measured to need |
//! | `served`, `pending` | a cell, and a change under way, as data |
//! | `change` | one change under way: a new process, then another graph |
//! | `live` | an edit that the engine of a cell makes itself |
//! | `replaced` | other cores: a new process, with as many workers |
//! | `work` | what commands may do with cells that do work of nodes elsewhere |
//! | `outer` | the supervisor's graph |
//! | `edit`, `draft`, `follower`, `homes` | nodes and edges change: new processes for the cells whose parts do, and where new nodes play |
//!
//! # Changes
//!
//! | change | admission | the running graph | done when |
//! |---|---|---|---|
//! | stop | – | stays: the cell's node is silent | at once |
//! | start | of the cell beside the others | stays | at once; the process comes up meanwhile |
//! | resize | of the cell on its new cores | stays, or the node of a new process in place of the present one | its threads are on these cores, and it has as many workers |
//! | add | of the cell, and of the rest without its nodes | the cell's node in place of its nodes | the new graph plays |
//! | remove | of the rest with its nodes | its nodes again | the new graph plays |
//!
//! Each change is admitted or changes nothing. Cells of lower precedence yield to a cell that starts: they are stopped, and
//! start again by themselves as soon as there is room.

mod admit;
mod change;
mod controllers;
mod cores;
mod demands;
mod draft;
mod edit;
mod follower;
mod govern;
mod homes;
mod inside;
mod kept;
mod live;
mod moves;
mod outer;
mod pending;
mod replaced;
mod served;
mod taps;
mod text;
mod words;
mod work;

pub use cores::check_cores_of_machine;
pub use demands::{WorkAway, WorstCosts, work_away};
pub use govern::CellMoved;
pub use inside::InnerChange;
pub use kept::KeptCell;
pub use pending::GraphGoal;
pub use served::{CellState, ChangeDone};
pub use taps::InnerTap;
pub use text::cell_text;

use crate::admission::CoreCapacity;
use crate::handed::HandedSession;
use crate::machine::MachineFiles;
use crate::monitor::{Monitor, Order, StartedCell};
use crate::node::CellLinks;
use crate::raw;
use crate::section::{CellSpec, check_cores, read_cells};
use crate::split::Split;
use crate::status::CellStatus;
use crate::target::Goal;
use ::text::{Section, Session};
use cores::check_machine_cores;
use engine::Engine;
use govern::Mover;
use graph::{Catalogue, Graph, NodeId};
use pending::Pending;
use processor::Registry;
use served::ServedCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use taps::ServedTaps;
use units::Nanos;

/// Largest number of cells.
const MAX_CELLS: usize = 256;

/// A change to the cells.
#[derive(Clone, Debug, PartialEq)]
pub enum CellChange {
    /// Ends the process of a cell. Its nodes are silent.
    Stop(String),
    /// Starts a cell that is stopped.
    Start(String),
    /// Gives a cell other cores.
    Resize(String, Vec<usize>),
    /// Puts nodes into a new cell; the text has its keys, as a table of a session.
    Add(String, String),
    /// Gives the nodes of a cell back to the rest of the session.
    Remove(String),
}

/// A cell as it is now.
#[derive(Clone, Debug)]
pub struct CellInfo {
    /// Its keys, with the cores that it has now.
    pub spec: CellSpec,
    /// Its state.
    pub state: CellState,
    /// Its figures.
    pub status: Arc<CellStatus>,
    /// Known worst cost of its nodes in one block, with its part of the deferred work that it does.
    pub cost: Nanos,
    /// Moves between cores that the service made by itself.
    pub moves: u32,
    /// p99 of its response, as a share of a block, where the graph waits for it.
    pub response: Option<f64>,
}

/// Arguments for making a service.
pub struct ServiceOptions {
    /// The whole graph of the session, as its processes read it.
    pub filed: Graph,
    /// The same, with the values that commands have set.
    pub graph: Graph,
    /// The session but its graph: what stands beside it in the text that a new process gets.
    pub session: Session,
    /// All kinds, with those of cells.
    pub registry: Arc<Registry>,
    /// Links of nodes that are still to be made; the registry takes them from here.
    pub links: CellLinks,
    /// Known worst costs of nodes.
    pub costs: WorstCosts,
    /// The same of another graph, for edits.
    pub costs_of: Box<dyn Fn(&Graph) -> WorstCosts>,
    /// Length of a block.
    pub period: Nanos,
    /// What the machine gives; without it every cell is admitted.
    pub capacity: Option<CoreCapacity>,
    /// Goal of the service. None: no cell gets other cores by itself.
    pub goal: Option<Goal>,
    /// The machine's files.
    pub machine: MachineFiles,
    /// Commands had changed nodes and edges when a supervisor was lost: `session` and `filed` have that.
    pub has_new_graph: bool,
    /// Marks of the session's files, for its processes.
    pub marks: String,
}

/// The cells of a session that plays.
pub struct CellService {
    options: ServiceOptions,
    monitor: Monitor,
    cells: Vec<ServedCell>,
    next_index: usize,
    pending: Option<Pending>,
    mover: Mover,
    /// Nodes that edits have taken out of cells, each with its cell: an edit that is undone puts them there again.
    left: Vec<(String, String)>,
    /// The newest message to each node and name that sets a number.
    words: BTreeMap<(NodeId, String), String>,
    /// Number of the last message in words.
    last_words: u32,
    taps: ServedTaps,
    /// Cells are others than those of the session's file.
    is_edited: bool,
    /// Nodes and edges are others than those of the session's file, or were saved into it.
    has_new_graph: bool,
}

impl CellService {
    /// The service of the cells of `split`, which `monitor` has started; `kept` says of each what it was before.
    ///
    /// Real-time: setup.
    pub fn new(
        options: ServiceOptions,
        (split, kept): (&Split, Vec<KeptCell>),
        (monitor, started): (Monitor, Vec<StartedCell>),
    ) -> Self {
        let statuses = monitor.statuses().iter();
        let is_filed = kept.len() == read_cells(&options.session).0.len();
        let is_edited = !is_filed || kept.iter().any(|it| it.text.is_some());
        let next_index = kept.iter().map(|it| it.index + 1).max().unwrap_or(0);
        let stopped: Vec<Option<CellState>> = kept.iter().map(|it| it.stopped).collect();
        let cells = split.cells.iter().zip(kept).zip(statuses).zip(started);
        let cells = cells.map(|(((part, kept), (_, status)), started)| ServedCell {
            index: kept.index,
            spec: part.spec.clone(),
            status: status.clone(),
            node: part.node.clone(),
            slots: part.slots.clone(),
            texts: started.texts,
            parts: started.parts,
            is_renumbered: part.is_renumbered,
            told_starts: 0,
            stopped: None,
            moves: 0,
            response: None,
        });
        let mut service = Self {
            cells: cells.collect(),
            has_new_graph: options.has_new_graph,
            options,
            monitor,
            next_index,
            pending: None,
            mover: Mover::default(),
            left: Vec::new(),
            words: BTreeMap::new(),
            // Above those of a supervisor before, whose fates are still told: it has sent fewer in that time.
            last_words: (raw::now().0 >> 18) as u32,
            taps: ServedTaps::new(),
            is_edited,
        };
        service.tell_links();
        for (at, state) in stopped.into_iter().enumerate() {
            if let Some(state) = state {
                service.halt(at, state);
            }
        }
        service
    }

    /// The processes.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The processes, to change them.
    pub fn monitor_mut(&mut self) -> &mut Monitor {
        &mut self.monitor
    }

    fn catalogue(&self) -> &Catalogue {
        self.options.registry.catalogue()
    }

    /// The session for new processes.
    fn handed(&self, graph: &Graph, specs: &[CellSpec]) -> HandedSession {
        let session = &self.options.session;
        let handed = HandedSession::with_cells(session, (graph, specs), self.catalogue());
        HandedSession {
            marks: self.options.marks.clone(),
            ..handed
        }
    }

    /// The sections of all cells, if they are others than those of the session's file.
    ///
    /// Real-time: setup.
    pub fn sections(&self) -> Option<Vec<Section>> {
        let all = || self.cells.iter().map(|cell| cell.spec.section()).collect();
        self.is_edited.then(all)
    }

    /// All cells.
    ///
    /// Real-time: setup.
    pub fn cells(&self) -> Vec<CellInfo> {
        let away = self.work_away();
        let info = |cell: &ServedCell| CellInfo {
            spec: cell.spec.clone(),
            state: cell.state(),
            status: cell.status.clone(),
            cost: self.options.costs.of_cell(&cell.spec, &away).per_block(),
            moves: cell.moves,
            response: cell.response,
        };
        self.cells.iter().map(info).collect()
    }

    /// Length of a block.
    pub fn period(&self) -> Nanos {
        self.options.period
    }

    /// Goal of the service.
    pub fn goal(&self) -> Option<Goal> {
        self.options.goal
    }

    /// The time that the cores give, if cells are admitted.
    pub fn capacity(&self) -> Option<&CoreCapacity> {
        self.options.capacity.as_ref()
    }

    /// Begins a change. [`Self::poll`] says when it is made; until then no other can begin.
    ///
    /// # Errors
    ///
    /// The reason for which nothing changes.
    ///
    /// Real-time: setup.
    pub fn begin(&mut self, change: CellChange) -> Result<(), String> {
        if self.pending.is_some() {
            return Err("another change of cells is under way".to_owned());
        }
        let pending = match change {
            CellChange::Stop(name) => self.stop(&name)?,
            CellChange::Start(name) => self.start(&name)?,
            CellChange::Resize(name, cores) => self.resize(&name, cores)?,
            CellChange::Add(name, text) => self.add(&name, text)?,
            CellChange::Remove(name) => self.remove(&name)?,
        };
        self.pending = Some(pending);
        Ok(())
    }

    /// The result of the change that was begun, once it is known.
    ///
    /// Real-time: setup.
    pub fn poll(&mut self, engine: &mut Engine) -> Option<Result<ChangeDone, String>> {
        let result = self.advance(engine)?;
        self.pending = None;
        Some(result.map(|mut done| {
            done.resumed = self.resume();
            done
        }))
    }

    fn find(&self, name: &str) -> Result<usize, String> {
        let found = self.cells.iter().position(|cell| cell.spec.name == name);
        found.ok_or_else(|| {
            let names = self.cells.iter().map(|cell| cell.spec.name.as_str());
            match graph::nearest(name, names) {
                Some(near) => format!("there is no cell `{name}`; did you mean `{near}`?"),
                None => format!("there is no cell `{name}`"),
            }
        })
    }

    fn stop(&mut self, name: &str) -> Result<Pending, String> {
        let at = self.find(name)?;
        self.halt(at, CellState::Stopped);
        Ok(Pending::done(ChangeDone::default()))
    }

    fn halt(&mut self, at: usize, state: CellState) {
        let cell = &mut self.cells[at];
        // Before the process ends, so that no block counts as lost.
        cell.status.stopped.store(true, Ordering::Relaxed);
        cell.stopped = Some(state);
        self.monitor.order(Order::Stop(cell.index));
    }

    fn start(&mut self, name: &str) -> Result<Pending, String> {
        let at = self.find(name)?;
        let cell = &self.cells[at];
        if cell.stopped.is_none() && !cell.status.is_gone() {
            return Err(format!("the cell `{name}` is not stopped"));
        }
        let yielded = self.admit(&cell.spec.clone(), Some(at))?;
        self.run(at);
        Ok(Pending::done(ChangeDone {
            yielded: self.yield_cells(&yielded),
            ..ChangeDone::default()
        }))
    }

    fn run(&mut self, at: usize) {
        let cell = &mut self.cells[at];
        cell.stopped = None;
        self.monitor.order(Order::Start(cell.index));
    }

    fn resize(&mut self, name: &str, cores: Vec<usize>) -> Result<Pending, String> {
        let at = self.find(name)?;
        check_machine_cores(&cores)?;
        let spec = CellSpec {
            cores: cores.clone(),
            ..self.cells[at].spec.clone()
        };
        check_cores(&spec.policy, &cores)?;
        let yielded = match self.cells[at].stopped {
            // A cell that is stopped takes nothing until it starts.
            Some(_) => Vec::new(),
            None => self.admit(&spec, Some(at))?,
        };
        let yielded = self.yield_cells(&yielded);
        let (sender, done) = std::sync::mpsc::channel();
        let order = Order::Resize(self.cells[at].index, cores.clone(), sender);
        self.monitor.order(order);
        Ok(Pending::resize(at, cores, done, yielded))
    }
}
