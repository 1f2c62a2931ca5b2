//! [`KeptPlaces`]: the places in a buffer of all that is kept of a cell's nodes.

use crate::checkpoint::{MAGIC, MAX_WORDS};
use engine::{EngineCallback, HeldLine, StateVisitor};
use graph::{Graph, NodeId};
use processor::Processor;
use std::collections::HashMap;

/// Most bytes of nodes' states: they are written at once, so this bounds the time of a checkpoint.
pub(super) const MAX_STATE_BYTES: usize = 512 << 10;
/// Words before the first node's: layout, position, cycle, position outside.
pub(super) const TIME_WORDS: usize = 4;
/// Words of a node before its state: key, number.
pub(super) const NODE_WORDS: usize = 2;
/// Words of a line before its samples: key, bounds.
pub(super) const LINE_WORDS: usize = 5;
/// The bit of a key that says that it is a line's.
pub(super) const IS_LINE: u64 = 1 << 63;
/// Latest frame or cycle that is believed: far enough from overflow.
pub(super) const MAX_TIME: u64 = 1 << 62;

/// A node's place in a buffer: its key, the number of the checkpoint, then its state.
pub(super) struct KeptNode {
    pub(super) node: NodeId,
    pub(super) key: u64,
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// A line's place in a buffer: its key, its bounds, then its samples, two in a word.
pub(super) struct KeptLine {
    pub(super) key: u64,
    /// `None` for one that finds no room.
    pub(super) at: Option<usize>,
    pub(super) samples: usize,
    pub(super) capacity: usize,
}

/// Places of all that is kept.
#[derive(Default)]
pub(super) struct KeptPlaces {
    pub(super) nodes: Vec<KeptNode>,
    pub(super) lines: Vec<KeptLine>,
    pub(super) words: usize,
    /// Most words.
    pub(super) limit: usize,
    /// Nodes without a saved state, and nodes that find no room.
    pub(super) without_state: Vec<NodeId>,
    pub(super) too_large: Vec<NodeId>,
    /// Nodes whose states have no room for some of what they hold, and of how much.
    pub(super) shortened: Vec<(NodeId, usize)>,
    pub(super) state_bytes: usize,
    pub(super) longest: usize,
    pub(super) scratch: Vec<u8>,
    /// Lines of each node so far.
    pub(super) lines_of: HashMap<Option<NodeId>, u32>,
    /// True before the first block: processors may take memory then.
    pub(super) is_setup: bool,
}

impl KeptPlaces {
    pub(super) fn of(callback: &mut EngineCallback, graph: &Graph) -> Self {
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
    pub(super) fn name(&mut self, graph: &Graph) {
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
    pub(super) fn fingerprint(&self, graph: &Graph) -> u64 {
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

impl StateVisitor for KeptPlaces {
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
        let unsaved = match self.is_setup {
            true => processor.unsaved(),
            false => 0,
        };
        if bytes == 0 {
            let list = match unsaved {
                0 => &mut self.without_state,
                _ => &mut self.too_large,
            };
            return list.push(node);
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
                if unsaved > 0 {
                    self.shortened.push((node, unsaved));
                }
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

/// The key of what these words name, of `size` bytes or samples.
pub(super) fn key(words: impl IntoIterator<Item = u64>, size: usize) -> u64 {
    let named = words.into_iter().fold(MAGIC, mix) >> 33;
    named << 32 | size as u64 & u64::from(u32::MAX)
}

pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x0100_0000_01B3);
    mixed.rotate_left(23)
}

/// The place of `node`, which comes after the one before.
pub(super) fn next_node<'a>(
    layout: &'a KeptPlaces,
    from: &mut usize,
    node: NodeId,
) -> Option<&'a KeptNode> {
    let rest = layout.nodes.get(*from..)?;
    let found = rest.iter().position(|it| it.node == node)?;
    *from += found + 1;
    rest.get(found)
}
