//! A checkpoint that was left for a process is read, and its nodes continue from it.

use super::places::{KeptPlaces, LINE_WORDS, MAX_TIME, NODE_WORDS, TIME_WORDS, next_node};
use super::successor::{self, Successor};
use crate::checkpoint::{FIRST_BUFFER, MAGIC, MAX_WORDS, head, seal, term};
use engine::{EngineCallback, HeldLine, StateVisitor};
use graph::NodeId;
use processor::Processor;
use rt::mirror::SharedWords;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// The newest whole checkpoint that the supervisor left in the first buffer of a memory.
pub(super) fn read_left(file: &OwnedFd) -> Option<(u64, Vec<u64>)> {
    // Relaxed, all: the supervisor wrote them before it started this process.
    let first = SharedWords::open(file, FIRST_BUFFER).ok()?;
    let capacity = first.words()[1].load(Ordering::Relaxed);
    let capacity = usize::try_from(capacity).ok()?;
    (TIME_WORDS..=MAX_WORDS).contains(&capacity).then_some(())?;
    let memory = SharedWords::open(file, FIRST_BUFFER + capacity).ok()?;
    let words = memory.words();
    let get = |at: usize| words[at].load(Ordering::Relaxed);
    let [number, len, sum] = head(0).map(get);
    if get(0) != MAGIC || len != capacity as u64 {
        return None;
    }
    let number = Some(number).filter(|it| (1..MAX_TIME).contains(it))?;
    let left: Vec<u64> = (FIRST_BUFFER..FIRST_BUFFER + capacity).map(get).collect();
    let terms = (left.iter().enumerate()).map(|(at, word)| term(at, *word));
    let found = terms.fold(0, u64::wrapping_add);
    (seal(number, capacity, found) == sum).then_some((number, left))
}

/// Has the nodes of `callback` continue from a checkpoint. Returns false if its time cannot be right.
pub(super) fn load(
    callback: &mut EngineCallback,
    layout: &KeptPlaces,
    (number, words): (u64, Vec<u64>),
) -> bool {
    let time = (words[1], words[2]);
    if time.0 > MAX_TIME || time.1 > MAX_TIME {
        return false;
    }
    callback.begin_at(time);
    callback.visit_states(&mut Load {
        layout,
        words: &words,
        number,
        node: 0,
        line: 0,
    })
}

/// Has the nodes of `callback` continue from the checkpoint `number` of another graph, as far as they are the same nodes.
pub(super) fn load_kept(
    callback: &mut EngineCallback,
    layout: &KeptPlaces,
    (words, number): (&[u64], u64),
) -> bool {
    let places = successor::places(words);
    let time = (words[1], words[2]);
    if time.0 > MAX_TIME || time.1 > MAX_TIME {
        return false;
    }
    callback.begin_at(time);
    callback.visit_states(&mut Successor::new(layout, (words, number), &places))
}

/// Loads what it is shown from a checkpoint.
struct Load<'a> {
    layout: &'a KeptPlaces,
    words: &'a [u64],
    number: u64,
    node: usize,
    line: usize,
}

impl StateVisitor for Load<'_> {
    fn loads(&self) -> bool {
        true
    }

    fn wants_past(&self) -> bool {
        true
    }

    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        let Some(place) = next_node(self.layout, &mut self.node, node) else {
            return;
        };
        load_node(
            (self.words, place.at),
            (place.bytes, self.number),
            processor,
        );
    }

    fn line(&mut self, line: &mut HeldLine<'_>) {
        let place = self.layout.lines.get(self.line);
        self.line += 1;
        let Some(first) = place.and_then(|it| it.at) else {
            return;
        };
        load_line(&self.words[first..], line);
    }
}

/// Loads the state of `bytes` bytes at a place, if it is of checkpoint `number`.
pub(super) fn load_node(
    (words, at): (&[u64], usize),
    (bytes, number): (usize, u64),
    processor: &mut dyn Processor,
) {
    if words[at + 1] != number {
        return;
    }
    let words = &words[at + NODE_WORDS..][..bytes.div_ceil(8)];
    let mut state: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
    state.truncate(bytes);
    // One that refuses its state begins anew.
    let _ = processor.load(&state);
}

/// Loads a line from the words at its place.
pub(super) fn load_line(words: &[u64], line: &mut HeldLine<'_>) {
    if let Some(bounds) = &mut line.bounds {
        bounds.copy_from_slice(&words[1..LINE_WORDS]);
    }
    for (at, sample) in line.samples.iter_mut().enumerate() {
        let value = f32::from_bits((words[LINE_WORDS + at / 2] >> (32 * (at % 2))) as u32);
        *sample = if value.is_finite() { value } else { 0.0 };
    }
}
