//! [`WordsOutbox`]: messages in words to one node, and what has become of them.

use crate::EngineError;
use processor::{Inbox, TakenWords};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages of which it is remembered what has become of them.
const MAX_REMEMBERED: usize = 4096;

/// Outboxes of this process so far.
static OUTBOXES: AtomicU64 = AtomicU64::new(0);

/// The number of a message, and of the outbox that has sent it: a node that takes the place of another has one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentWords {
    outbox: u64,
    message: u64,
}

/// Messages in words to one node.
pub(crate) struct WordsOutbox {
    inbox: Box<dyn Inbox>,
    number: u64,
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
            // Relaxed: a number alone.
            number: OUTBOXES.fetch_add(1, Ordering::Relaxed),
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
    pub(crate) fn send(&mut self, text: &str) -> Option<SentWords> {
        self.collect();
        let is_sent = self.inbox.send(text);
        self.sent += u64::from(is_sent);
        is_sent.then_some(SentWords {
            outbox: self.number,
            message: self.sent,
        })
    }

    /// The fate of a message; not known for one that another outbox has sent.
    pub(crate) fn fate(&mut self, sent: SentWords) -> WordsFate {
        if sent.outbox != self.number {
            return WordsFate::Unknown;
        }
        self.collect();
        let number = sent.message;
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

#[cfg(test)]
mod tests {
    use super::*;
    use processor::WordsRoom;

    /// An inbox whose first message is received at frame 64.
    struct TakingNode(Option<TakenWords>);

    impl Inbox for TakingNode {
        fn send(&mut self, _: &str) -> bool {
            self.0 = Some(TakenWords {
                number: 1,
                frame: 64,
                is_received: true,
            });
            true
        }

        fn room(&self) -> WordsRoom {
            WordsRoom {
                longest: 10,
                whole: 10,
                free: 10,
            }
        }

        fn taken(&mut self) -> Option<TakenWords> {
            self.0.take()
        }
    }

    #[test]
    fn a_node_in_the_place_of_another_answers_for_its_own_messages_alone() {
        let [mut before, mut after] =
            [(); 2].map(|()| WordsOutbox::new(Box::new(TakingNode(None))));
        let sent = before.send("x 1").expect("there is room");
        assert_eq!(before.fate(sent), WordsFate::Received(64));
        after.send("y 1").expect("there is room");
        assert_eq!(after.fate(sent), WordsFate::Unknown);
    }
}
