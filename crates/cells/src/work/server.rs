//! [`WorkServer`]: the threads of a cell's process that do work of nodes elsewhere.
//!
//! Each thread looks at all lanes, and does the first request that no other one has begun. Where there is none it sleeps on the
//! doorbell. Between two requests of one lane it keeps nothing but what the work itself keeps.

use super::lane::{LanePlace, ServedLane, begin, bell, fill_with_nonsense, sleep_unless_rung};
use super::links::works;
use crate::raw::now;
use crate::section::CellSpec;
use graph::Graph;
use processor::{NodeWork, Registry};
use rt::mirror::WakeWords;
use std::fs::OpenOptions;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError, mpsc};
use std::thread::JoinHandle;
use units::{Frames, Nanos, SampleRate};
use workers::{AudioThread, Priority};

/// Longest sleep before a thread looks again.
const IDLE: Nanos = Nanos(50_000_000);
/// Longest time for one request, live and offline.
const LIVE_LIMIT: Nanos = Nanos(1_000_000_000);
const OFFLINE_LIMIT: Nanos = Nanos(10_000_000_000);
/// Memory that a thread takes and gives back at its beginning, so that its allocator is there before the limits hold.
const FIRST_BYTES: usize = 64 << 10;

/// Work of a cell for nodes elsewhere.
pub struct WorkOfCell {
    memory: PathBuf,
    works: Vec<Box<dyn NodeWork>>,
    threads: usize,
    priority: Priority,
}

impl WorkOfCell {
    /// The work of `spec` by `threads` threads, with requests in the memory at `memory`.
    ///
    /// # Errors
    ///
    /// A node has no such work.
    ///
    /// Real-time: setup.
    pub fn new(
        session: (&Graph, &Path),
        spec: &CellSpec,
        (registry, format): (&Registry, (SampleRate, Frames)),
        (memory, threads, priority): (PathBuf, usize, Priority),
    ) -> Result<Self, String> {
        let works = works(session, spec, registry, format)?;
        Ok(Self {
            memory,
            works: works.into_iter().map(|(_, work)| work).collect(),
            threads,
            priority,
        })
    }
}

/// State of all threads.
struct Shared {
    words: WakeWords,
    lanes: Vec<Mutex<ServedLane>>,
    /// Time at which the request of each lane was begun; 0 for none.
    since: Vec<AtomicU64>,
    is_over: AtomicBool,
    has_panicked: AtomicBool,
}

/// Threads that serve the lanes, until this is dropped.
pub(crate) struct WorkServer {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl WorkServer {
    /// Starts the threads. To be called before the limits of the process hold.
    ///
    /// Real-time: setup.
    pub(crate) fn start(of: WorkOfCell) -> Result<Self, String> {
        let file = OpenOptions::new().read(true).write(true).open(&of.memory);
        let file = file.map_err(|error| format!("its memory of work is not there: {error}"))?;
        let sizes: Vec<_> = of.works.iter().map(|work| work.words()).collect();
        let (places, count) = LanePlace::of(&sizes).ok_or("a request has too many words")?;
        let words = WakeWords::open(&file.into(), count).map_err(|error| error.to_string())?;
        begin(&words);
        let lanes = places.into_iter().zip(of.works);
        let lanes: Vec<_> = lanes
            .map(|(place, work)| Mutex::new(ServedLane::new(place, work)))
            .collect();
        let shared = Arc::new(Shared {
            since: lanes.iter().map(|_| AtomicU64::new(0)).collect(),
            words,
            lanes,
            is_over: AtomicBool::new(false),
            has_panicked: AtomicBool::new(false),
        });
        let mut server = Self {
            shared,
            threads: Vec::new(),
        };
        let (begun, wait) = mpsc::channel();
        for _ in 0..of.threads.min(server.shared.lanes.len()).max(1) {
            let (shared, begun, priority) = (server.shared.clone(), begun.clone(), of.priority);
            let thread = std::thread::Builder::new().name("divisi-work".into());
            let thread = thread.spawn(move || {
                drop(std::hint::black_box(vec![1u8; FIRST_BYTES]));
                // What is refused is said for the thread that plays.
                let _ = workers::set_priority(priority);
                let _audio_thread = AudioThread::enter();
                let _ = begun.send(());
                shared.run();
            });
            let thread = thread.map_err(|error| format!("no thread for its work: {error}"))?;
            server.threads.push(thread);
            let _ = wait.recv();
        }
        Ok(server)
    }

    /// The reason why the process is to end, if it is: a piece of work does not end, or has panicked.
    pub(crate) fn mistake(&self, is_live: bool) -> Option<&'static str> {
        // Relaxed: flags and times, with which nothing travels.
        if self.shared.has_panicked.load(Ordering::Relaxed) {
            return Some("a piece of work has panicked");
        }
        let limit = if is_live { LIVE_LIMIT } else { OFFLINE_LIMIT };
        let now = now().0;
        let since = self.shared.since.iter();
        let mut since = since.map(|it| it.load(Ordering::Relaxed));
        let hangs = since.any(|since| since != 0 && now.saturating_sub(since) > limit.0);
        hangs.then_some("a piece of work does not end")
    }

    /// Writes nonsense into all lanes, for a drill.
    pub(crate) fn write_nonsense(&self) {
        fill_with_nonsense(&self.shared.words);
    }
}

impl Drop for WorkServer {
    fn drop(&mut self) {
        // Relaxed: nothing travels with it. The threads see it within the time of a sleep.
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        // Relaxed: nothing travels with it.
        while !self.is_over.load(Ordering::Relaxed) {
            let seen = bell(&self.words);
            let all = AssertUnwindSafe(|| {
                // Each lane once, so that none waits behind another for ever.
                let served = (0..self.lanes.len()).filter(|at| self.serve(*at));
                served.count() > 0
            });
            match catch_unwind(all) {
                Ok(true) => {}
                Ok(false) => sleep_unless_rung(&self.words, seen, IDLE),
                Err(_) => {
                    self.has_panicked.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    /// Does the request of a lane, unless another thread does. Returns true if there was one.
    fn serve(&self, at: usize) -> bool {
        let mut lane = match self.lanes[at].try_lock() {
            Ok(lane) => lane,
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => return false,
        };
        let since = &self.since[at];
        let has_served = lane.serve(&self.words, || since.store(now().0, Ordering::Relaxed));
        since.store(0, Ordering::Relaxed);
        has_served
    }
}
