//! [`Editor`]: the thread of edits of a cell's process. It makes an edit that leaves the border of the cell as it is with the
//! cell's own engine, so nothing is started anew and nodes that stay keep their states. It also taps outputs, and tells the fates of
//! messages in words.
//!
//! | step | a mistake |
//! |---|---|
//! | the session that the supervisor has left is read, and cut | answered, nothing changes |
//! | border and latency are those that play | the same |
//! | the engine takes the edit; no checkpoint is written from here on | the same |
//! | it fades, and plays alone | – |
//! | the thread that plays gets slots, meters and places of checkpoints ([`Renewal`]) | – |
//! | the supervisor is answered, with the frame | – |

use super::ReadPart;
use super::seat::EditorEnds;
use super::taps::CellTaps;
use crate::gauges::{ShownGauges, show_names};
use crate::handed::read;
use crate::keeper::NextPlaces;
use crate::live_edit::{answer, asked};
use crate::policy::EDITS;
use crate::slots::Slot;
use crate::split::CellPart;
use engine::EngineError;
use graph::{Edit, Graph, edits_by_id, error_chain};
use processor::Registry;
use rt::mirror::SharedWords;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(5);
/// The same where the thread takes of the time that a policy gives its cell.
const SHARED_INTERVAL: Duration = Duration::from_millis(20);
/// Longest time until the engine takes an edit, and until it is heard.
const LIMIT: Duration = Duration::from_secs(5);
/// Outputs that are tapped, or no more, before checkpoints go on.
const TAPS_AT_ONCE: usize = 4;
/// Memory that the thread takes and gives back at its beginning, so that its allocator is there before the limits hold.
const FIRST_BYTES: usize = 64 << 10;

/// Changes of an edit for the thread that plays.
pub(super) struct Renewal {
    /// Targets of events and meters, where nodes have changed.
    pub(super) targets: Option<(Arc<[Slot]>, ShownGauges)>,
    pub(super) layout: NextPlaces,
}

/// State of the thread of edits.
pub(super) struct Editor {
    pub(super) ends: EditorEnds,
    /// The part that plays.
    pub(super) part: CellPart,
    /// None, if it takes no edits: each of them starts a process.
    pub(super) read_part: Option<ReadPart>,
    pub(super) registry: Arc<Registry>,
    pub(super) memory: File,
    pub(super) head: SharedWords,
    /// True if its checkpoints are small enough to get other places between two blocks.
    pub(super) is_renewable: bool,
    /// Number of the last edit that was asked for.
    pub(super) seen: u64,
    pub(super) taps: CellTaps,
}

