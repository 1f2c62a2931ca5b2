//! [`Monitor`]: a thread that starts the processes of cells, watches them, ends them and starts them again.
//!
//! | it sees | it does |
//! |---|---|
//! | the process has ended | new rings and a new process, after the back-off |
//! | live: [`MAX_MISSED`] blocks or more were lost in a row, for [`HANG_LIVE`] | kills it |
//! | offline: the node waits for one block for [`HANG_OFFLINE`] | kills it |
//! | the node found nonsense in its ring | kills it |
//! | it has not come up within [`START_LIMIT`] | kills it |
//! | it failed [`MAX_FAILED_STARTS`] times without a block | starts it no more |
//!
//! The kernel ends each cell when the thread that started it ends, so all are started on this one, which lives as long as the
//! supervisor.

use crate::checkpoint::{Checkpoint, CheckpointMemory};
use crate::message::{DEPTH, HEADER, HostEnd, ReplyError};
use crate::node::{CellLink, Drill, DrillKind};
use crate::split::CellPart;
use crate::status::CellStatus;
use rt::mirror::{PageSize, Ring};
use rustix::process::{Pid, Signal, kill_process};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use units::Frames;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(2);
/// Live, a cell that lost blocks for so long hangs.
const HANG_LIVE: Duration = Duration::from_millis(50);
/// Blocks lost in a row before that counts.
const MAX_MISSED: u32 = 3;
/// Offline, a cell that does not answer for so long hangs.
const HANG_OFFLINE: Duration = Duration::from_secs(10);
/// Offline, under a drill that makes a cell hang, nobody needs to wait for that.
const HANG_DRILL: Duration = Duration::from_millis(200);
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
/// Rings on their way between the node and the monitor.
const IN_FLIGHT: usize = 16;

/// Failures in a row after which a process gets no checkpoint: what it holds may be the cause.
const MAX_CONTINUED: u32 = 3;

/// Paths of what a cell's process shares with the supervisor.
#[derive(Clone, Debug)]
pub struct CellPaths {
    /// Ring of requests.
    pub requests: PathBuf,
    /// Ring of replies.
    pub replies: PathBuf,
    /// Memory for checkpoints.
    pub state: PathBuf,
}

/// Makes the command of a cell's process, from the index of the cell, the paths of what it shares, and true if it is the
/// first start.
pub type Launch = Box<dyn Fn(usize, &CellPaths, bool) -> Command + Send>;

/// Event in the life of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellEvent {
    /// It plays, as the process of this number.
    Playing {
        /// Its name.
        cell: String,
        /// Number of the process.
        process: u32,
        /// True if its nodes continue from what they held before a failure.
        is_continued: bool,
    },
    /// Its sound is back after a failure.
    Back {
        /// Its name.
        cell: String,
        /// Blocks that were lost in a row.
        blocks: u32,
    },
    /// Its process has ended or was ended, for this reason.
    Ended {
        /// Its name.
        cell: String,
        /// The reason.
        why: String,
    },
    /// It is started no more: it failed too often.
    GivenUp {
        /// Its name.
        cell: String,
    },
}

/// The processes of all cells.
pub struct Monitor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    events: mpsc::Receiver<CellEvent>,
    statuses: Vec<(String, Arc<CellStatus>)>,
}

/// The cells that have come up.
pub struct Start {
    /// Their processes.
    pub monitor: Monitor,
    /// For each cell, what its node needs, by the node's name.
    pub links: Vec<(String, CellLink)>,
}

impl Monitor {
    /// Starts a process for each part, and waits until all have come up. `drills` has the failures to cause in each.
    ///
    /// # Errors
    ///
    /// The first cell that did not come up, and why.
    ///
    /// Real-time: waits, for the processes.
    pub fn start(
        parts: &[CellPart],
        block: Frames,
        launch: Launch,
        drills: &[Vec<Drill>],
    ) -> Result<Start, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let (event_sender, events) = mpsc::channel();
        let (mut watched, mut links, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let (fresh_sender, fresh) = rtrb::RingBuffer::new(IN_FLIGHT);
            let (retired, retired_receiver) = rtrb::RingBuffer::new(IN_FLIGHT);
            let status = Arc::<CellStatus>::default();
            let drills = drills.get(index).cloned().unwrap_or_default();
            watched.push(WatchedCell {
                index,
                name: part.spec.name.clone(),
                samples: part.message_words(block.count()),
                fresh: fresh_sender,
                retired: retired_receiver,
                status: status.clone(),
                state: State::Waiting(Instant::now()),
                failed_starts: 0,
                restarts_in_row: 0,
                launches: 0,
                why: String::new(),
                latency: None,
                is_silent: false,
                memory: None,
                checkpoint: None,
                hangs_on_purpose: drills
                    .iter()
                    .any(|it| matches!(it.kind, DrillKind::Stop | DrillKind::Loop)),
                blocks_before: 0,
                stuck: None,
            });
            statuses.push((part.spec.name.clone(), status.clone()));
            let link = CellLink {
                fresh,
                retired,
                status,
                latency: part.spec.latency,
                graph_latency: Frames(0),
                drills,
            };
            links.push((part.node.clone(), link));
        }
        let (came, came_up) = mpsc::channel();
        let thread = WatchThread {
            cells: watched,
            launch,
            events: event_sender,
            stop: stop.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("divisi-cells".into())
            .spawn(move || thread.run(&came))
            .map_err(|error| format!("no thread for the cells: {error}"))?;
        // From here on a drop ends the processes.
        let monitor = Self {
            stop,
            thread: Some(thread),
            events,
            statuses,
        };
        let latencies = came_up
            .recv()
            .map_err(|_| "the cells have ended".to_owned())??;
        for ((_, link), latency) in links.iter_mut().zip(latencies) {
            link.graph_latency = Frames(latency);
        }
        Ok(Start { monitor, links })
    }

