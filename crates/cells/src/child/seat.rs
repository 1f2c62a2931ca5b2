//! [`EngineSeat`]: the engine of a cell's process, which two threads use: the one that plays, and the one of edits.
//!
//! | thread | locks the engine | waits for it |
//! |---|---|---|
//! | the one that plays | for messages in words; where there is no thread of edits, for its figures and the fates of messages too | never: words stay for the next block |
//! | the one of edits | for an edit, and every few milliseconds for its figures, the fates of messages, and what is tapped | for the other one |

use super::editor::Renewal;
use crate::inner_events::InnerText;
use crate::word_fates::{FATES, tell_fate};
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

/// Fates of messages in words that the engine has got.
pub(super) struct WordFates {
    sent: rtrb::Consumer<SentText>,
    /// Messages whose fates are not known yet.
    waiting: WaitingTexts<WordsTicket>,
}

impl WordFates {
    fn new(sent: rtrb::Consumer<SentText>) -> Self {
        let waiting = WaitingTexts(Vec::with_capacity(UNKNOWN));
        Self { sent, waiting }
    }

    fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.waiting.0.is_empty()
    }

    /// Tells the fates that are known by now. Frames are `offset` behind those of the engine.
    pub(super) fn tell(&mut self, engine: &mut Engine, offset: u64, head: &[AtomicU64]) {
        while let Ok(sent) = self.sent.pop() {
            self.waiting.add(sent);
        }
        let fate = |ticket: &WordsTicket| match engine.words_fate(ticket) {
            WordsFate::Received(frame) => WordsFate::Received(frame.wrapping_add(offset)),
            WordsFate::Unheard(frame) => WordsFate::Unheard(frame.wrapping_add(offset)),
            fate => fate,
        };
        self.waiting.tell(fate, head);
    }
}

/// Numbers of messages that wait, in their order, and by what the engine knows each.
struct WaitingTexts<T>(Vec<(u32, T)>);

impl<T> WaitingTexts<T> {
    /// Adds a message, in the place of the oldest one if there are as many as are told of.
    fn add(&mut self, sent: (u32, T)) {
        if self.0.len() == UNKNOWN {
            self.0.remove(0);
        }
        self.0.push(sent);
    }

    /// Tells the fates that are known; the other messages wait on. One whose place a later message has is told no more.
    fn tell(&mut self, mut fate: impl FnMut(&T) -> WordsFate, head: &[AtomicU64]) {
        let last = self.0.last().map_or(0, |it| it.0);
        self.0.retain(|(number, ticket)| {
            if last.wrapping_sub(*number) as usize >= FATES {
                return false;
            }
            let fate = fate(ticket);
            tell_fate(head, *number, fate);
            fate == WordsFate::Waits
        });
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
            fates: WordFates::new(to_tell),
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
        if let Some(fates) = self.fates.as_mut().filter(|it| !it.is_empty()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::FIRST_BUFFER;
    use crate::word_fates::told_fate;

    #[test]
    fn a_message_that_waits_holds_no_other_back_and_takes_no_place() {
        let head: Vec<AtomicU64> = (0..FIRST_BUFFER).map(|_| AtomicU64::new(0)).collect();
        let mut waiting = WaitingTexts((1..=4).map(|number| (number, number)).collect());
        let known = |number: &u32| match number % 2 {
            0 => WordsFate::Received(64 * u64::from(*number)),
            _ => WordsFate::Waits,
        };
        waiting.tell(known, &head);
        assert_eq!(told_fate(&head, 2), WordsFate::Received(128));
        assert_eq!(told_fate(&head, 4), WordsFate::Received(256));
        assert_eq!(told_fate(&head, 1), WordsFate::Waits);
        waiting.tell(|_| WordsFate::Unheard(7), &head);
        assert_eq!(told_fate(&head, 3), WordsFate::Unheard(7));
        assert!(waiting.0.is_empty());
        // One of another block of places has that of the first.
        let later = FATES as u32 + 1;
        waiting.0.extend([(1, 1), (later, later)]);
        waiting.tell(|_| WordsFate::Unheard(9), &head);
        assert_eq!(told_fate(&head, later), WordsFate::Unheard(9));
        assert!(waiting.0.is_empty());
        // As many as are told of wait: a later one is heard all the same.
        let all = 10_000..10_000 + UNKNOWN as u32 + 1;
        all.clone().for_each(|number| waiting.add((number, number)));
        let last = all.end - 1;
        waiting.tell(
            |number| match *number == last {
                true => WordsFate::Received(64),
                false => WordsFate::Waits,
            },
            &head,
        );
        assert_eq!(told_fate(&head, last), WordsFate::Received(64));
    }
}
