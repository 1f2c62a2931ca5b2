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

mod renewal;
mod successor;

pub(crate) use renewal::NextLayout;
pub(crate) use successor::LeavingCell;

use crate::checkpoint::{EACH_BLOCK, FIRST_BUFFER, MAGIC, MAX_WORDS, OUTSIDE, head, seal, term};
use engine::{EngineCallback, HeldLine, StateVisitor};
use graph::{Catalogue, Graph, NodeId};
use processor::Processor;
use rt::mirror::SharedWords;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use successor::Successor;
use units::Nanos;

/// Time between two checkpoints.
pub(crate) const CHECKPOINT_INTERVAL: Nanos = Nanos(20_000_000);
/// Most bytes of nodes' states: they are written at once, so this bounds the time of a checkpoint.
const MAX_STATE_BYTES: usize = 512 << 10;
/// Words before the first node's: layout, position, cycle, position outside.
const TIME_WORDS: usize = 4;
/// Words of a node before its state: key, number.
const NODE_WORDS: usize = 2;
/// Words of a line before its samples: key, bounds.
const LINE_WORDS: usize = 5;
/// Words of a buffer for nodes that an edit adds.
const ROOM: usize = 1 << 15;
/// The bit of a key that says that it is a line's.
const IS_LINE: u64 = 1 << 63;
/// Latest frame or cycle that is believed: far enough from overflow.
const MAX_TIME: u64 = 1 << 62;

/// A node's place in a buffer: its key, the number of the checkpoint, then its state.
struct KeptNode {
    node: NodeId,
    key: u64,
    at: usize,
    bytes: usize,
}

/// A line's place in a buffer: its key, its bounds, then its samples, two in a word.
struct KeptLine {
    key: u64,
    /// `None` for one that finds no room.
    at: Option<usize>,
    samples: usize,
    capacity: usize,
}

/// Places of all that is kept.
#[derive(Default)]
struct Layout {
    nodes: Vec<KeptNode>,
    lines: Vec<KeptLine>,
    words: usize,
    /// Most words.
    limit: usize,
    /// Nodes without a saved state, and nodes that find no room.
    without_state: Vec<NodeId>,
    too_large: Vec<NodeId>,
    state_bytes: usize,
    longest: usize,
    scratch: Vec<u8>,
    /// Lines of each node so far.
    lines_of: HashMap<Option<NodeId>, u32>,
    /// True before the first block: processors may take memory then.
    is_setup: bool,
}

impl Layout {
    fn of(callback: &mut EngineCallback, graph: &Graph) -> Self {
        let mut layout = Self {
            words: TIME_WORDS,
            limit: MAX_WORDS,
            is_setup: true,
            ..Self::default()
        };
        callback.visit_states(&mut layout);
        layout.name(graph);
        layout
    }

    /// Gives the nodes their keys.
    fn name(&mut self, graph: &Graph) {
        for place in &mut self.nodes {
            let kind = graph
                .node(place.node)
                .map_or("", |node| node.effective_kind());
            let kind = kind.bytes().map(u64::from);
            let words = kind.chain([u64::from(place.node.0)]);
            place.key = key(words, place.bytes);
        }
    }

    /// A number that another layout, or one of nodes of other kinds, does not have.
    fn fingerprint(&self, graph: &Graph) -> u64 {
        let kind = |node| graph.node(node).map_or("", |node| node.effective_kind());
        let nodes = self.nodes.iter().flat_map(|it| {
            let kind = kind(it.node).bytes().map(u64::from);
            kind.chain([u64::from(it.node.0), it.bytes as u64])
        });
        let lines = self.lines.iter();
        let lines = lines.flat_map(|it| [it.samples as u64, it.capacity as u64]);
        nodes.chain([u64::MAX]).chain(lines).fold(MAGIC, mix)
    }

    /// The key of the next line of a node.
    fn line_key(&mut self, line: &HeldLine<'_>) -> u64 {
        let count = self.lines_of.entry(line.node).or_default();
        *count += 1;
        let node = line.node.map_or(u64::MAX, |node| node.0.into());
        let words = [node, (*count).into(), line.capacity as u64];
        key(words, line.samples.len()) | IS_LINE
    }

    fn place(&mut self, words: usize) -> Option<usize> {
        let at = self.words;
        let end = at.checked_add(words).filter(|end| *end <= self.limit)?;
        self.words = end;
        Some(at)
    }
}

impl StateVisitor for Layout {
    fn loads(&self) -> bool {
        false
    }

    fn wants_past(&self) -> bool {
        true
    }

