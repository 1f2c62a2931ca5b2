//! [`JoinedBlocks`]: several short blocks of a row as one.
//!
//! A canvas with `block~ 1` computes 64 times in a block of 64 frames, so that what it writes into a delay line can be read a sample
//! later. Often the line is read much later. Then as many blocks as lie between are computed at once, with the same sound: that takes a
//! row of objects for which no sample depends on where a block ends (`Object::joins`).

use super::bound_step::BoundStep;
use super::place::{Fill, Filling, SignalObject};
use super::shared::SharedName;
use super::traits::Traits;
use super::{BLOCK, RowFormat};
use crate::control::ObjectId;
use std::collections::HashMap;

/// Blocks of a row in several lengths, of which one is in use.
pub(super) struct JoinedBlocks {
    /// True if the row may compute several blocks as one.
    pub may_join: bool,
    /// Blocks of a batch, at most.
    batch: usize,
    /// Numbers of blocks at once, in rising order, and the blocks of each; those in use are empty here.
    counts: Vec<usize>,
    sets: Vec<Vec<Box<[f32]>>>,
    in_use: usize,
    /// Number of times that new numbers were filled in, and the same of each set when it was last in use.
    numbers: u64,
    seen: Vec<u64>,
}

impl JoinedBlocks {
    pub(super) fn new(may_join: bool) -> Self {
        Self {
            may_join,
            batch: 1,
            counts: Vec::new(),
            sets: Vec::new(),
            in_use: 0,
            numbers: 0,
            seen: Vec::new(),
        }
    }

    /// Makes room for batches of at most `count` blocks.
    ///
    /// Real-time: setup.
    pub(super) fn allow_batches(
        &mut self,
        count: usize,
        blocks: &mut [Box<[f32]>],
        format: &RowFormat,
    ) {
        self.batch = count;
        self.resize(blocks, format);
    }

    /// Gives blocks the length of a format.
    ///
    /// Real-time: setup.
    pub(super) fn resize(&mut self, blocks: &mut [Box<[f32]>], format: &RowFormat) {
        let silence = |frames| vec![0.0; frames].into_boxed_slice();
        for block in &mut *blocks {
            if block.len() != format.frames {
                *block = silence(format.frames);
            }
        }
        let is_short = self.may_join && format.frames == format.vector;
        let powers = (0..).map(|power| 1 << power);
        self.counts = match self.batch {
            1 if is_short => powers
                .take_while(|count| count * format.frames <= BLOCK)
                .collect(),
            1 => Vec::new(),
            batch => (1..=batch).collect(),
        };
        let set = |count: &usize| match count {
            // They are in use.
            1 => Vec::new(),
            _ => vec![silence(count * format.frames); blocks.len()],
        };
        self.sets = self.counts.iter().map(set).collect();
        self.seen = vec![0; self.sets.len()];
        self.in_use = 0;
    }

    /// Number of blocks at once, at most.
    pub(super) fn most(&self) -> usize {
        self.counts.last().copied().unwrap_or(1)
    }

    /// What is to be noted while a row computes.
    #[inline]
    pub(super) fn filling(&self) -> Filling {
        Filling {
            round: self.numbers + 1,
            has_new: false,
        }
    }

    /// Notes what was filled into the blocks in use: they hold all numbers now, and those of the other sets are old if some were new.
    ///
    /// Real-time: hot.
    #[inline]
    pub(super) fn note_numbers(&mut self, filling: &Filling) {
        self.numbers += u64::from(filling.has_new);
        if let Some(seen) = self.seen.get_mut(self.in_use) {
            *seen = self.numbers;
        }
    }

    /// Lets the numbers of `objects` be filled into the blocks in use that were new since these were last in use.
    ///
    /// Real-time: hot.
    pub(super) fn fill_late(&self, objects: &mut [SignalObject]) {
        let seen = self.seen.get(self.in_use).copied().unwrap_or(0);
        for object in objects {
            if object.fill == Fill::Done && object.new_in > seen {
                object.fill = Fill::Late;
            }
        }
    }

    /// Makes `blocks` those of at most `most` blocks at once. Gives their number, and true if they lack numbers of boxes.
    ///
    /// Real-time: hot.
    pub(super) fn set(&mut self, blocks: &mut Vec<Box<[f32]>>, most: usize) -> (usize, bool) {
        let fitting = self.counts.partition_point(|count| *count <= most);
        let to = fitting.saturating_sub(1);
        let count = self.counts.get(to).copied().unwrap_or(1);
        if to == self.in_use {
            return (count, false);
        }
        std::mem::swap(&mut self.sets[self.in_use], blocks);
        std::mem::swap(&mut self.sets[to], blocks);
        self.in_use = to;
        (count, self.seen[to] != self.numbers)
    }
}

/// Returns true if several blocks of steps may be one: no object minds, and what they share is read only, or a delay line whose only
/// writer is among them.
pub(super) fn may_join(steps: &[BoundStep], traits: impl Fn(ObjectId) -> Option<Traits>) -> bool {
    let minds = |step: &BoundStep| {
        let traits = step.performed().and_then(&traits);
        traits.is_some_and(|traits| !(traits.arithmetic.is_some() || traits.may_join))
    };
    if steps.iter().any(minds) {
        return false;
    }
    let mut writers: HashMap<SharedName, usize> = HashMap::new();
    for (name, is_write) in steps.iter().flat_map(|step| &step.accesses) {
        *writers.entry(*name).or_default() += usize::from(*is_write);
    }
    let mut all = writers.iter();
    all.all(|(name, count)| *count == usize::from(matches!(name, SharedName::Delay(_))))
}
