//! Thread that may wait, for messages to canvases while a patch plays live.
//!
//! The messages themselves go there and back, while the signals of the patch go on. The thread asks for them once it is awake, so they
//! are away for as long as the changes take:
//!
//! ```text
//!  messages ── asks ──▶ editor, in a few ms
//!           ◀── is ready ──
//!           ── all messages ──▶ changes them, puts signals in order
//!           ◀── all messages, new signals ──
//!           ── old signals ──▶ frees them
//! ```

use crate::signal::{ChangedRow, MessageStep, Row};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest that the editor waits for messages, or for further changes.
const PATIENCE: Duration = Duration::from_millis(4);
/// Between two looks.
const PAUSE: Duration = Duration::from_micros(50);

/// Messages that were changed, and their signals if these have changed.
pub(super) struct Edited {
    pub(super) messages: Box<MessageStep>,
    pub(super) row: Option<Box<ChangedRow>>,
    /// All signals, where they were sent too.
    pub(super) whole: Option<Row>,
}

/// Messages that wait for a change, and all signals where that needs them: the patch is silent meanwhile.
type Waiting = (Box<MessageStep>, Option<Row>);

/// Changes patches.
pub(super) struct Editor {
    flags: Arc<Flags>,
    messages: Consumer<Waiting>,
    edited: Producer<Edited>,
    used: Consumer<Box<ChangedRow>>,
}

/// The messages' end.
pub(super) struct EditorClient {
    flags: Arc<Flags>,
    messages: Producer<Waiting>,
    edited: Consumer<Edited>,
    used: Producer<Box<ChangedRow>>,
}

/// | flag | set by | cleared by |
/// |---|---|---|
/// | `asks` | the messages that wait for a change | the editor that has seen it |
/// | `is_ready` | the editor that waits for messages | the editor |
#[derive(Default)]
struct Flags {
    asks: AtomicBool,
    is_ready: AtomicBool,
}

impl Editor {
    /// An editor with the other end of its queues.
    ///
    /// Real-time: setup.
    pub(super) fn new() -> (Self, EditorClient) {
        let flags = Arc::new(Flags::default());
        let (messages_in, messages) = RingBuffer::new(1);
        let (edited, edited_out) = RingBuffer::new(1);
        let (used_in, used) = RingBuffer::new(2);
        let editor = Self {
            flags: flags.clone(),
            messages,
            edited,
            used,
        };
        let client = EditorClient {
            flags,
            messages: messages_in,
            edited: edited_out,
            used: used_in,
        };
        (editor, client)
    }

    /// Makes the changes that are asked for; false if there are none.
    ///
    /// Real-time: waits, on the disk and for a block.
    pub(super) fn serve(&mut self) -> bool {
        while self.used.pop().is_ok() {}
        // Acquire, with the Release of the messages: nothing else is told, the queue itself orders what it carries.
        if !self.flags.asks.swap(false, Acquire) && self.messages.is_empty() {
            return false;
        }
        self.flags.is_ready.store(true, Release);
        let messages = self.wait_for(|it| it.messages.pop().ok());
        self.flags.is_ready.store(false, Release);
        let Some((mut messages, before)) = messages else {
            return false;
        };
        let (row, whole) = match before {
            None => (messages.make_edits().map(Box::new), None),
            Some(before) => (None, Some(messages.make_edits_alone().unwrap_or(before))),
        };
        let edited = Edited {
            messages,
            row,
            whole,
        };
        // There is room: what was here before has been taken before the messages came again.
        let _ = self.edited.push(edited);
        // A chain of messages that changes the patch often goes on at once.
        let asks = self.wait_for(|it| it.flags.asks.load(Acquire).then_some(()));
        asks.is_some()
    }

    fn wait_for<T>(&mut self, look: impl Fn(&mut Self) -> Option<T>) -> Option<T> {
        let begin = Instant::now();
        loop {
            match look(self) {
                None if begin.elapsed() < PATIENCE => sleep(PAUSE),
                found => return found,
            }
        }
    }
}

impl EditorClient {
    /// Sends the messages if they wait for a change and the editor is ready, with all signals, which are `row`, where the change needs them.
    ///
    /// Real-time: hot.
    pub(super) fn send(
        &mut self,
        messages: &mut Option<Box<MessageStep>>,
        row: Option<&mut Option<Row>>,
    ) {
        let waits = |step: &mut Box<MessageStep>| {
            let machine = step.machine();
            let waits = machine.waits_for_edits();
            waits.then(|| machine.needs_signals())
        };
        let Some(needs_signals) = messages.as_mut().and_then(waits) else {
            return;
        };
        let mut none = None;
        let row = match (needs_signals, row) {
            (true, Some(row)) => row,
            (true, None) => return,
            (false, _) => &mut none,
        };
        // Acquire, with the Release of the editor: it waits now.
        if !self.flags.is_ready.load(Acquire) || self.used.is_full() {
            return self.flags.asks.store(true, Release);
        }
        if let Some(step) = messages.take()
            && let Err(rtrb::PushError::Full(waiting)) = self.messages.push((step, row.take()))
        {
            *messages = Some(waiting.0);
            *row = waiting.1;
        }
    }

    /// Takes the messages that come back.
    ///
    /// Real-time: hot.
    pub(super) fn take(&mut self) -> Option<Edited> {
        self.edited.pop().ok()
    }

    /// Gives back what computes no more.
    ///
    /// Real-time: hot.
    pub(super) fn give_back(&mut self, row: Box<ChangedRow>) {
        // There is room: the messages went only where there was.
        let _ = self.used.push(row);
    }
}
