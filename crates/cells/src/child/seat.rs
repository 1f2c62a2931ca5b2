//! [`EngineSeat`]: the engine of a cell's process, which two threads use: the one that plays, and the one of edits.
//!
//! | thread | locks the engine | waits for it |
//! |---|---|---|
//! | the one that plays | for messages in words; where there is no thread of edits, for its figures too | never: words stay for the next block |
//! | the one of edits | for an edit, and every few milliseconds for its figures | for the other one |

use super::editor::Renewal;
use crate::inner_events::InnerText;
use engine::Engine;
use graph::NodeId;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Messages in words that wait for the engine.
const WORDS: usize = 64;
/// Renewals on their way.
pub(super) const RENEWALS: usize = 4;

/// State that both threads see.
pub(super) struct SharedEngine {
    pub(super) engine: Mutex<Engine>,
    /// From an edit until what is kept has its new places: no checkpoint is written.
    pub(super) is_changing: AtomicBool,
    /// Frames from the cell's position to the supervisor's.
    pub(super) offset: AtomicU64,
    /// The process ends.
    pub(super) is_over: AtomicBool,
}

impl SharedEngine {
    pub(super) fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self {
            engine: Mutex::new(engine),
            is_changing: AtomicBool::new(false),
            offset: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        })
    }

    /// Real-time: waits, for the other thread.
    pub(super) fn lock(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The engine, as the thread that plays has it.
pub(super) struct EngineSeat {
    pub(super) shared: Arc<SharedEngine>,
    /// Changes of an edit, and the way back of what they replace.
    pub(super) renewals: rtrb::Consumer<Box<Renewal>>,
    pub(super) retired: rtrb::Producer<Box<Renewal>>,
    /// A renewal that waits for the edited graph to play alone.
    pub(super) next: Option<Box<Renewal>>,
    has_editor: bool,
    words: VecDeque<InnerText>,
}

/// The ends of the thread of edits.
pub(super) struct EditorEnds {
    pub(super) shared: Arc<SharedEngine>,
    pub(super) renewals: rtrb::Producer<Box<Renewal>>,
    pub(super) retired: rtrb::Consumer<Box<Renewal>>,
}

impl EngineSeat {
    pub(super) fn new(engine: Engine, has_editor: bool) -> (Self, EditorEnds) {
        let shared = SharedEngine::new(engine);
        let (renewals, to_take) = rtrb::RingBuffer::new(RENEWALS);
        let (retired, to_drop) = rtrb::RingBuffer::new(RENEWALS);
        let seat = Self {
            shared: shared.clone(),
            renewals: to_take,
            retired,
            next: None,
            has_editor,
            words: VecDeque::with_capacity(WORDS),
        };
        let ends = EditorEnds {
            shared,
            renewals,
            retired: to_drop,
        };
        (seat, ends)
    }

    /// Reads the engine's figures, where no other thread does.
    pub(super) fn update(&mut self) {
        if !self.has_editor {
            self.shared.lock().update();
        }
    }

    /// Sends messages in words to nodes: `text`, and those that wait.
    pub(super) fn send_words(&mut self, text: Option<InnerText>) {
        // Where many wait the newest is lost, as one for which the node has no room.
        self.words.extend(text.filter(|_| self.words.len() < WORDS));
        if self.words.is_empty() {
            return;
        }
        let mut engine = match self.shared.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(engine)) => engine.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        for text in self.words.drain(..) {
            let (node, text): (NodeId, &str) = text.read();
            // A node that understands no words, or has too many: the supervisor has checked the first.
            let _ = engine.send_words(node, text);
        }
    }

    /// Returns true while an edit changes what is kept.
    ///
    /// Real-time: hot.
    pub(super) fn is_changing(&self) -> bool {
        // pairs with the stores in `Editor`: the graph of the edit is taken after it.
        self.shared.is_changing.load(Ordering::Acquire)
    }
}
