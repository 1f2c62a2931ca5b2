//! Sleeping and waking by Linux: a futex, private to this process or shared with others.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicU32;

use rustix::thread::futex::{self, Flags, Timespec};
use units::Nanos;

#[derive(Debug)]
pub(crate) struct WordWait {
    flags: Flags,
}

impl WordWait {
    pub(crate) fn new() -> Self {
        Self {
            flags: Flags::PRIVATE,
        }
    }

    /// For a word that other processes have too.
    pub(crate) fn shared() -> Self {
        Self {
            flags: Flags::empty(),
        }
    }

    /// One system call that does not block.
    pub(crate) fn wake(&self, word: &AtomicU32, count: u32, mask: NonZeroU32) -> u32 {
        let count = count.min(i32::MAX as u32);
        // It fails only for a bad address, and this is a reference.
        futex::wake_bitset(word, self.flags, count, mask).map_or(0, |woken| woken as u32)
    }

    pub(crate) fn sleep(
        &self,
        word: &AtomicU32,
        expected: u32,
        mask: NonZeroU32,
        limit: Option<Nanos>,
    ) {
        // Each failure (the word has changed, a signal came, the time is over) means: look again.
        let _ = match limit {
            None => futex::wait_bitset(word, self.flags, expected, None, mask),
            // The masked form takes a point in time where this takes a span. A thread that waits with a limit answers to
            // every mask.
            Some(limit) => futex::wait(word, self.flags, expected, Some(&span(limit))),
        };
    }
}

fn span(limit: Nanos) -> Timespec {
    Timespec {
        tv_sec: (limit.0 / 1_000_000_000) as i64,
        tv_nsec: (limit.0 % 1_000_000_000) as _,
    }
}
