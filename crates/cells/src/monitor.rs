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
//! | an [`Order`] of the service | stops, starts, resizes, adds or removes a cell |
//! | a window that opens or closes, a budget that is used up | switches the threads of the process |
//!
//! The kernel ends each cell when the thread that started it ends, so all are started on this one, which lives as long as the
//! supervisor.

use crate::checkpoint::{Checkpoint, CheckpointMemory};
use crate::inner_events::{InnerText, TEXTS};
use crate::message::{DEPTH, HEADER, HostEnd, ReplyError};
use crate::node::{CellLink, Drill, DrillKind};
use crate::policy::enforcer::Enforcer;
use crate::policy::place_threads;
use crate::raw;
use crate::section::CellSpec;
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
use units::{Frames, Nanos};
use workers::Priority;

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
/// Time between two measurements of the load.
const LOAD_INTERVAL: Duration = Duration::from_millis(100);
/// Shortest time between two looks.
const MIN_INTERVAL: Duration = Duration::from_micros(50);
/// Priority of the monitor if it switches cells: above that of all cells.
const SWITCH_PRIORITY: u8 = 60;
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

/// A process that is to be started.
pub struct LaunchRequest<'a> {
    /// Number of the cell, in the order of the session's; cells that are added have larger ones.
    pub index: usize,
    /// The cell as it is now.
    pub spec: &'a CellSpec,
    /// The keys of a cell that was added, as text.
    pub text: Option<&'a str>,
    /// Paths of what it shares.
    pub paths: &'a CellPaths,
    /// True for the first start.
    pub is_first: bool,
}

/// Makes the command of a cell's process.
pub type Launch = Box<dyn Fn(&LaunchRequest<'_>) -> Command + Send>;

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
    /// The system refused what its policy needs; with the fix.
    Refused {
        /// Its name.
        cell: String,
        /// What was refused.
        what: String,
    },
}

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
    /// Ends its process and watches it no more.
    Remove(usize),
}

/// A cell that was added and has not come up yet.
pub(crate) struct NewCell {
    pub(crate) link: CellLink,
    /// Messages in words for its nodes.
    pub(crate) texts: rtrb::Producer<InnerText>,
    pub(crate) status: Arc<CellStatus>,
    /// Latency of its graph, or the reason why it did not come up.
    pub(crate) came: mpsc::Receiver<Result<u32, String>>,
}

/// The processes of all cells.
pub struct Monitor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    events: mpsc::Receiver<CellEvent>,
    orders: mpsc::Sender<Order>,
    statuses: Vec<(String, Arc<CellStatus>)>,
    block: Frames,
}

/// Where messages in words for the nodes of one cell go.
pub struct CellTexts(pub(crate) rtrb::Producer<InnerText>);

/// The cells that have come up.
pub struct Start {
    /// Their processes.
    pub monitor: Monitor,
    /// For each cell, what its node needs, by the node's name.
    pub links: Vec<(String, CellLink)>,
    /// For each cell, where messages in words for its nodes go.
    pub texts: Vec<CellTexts>,
}

impl Monitor {
    /// Starts a process for each part, and waits until all have come up. With a deadline (`is_live`), they are held to their
    /// policies. `drills` has the failures to cause in each.
    ///
    /// # Errors
    ///
    /// The first cell that did not come up, and why.
    ///
    /// Real-time: waits, for the processes.
    pub fn start(
        parts: &[CellPart],
        (block, is_live): (Frames, bool),
        launch: Launch,
        drills: &[Vec<Drill>],
    ) -> Result<Start, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let (event_sender, events) = mpsc::channel();
        let (orders, order_receiver) = mpsc::channel();
        let (mut watched, mut new, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let drills = drills.get(index).cloned().unwrap_or_default();
            let (cell, one) = watch((index, part), None, block, drills);
            statuses.push((part.spec.name.clone(), one.status.clone()));
            watched.push(cell);
            new.push(one);
        }
        let thread = WatchThread {
            cells: watched,
            launch,
            events: event_sender,
            orders: order_receiver,
            stop: stop.clone(),
            is_live,
        };
        let thread = std::thread::Builder::new()
            .name("divisi-cells".into())
            .spawn(move || thread.run())
            .map_err(|error| format!("no thread for the cells: {error}"))?;
        // From here on a drop ends the processes.
        let monitor = Self {
            stop,
            thread: Some(thread),
            events,
            orders,
            statuses,
            block,
        };
        let (mut links, mut texts) = (Vec::new(), Vec::new());
        for (mut new, part) in new.into_iter().zip(parts) {
            let latency = new.came.recv();
            let latency = latency.map_err(|_| "the cells have ended".to_owned())??;
            new.link.graph_latency = Frames(latency);
            links.push((part.node.clone(), new.link));
            texts.push(CellTexts(new.texts));
        }
        Ok(Start {
            monitor,
            links,
            texts,
        })
    }

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

    /// Starts the process of another cell; `text` has its keys.
    pub(crate) fn add(&mut self, index: usize, part: &CellPart, text: String) -> NewCell {
        let (cell, new) = watch((index, part), Some(text), self.block, Vec::new());
        self.statuses.push((cell.name.clone(), new.status.clone()));
        self.order(Order::Add(Box::new(cell)));
        new
    }

    /// Gives an order. It is carried out within some milliseconds.
    pub(crate) fn order(&self, order: Order) {
        // The thread ends after this value alone.
        let _ = self.orders.send(order);
    }
}

