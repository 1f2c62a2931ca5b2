//! [`Monitor`]: a thread that starts the processes of cells, watches them, ends them and starts them again.
//!
//! | it sees | it does |
//! |---|---|
//! | the process has ended | new rings and a new process, after the back-off |
//! | live: three blocks or more were lost in a row, for 50 ms | kills it |
//! | offline: the node waits for one block for 10 s | kills it |
//! | the node found nonsense in its ring | kills it |
//! | it has not come up within a minute | kills it |
//! | it failed six times without a block | starts it no more |
//! | an [`Order`] of the service | stops, starts, resizes, adds or removes a cell |
//! | a window that opens or closes, a budget that is used up | switches the threads of the process |
//! | a cell that a supervisor before has left | takes its rings over; if they do not fit, it starts another process |
//!
//! The guardian starts the processes for it, and outlives it ([`crate::guardian`]).
//!
//! | file | holds |
//! |---|---|
//! | `watched` | one cell: its states, its failures, its back-off |
//! | `process` | its process, and how it is started |
//! | `start` | all cells at the beginning |
//! | `launch` | what a process is started with |
//! | `told` | what others hear of a cell |

mod launch;
mod process;
mod start;
mod told;
mod watched;

pub(crate) use launch::HandedPart;
pub use launch::{Launch, LaunchRequest, PlannedCell};
pub use start::{MonitorOptions, Start, StartedCell};
pub use told::CellEvent;
pub(crate) use told::{CellTexts, NewCell};
pub(crate) use watched::WatchedCell;

use crate::guardian::link::MessageKind;
use crate::guardian::pulse::{Pulse, PulseWord};
use crate::guardian::{ChangeTable, Predecessor};
use crate::raw;
use crate::split::CellPart;
use crate::status::CellStatus;
use process::CellProcesses;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Frames, SampleRate};
use watched::watch;
use workers::Priority;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(2);
/// Shortest time between two looks.
const MIN_INTERVAL: Duration = Duration::from_micros(50);
/// Priority of the monitor if it switches cells: above that of all cells.
const SWITCH_PRIORITY: u8 = 60;

/// Order to the monitor, about the cell of a number.
pub(crate) enum Order {
    /// Watches another cell, and starts it.
    Add(Box<WatchedCell>),
    /// Ends its process, and starts no other.
    Stop(usize),
    /// Starts it again.
    Start(usize),
    /// Keeps it on other cores. The sender gets the mistake of a process that plays.
    Resize(usize, Vec<usize>, mpsc::Sender<Result<(), String>>),
    /// Its node leaves the graph: its process ends without a failure.
    Retire(usize),
    /// Ends its process and watches it no more.
    Remove(usize),
    /// Its part is another one by now, which the process that plays has taken: later processes get this session.
    Hand(usize, Box<HandedPart>),
    /// Has the guardian keep a file: the memory of the supervisor's own checkpoints, or its log of changes.
    Leave(MessageKind, OwnedFd),
    /// The sender gets the memory in which the process of a cell that plays leaves checkpoints.
    Share(usize, mpsc::Sender<Option<OwnedFd>>),
}

/// The processes of all cells.
pub struct Monitor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    events: mpsc::Receiver<CellEvent>,
    orders: mpsc::Sender<Order>,
    statuses: Vec<(String, Arc<CellStatus>)>,
    pub(crate) block: Frames,
    pub(crate) rate: SampleRate,
    pub(crate) is_live: bool,
    pub(crate) predecessor: Predecessor,
    /// Frames from the engine's position to that of the run.
    pub(crate) offset: Arc<AtomicU64>,
}

impl Monitor {
    /// Events since the last call.
    ///
    /// Real-time: setup.
    pub fn events(&self) -> impl Iterator<Item = CellEvent> {
        self.events.try_iter()
    }

    /// The figures of each cell, by its name. Cells that were removed keep theirs.
    pub fn statuses(&self) -> &[(String, Arc<CellStatus>)] {
        &self.statuses
    }

    /// Starts the process of another cell of the session `handed`, in the place of the process with the memory `before`.
    pub(crate) fn add(
        &mut self,
        index: usize,
        part: &CellPart,
        handed: (Arc<[u8]>, Option<String>),
    ) -> NewCell {
        let planned = PlannedCell {
            index,
            part,
            drills: Vec::new(),
            is_stopped: false,
            parts: Vec::new(),
        };
        let counts = (0, self.offset.clone());
        let (cell, new) = watch(planned, self.block, counts, handed);
        self.statuses
            .push((cell.name().to_owned(), new.status.clone()));
        self.order(Order::Add(Box::new(cell)));
        new
    }

