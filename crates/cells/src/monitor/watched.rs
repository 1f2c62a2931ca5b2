//! [`WatchedCell`]: one cell under the eyes of the monitor: its process, its failures, its back-off.
//!
//! | file | holds |
//! |---|---|
//! | `start` | a process comes up |
//! | `hang` | it does not answer |
//! | `inherit` | it was that of the supervisor before |
//! | `orders` | orders of the service |

mod hang;
mod inherit;
mod orders;
mod start;

use super::launch::PlannedCell;
use super::process::{CellProcesses, Process};
use super::told::{CellEvent, CellTexts, NewCell};
use crate::checkpoint::{Checkpoint, CheckpointMemory};
use crate::guardian::link::MessageKind;
use crate::inner_events::TEXTS;
use crate::message::HostEnd;
use crate::node::{CellLink, Drill, DrillKind};
use crate::section::CellSpec;
use crate::slots::KeptSlots;
use crate::status::CellStatus;
use rustix::process::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use units::{Frames, Nanos};

/// Longest start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Starts without a block before a cell is given up.
const MAX_FAILED_STARTS: u32 = 6;
/// Wait before the second start in a row; it doubles each time.
const FIRST_BACK_OFF: Duration = Duration::from_millis(10);
/// Longest back-off.
const MAX_BACK_OFF: Duration = Duration::from_secs(2);
/// A cell that played for so long begins its back-off anew.
const STEADY: Duration = Duration::from_secs(5);
/// Time between two measurements of the load.
const LOAD_INTERVAL: Duration = Duration::from_millis(100);
/// Rings on their way between the node and the monitor.
const IN_FLIGHT: usize = 16;

/// Failures in a row after which a process gets no checkpoint: what it holds may be the cause.
const MAX_CONTINUED: u32 = 3;

/// State of a cell, with what it owns in it.
enum State {
    /// No process until then.
    Waiting(Instant),
    /// It has not answered yet.
    Starting(Process, Box<HostEnd>),
    Playing(Process),
    /// Stopped by an order.
    Stopped,
    /// Given up.
    Gone,
}

/// A cell and its process.
pub(crate) struct WatchedCell {
    index: usize,
    name: String,
    spec: CellSpec,
    /// The session, for its processes, and the number of its part.
    session: Arc<[u8]>,
    part: u64,
    /// Parts that a process of the supervisor before may have.
    known_parts: Vec<u64>,
    /// Path of the memory of the process whose place the first one takes.
    before: Option<String>,
    /// Words in a block of requests and of replies.
    samples: (usize, usize),
    fresh: rtrb::Producer<HostEnd>,
    retired: rtrb::Consumer<HostEnd>,
    status: Arc<CellStatus>,
    state: State,
    /// Channel to the command that waits for its first start.
    came: Option<mpsc::Sender<Result<u32, String>>>,
    failed_starts: u32,
    restarts_in_row: u32,
    /// Number of processes that were started.
    launches: u32,
    /// Latency of its graph, once it is known.
    latency: Option<u64>,
    /// It failed, and no block of the next process has come.
    is_silent: bool,
    /// Memory in which the present process leaves checkpoints.
    memory: Option<CheckpointMemory>,
    /// The newest checkpoint of the processes that have ended.
    checkpoint: Option<Checkpoint>,
    hangs_on_purpose: bool,
    /// Its node leaves the graph, and with it its process ends.
    is_retiring: bool,
    /// Blocks that were asked for before this process.
    blocks_before: u64,
    /// Blocks that were asked for so far, and when the last one was.
    asked: (u64, Instant),
    /// Block in which the node waits or loses, and since when.
    stuck: Option<(u64, Instant)>,
    /// It was stopped when a supervisor was lost.
    stays_stopped: bool,
}