/// A cell to watch, and what its node and the service have of it.
fn watch(
    (index, part): (usize, &CellPart),
    text: Option<String>,
    block: Frames,
    drills: Vec<Drill>,
) -> (WatchedCell, NewCell) {
    let (fresh_sender, fresh) = rtrb::RingBuffer::new(IN_FLIGHT);
    let (retired, retired_receiver) = rtrb::RingBuffer::new(IN_FLIGHT);
    let (came, came_up) = mpsc::channel();
    let (text_sender, texts) = rtrb::RingBuffer::new(TEXTS);
    let status = Arc::<CellStatus>::default();
    let hangs = |it: &Drill| matches!(it.kind, DrillKind::Stop | DrillKind::Loop);
    let cell = WatchedCell {
        index,
        name: part.spec.name.clone(),
        spec: part.spec.clone(),
        text,
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
        blocks_before: 0,
        stuck: None,
    };
    let link = CellLink {
        fresh,
        retired,
        status: status.clone(),
        latency: part.spec.latency,
        graph_latency: Frames(0),
        drills,
        slots: part.slots.clone(),
        texts,
        told: Vec::new(),
    };
    let new = NewCell {
        link,
        texts: text_sender,
        status,
        came: came_up,
    };
    (cell, new)
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
    /// What holds it to its policy, once it plays.
    enforcer: Option<Enforcer>,
    /// Time of the last measurement, and the processor time then.
    measured: (Instant, Nanos),
}

impl Process {
    /// Counts its processor time since the last call.
    fn count_used(&mut self, status: &CellStatus) {
        let Some(used) = raw::process_time(self.child.id() as i32) else {
            return;
        };
        let (before, used_before) = std::mem::replace(&mut self.measured, (Instant::now(), used));
        let since = used.0.saturating_sub(used_before.0);
        status.used_ns.fetch_add(since, Ordering::Relaxed);
        let elapsed = before.elapsed().as_nanos().max(1) as u64;
        let load = since.saturating_mul(1000) / elapsed;
        status.load.store(load as u32, Ordering::Relaxed);
    }

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
    /// Keys of a cell that was added.
    text: Option<String>,
    /// Words in a block of requests and of replies.
    samples: (usize, usize),
    fresh: rtrb::Producer<HostEnd>,
    retired: rtrb::Consumer<HostEnd>,
    status: Arc<CellStatus>,
    state: State,
    /// Who waits for its first start.
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
    /// Blocks that were asked for before this process.
    blocks_before: u64,
    /// Block in which the node waits or loses, and since when.
    stuck: Option<(u64, Instant)>,
}

struct WatchThread {
    cells: Vec<WatchedCell>,
    launch: Launch,
    events: mpsc::Sender<CellEvent>,
    orders: mpsc::Receiver<Order>,
    stop: Arc<AtomicBool>,
    is_live: bool,
}

impl WatchThread {
    /// Watches until it is stopped.
    fn run(mut self) {
        let mut is_raised = false;
        while !self.stop.load(Ordering::Relaxed) {
            while let Ok(order) = self.orders.try_recv() {
                self.carry_out(order);
            }
            let is_switched = |it: &WatchedCell| it.spec.policy.is_switched();
            if self.is_live
                && !is_raised
                && let Some(cell) = self.cells.iter().find(|it| is_switched(it))
            {
                is_raised = true;
                cell.tell_refused(raise(), &self.events);
            }
            let mut next = None;
            for cell in &mut self.cells {
                let at = cell.look((&self.launch, self.is_live), &self.events);
                next = next.into_iter().chain(at).min();
            }
            let until = next.map(|at| Duration::from_nanos(at.0.saturating_sub(raw::now().0)));
            let until = until.unwrap_or(INTERVAL);
            std::thread::sleep(until.clamp(MIN_INTERVAL, INTERVAL));
        }
    }

