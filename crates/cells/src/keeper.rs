//! [`Keeper`]: what a cell's nodes hold, written into shared memory every 20 ms, and read by the next process.
//!
//! ```text
//!   words of a buffer   │ layout │ position │ cycle │ outside │ node: key, number, state │ … │ line: key, bounds, samples │ …
//! ```
//!
//! `outside` is the frame of the supervisor's next request. A key is a number of the node and its kind, or of the node's line,
//! and the size: a process of a changed graph finds the nodes that it still has ([`successor`](self::successor)).
//!
//! The layout is fixed when the cell begins, so a checkpoint is stores into memory that is there: no allocation, no call of
//! the kernel. Of a delay line only the frames since the last checkpoint in the same buffer are written, and the sum of a
//! buffer follows word by word. So the cost does not depend on the length of lines.
//!
//! | kept | not kept |
//! |---|---|
//! | nodes with a state ([`Processor::save`]), [`MAX_STATE_BYTES`] of all together | nodes beyond that; kinds without a saved state |
//! | delay lines and lines that compensate latency, within a buffer | longer lines; events under way in them |
//! | what a convolver has heard ([`Processor::past`]), within a buffer | fades between two responses |
//! | the frame and the cycle of the cell's engine | deferred work, which begins again |

mod load;
mod notes;
mod places;
mod renewal;
mod successor;

pub(crate) use renewal::NextPlaces;
pub(crate) use successor::LeavingCell;

use crate::checkpoint::{EACH_BLOCK, FIRST_BUFFER, MAGIC, MAX_WORDS, OUTSIDE, head, seal, term};
use engine::{EngineCallback, HeldLine, StateVisitor};
use graph::{Graph, NodeId};
use load::{load, load_kept, read_left};
use places::{KeptPlaces, LINE_WORDS, NODE_WORDS, next_node};
use processor::Processor;
use rt::mirror::SharedWords;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use units::Nanos;

/// Time between two checkpoints.
pub(crate) const CHECKPOINT_INTERVAL: Nanos = Nanos(20_000_000);
/// Words of a buffer for nodes that an edit adds.
const ROOM: usize = 1 << 15;

/// Writes checkpoints of one cell.
pub(crate) struct Keeper {
    memory: SharedWords,
    layout: KeptPlaces,
    /// Words of a buffer.
    capacity: usize,
    fingerprint: u64,
    scratch: Vec<u8>,
    /// Sums of both buffers' terms, and the frames up to which their lines are written.
    sums: [u64; 2],
    written: [Option<u64>; 2],
    /// Number of the last checkpoint.
    number: u64,
    /// Blocks between two checkpoints, and since the last one.
    interval: u64,
    blocks: u64,
}