    fn begins_past(&self) -> bool {
        self.is_setup
    }

    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        self.scratch.clear();
        processor.save(&mut self.scratch);
        let bytes = self.scratch.len();
        if bytes == 0 {
            return self.without_state.push(node);
        }
        let is_small = self.state_bytes + bytes <= MAX_STATE_BYTES;
        match is_small
            .then(|| self.place(NODE_WORDS + bytes.div_ceil(8)))
            .flatten()
        {
            Some(at) => {
                let key = 0;
                self.nodes.push(KeptNode {
                    node,
                    key,
                    at,
                    bytes,
                });
                self.state_bytes += bytes;
                self.longest = self.longest.max(bytes);
            }
            None => self.too_large.push(node),
        }
    }

    fn line(&mut self, line: &mut HeldLine<'_>) {
        let samples = line.samples.len();
        let key = self.line_key(line);
        let at = self.place(LINE_WORDS + samples.div_ceil(2));
        if line.is_past {
            // What it has heard takes the place of a state.
            self.without_state.retain(|it| Some(*it) != line.node);
        }
        let capacity = line.capacity;
        self.lines.push(KeptLine {
            key,
            at,
            samples,
            capacity,
        });
    }
}

/// Writes checkpoints of one cell.
pub(crate) struct Keeper {
    memory: SharedWords,
    layout: Layout,
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
        let mut layout = Layout::of(callback, graph);
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

    /// Lines for the user: what begins anew in the next process.
    pub(crate) fn notes(&self, graph: &Graph, catalogue: &Catalogue) -> Vec<String> {
        let named = |nodes: &[NodeId], counts: &dyn Fn(&str) -> bool| {
            let nodes = nodes.iter().filter_map(|id| graph.node(*id));
            let nodes = nodes.filter(|node| counts(node.effective_kind()));
            let names = nodes.map(|node| format!("`{}` ({})", node.name, node.effective_kind()));
            names.collect::<Vec<_>>().join(", ")
        };
        // A kind that can be duplicated and saves nothing holds nothing.
        let holds = |kind: &str| catalogue.get(kind).is_some_and(|kind| !kind.duplicable);
        let is_own = |kind: &str| holds(kind) && !crate::border::is_border(kind);
        let without = named(&self.layout.without_state, &is_own);
        let large = named(&self.layout.too_large, &|_| true);
        let long = self
            .layout
            .lines
            .iter()
            .filter(|it| it.at.is_none())
            .count();
        let mut notes = Vec::new();
        if !without.is_empty() {
            notes.push(format!(
                "begins anew after a failure, for these kinds save no state: {without}"
            ));
        }
        if !large.is_empty() {
            let limit = MAX_STATE_BYTES >> 10;
            notes.push(format!("begins anew after a failure, for all states together have more than {limit} KiB: {large}"));
        }
        if long > 0 {
            notes.push(format!(
                "{long} delay lines begin empty after a failure: they are too long to be kept"
            ));
        }
        notes
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
    layout: &'a Layout,
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

/// The place of `node`, which comes after the one before.
fn next_node<'a>(layout: &'a Layout, from: &mut usize, node: NodeId) -> Option<&'a KeptNode> {
    let rest = layout.nodes.get(*from..)?;
    let found = rest.iter().position(|it| it.node == node)?;
    *from += found + 1;
    rest.get(found)
}

/// The newest whole checkpoint that the supervisor left in the first buffer of a memory.
fn read_left(file: &OwnedFd) -> Option<(u64, Vec<u64>)> {
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
fn load(callback: &mut EngineCallback, layout: &Layout, (number, words): (u64, Vec<u64>)) -> bool {
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
fn load_kept(
    callback: &mut EngineCallback,
    layout: &Layout,
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
    layout: &'a Layout,
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
fn load_node(
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
fn load_line(words: &[u64], line: &mut HeldLine<'_>) {
    if let Some(bounds) = &mut line.bounds {
        bounds.copy_from_slice(&words[1..LINE_WORDS]);
    }
    for (at, sample) in line.samples.iter_mut().enumerate() {
        let value = f32::from_bits((words[LINE_WORDS + at / 2] >> (32 * (at % 2))) as u32);
        *sample = if value.is_finite() { value } else { 0.0 };
    }
}

/// The key of what these words name, of `size` bytes or samples.
fn key(words: impl IntoIterator<Item = u64>, size: usize) -> u64 {
    let named = words.into_iter().fold(MAGIC, mix) >> 33;
    named << 32 | size as u64 & u64::from(u32::MAX)
}

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x0100_0000_01B3);
    mixed.rotate_left(23)
}

#[cfg(test)]
mod long_state_tests;
#[cfg(test)]
mod tests;
