//! [`Monitor::start`]: all cells of a session are watched, those that play on are taken over, and the others come up.

use super::launch::{Launch, PlannedCell};
use super::process::CellProcesses;
use super::told::{CellEvent, CellTexts, NewCell};
use super::watched::{WatchedCell, watch};
use super::{Monitor, WatchThread};
use crate::guardian::link::MessageKind;
use crate::guardian::pulse::Pulse;
use crate::guardian::{InheritedCell, Succession};
use crate::handed::HandedSession;
use crate::node::CellLink;
use crate::status::CellStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc;
use units::{Frames, SampleRate};

/// Arguments for [`Monitor::start`].
pub struct MonitorOptions {
    /// Frames in a block.
    pub block: Frames,
    /// Rate of the session.
    pub rate: SampleRate,
    /// With a deadline: cells are held to their policies.
    pub is_live: bool,
    /// Makes the arguments of a cell's process.
    pub launch: Launch,
    /// Messages of the guardian.
    pub succession: Succession,
    /// The session as it was read.
    pub session: HandedSession,
    /// Commands had changed nodes and edges of the supervisor before, which is lost.
    pub is_edited: bool,
}

/// The cells that have come up.
pub struct Start {
    /// Their processes.
    pub monitor: Monitor,
    /// For each cell, what its node needs, by the node's name.
    pub links: Vec<(String, CellLink)>,
    /// The rest, for the service.
    pub cells: Vec<StartedCell>,
}

/// A cell that has come up.
pub struct StartedCell {
    /// The way of messages in words for its nodes.
    pub(crate) texts: CellTexts,
    /// Numbers of the parts that its process may have.
    pub(crate) parts: Vec<u64>,
}

/// A cell that is watched and has not come up yet.
struct ComingCell {
    /// Name of its node.
    node: String,
    new: NewCell,
    /// Numbers of the parts that its process may have.
    parts: Vec<u64>,
}

impl ComingCell {
    /// Waits until it has come up.
    fn await_start(mut self) -> Result<((String, CellLink), StartedCell), String> {
        let latency = self.new.came.recv();
        let latency = latency.map_err(|_| "the cells have ended".to_owned())??;
        self.new.link.graph_latency = Frames(latency);
        let (texts, parts) = (self.new.texts, self.parts);
        Ok(((self.node, self.new.link), StartedCell { texts, parts }))
    }
}

/// The run in which cells are watched.
struct Run<'r> {
    block: Frames,
    /// Number of the first block, and frames from the engine's position to that of the run.
    counts: (u64, Arc<AtomicU64>),
    session: &'r HandedSession,
    /// The same for all parts.
    plain: Arc<[u8]>,
    is_live: bool,
    is_edited: bool,
    pulse: Arc<Pulse>,
    events: mpsc::Sender<CellEvent>,
}

impl<'r> Run<'r> {
    fn new(options: &'r MonitorOptions, events: mpsc::Sender<CellEvent>) -> Self {
        let predecessor = &options.succession.predecessor;
        // A render begins anew.
        let first_block = match options.is_live {
            true => predecessor.first_block(),
            false => 0,
        };
        Self {
            block: options.block,
            counts: (first_block, Arc::default()),
            session: &options.session,
            plain: options.session.to_bytes(),
            is_live: options.is_live,
            is_edited: options.is_edited,
            pulse: predecessor.pulse.clone(),
            events,
        }
    }

    /// Watches a cell, and takes its process over if that is one of `inherited`.
    fn watch(
        &self,
        cell: PlannedCell<'_>,
        inherited: &mut Vec<InheritedCell>,
    ) -> (WatchedCell, ComingCell) {
        let (index, node) = (cell.index, cell.part.node.clone());
        let session = self.session.for_part(cell.part, &self.plain);
        let mut parts = vec![cell.part.number()];
        let (mut cell, new) = watch(cell, self.block, self.counts.clone(), (session, None));
        // Work has its requests in the memory of the supervisor before.
        let is_inherited = !cell.does_work();
        let at = inherited.iter().position(|it| it.index == index);
        if let Some(at) = at.filter(|_| is_inherited) {
            self.pulse.take_figures(index, &new.status);
            let from = inherited.swap_remove(at);
            parts.extend(cell.inherit(from, (self.is_live, self.is_edited), &self.events));
            parts.dedup();
        }
        (cell, ComingCell { node, new, parts })
    }
}

impl Monitor {
    /// Takes over the cells that play, starts a process for each other one, and waits until all have come up.
    ///
    /// # Errors
    ///
    /// The first cell that did not come up, and why.
    ///
    /// Real-time: waits, for the processes.
    pub fn start(cells: Vec<PlannedCell<'_>>, options: MonitorOptions) -> Result<Start, String> {
        // From here on a drop ends the processes.
        let (monitor, coming) = Self::begin(cells, options)?;
        let started = coming.into_iter().map(ComingCell::await_start);
        let started = started.collect::<Result<Vec<_>, String>>()?;
        let (links, cells) = started.into_iter().unzip();
        Ok(Start {
            monitor,
            links,
            cells,
        })
    }

    /// Watches all cells, with a thread.
    fn begin(
        cells: Vec<PlannedCell<'_>>,
        mut options: MonitorOptions,
    ) -> Result<(Self, Vec<ComingCell>), String> {
        let (event_sender, events) = mpsc::channel();
        let mut inherited = std::mem::take(&mut options.succession.cells);
        let run = Run::new(&options, event_sender.clone());
        let (pulse, offset) = (run.pulse.clone(), run.counts.1.clone());
        let cells = cells.into_iter();
        let (watched, coming): (Vec<_>, Vec<_>) =
            cells.map(|cell| run.watch(cell, &mut inherited)).unzip();
        let processes = CellProcesses::new(options.succession.link, options.launch);
        // Cells of another session, or of an earlier form of this one.
        (inherited.iter())
            .for_each(|it| processes.tell(MessageKind::Forget, &[it.index as u64], &[]));
        let statuses = statuses(&watched, &coming);
        let (orders, order_receiver) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = WatchThread {
            cells: watched,
            processes,
            events: event_sender,
            orders: order_receiver,
            stop: stop.clone(),
            is_live: options.is_live,
            pulse,
        };
        let monitor = Self {
            thread: Some(thread.start()?),
            stop,
            events,
            orders,
            statuses,
            block: options.block,
            rate: options.rate,
            is_live: options.is_live,
            predecessor: options.succession.predecessor,
            offset,
        };
        Ok((monitor, coming))
    }
}

/// The figures of each cell, by its name.
fn statuses(watched: &[WatchedCell], coming: &[ComingCell]) -> Vec<(String, Arc<CellStatus>)> {
    let both = watched.iter().zip(coming);
    let both = both.map(|(cell, it)| (cell.name().to_owned(), it.new.status.clone()));
    both.collect()
}
