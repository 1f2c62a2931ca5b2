//! A lane: the request and the reply of one node's work in shared memory, and both ends of it.
//!
//! ```text
//!   memory  │ doorbell │ asleep │ … │ lane │ lane │ …
//!   lane    │ number of the request │ … │ number of the reply │ … │ request │ reply │
//! ```
//!
//! | side | does |
//! |---|---|
//! | node | stores number 0, then the request, then its number; adds to the doorbell, and wakes if somebody is asleep |
//! | cell | reads the number, the request, the number again; works; stores number 0, a sum and the reply, the number of the request |
//! | node, when due | reads the number, the sum and the reply, the number again: it is the reply if both are those of its request, and the sum is right |
//!
//! # What the node believes
//!
//! Nothing but these comparisons. Places and lengths are those that it has computed itself; no index and no length is read
//! from the memory. Whatever the words of a reply are, the job checks them. It never waits but offline, and there no longer than
//! the cell has a process or is to get one, and once in vain for each process.
//!
//! A lane has one writer on each side: the supervisor starts a process when the one before has ended. If one that should have ended
//! writes nevertheless, in the middle of a reply of the next one, the sum is wrong: that reply is late; offline the node asks again. An epoch that a process
//! compares before it writes would not hold: it may be interrupted between the two.

use super::count;
use crate::raw::now;
use crate::status::CellStatus;
use processor::{MAX_WORK_WORDS, NodeWork, WorkChannel};
use rt::doorbell;
use rt::mirror::WakeWords;
use rt::numbered::{SUM_WORDS, read_numbered, sum, write_numbered};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use units::Nanos;

/// Indices of the words of all lanes.
const DOORBELL: usize = 0;
const ASLEEP: usize = 16;
/// Index of the first lane.
const FIRST: usize = 32;
/// Words of a cache line.
const LINE: usize = 16;
/// Words of a lane before its request: two lines, so that the two sides do not share one.
const HEAD: usize = 2 * LINE;
/// Requests of which a reply may still be on its way.
const LATE_NUMBERS: u32 = 1 << 16;
/// Longest sleep, offline, before the node looks if there is still a cell.
const OFFLINE_WAIT: Nanos = Nanos(2_000_000);
/// Offline, a process is given up that lets a reply wait for so long.
const OFFLINE_LIMIT: Nanos = Nanos(30_000_000_000);

/// Place of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LanePlace {
    at: usize,
    pub(crate) request: usize,
    pub(crate) reply: usize,
}

impl LanePlace {
    /// The places of lanes with requests and replies of so many words, and the words of all together.
    pub(crate) fn of(sizes: &[(usize, usize)]) -> Option<(Vec<Self>, usize)> {
        let mut at = FIRST;
        let mut places = Vec::new();
        for (request, reply) in sizes.iter().copied() {
            if request.max(reply) > MAX_WORK_WORDS {
                return None;
            }
            places.push(Self { at, request, reply });
            at += HEAD + (request + SUM_WORDS + reply).next_multiple_of(LINE);
        }
        Some((places, at))
    }

    fn asked(self) -> usize {
        self.at
    }

    fn answered(self) -> usize {
        self.at + LINE
    }

    /// The words of the request.
    fn of_request(self, words: &WakeWords) -> &[AtomicU32] {
        &words.words()[self.at + HEAD..][..self.request]
    }

    /// The words of the sum and the reply.
    fn of_reply(self, words: &WakeWords) -> &[AtomicU32] {
        &words.words()[self.at + HEAD + self.request..][..self.summed()]
    }

    /// Number of words of the sum and the reply.
    fn summed(self) -> usize {
        SUM_WORDS + self.reply
    }
}

/// All of so many words, as the only part.
fn whole(words: usize) -> [Range<usize>; 1] {
    [Range {
        start: 0,
        end: words,
    }]
}

/// The end of a lane while no node has it.
#[derive(Debug, Default)]
pub(super) struct LaneOwner {
    is_taken: AtomicBool,
    /// Number of the last request.
    number: AtomicU32,
}

/// Reply to the last request, as far as it is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneReply {
    Waits,
    /// Its number is right and its sum is not, or it is none that this lane has had of late.
    Damaged,
    Whole,
}

