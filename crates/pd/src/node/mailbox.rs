//! [`Mailbox`]: what the node of a patch gets, for the messages that it shares with other patches.
//!
//! The plan orders the node and the messages: a node comes before them, and they take in this block what it has got. A node to which
//! their own sound leads comes behind them: they take what it has got one block later.

use super::processors::MIDI_INPUTS;
use crate::signal::{Claimed, SharedCell};
use processor::{Block, Event, ProcessStatus, Processor, Setup, Tail};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Events that wait, at most; further ones of a block are lost.
const ROOM: usize = 4096;

/// Events that a node has got.
pub(super) struct Mail {
    pub(super) events: Vec<Event>,
    /// False if the node has not run since the last block of messages: it was removed.
    is_there: bool,
}

/// The messages' end.
pub(super) struct Mailbox {
    pub(super) mail: Arc<Claimed<Mail>>,
    /// True once the patch is removed: its steps compute nothing.
    pub(super) is_closed: Arc<AtomicBool>,
    /// What others would go on hearing of it.
    heard: Vec<SharedCell>,
}

impl Mailbox {
    /// A mailbox of a patch that leaves this behind.
    pub(super) fn new(heard: Vec<SharedCell>) -> Self {
        let mail = Mail {
            events: Vec::with_capacity(ROOM),
            is_there: true,
        };
        Self {
            mail: Arc::new(Claimed::new(mail)),
            is_closed: Arc::default(),
            heard,
        }
    }

    /// Begins another block of messages. True if the patch is gone: nothing of it is heard any more.
    ///
    /// Real-time: hot; once, by the length of its delay lines.
    pub(super) fn end_block(&self) -> bool {
        let is_closed = !std::mem::replace(&mut self.mail.write().is_there, false);
        // Relaxed: the steps that read it come behind, by the plan.
        if is_closed && !self.is_closed.swap(is_closed, Relaxed) {
            for cell in &self.heard {
                cell.write().samples.fill(0.0);
            }
        }
        self.is_closed.store(is_closed, Relaxed);
        is_closed
    }
}

/// The node of a patch that shares its messages.
pub(super) struct PatchHead {
    pub(super) mail: Arc<Claimed<Mail>>,
    /// Channels of `adc~`.
    pub(super) inputs: Box<[SharedCell]>,
}

impl Processor for PatchHead {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut mail = self.mail.write();
        mail.is_there = true;
        for event in block.events().iter() {
            if mail.events.len() < mail.events.capacity() {
                mail.events.push(event);
            }
        }
        let count = block.input_count();
        for (port, cell) in (MIDI_INPUTS..).zip(&self.inputs) {
            let to = &mut cell.write().samples;
            match port < count {
                true => to.copy_from_slice(block.input(port).channel(0)),
                false => to.fill(0.0),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
