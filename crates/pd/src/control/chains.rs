//! [`Chains`]: messages that wait while a message to a canvas before them takes effect.
//!
//! While a patch plays live its canvases change on another thread. What the message had still to cause is set aside until then, so that it
//! finds the changed patch, as in Pd. Messages of other chains go on.

use super::canvases::CanvasMessage;
use super::value::Value;
use super::work::Entry;
use std::collections::VecDeque;

/// Chains that may wait at once.
pub(super) const MAX_CHAINS: usize = 16;
/// Work of a chain, and words of all its messages, before that allocates.
const ROOM: usize = 256;
/// Words of a message to a canvas.
pub(super) const MAX_WORDS: usize = 64;

/// Deliveries that a message had still to cause.
pub(super) struct Chain {
    pub stack: Vec<Entry>,
    pub values: Vec<Value>,
    /// The change that is to be made first.
    pub edit: Option<Box<CanvasMessage>>,
    /// Number of messages that caused each other until the change.
    pub depth: u32,
}

/// All chains.
#[derive(Default)]
pub(super) struct Chains {
    free: Vec<Chain>,
    /// Chains whose change is to be made.
    pub waiting: VecDeque<Chain>,
    /// Chains whose change was made.
    pub changed: VecDeque<Chain>,
    /// True on the thread that makes the changes.
    pub makes_changes: bool,
    /// True if the change that waits first needs all signals: it would prepare some that compute now.
    pub needs_signals: bool,
    /// True where no signals compute.
    pub has_signals: bool,
    /// Number of the first object that the other thread has made and that computes nothing yet.
    pub first_new: u32,
    /// Changes that were made since this was read last.
    pub made: u32,
}

impl Chains {
    /// Makes room for all chains.
    ///
    /// Real-time: setup.
    pub(super) fn reserve(&mut self) {
        let chain = || Chain {
            stack: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM),
            edit: None,
            depth: 0,
        };
        self.made = 0;
        self.free.resize_with(MAX_CHAINS, chain);
        self.waiting.reserve(MAX_CHAINS);
        self.changed.reserve(MAX_CHAINS);
    }

    /// Sets what is left of a chain aside; gives the change back if too many wait.
    ///
    /// Real-time: hot, for chains with as much to do as there is room for.
    pub(super) fn suspend(
        &mut self,
        (stack, values): (&mut Vec<Entry>, &mut Vec<Value>),
        edit: Box<CanvasMessage>,
        depth: u32,
    ) -> Result<(), Box<CanvasMessage>> {
        let Some(mut chain) = self.free.pop() else {
            return Err(edit);
        };
        chain.stack.clone_from(stack);
        chain.values.clone_from(values);
        stack.clear();
        values.clear();
        chain.edit = Some(edit);
        chain.depth = depth;
        self.waiting.push_back(chain);
        Ok(())
    }

    /// All that the chains have still to do.
    pub(super) fn entries(&mut self) -> impl Iterator<Item = &mut Entry> {
        let chains = self.waiting.iter_mut().chain(&mut self.changed);
        chains.flat_map(|chain| &mut chain.stack)
    }

    /// Continues with the first chain whose change was made; false if there is none.
    ///
    /// Real-time: hot.
    pub(super) fn resume(&mut self, stack: &mut Vec<Entry>, values: &mut Vec<Value>) -> bool {
        let Some(chain) = self.changed.pop_front() else {
            return false;
        };
        stack.clone_from(&chain.stack);
        values.clone_from(&chain.values);
        self.free.push(chain);
        true
    }
}
