//! [`LeavingCell`]: the process whose place another one takes while both play, because the graph of their cell has changed.
//!
//! ```text
//!   block              k - 1          k            k + 1
//!   leaving process    ▓▓▓▓ state     ▓▓▓▓         ▓▓▓▓        heard until the fade
//!   next process            └───────▶ ▓▓▓▓         ▓▓▓▓        heard from the fade on
//! ```
//!
//! As long as the supervisor asks for it, the leaving process writes a checkpoint after each block. The next process waits for that
//! of the frame at which it begins. So nodes that both have are in the same state, and what the fade mixes is in phase.
//!
//! Parts of the memory that are believed: sizes, once they are checked against what is there; the sum of a buffer; then each state,
//! as its own node judges it.

use super::load::{load_line, load_node};
use super::places::{IS_LINE, KeptPlaces, LINE_WORDS, NODE_WORDS, TIME_WORDS, next_node};
use crate::checkpoint::{FIRST_BUFFER, MAGIC, MAX_WORDS, OUTSIDE, head, seal, term};
use engine::{HeldLine, StateVisitor};
use graph::NodeId;
use processor::Processor;
use rt::mirror::SharedWords;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Longest wait for the checkpoint of a frame: as long as the ring holds the requests that come meanwhile.
const LIMIT: Duration = Duration::from_millis(20);
/// Wait between two looks.
const STEP: Duration = Duration::from_micros(100);

/// The memory of a process that leaves.
pub(crate) struct LeavingCell {
    memory: SharedWords,
    /// Words of a buffer.
    capacity: usize,
}

impl LeavingCell {
    /// Opens the memory of the process that leaves. `None` if it has left nothing.
    ///
    /// Real-time: setup.
    pub(crate) fn open(file: &OwnedFd) -> Option<Self> {
        let words = SharedWords::open(file, FIRST_BUFFER).ok()?;
        // Relaxed, both: they are stored before the process plays.
        let [magic, capacity] = [0, 1].map(|at| words.words()[at].load(Ordering::Relaxed));
        let capacity = usize::try_from(capacity).ok()?;
        let fits = (TIME_WORDS..=MAX_WORDS).contains(&capacity);
        (magic == MAGIC && fits).then_some(())?;
        let memory = SharedWords::open(file, FIRST_BUFFER + 2 * capacity).ok()?;
        Some(Self { memory, capacity })
    }

    /// The checkpoint of frame `outside`; where it does not come in time, the newest one.
    pub(super) fn await_checkpoint(&self, outside: u64) -> Option<(u64, Vec<u64>)> {
        let begin = Instant::now();
        loop {
            // The frame first: to copy long states at each look would take longer than a block.
            let mut wanted = (0..2).filter(|buffer| self.outside(*buffer) == outside);
            let is_wanted = |(_, words): &(u64, Vec<u64>)| words[OUTSIDE] == outside;
            if let Some(found) = wanted.find_map(|it| self.read(it).filter(is_wanted)) {
                return Some(found);
            }
            if begin.elapsed() > LIMIT {
                let all = (0..2).filter_map(|buffer| self.read(buffer));
                return all.max_by_key(|(number, _)| *number);
            }
            std::thread::sleep(STEP);
        }
    }

    /// The frame that a buffer says it is of. Only the sum of the whole buffer proves it.
    fn outside(&self, buffer: usize) -> u64 {
        let at = FIRST_BUFFER + buffer * self.capacity + OUTSIDE;
        // Relaxed: what is believed is read again with `read`.
        self.memory.words()[at].load(Ordering::Relaxed)
    }

    /// A buffer, if it is whole.
    fn read(&self, buffer: usize) -> Option<(u64, Vec<u64>)> {
        let words = self.memory.words();
        let [number_at, len_at, sum_at] = head(buffer);
        // pairs with the store at the end of `Keeper::save`: the words come with it.
        let number = words[number_at].load(Ordering::Acquire);
        // Relaxed, all: one that is written meanwhile has another sum.
        let get = |at: usize| words[at].load(Ordering::Relaxed);
        let from = FIRST_BUFFER + buffer * self.capacity;
        if number == 0 || get(len_at) != self.capacity as u64 {
            return None;
        }
        let copied: Vec<u64> = (from..from + self.capacity).map(get).collect();
        let terms = (copied.iter().enumerate()).map(|(at, word)| term(at, *word));
        let found = terms.fold(0, u64::wrapping_add);
        (seal(number, self.capacity, found) == get(sum_at)).then_some((number, copied))
    }
}

/// By key: the place of each node and line in a buffer.
pub(super) fn places(words: &[u64]) -> HashMap<u64, usize> {
    let (mut places, mut at) = (HashMap::new(), TIME_WORDS);
    while let Some(key) = words.get(at).copied().filter(|key| *key != 0) {
        let size = (key & u64::from(u32::MAX)) as usize;
        let len = match key & IS_LINE {
            0 => NODE_WORDS + size.div_ceil(8),
            _ => LINE_WORDS + size.div_ceil(2),
        };
        if at + len > words.len() {
            break;
        }
        places.insert(key, at);
        at += len;
    }
    places
}

/// Loads what it is shown from the checkpoint of another graph.
pub(super) struct Successor<'a> {
    layout: &'a KeptPlaces,
    words: &'a [u64],
    number: u64,
    places: &'a HashMap<u64, usize>,
    node: usize,
    line: usize,
}

impl<'a> Successor<'a> {
    pub(super) fn new(
        layout: &'a KeptPlaces,
        (words, number): (&'a [u64], u64),
        places: &'a HashMap<u64, usize>,
    ) -> Self {
        Self {
            layout,
            words,
            number,
            places,
            node: 0,
            line: 0,
        }
    }
}

impl StateVisitor for Successor<'_> {
    fn loads(&self) -> bool {
        true
    }

    fn wants_past(&self) -> bool {
        true
    }

    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        let own = next_node(self.layout, &mut self.node, node);
        if let Some((own, at)) = own.and_then(|own| Some((own, *self.places.get(&own.key)?))) {
            load_node((self.words, at), (own.bytes, self.number), processor);
        }
    }

    fn line(&mut self, line: &mut HeldLine<'_>) {
        let own = self.layout.lines.get(self.line);
        self.line += 1;
        let found = own.and_then(|own| self.places.get(&own.key));
        if let Some(at) = found
            && own.is_some_and(|own| own.samples == line.samples.len())
        {
            load_line(&self.words[*at..], line);
        }
    }
}