/// The node's end.
pub(super) struct LaneChannel {
    words: Arc<WakeWords>,
    place: LanePlace,
    status: Arc<CellStatus>,
    owner: Arc<LaneOwner>,
    number: u32,
    /// Processes that were started before the last request was sent.
    starts: u32,
    /// Processes that had been started when the last wait was given up: there is none for these again.
    given_up: Option<u32>,
    request: Vec<u32>,
    /// The sum and the reply.
    reply: Vec<u32>,
}

impl LaneChannel {
    /// The end of a lane that nobody has.
    pub(super) fn take(
        (words, place): (Arc<WakeWords>, LanePlace),
        status: Arc<CellStatus>,
        owner: Arc<LaneOwner>,
    ) -> Option<Self> {
        // pairs with the store in `drop`: the number comes with it.
        if owner.is_taken.swap(true, Ordering::Acquire) {
            return None;
        }
        let number = owner.number.load(Ordering::Relaxed);
        Some(Self {
            words,
            place,
            status,
            number,
            // No process knows a request of this node: the first one is sent whole.
            starts: u32::MAX,
            given_up: None,
            request: vec![0; place.request],
            reply: vec![0; place.summed()],
            owner,
        })
    }

    /// Sends these parts of the request, and rings.
    fn send(&mut self, parts: &[Range<usize>]) {
        // Relaxed: a process that comes later is noticed with the next request, or while this one is waited for.
        self.starts = self.status.starts.load(Ordering::Relaxed);
        let words = self.words.words();
        let number = (&words[self.place.asked()], self.number);
        let request = self.place.of_request(&self.words);
        write_numbered(request, number, &self.request, parts);
        if doorbell::ring(&words[DOORBELL], &words[ASLEEP]) {
            self.words.wake(DOORBELL, 1);
        }
    }

    /// Returns true if the request is not what was sent any more, as far as that can be seen: the process before may have written
    /// anything.
    fn is_overwritten(&self, number: u32) -> bool {
        let asked = &self.words.words()[self.place.asked()];
        // Relaxed: we wrote it last, or somebody who must not.
        asked.load(Ordering::Relaxed) != number
            || self.status.starts.load(Ordering::Relaxed) != self.starts
    }

    fn look(&mut self) -> LaneReply {
        let number = &self.words.words()[self.place.answered()];
        let words = self.place.of_reply(&self.words);
        let is_numbered = read_numbered(words, number, self.number, &mut self.reply);
        let (found, reply) = self.reply.split_at(SUM_WORDS);
        match (is_numbered, *found == sum(self.number, reply)) {
            // Relaxed: what was read is thrown away.
            (false, _) if self.is_foreign(number.load(Ordering::Relaxed)) => LaneReply::Damaged,
            (false, _) => LaneReply::Waits,
            (true, false) => LaneReply::Damaged,
            (true, true) => LaneReply::Whole,
        }
    }

    /// Returns true for a number that no request of late has had.
    fn is_foreign(&self, answered: u32) -> bool {
        answered != 0 && self.number.wrapping_sub(answered) > LATE_NUMBERS
    }

    /// Gives the next request its number: 0 is none.
    fn count_on(&mut self) {
        self.number = self.number.wrapping_add(1).max(1);
    }

    /// Waits for the reply, offline. A process that lets one wait end in vain is not waited for again.
    fn wait(&mut self, limit: Nanos) -> bool {
        let began = now();
        // The number of a damaged reply, for which was asked again.
        let mut damaged = None;
        loop {
            let starts = self.status.starts.load(Ordering::Relaxed);
            if self.given_up == Some(starts) {
                return false;
            }
            let at = self.place.answered();
            let seen = self.words.words()[at].load(Ordering::Relaxed);
            let found = self.look();
            if found == LaneReply::Whole {
                return true;
            }
            // Relaxed: flags.
            if self.status.is_gone() || self.status.stopped.load(Ordering::Relaxed) {
                return false;
            }
            if now().0.saturating_sub(began.0) > limit.0 {
                self.given_up = Some(starts);
                return false;
            }
            let is_damaged = found == LaneReply::Damaged && damaged.replace(seen) != Some(seen);
            if is_damaged || self.is_overwritten(self.number) {
                // The process may have done the request of this number, and does it again by another one only.
                self.count_on();
                self.send(&whole(self.place.request));
            }
            self.words.sleep(at, seen, OFFLINE_WAIT);
        }
    }
}