impl Keeper {
    /// Keeps the nodes of `callback`, which plays `graph`, in the memory `file`, every `interval` blocks. If there is a checkpoint in it that fits,
    /// the nodes continue from there; returns true then. `is_edited`: the checkpoint may be of an order of nodes that edits have made, and
    /// fits node by node. To be called before the first block.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        file: &OwnedFd,
        (callback, graph): (&mut EngineCallback, &Graph),
        (interval, is_edited): (u64, bool),
    ) -> Result<(Self, bool), String> {
        let mut layout = KeptPlaces::of(callback, graph);
        let capacity = (layout.words + ROOM).min(MAX_WORDS);
        let memory = SharedWords::open(file, FIRST_BUFFER + 2 * capacity);
        let memory = memory.map_err(|error| format!("no memory for its state: {error}"))?;
        let fingerprint = layout.fingerprint(graph);
        layout.scratch = Vec::new();
        let left = read_left(file);
        let is_kept = |(_, words): &(u64, Vec<u64>)| {
            words[0] == fingerprint || is_edited && layout.has_any_of(words)
        };
        let left = left.filter(is_kept);
        let (number, outside) =
            (left.as_ref()).map_or((0, 0), |(number, words)| (*number, words[OUTSIDE]));
        let is_continued = left.is_some_and(|left| match left.1[0] == fingerprint {
            true => load(callback, &layout, left),
            false => load_kept(callback, &layout, (&left.1, left.0)),
        });
        let mut keeper = Self {
            scratch: Vec::with_capacity(layout.longest),
            memory,
            layout,
            capacity,
            fingerprint,
            sums: [0; 2],
            written: [None; 2],
            number,
            interval,
            blocks: 0,
        };
        keeper.begin();
        // Both buffers are written once, so that all pages are there.
        keeper.save(callback, outside);
        keeper.save(callback, outside);
        Ok((keeper, is_continued))
    }

    /// The words before the first buffer.
    ///
    /// Real-time: hot.
    pub(crate) fn head(&self) -> &[AtomicU64] {
        &self.memory.words()[..FIRST_BUFFER]
    }

    /// Counts one block, and writes a checkpoint if it is due and `is_sound` says that the block's sound is good. The next
    /// request of the supervisor is for frame `outside`.
    ///
    /// Real-time: hot.
    pub(crate) fn end_block(
        &mut self,
        callback: &mut EngineCallback,
        outside: u64,
        is_sound: impl FnOnce() -> bool,
    ) {
        self.blocks += 1;
        // Relaxed: nothing travels with it.
        let is_asked = self.memory.words()[EACH_BLOCK].load(Ordering::Relaxed) != 0;
        if (self.blocks >= self.interval || is_asked) && is_sound() {
            self.blocks = 0;
            self.save(callback, outside);
        }
    }

    /// Has the nodes of `callback` go on from what those of the process before hold when the supervisor asks for frame
    /// `outside`, as far as they are the same nodes. Returns false if it has left nothing.
    ///
    /// Real-time: waits, on that process, for some milliseconds.
    pub(crate) fn take_over(
        &self,
        before: &LeavingCell,
        callback: &mut EngineCallback,
        outside: u64,
    ) -> bool {
        let Some((number, words)) = before.await_checkpoint(outside) else {
            return false;
        };
        load_kept(callback, &self.layout, (&words, number))
    }

    /// Empty buffers. What the supervisor left there has been read.
    fn begin(&mut self) {
        let words = self.memory.words();
        // Relaxed, all: the first `save` publishes them.
        let store = |at: usize, word| words[at].store(word, Ordering::Relaxed);
        (0..2).for_each(|buffer| store(head(buffer)[0], 0));
        store(0, MAGIC);
        store(1, self.capacity as u64);
        store(EACH_BLOCK, 0);
        let buffers = &words[FIRST_BUFFER..FIRST_BUFFER + 2 * self.capacity];
        buffers.iter().for_each(|it| it.store(0, Ordering::Relaxed));
    }

    /// Writes what the nodes hold into the older buffer.
    ///
    /// Real-time: hot.
    fn save(&mut self, callback: &mut EngineCallback, outside: u64) {
        let (number, capacity) = (self.number + 1, self.capacity);
        let buffer = (number % 2) as usize;
        let words = self.memory.words();
        let from = FIRST_BUFFER + buffer * capacity;
        let [number_at, len_at, sum_at] = head(buffer);
        words[number_at].store(0, Ordering::Relaxed);
        // A process that is killed below leaves no number beside words of two checkpoints: the store above comes first.
        fence(Ordering::Release);
        let (position, cycle) = callback.time();
        let mut save = Save {
            layout: &self.layout,
            buffer: Buffer {
                words: &words[from..from + capacity],
                sum: &mut self.sums[buffer],
            },
            number,
            scratch: &mut self.scratch,
            since: self.written[buffer],
            position,
            node: 0,
            line: 0,
        };
        let time = [self.fingerprint, position, cycle, outside];
        (0..)
            .zip(time)
            .for_each(|(at, word)| save.buffer.put(at, word));
        // Behind the last place may be words of a layout before.
        if self.layout.words < capacity {
            save.buffer.put(self.layout.words, 0);
        }
        if !callback.visit_states(&mut save) {
            // The last block was given up: the other buffer stays the newest.
            return;
        }
        self.written[buffer] = Some(position);
        self.number = number;
        // Relaxed, both: published by the number.
        words[len_at].store(capacity as u64, Ordering::Relaxed);
        let sum = seal(number, capacity, self.sums[buffer]);
        words[sum_at].store(sum, Ordering::Relaxed);
        // A process that is killed before this leaves the other buffer.
        words[number_at].store(number, Ordering::Release);
    }
}

