//! [`WordsOutbox`]: messages in words to one node, and what has become of them.

use processor::{Inbox, TakenWords};
use std::collections::VecDeque;

/// Messages of which it is remembered what has become of them.
const MAX_REMEMBERED: usize = 4096;

/// Messages in words to one node.
pub(crate) struct WordsOutbox {
    inbox: Box<dyn Inbox>,
    sent: u64,
    taken: VecDeque<TakenWords>,
}

/// What has become of a message in words.
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
        }
    }

    /// Sends a message; gives its number, or `None` if too many wait.
    pub(crate) fn send(&mut self, text: &str) -> Option<u64> {
        self.collect();
        let is_sent = self.inbox.send(text);
        self.sent += u64::from(is_sent);
        is_sent.then_some(self.sent)
    }

    /// What has become of message `number`.
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
