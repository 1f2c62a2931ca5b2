//! [`EngineSeat`]: the engine of a cell's process, which two threads use: the one that plays, and the one of edits.
//!
//! | thread | locks the engine | waits for it |
//! |---|---|---|
//! | the one that plays | for messages in words; where there is no thread of edits, for its figures and the fates of messages too | never: words stay for the next block |
//! | the one of edits | for an edit, and every few milliseconds for its figures, the fates of messages, and what is tapped | for the other one |

use super::editor::Renewal;
use crate::inner_events::InnerText;
use crate::word_fates::tell_fate;
use engine::{Engine, WordsFate, WordsTicket};
use graph::NodeId;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Messages in words that wait for the engine.
const WORDS: usize = 64;
/// Messages in words whose fates are not known.
const UNKNOWN: usize = 256;
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
    words: VecDeque<InnerText>,
    /// Messages that the engine has got.
    sent: rtrb::Producer<SentText>,
    /// The other end, where no other thread has it.
    fates: Option<WordFates>,
}

/// The number of a message in words, and by which the engine knows it.
type SentText = (u32, WordsTicket);

/// What becomes of messages in words that the engine has got.
pub(super) struct WordFates {
    sent: rtrb::Consumer<SentText>,
}

impl WordFates {
    /// Tells the fates that are known by now, in the order of the messages. Frames are `offset` behind those of the engine.
    pub(super) fn tell(&mut self, engine: &mut Engine, offset: u64, head: &[AtomicU64]) {
        while let Ok((number, ticket)) = self.sent.peek() {
            let fate = match engine.words_fate(ticket) {
                WordsFate::Waits => return,
                WordsFate::Received(frame) => WordsFate::Received(frame.wrapping_add(offset)),
                WordsFate::Unheard(frame) => WordsFate::Unheard(frame.wrapping_add(offset)),
                WordsFate::Unknown => WordsFate::Unknown,
            };
            tell_fate(head, *number, fate);
            let _ = self.sent.pop();
        }
    }
}

/// The ends of the thread of edits.
pub(super) struct EditorEnds {
    pub(super) shared: Arc<SharedEngine>,
    pub(super) renewals: rtrb::Producer<Box<Renewal>>,
    pub(super) retired: rtrb::Consumer<Box<Renewal>>,
    pub(super) fates: WordFates,
}

impl EngineSeat {
    /// The seat, and the ends for a thread of edits.
    pub(super) fn new(engine: Engine) -> (Self, EditorEnds) {
        let shared = SharedEngine::new(engine);
        let (renewals, to_take) = rtrb::RingBuffer::new(RENEWALS);
        let (retired, to_drop) = rtrb::RingBuffer::new(RENEWALS);
        let (sent, to_tell) = rtrb::RingBuffer::new(UNKNOWN);
        let seat = Self {
            shared: shared.clone(),
            renewals: to_take,
            retired,
            next: None,
            words: VecDeque::with_capacity(WORDS),
            sent,
            fates: None,
        };
        let ends = EditorEnds {
            shared,
            renewals,
            retired: to_drop,
            fates: WordFates { sent: to_tell },
        };
        (seat, ends)
    }

    /// Does without a thread of edits.
    pub(super) fn do_without(&mut self, ends: EditorEnds) {
        self.fates = Some(ends.fates);
    }

    /// Reads the engine's figures, where no other thread does.
    pub(super) fn update(&mut self) {
        if self.fates.is_some() {
            self.shared.lock().update();
        }
    }

    /// Tells the fates of messages in words, where no other thread does.
    pub(super) fn tell_fates(&mut self, head: &[AtomicU64]) {
        if let Some(fates) = self.fates.as_mut().filter(|it| !it.sent.is_empty()) {
            // Relaxed: stored by this thread.
            let offset = self.shared.offset.load(Ordering::Relaxed);
            fates.tell(&mut self.shared.lock(), offset, head);
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
            let (node, words): (NodeId, &str) = text.read();
            // A node that understands no words, or has too many: the supervisor has checked the first.
            let sent = engine.send_words(node, words);
            if let (Ok(ticket), 1..) = (sent, text.number()) {
                // Where too many are not known yet, this one never is.
                let _ = self.sent.push((text.number(), ticket));
            }
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
