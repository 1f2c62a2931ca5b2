//! [`Editor`]: the thread of edits of a cell's process. It makes an edit that leaves the border of the cell as it is with the
//! cell's own engine, so nothing is started anew and nodes that stay keep their states.
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
use crate::gauges::{ShownGauges, show_names};
use crate::handed::read;
use crate::inner_events::Slot;
use crate::keeper::NextPlaces;
use crate::live_edit::{answer, asked};
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
/// Longest time until the engine takes an edit, and until it is heard.
const LIMIT: Duration = Duration::from_secs(5);
/// Memory that the thread takes and gives back at its beginning, so that its allocator is there before the limits hold.
const FIRST_BYTES: usize = 64 << 10;

/// Changes of an edit for the thread that plays.
pub(super) struct Renewal {
    pub(super) slots: Arc<[Slot]>,
    pub(super) gauges: ShownGauges,
    pub(super) layout: NextPlaces,
}

/// State of the thread of edits.
pub(super) struct Editor {
    pub(super) ends: EditorEnds,
    /// The part that plays.
    pub(super) part: CellPart,
    pub(super) read_part: ReadPart,
    pub(super) registry: Arc<Registry>,
    pub(super) memory: File,
    pub(super) head: SharedWords,
    /// True if its checkpoints are small enough to get other places between two blocks.
    pub(super) is_renewable: bool,
    /// Number of the last edit that was asked for.
    pub(super) seen: u64,
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
        let thread = std::thread::Builder::new().name("divisi-edits".into());
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
            self.ends.shared.lock().update();
            while self.ends.retired.pop().is_ok() {}
            let number = asked(self.head.words());
            if number != self.seen {
                self.seen = number;
                let result = self.edit();
                answer(self.head.words(), number, &result);
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Makes the edit that the supervisor has left. Gives the frame from which on it is heard.
    fn edit(&mut self) -> Result<u64, String> {
        if !self.is_renewable {
            return Err("it holds long delay lines".to_owned());
        }
        let (handed, number) = read(&self.memory).ok_or("its supervisor has left no session")?;
        let mut part = (self.read_part)(&handed)?;
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
        self.renew(&part);
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
    fn settle(&self) -> u64 {
        let (shared, began) = (&self.ends.shared, Instant::now());
        let mut frame = None;
        loop {
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
            std::thread::sleep(INTERVAL);
        }
    }

    /// Gives the thread that plays what has changed for it, and waits until it has taken it.
    fn renew(&mut self, part: &CellPart) {
        let engine = self.ends.shared.lock();
        let (gauges, names, _) = ShownGauges::choose(engine.gauge_handles());
        let layout = NextPlaces::new(engine.graph());
        drop(engine);
        show_names(self.head.words(), "");
        let renewal = Renewal {
            slots: part.slots.clone(),
            gauges,
            layout,
        };
        let sent = self.ends.renewals.push(Box::new(renewal));
        let began = Instant::now();
        while sent.is_ok() && began.elapsed() < LIMIT {
            if self.ends.retired.pop().is_ok() {
                show_names(self.head.words(), &names);
                return;
            }
            std::thread::sleep(INTERVAL);
        }
    }
}