impl WorkChannel for LaneChannel {
    fn ask(&mut self, parts: &[Range<usize>], write: &mut dyn FnMut(&mut [u32])) {
        write(&mut self.request);
        let before = self.number;
        self.count_on();
        // Another process may have written anything into what the last one was sent.
        match self.is_overwritten(before) {
            true => self.send(&whole(self.place.request)),
            false => self.send(parts),
        }
    }

    fn take_reply(&mut self, waits: bool) -> Option<&[u32]> {
        let has_come = self.look() == LaneReply::Whole || (waits && self.wait(OFFLINE_LIMIT));
        let counts = &self.status.work;
        if !has_come && self.status.stopped.load(Ordering::Relaxed) {
            return None;
        }
        count(match (has_come, self.status.process()) {
            (true, _) => &counts.done,
            (false, Some(_)) => &counts.late,
            (false, None) => &counts.lost,
        });
        has_come.then_some(&self.reply[SUM_WORDS..])
    }

    fn count_nonsense(&mut self) {
        count(&self.status.work.nonsense);
    }
}

impl Drop for LaneChannel {
    fn drop(&mut self) {
        self.owner.number.store(self.number, Ordering::Relaxed);
        // pairs with the exchange in `take`.
        self.owner.is_taken.store(false, Ordering::Release);
    }
}

/// The cell's end.
pub(super) struct ServedLane {
    place: LanePlace,
    work: Box<dyn NodeWork>,
    /// Number of the last request that was done.
    done: u32,
    request: Vec<u32>,
    /// The sum and the reply.
    reply: Vec<u32>,
}

impl ServedLane {
    pub(super) fn new(place: LanePlace, work: Box<dyn NodeWork>) -> Self {
        Self {
            place,
            work,
            done: 0,
            request: vec![0; place.request],
            reply: vec![0; place.summed()],
        }
    }

    /// Does the work of a new request, if there is one. `begins` is called before it.
    pub(super) fn serve(&mut self, words: &WakeWords, begins: impl FnOnce()) -> bool {
        let asked = &words.words()[self.place.asked()];
        // Relaxed: `read_numbered` reads it again.
        let number = asked.load(Ordering::Relaxed);
        let request = self.place.of_request(words);
        let is_new = number != 0 && number != self.done;
        // What is being written now is rung for afterwards.
        if !is_new || !read_numbered(request, asked, number, &mut self.request) {
            return false;
        }
        begins();
        let (head, reply) = self.reply.split_at_mut(SUM_WORDS);
        self.work.answer(&self.request, reply);
        head.copy_from_slice(&sum(number, reply));
        let at = self.place.answered();
        let answered = (&words.words()[at], number);
        let all = whole(self.place.summed());
        write_numbered(self.place.of_reply(words), answered, &self.reply, &all);
        words.wake(at, 1);
        self.done = number;
        true
    }
}

/// The doorbell of all lanes.
pub(super) fn bell(words: &WakeWords) -> u32 {
    doorbell::rung(&words.words()[DOORBELL])
}

/// Sleeps until the doorbell is rung, for `limit` at most, unless it was rung since it was `seen`.
pub(super) fn sleep_unless_rung(words: &WakeWords, seen: u32, limit: Nanos) {
    let all = words.words();
    doorbell::unless_rung(&all[DOORBELL], &all[ASLEEP], seen, || {
        words.sleep(DOORBELL, seen, limit);
    });
}

/// Takes back what threads of a process before have counted: none of ours sleeps yet.
pub(super) fn begin(words: &WakeWords) {
    words.words()[ASLEEP].store(0, Ordering::Relaxed);
}

/// Fills all lanes with nonsense, for a drill.
pub(super) fn fill_with_nonsense(words: &WakeWords) {
    let mut state = 0x1234_5678u32;
    for word in words.words() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        word.store(state, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
