//! [`WordsOutbox`]: messages in words to one node, and what has become of them.

use crate::EngineError;
use processor::{Inbox, TakenWords};
use std::collections::VecDeque;

/// Messages of which it is remembered what has become of them.
const MAX_REMEMBERED: usize = 4096;

/// Messages in words to one node.
pub(crate) struct WordsOutbox {
    inbox: Box<dyn Inbox>,
    sent: u64,
    taken: VecDeque<TakenWords>,
    /// Since which frame there is no room, and the last message that had been taken then.
    full_since: Option<(u64, u64)>,
}

/// The fate of a message in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordsFate {
    /// It waits for its block.
    Waits,
    /// It takes effect from the block at this frame on.
    Received(u64),
    /// Nothing receives under its name: known in the block at this frame.
    Unheard(u64),
    /// The node has gone, or too many messages came at once.
    Unknown,
}

impl WordsOutbox {
    /// Messages to a node that has taken none yet.
    pub(super) fn new(inbox: Box<dyn Inbox>) -> Self {
        Self {
            inbox,
            sent: 0,
            taken: VecDeque::new(),
            full_since: None,
        }
    }

    /// Refuses messages of these lengths for which there will be no room, at frame `now`; they are to be tried again where there is
    /// none yet. A node that takes nothing for `patience` frames is one that takes none.
    pub(crate) fn check(
        &mut self,
        lengths: &[usize],
        (now, patience): (u64, u64),
    ) -> Result<(), EngineError> {
        self.collect();
        let room = self.inbox.room();
        let bytes = lengths.iter().map(|length| length + 1).sum::<usize>();
        if lengths.iter().any(|length| *length > room.longest) {
            return Err(EngineError::LongWords(room.longest));
        }
        if bytes > room.whole {
            return Err(EngineError::ManyWords(room.whole));
        }
        if bytes <= room.free {
            self.full_since = None;
            return Ok(());
        }
        let last = self.taken.back().map_or(0, |taken| taken.number);
        let same = self.full_since.filter(|(_, before)| *before == last);
        let (since, _) = *self.full_since.insert(same.unwrap_or((now, last)));
        match now > since + patience {
            true => Err(EngineError::NoTaker),
            false => Err(EngineError::Busy),
        }
    }

    /// Sends a message; gives its number, or `None` if too many wait.
    pub(crate) fn send(&mut self, text: &str) -> Option<u64> {
        self.collect();
        let is_sent = self.inbox.send(text);
        self.sent += u64::from(is_sent);
        is_sent.then_some(self.sent)
    }

    /// The fate of message `number`.
    pub(crate) fn fate(&mut self, number: u64) -> WordsFate {
        self.collect();
        let found = self.taken.iter().find(|taken| taken.number == number);
        let is_past = self.taken.back().is_some_and(|last| last.number > number);
        match found {
            Some(taken) if taken.is_received => WordsFate::Received(taken.frame),
            Some(taken) => WordsFate::Unheard(taken.frame),
            None if is_past || number > self.sent => WordsFate::Unknown,
            None => WordsFate::Waits,
        }
    }

    fn collect(&mut self) {
        while let Some(taken) = self.inbox.taken() {
            if self.taken.len() == MAX_REMEMBERED {
                self.taken.pop_front();
            }
            self.taken.push_back(taken);
        }
    }
}