/// A buffer that is written, and the sum of its terms.
struct Buffer<'a> {
    words: &'a [AtomicU64],
    sum: &'a mut u64,
}

impl Buffer<'_> {
    fn put(&mut self, at: usize, word: u64) {
        // Relaxed: published by the buffer's number.
        let old = self.words[at].load(Ordering::Relaxed);
        self.words[at].store(word, Ordering::Relaxed);
        *self.sum = self.sum.wrapping_add(term(at, word.wrapping_sub(old)));
    }
}

/// Writes what it is shown into a buffer.
struct Save<'a> {
    layout: &'a KeptPlaces,
    buffer: Buffer<'a>,
    number: u64,
    scratch: &'a mut Vec<u8>,
    /// Frame up to which the lines of this buffer are written.
    since: Option<u64>,
    position: u64,
    node: usize,
    line: usize,
}

impl StateVisitor for Save<'_> {
    fn loads(&self) -> bool {
        false
    }

    fn wants_past(&self) -> bool {
        true
    }

    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        let Some(place) = next_node(self.layout, &mut self.node, node) else {
            return;
        };
        self.scratch.clear();
        processor.save(self.scratch);
        // A node of another length is not kept: the buffer has no room for it.
        let is_right = self.scratch.len() == place.bytes;
        self.buffer.put(place.at, place.key);
        self.buffer
            .put(place.at + 1, if is_right { self.number } else { 0 });
        if is_right {
            for (at, part) in (place.at + NODE_WORDS..).zip(self.scratch.chunks(8)) {
                let mut bytes = [0; 8];
                bytes[..part.len()].copy_from_slice(part);
                self.buffer.put(at, u64::from_le_bytes(bytes));
            }
        }
    }

    fn line(&mut self, line: &mut HeldLine<'_>) {
        let place = self.layout.lines.get(self.line);
        self.line += 1;
        let Some((place, first)) = place.and_then(|it| Some((it, it.at?))) else {
            return;
        };
        if (line.samples.len(), line.capacity) != (place.samples, place.capacity) {
            return;
        }
        self.buffer.put(first, place.key);
        (first + 1..)
            .zip(line.bounds.unwrap_or_default())
            .for_each(|(at, word)| self.buffer.put(at, word));
        let capacity = line.capacity as u64;
        let new = self
            .since
            .map_or(capacity, |since| self.position.saturating_sub(since));
        if new >= capacity {
            return self.put_samples(first + LINE_WORDS, line.samples, 0..place.samples);
        }
        for channel in (0..place.samples).step_by(line.capacity) {
            let from = (self.position - new) as usize & (line.capacity - 1);
            let end = from + new as usize;
            self.put_samples(
                first + LINE_WORDS,
                line.samples,
                channel + from..channel + end.min(line.capacity),
            );
            self.put_samples(
                first + LINE_WORDS,
                line.samples,
                channel..channel + end.saturating_sub(line.capacity),
            );
        }
    }
}

impl Save<'_> {
    /// Writes the samples of `range`, from whole word to whole word.
    fn put_samples(&mut self, first: usize, samples: &[f32], range: std::ops::Range<usize>) {
        let bits = |at: usize| samples.get(at).map_or(0, |it| u64::from(it.to_bits()));
        for word in range.start / 2..range.end.div_ceil(2) {
            let both = bits(2 * word) | bits(2 * word + 1) << 32;
            self.buffer.put(first + word, both);
        }
    }
}

#[cfg(test)]
mod long_state_tests;
#[cfg(test)]
mod tests;