/// A cell to watch, and what its node and the service have of it. `counts` are the number of the first block, and the frames
/// from the engine's position to that of the run.
pub(super) fn watch(
    planned: PlannedCell<'_>,
    block: Frames,
    (first_block, offset): (u64, Arc<AtomicU64>),
    (session, before): (Arc<[u8]>, Option<String>),
) -> (WatchedCell, NewCell) {
    let PlannedCell {
        index,
        part,
        drills,
        is_stopped,
        parts,
    } = planned;
    let (fresh_sender, fresh) = rtrb::RingBuffer::new(IN_FLIGHT);
    let (retired, retired_receiver) = rtrb::RingBuffer::new(IN_FLIGHT);
    let (came, came_up) = mpsc::channel();
    let (text_sender, texts) = rtrb::RingBuffer::new(TEXTS);
    let status = Arc::<CellStatus>::default();
    let slots = KeptSlots::new(&part.slots);
    let hangs = |it: &Drill| matches!(it.kind, DrillKind::Stop | DrillKind::Loop);
    let cell = WatchedCell {
        index,
        name: part.spec.name.clone(),
        spec: part.spec.clone(),
        session,
        part: part.number(),
        known_parts: parts,
        before,
        samples: part.message_words(block.count()),
        fresh: fresh_sender,
        retired: retired_receiver,
        status: status.clone(),
        state: State::Waiting(Instant::now()),
        came: Some(came),
        failed_starts: 0,
        restarts_in_row: 0,
        launches: 0,
        latency: None,
        is_silent: false,
        memory: None,
        checkpoint: None,
        hangs_on_purpose: drills.iter().any(hangs),
        is_retiring: false,
        blocks_before: 0,
        asked: (0, Instant::now()),
        stuck: None,
        stays_stopped: is_stopped,
    };
    let link = CellLink {
        fresh,
        retired,
        status: status.clone(),
        latency: part.spec.latency,
        graph_latency: Frames(0),
        drills,
        first_block,
        offset,
        slots: slots.clone(),
        texts,
        told: Vec::new(),
    };
    let new = NewCell {
        link,
        texts: CellTexts(text_sender, slots),
        status,
        came: came_up,
    };
    (cell, new)
}

impl WatchedCell {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Returns true if it does work of nodes elsewhere.
    pub(super) fn does_work(&self) -> bool {
        !self.spec.work.is_empty()
    }

    pub(super) fn status(&self) -> &CellStatus {
        &self.status
    }

    /// Returns true if its threads are switched from outside.
    pub(super) fn is_switched(&self) -> bool {
        self.spec.policy.is_switched()
    }

    /// Takes back what was told of a process that has ended.
    fn forget_process(&self) {
        self.status.process.store(0, Ordering::Relaxed);
        self.status.drill.store(0, Ordering::Relaxed);
        self.status.throttled.store(false, Ordering::Relaxed);
        self.status.load.store(0, Ordering::Relaxed);
        self.status.set_memory(None);
    }

    /// One look at the cell. Gives the time by which the next one is due, if that is known.
    pub(super) fn look(
        &mut self,
        (processes, is_live): (&mut CellProcesses, bool),
        events: &mpsc::Sender<CellEvent>,
    ) -> Option<Nanos> {
        while let Ok(end) = self.retired.pop() {
            drop(end);
        }
        let state = std::mem::replace(&mut self.state, State::Gone);
        self.state = match state {
            State::Waiting(until) if Instant::now() < until => State::Waiting(until),
            State::Waiting(_) => match self.launch(processes) {
                Ok((process, end)) => State::Starting(process, Box::new(end)),
                Err(error) => {
                    self.end(&format!("it cannot be started: {error}"), processes, events)
                }
            },
            State::Starting(process, end) => {
                self.look_at_start((process, is_live), end, processes, events)
            }
            State::Playing(process) => self.look_at_play(process, processes, events),
            State::Stopped => State::Stopped,
            State::Gone => State::Gone,
        };
        let State::Playing(process) = &mut self.state else {
            return None;
        };
        let is_due = process.measured.0.elapsed() > LOAD_INTERVAL;
        let (next, refused) = match &mut process.enforcer {
            Some(enforcer) => enforcer.look(&self.status),
            None => (None, None),
        };
        if is_due {
            self.count_used();
        }
        self.tell_refused(refused, events);
        next
    }