/// A thread of edits, which ends with this value.
pub(super) struct EditorThread {
    shared: Arc<super::seat::SharedEngine>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for EditorThread {
    fn drop(&mut self) {
        // Relaxed: nothing travels with it.
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Editor {
    /// Starts the thread. To be called before the limits of the process hold.
    ///
    /// Real-time: setup.
    pub(super) fn start(self) -> Result<EditorThread, String> {
        let shared = self.ends.shared.clone();
        let (begun, wait) = mpsc::channel();
        let thread = std::thread::Builder::new().name(EDITS.into());
        let thread = thread.spawn(move || {
            drop(std::hint::black_box(vec![1u8; FIRST_BYTES]));
            let _ = begun.send(());
            self.run();
        });
        let thread = thread.map_err(|error| format!("no thread for edits: {error}"))?;
        let _ = wait.recv();
        Ok(EditorThread {
            shared,
            thread: Some(thread),
        })
    }

    fn run(mut self) {
        // Relaxed: nothing travels with it.
        while !self.ends.shared.is_over.load(Ordering::Relaxed) {
            self.update();
            while self.ends.retired.pop().is_ok() {}
            let number = asked(self.head.words());
            if number != self.seen {
                self.seen = number;
                let result = self.edit();
                answer(self.head.words(), number, &result);
            }
            if self.taps.are_others(self.head.words()) {
                self.tap();
            }
            std::thread::sleep(match self.read_part {
                Some(_) => INTERVAL,
                None => SHARED_INTERVAL,
            });
        }
    }

    /// Looks after the engine, and passes on what it has for the supervisor.
    fn update(&mut self) {
        let shared = &self.ends.shared;
        let mut engine = shared.lock();
        engine.update();
        // Relaxed: a number, of a block before.
        let offset = shared.offset.load(Ordering::Relaxed);
        let head = self.head.words();
        self.ends.fates.tell(&mut engine, offset, head);
        drop(engine);
        self.taps.copy(head);
    }

    /// Taps other outputs: some of them at once, the rest when it is called again.
    fn tap(&mut self) {
        let began = Instant::now();
        // pairs with the load in `EngineSeat::is_changing`: steps may be in another order.
        self.ends.shared.is_changing.store(true, Ordering::Release);
        for _ in 0..TAPS_AT_ONCE {
            while !self.change_tap() && began.elapsed() < LIMIT {
                self.pause();
            }
        }
        while self.ends.shared.lock().is_swapping() && began.elapsed() < LIMIT {
            self.pause();
        }
        self.renew(None);
    }

    /// Makes the next change of what is tapped. Returns false where the engine is busy.
    fn change_tap(&mut self) -> bool {
        let mut engine = self.ends.shared.lock();
        let changed = self.taps.change(&mut engine, self.head.words());
        changed.is_ok()
    }

    /// Waits for the thread that plays.
    fn pause(&mut self) {
        std::thread::sleep(INTERVAL);
        self.update();
    }

    /// Makes the edit that the supervisor has left. Gives the frame from which on it is heard.
    fn edit(&mut self) -> Result<u64, String> {
        let read_part = self
            .read_part
            .as_ref()
            .ok_or("its policy allows no edits")?;
        if !self.is_renewable {
            return Err("it holds long delay lines".to_owned());
        }
        let (handed, number) = read(&self.memory).ok_or("its supervisor has left no session")?;
        let mut part = read_part(&handed)?;
        handed.number_targets(&mut part);
        if part.number() != number {
            return Err("it reads another session than its supervisor".to_owned());
        }
        if (&part.inputs, &part.outputs) != (&self.part.inputs, &self.part.outputs) {
            return Err("its border changes".to_owned());
        }
        let edits = self.edits(&part.graph)?;
        self.commit(edits)?;
        let frame = self.settle();
        self.renew(Some(&part));
        self.part = part;
        Ok(frame)
    }

    /// The edits to another graph, if they leave the latency as it is.
    fn edits(&self, after: &Graph) -> Result<Vec<Edit>, String> {
        let mut engine = self.ends.shared.lock();
        let before = engine.graph().clone();
        let catalogue = self.registry.catalogue();
        let edits = edits_by_id(&before, after, catalogue).map_err(|error| error.to_string())?;
        let latency = engine
            .latency_after([])
            .map_err(|error| error_chain(&error))?;
        let next = engine.latency_after(edits.clone());
        if next.map_err(|error| error_chain(&error))? != latency {
            return Err("its latency changes".to_owned());
        }
        Ok(edits)
    }

    /// Has the engine take the edits.
    fn commit(&self, edits: Vec<Edit>) -> Result<(), String> {
        let (shared, began) = (&self.ends.shared, Instant::now());
        // pairs with the load in `EngineSeat::is_changing`.
        shared.is_changing.store(true, Ordering::Release);
        let result = loop {
            let mut engine = shared.lock();
            engine.update();
            match engine.edit(edits.clone()) {
                Err(EngineError::Busy) if began.elapsed() < LIMIT => {}
                result => break result,
            }
            drop(engine);
            std::thread::sleep(INTERVAL);
        };
        result.map(|_| ()).map_err(|error| {
            // pairs with the load in `EngineSeat::is_changing`; nothing has changed.
            shared.is_changing.store(false, Ordering::Release);
            error_chain(&error)
        })
    }

    /// Waits until the edited graph plays alone. Gives its first frame, as the supervisor counts.
    fn settle(&mut self) -> u64 {
        let began = Instant::now();
        let mut frame = None;
        loop {
            let shared = &self.ends.shared;
            let mut engine = shared.lock();
            engine.update();
            if frame.is_none() && !engine.is_swapping() {
                // Relaxed: a number, of a block before.
                let offset = shared.offset.load(Ordering::Relaxed);
                frame = Some(engine.swap_frame().wrapping_add(offset));
            }
            if engine.is_settled() || began.elapsed() > LIMIT {
                return frame.unwrap_or_default();
            }
            drop(engine);
            self.pause();
        }
    }

    /// Gives the thread that plays what has changed for it, and waits until it has taken it. `part` has the nodes, if they are others.
    fn renew(&mut self, part: Option<&CellPart>) {
        let engine = self.ends.shared.lock();
        let layout = NextPlaces::new(engine.graph());
        let gauges = part.map(|part| (part, ShownGauges::choose(engine.gauge_handles())));
        drop(engine);
        let mut shown = None;
        let targets = gauges.map(|(part, (gauges, names, _))| {
            show_names(self.head.words(), "");
            shown = Some(names);
            (part.slots.clone(), gauges)
        });
        let sent = self
            .ends
            .renewals
            .push(Box::new(Renewal { targets, layout }));
        let began = Instant::now();
        while sent.is_ok() && began.elapsed() < LIMIT {
            if self.ends.retired.pop().is_ok() {
                if let Some(names) = shown {
                    show_names(self.head.words(), &names);
                }
                return;
            }
            self.pause();
        }
    }
}