    fn carry_out(&mut self, order: Order) {
        let find = |index: usize| move |it: &&mut WatchedCell| it.index == index;
        let mut cells = self.cells.iter_mut();
        match order {
            Order::Add(cell) => self.cells.push(*cell),
            Order::Stop(index) => cells
                .find(find(index))
                .into_iter()
                .for_each(WatchedCell::stop),
            Order::Start(index) => {
                cells
                    .find(find(index))
                    .into_iter()
                    .for_each(WatchedCell::start);
            }
            Order::Resize(index, cores, done) => {
                let resized = cells.find(find(index)).map(|cell| cell.resize(cores));
                let _ = done.send(resized.unwrap_or(Ok(())));
            }
            Order::Remove(index) => self.cells.retain(|it| it.index != index),
        }
    }
}

/// Takes a priority above that of the cells that this thread switches. Gives what the system refuses, with the fix.
fn raise() -> Option<String> {
    let refusal = workers::set_priority(Priority::RealTime(SWITCH_PRIORITY)).err()?;
    Some(format!("{refusal}: {}", refusal.fix()))
}

impl WatchedCell {
    fn stop(&mut self) {
        self.count_used();
        self.state = State::Stopped;
        // Again: it may have come up since the service stored it.
        self.status.stopped.store(true, Ordering::Relaxed);
        self.forget_process();
    }

    /// Takes back what was told of a process that has ended.
    fn forget_process(&self) {
        self.status.process.store(0, Ordering::Relaxed);
        self.status.drill.store(0, Ordering::Relaxed);
        self.status.throttled.store(false, Ordering::Relaxed);
        self.status.load.store(0, Ordering::Relaxed);
        self.status.set_head(None);
    }

    fn start(&mut self) {
        if matches!(self.state, State::Stopped | State::Gone) {
            self.status.gone.store(false, Ordering::Relaxed);
            (self.failed_starts, self.restarts_in_row) = (0, 0);
            self.state = State::Waiting(Instant::now());
        }
    }

    fn resize(&mut self, cores: Vec<usize>) -> Result<(), String> {
        if let State::Playing(process) = &self.state {
            place_threads(process.child.id() as i32, &cores).map_err(|error| {
                format!(
                    "not kept on the cores {cores:?}: {error}: name cores that this process may use"
                )
            })?;
        }
        self.spec.cores = cores;
        Ok(())
    }

    /// One look at the cell. Gives the time by which the next one is due, if that is known.
    fn look(
        &mut self,
        (launch, is_live): (&Launch, bool),
        events: &mpsc::Sender<CellEvent>,
    ) -> Option<Nanos> {
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
            State::Starting(process, end) => self.look_at_start((process, is_live), end, events),
            State::Playing(process) => self.look_at_play(process, events),
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

    fn tell_refused(&self, what: Option<String>, events: &mpsc::Sender<CellEvent>) {
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
        let request = LaunchRequest {
            index: self.index,
            spec: &self.spec,
            text: self.text.as_deref(),
            paths: &paths,
            is_first: self.launches == 1,
        };
        let workers = self.spec.workers() as u32;
        self.status.workers.store(workers, Ordering::Relaxed);
        self.status.starts.store(self.launches, Ordering::Relaxed);
        let child = launch(&request).spawn();
        let child = child.map_err(|error| error.to_string())?;
        let began = Instant::now();
        let process = Process {
            child,
            began,
            enforcer: None,
            measured: (began, Nanos(0)),
        };
        Ok((process, end))
    }

    fn look_at_start(
        &mut self,
        (mut process, is_live): (Process, bool),
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
                let head = self.memory.as_ref().and_then(CheckpointMemory::map_head);
                self.status.set_head(head);
                self.blocks_before = self.status.blocks();
                self.stuck = None;
                // An outage before this one is over.
                self.status.outage.store(0, Ordering::Relaxed);
                process.began = Instant::now();
                if let (Some(came), Ok(latency)) = (self.came.take(), u32::try_from(latency)) {
                    let _ = came.send(Ok(latency));
                }
                self.begin_to_hold(&mut process, is_live, events);
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

    /// Begins to hold a process that plays to its policy, and to measure it.
    fn begin_to_hold(
        &mut self,
        process: &mut Process,
        is_live: bool,
        events: &mpsc::Sender<CellEvent>,
    ) {
        let number = process.child.id();
        self.status.process.store(number, Ordering::Relaxed);
        self.status.throttled.store(false, Ordering::Relaxed);
        self.status.stopped.store(false, Ordering::Relaxed);
        let used = raw::process_time(number as i32).unwrap_or_default();
        process.measured = (process.began, used);
        let policy = (&self.spec.policy, self.spec.precedence);
        let (enforcer, refused) = Enforcer::begin(number, policy, is_live);
        process.enforcer = Some(enforcer);
        let is_first = self.launches == 1;
        self.tell_refused(refused.filter(|_| is_first), events);
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
        process.count_used(&self.status);
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
        self.forget_process();
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