    /// Events since the last call.
    ///
    /// Real-time: setup.
    pub fn events(&self) -> impl Iterator<Item = CellEvent> {
        self.events.try_iter()
    }

    /// The figures of each cell, by its name.
    pub fn statuses(&self) -> &[(String, Arc<CellStatus>)] {
        &self.statuses
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

/// A process and the supervisor's ends of its rings.
struct Process {
    child: Child,
    began: Instant,
}

impl Process {
    fn signal(&self, signal: Signal) {
        // The child is waited for by this thread alone, so the number is still its own.
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum State {
    /// No process until then.
    Waiting(Instant),
    /// It has not answered yet.
    Starting(Process, Box<HostEnd>),
    Playing(Process),
    /// Given up.
    Gone,
}

struct WatchedCell {
    index: usize,
    name: String,
    /// Words in a block of requests and of replies.
    samples: (usize, usize),
    fresh: rtrb::Producer<HostEnd>,
    retired: rtrb::Consumer<HostEnd>,
    status: Arc<CellStatus>,
    state: State,
    failed_starts: u32,
    restarts_in_row: u32,
    /// Number of processes that were started.
    launches: u32,
    /// Reason for the last end.
    why: String,
    /// Latency of its graph, once it is known.
    latency: Option<u64>,
    /// It failed, and no block of the next process has come.
    is_silent: bool,
    /// Memory in which the present process leaves checkpoints.
    memory: Option<CheckpointMemory>,
    /// The newest checkpoint of the processes that have ended.
    checkpoint: Option<Checkpoint>,
    hangs_on_purpose: bool,
    /// Blocks that were asked for before this process.
    blocks_before: u64,
    /// Block in which the node waits or loses, and since when.
    stuck: Option<(u64, Instant)>,
}

struct WatchThread {
    cells: Vec<WatchedCell>,
    launch: Launch,
    events: mpsc::Sender<CellEvent>,
    stop: Arc<AtomicBool>,
}

impl WatchThread {
    /// Watches until it is stopped. `came` gets the latency of each cell when all have come up.
    fn run(mut self, came: &mpsc::Sender<Result<Vec<u32>, String>>) {
        let mut is_up = false;
        while !self.stop.load(Ordering::Relaxed) {
            for cell in &mut self.cells {
                cell.look(&self.launch, &self.events);
            }
            if !is_up {
                if let Some(gone) = self.cells.iter().find(|it| it.failed_starts > 0) {
                    let (name, why) = (&gone.name, &gone.why);
                    let _ = came.send(Err(format!("the cell `{name}` did not come up: {why}")));
                    return;
                }
                let known: Option<Vec<u64>> = self.cells.iter().map(|it| it.latency).collect();
                if let Some(all) = known {
                    is_up = true;
                    let all = all
                        .into_iter()
                        .map(|it| u32::try_from(it).unwrap_or(u32::MAX));
                    let _ = came.send(Ok(all.collect()));
                }
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

impl WatchedCell {
    /// One look at the cell.
    fn look(&mut self, launch: &Launch, events: &mpsc::Sender<CellEvent>) {
        while let Ok(end) = self.retired.pop() {
            drop(end);
        }
        let state = std::mem::replace(&mut self.state, State::Gone);
        self.state = match state {
            State::Waiting(until) if Instant::now() < until => State::Waiting(until),
            State::Waiting(_) => match self.launch(launch) {
                Ok((process, end)) => State::Starting(process, Box::new(end)),
                Err(error) => self.end(&format!("it cannot be started: {error}"), events),
            },
            State::Starting(process, end) => self.look_at_start(process, end, events),
            State::Playing(process) => self.look_at_play(process, events),
            State::Gone => State::Gone,
        };
    }

    /// Starts a process with rings of its own.
    fn launch(&mut self, launch: &Launch) -> Result<(Process, HostEnd), String> {
        let ring = |samples: usize| {
            let words = DEPTH * (HEADER + samples);
            Ring::<u32>::shared(1, words, PageSize::Default).map_err(|error| error.to_string())
        };
        let (requests, replies) = (ring(self.samples.0)?, ring(self.samples.1)?);
        let refused = |error: std::io::Error| format!("no memory for its state: {error}");
        let memory = CheckpointMemory::new().map_err(refused)?;
        if let Some(checkpoint) = &self.checkpoint
            && self.restarts_in_row <= MAX_CONTINUED
        {
            memory.put(checkpoint).map_err(refused)?;
        }
        let path = |file: i32| PathBuf::from(format!("/proc/{}/fd/{file}", std::process::id()));
        let of_ring = |ring: &Ring<u32>| path(ring.file().map_or(-1, |file| file.as_raw_fd()));
        let paths = CellPaths {
            requests: of_ring(&requests),
            replies: of_ring(&replies),
            state: path(memory.file().as_raw_fd()),
        };
        self.memory = Some(memory);
        self.launches += 1;
        let end = HostEnd::new(
            self.launches,
            requests.producer().map_err(|error| error.to_string())?,
            replies.consumer().map_err(|error| error.to_string())?,
            self.samples,
        );
        let child = launch(self.index, &paths, self.launches == 1).spawn();
        let child = child.map_err(|error| error.to_string())?;
        let began = Instant::now();
        Ok((Process { child, began }, end))
    }

    fn look_at_start(
        &mut self,
        mut process: Process,
        mut end: Box<HostEnd>,
        events: &mpsc::Sender<CellEvent>,
    ) -> State {
        match end.hello() {
            Ok((latency, is_continued)) => {
                if *self.latency.get_or_insert(latency) != latency {
                    return self.end("its latency is another than before", events);
                }
                if self.fresh.push(*end).is_err() {
                    return self.end("the graph takes no new process", events);
                }
                let _ = events.send(CellEvent::Playing {
                    cell: self.name.clone(),
                    process: process.child.id(),
                    is_continued,
                });
                self.blocks_before = self.status.blocks();
                self.stuck = None;
                // An outage before this one is over.
                self.status.outage.store(0, Ordering::Relaxed);
                process.began = Instant::now();
                State::Playing(process)
            }
            Err(ReplyError::Corrupt) => self.end("its first message is none", events),
            Err(_) => match process.child.try_wait() {
                Ok(None) if process.began.elapsed() < START_LIMIT => State::Starting(process, end),
                Ok(None) => self.end("it did not come up in time", events),
                Ok(Some(status)) => self.end(&format!("it has ended: {status}"), events),
                Err(error) => self.end(&error.to_string(), events),
            },
        }
    }

    fn look_at_play(&mut self, mut process: Process, events: &mpsc::Sender<CellEvent>) -> State {
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
        if process.began.elapsed() > STEADY {
            self.restarts_in_row = 0;
        }
        if self.status.blocks() > self.blocks_before {
            self.failed_starts = 0;
        }
        let outage = self.status.outage.load(Ordering::Relaxed);
        if self.is_silent && outage > 0 {
            self.is_silent = false;
            let cell = self.name.clone();
            let blocks = outage;
            let _ = events.send(CellEvent::Back { cell, blocks });
        }
        // Asked first: such a process ends by itself too, when its rings are gone.
        let is_corrupt = self.status.corrupt.load(Ordering::Relaxed) == self.launches;
        let why = match process.child.try_wait() {
            _ if is_corrupt => "it wrote nonsense into shared memory".to_owned(),
            Ok(Some(status)) => format!("it has ended: {status}"),
            Err(error) => error.to_string(),
            Ok(None) if self.hangs() => "it hangs".to_owned(),
            Ok(None) => return State::Playing(process),
        };
        drop(process);
        self.end(&why, events)
    }

    /// Returns true if the cell has not answered for too long.
    fn hangs(&mut self) -> bool {
        let waits = self.status.waits.load(Ordering::Relaxed);
        let loses = self.status.missed.load(Ordering::Relaxed) >= MAX_MISSED;
        let block = match waits {
            true => self.status.blocks(),
            false => u64::MAX,
        };
        if !waits && !loses {
            self.stuck = None;
            return false;
        }
        let (known, since) = *self.stuck.get_or_insert((block, Instant::now()));
        if known != block {
            self.stuck = None;
            return false;
        }
        let limit = match (waits, self.hangs_on_purpose) {
            (false, _) => HANG_LIVE,
            (true, true) => HANG_DRILL,
            (true, false) => HANG_OFFLINE,
        };
        since.elapsed() > limit
    }

    /// The state after a process: the back-off, or no more starts.
    fn end(&mut self, why: &str, events: &mpsc::Sender<CellEvent>) -> State {
        // What a process that has not ended yet still writes is not read any more.
        let left = self.memory.take().and_then(|memory| memory.newest());
        self.checkpoint = left.or_else(|| self.checkpoint.take());
        let (cell, why) = (self.name.clone(), why.to_owned());
        self.why.clone_from(&why);
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