    /// Counts no more by `status`: another process has taken its place, and goes on with its counts, or it never played.
    pub(crate) fn end_status(&mut self, status: &Arc<CellStatus>, next: Option<&CellStatus>) {
        if let Some(next) = next {
            next.add_counts(status);
        }
        self.statuses.retain(|(_, it)| !Arc::ptr_eq(it, status));
    }

    /// Has the guardian keep `changes` for the next supervisor, from now on.
    ///
    /// # Errors
    ///
    /// There is no memory.
    ///
    /// Real-time: setup.
    pub fn keep_changes(&self, changes: &mut ChangeTable) -> std::io::Result<()> {
        let orders = self.orders.clone();
        changes.begin_log(Rc::new(move |file| {
            // The thread ends after the monitor alone.
            let _ = orders.send(Order::Leave(MessageKind::Kept, file));
        }))
    }

    /// The frame of the engine for a frame of the run, which began before it where a supervisor was lost.
    ///
    /// Real-time: hot.
    pub(crate) fn engine_frame(&self, frame: u64) -> u64 {
        // Relaxed: stored before the first block.
        frame.wrapping_sub(self.offset.load(Ordering::Relaxed))
    }

    /// Gives an order. It is carried out within some milliseconds.
    pub(crate) fn order(&self, order: Order) {
        // The thread ends after this value alone.
        let _ = self.orders.send(order);
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct WatchThread {
    cells: Vec<WatchedCell>,
    processes: CellProcesses,
    pulse: Arc<Pulse>,
    events: mpsc::Sender<CellEvent>,
    orders: mpsc::Receiver<Order>,
    stop: Arc<AtomicBool>,
    is_live: bool,
}

impl WatchThread {
    fn start(self) -> Result<JoinHandle<()>, String> {
        std::thread::Builder::new()
            .name("divisi-cells".into())
            .spawn(move || self.run())
            .map_err(|error| format!("no thread for the cells: {error}"))
    }

    /// Watches until it is stopped.
    fn run(mut self) {
        let mut is_raised = false;
        while !self.stop.load(Ordering::Relaxed) {
            while let Ok(order) = self.orders.try_recv() {
                self.carry_out(order);
            }
            self.processes.look(Duration::ZERO);
            self.pulse.add(PulseWord::Monitor, 1);
            if self.is_live
                && !is_raised
                && let Some(cell) = self.cells.iter().find(|it| it.is_switched())
            {
                is_raised = true;
                cell.tell_refused(raise(), &self.events);
            }
            let mut next = None;
            for cell in &mut self.cells {
                let at = cell.look((&mut self.processes, self.is_live), &self.events);
                self.pulse.leave_figures(cell.index(), cell.status());
                next = next.into_iter().chain(at).min();
            }
            let until = next.map(|at| Duration::from_nanos(at.0.saturating_sub(raw::now().0)));
            let until = until.unwrap_or(INTERVAL);
            std::thread::sleep(until.clamp(MIN_INTERVAL, INTERVAL));
        }
    }

    fn carry_out(&mut self, order: Order) {
        let processes = &self.processes;
        let cells = &mut self.cells;
        match order {
            Order::Add(cell) => cells.push(*cell),
            Order::Stop(index) => {
                if let Some(cell) = find(cells, index) {
                    cell.stop(processes);
                }
            }
            Order::Start(index) => {
                if let Some(cell) = find(cells, index) {
                    cell.start();
                }
            }
            Order::Resize(index, cores, done) => {
                let resized = find(cells, index).map(|cell| cell.resize(cores));
                let _ = done.send(resized.unwrap_or(Ok(())));
            }
            Order::Hand(index, part) => {
                if let Some(cell) = find(cells, index) {
                    cell.hand(*part);
                }
            }
            Order::Retire(index) => {
                if let Some(cell) = find(cells, index) {
                    cell.retire();
                }
            }
            Order::Remove(index) => {
                cells.retain(|it| it.index() != index);
                processes.tell(MessageKind::Forget, &[index as u64], &[]);
            }
            Order::Share(index, sender) => {
                let _ = sender.send(find(cells, index).and_then(|cell| cell.share()));
            }
            Order::Leave(kind, file) => processes.leave(kind, file.as_fd()),
        }
    }
}

fn find(cells: &mut [WatchedCell], index: usize) -> Option<&mut WatchedCell> {
    cells.iter_mut().find(|it| it.index() == index)
}

/// Takes a priority above that of the cells that this thread switches. Gives what the system refuses, with the fix.
fn raise() -> Option<String> {
    let refusal = workers::set_priority(Priority::RealTime(SWITCH_PRIORITY)).err()?;
    Some(format!("{refusal}: {}", refusal.fix()))
}