    pub(super) fn tell_refused(&self, what: Option<String>, events: &mpsc::Sender<CellEvent>) {
        let cell = self.name.clone();
        let event = what.map(|what| CellEvent::Refused { cell, what });
        event.into_iter().for_each(|event| {
            let _ = events.send(event);
        });
    }

    /// Counts the processor time of a process that plays.
    fn count_used(&mut self) {
        let State::Playing(process) = &mut self.state else {
            return;
        };
        process.count_used(&self.status);
    }

    fn look_at_play(
        &mut self,
        mut process: Process,
        processes: &mut CellProcesses,
        events: &mpsc::Sender<CellEvent>,
    ) -> State {
        self.fail_on_purpose(&process);
        if process.began.elapsed() > STEADY {
            self.restarts_in_row = 0;
        }
        if self.status.blocks() > self.blocks_before {
            self.failed_starts = 0;
        }
        self.tell_back(events);
        // Asked first: such a process ends by itself too, when its rings are gone.
        let is_corrupt = self.status.corrupt.load(Ordering::Relaxed) == self.launches;
        let why = match () {
            () if is_corrupt => "it wrote nonsense into shared memory".to_owned(),
            () if process.has_ended() => processes.why(&process),
            () if self.hangs() => "it hangs".to_owned(),
            () => return State::Playing(process),
        };
        process.count_used(&self.status);
        drop(process);
        self.end(&why, processes, events)
    }

    /// Sends the signal that a drill asks for.
    fn fail_on_purpose(&self, process: &Process) {
        let drill = self.status.drill.swap(0, Ordering::Relaxed);
        let is = |kind: DrillKind| drill == kind as u32;
        match () {
            () if is(DrillKind::Kill) => process.signal(Signal::KILL),
            () if is(DrillKind::Segv) => {
                process.signal(Signal::SEGV);
                // The runtime's handler takes the first one for itself and leaves the next to the system.
                self.status.drill.store(drill, Ordering::Relaxed);
            }
            () if is(DrillKind::Stop) => process.signal(Signal::STOP),
            () => {}
        }
    }

    /// Tells that its sound is back after a failure.
    fn tell_back(&mut self, events: &mpsc::Sender<CellEvent>) {
        let outage = self.status.outage.load(Ordering::Relaxed);
        if self.is_silent && outage > 0 {
            self.is_silent = false;
            let cell = self.name.clone();
            let blocks = outage;
            // Of a cell that has no nodes nobody heard that.
            if !self.spec.nodes.is_empty() {
                let _ = events.send(CellEvent::Back { cell, blocks });
            }
        }
    }

    /// The state after a process: the back-off, or no more starts.
    fn end(
        &mut self,
        why: &str,
        processes: &CellProcesses,
        events: &mpsc::Sender<CellEvent>,
    ) -> State {
        processes.tell(MessageKind::Bury, &[self.index as u64], &[]);
        // What a process that has not ended yet still writes is not read any more.
        let left = self.memory.take().and_then(|memory| memory.newest());
        self.checkpoint = left.or_else(|| self.checkpoint.take());
        let (cell, why) = (self.name.clone(), why.to_owned());
        self.forget_process();
        if self.is_retiring {
            return State::Stopped;
        }
        if let Some(came) = self.came.take() {
            let _ = came.send(Err(format!("the cell `{cell}` did not come up: {why}")));
            return State::Gone;
        }
        let _ = events.send(CellEvent::Ended { cell, why });
        self.status.drill.store(0, Ordering::Relaxed);
        self.is_silent = true;
        self.failed_starts += 1;
        if self.failed_starts >= MAX_FAILED_STARTS {
            self.status.gone.store(true, Ordering::Relaxed);
            let cell = self.name.clone();
            let _ = events.send(CellEvent::GivenUp { cell });
            return State::Gone;
        }
        let wait = match self.restarts_in_row {
            0 => Duration::ZERO,
            n => (FIRST_BACK_OFF * (1 << (n - 1).min(10))).min(MAX_BACK_OFF),
        };
        self.restarts_in_row += 1;
        State::Waiting(Instant::now() + wait)
    }
}
