//! Which slots may be used again, and when.
//!
//! What a slot holds is done with once all steps that read it have run. A step B may take the slot if each of them is
//! an ancestor of B: then no order of running can bring them together. To know that without asking about ancestors,
//! every reader, when its turn is over, drops a *token* for what it has read into a bag, and hands its bag on to one
//! heir, the one of the steps that wait for it with the longest way to the end. Whatever is in B's bag comes from an ancestor of B; when the bag has
//! the tokens of all readers, the slots are free for B and whoever inherits from it. Some reuse is missed (heirs that
//! never meet), none is wrong. Bags are merged smaller into larger.

use crate::{IndexRange, SlotId};
use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What one output port holds: slots that are written and freed together.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    /// How many tokens make it free; `u32::MAX` for never.
    needed: u32,
    /// In [`Slots::given`].
    slots: IndexRange,
}

/// Tokens and free slots on their way down.
#[derive(Debug, Default)]
struct Bag {
    free: Vec<SlotId>,
    /// By content: how many of its readers are ancestors.
    held: BTreeMap<u32, u32>,
}

/// Gives out slots, step by step.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) count: u32,
    given: Vec<SlotId>,
    contents: Vec<Content>,
    /// By step: what it reads of other steps.
    reads: Adjacency,
    bags: Vec<Bag>,
    /// The bag of the step whose turn it is.
    bag: Bag,
    /// Tokens of the step whose turn it is: what it wrote that nobody reads.
    unread: Vec<u32>,
}

impl Slots {
    /// For `steps` steps and `contents` outputs; `reads` says which step reads which content (not its own).
    pub(crate) fn new(steps: usize, contents: usize, reads: Vec<(u32, u32)>) -> Self {
        let reads = Adjacency::new(steps.max(contents), reads);
        let readers = reads.in_degrees();
        let mut all = vec![Content::default(); contents];
        for (content, needed) in all.iter_mut().zip(readers) {
            content.needed = needed;
        }
        Self {
            count: 0,
            given: Vec::new(),
            contents: all,
            reads,
            bags: (0..steps).map(|_| Bag::default()).collect(),
            bag: Bag::default(),
            unread: Vec::new(),
        }
    }

    /// Begins the turn of `step`.
    pub(crate) fn enter(&mut self, step: u32) {
        self.bag = std::mem::take(&mut self.bags[step as usize]);
    }

    /// Slots for what an output port of the current step writes. A `kept` one is never anyone else's, before or after.
    pub(crate) fn write(&mut self, content: u32, channels: u16, kept: bool) -> &[SlotId] {
        let start = self.given.len();
        for _ in 0..channels {
            let slot = if kept { self.fresh() } else { self.take() };
            self.given.push(slot);
        }
        let entry = &mut self.contents[content as usize];
        entry.slots = IndexRange {
            start: start as u32,
            end: self.given.len() as u32,
        };
        if kept {
            entry.needed = u32::MAX;
        } else if entry.needed == 0 {
            entry.needed = 1;
            self.unread.push(content);
        }
        &self.given[start..]
    }

    /// A slot that is the current step's own, free or new.
    pub(crate) fn take(&mut self) -> SlotId {
        match self.bag.free.pop() {
            Some(slot) => slot,
            None => self.fresh(),
        }
    }

    fn fresh(&mut self) -> SlotId {
        self.count += 1;
        SlotId(self.count - 1)
    }

    /// Who inherits from each step that someone waits for.
    pub(crate) fn heirs(waits: &Adjacency) -> Vec<Option<u32>> {
        let mut heights = vec![0u32; waits.len()];
        let mut heirs = vec![None; waits.len()];
        for step in (0..waits.len()).rev() {
            let height = |next: &u32| (heights[*next as usize], Reverse(*next));
            let heir = waits
                .successors(step as u32)
                .iter()
                .copied()
                .max_by_key(height);
            heights[step] = heir.map_or(0, |next| heights[next as usize] + 1);
            heirs[step] = heir;
        }
        heirs
    }

    /// Ends the turn of `step`: drops its tokens, gives back what it had for itself and hands the bag to `heir`.
    pub(crate) fn leave(&mut self, step: u32, own: &[SlotId], heir: Option<u32>) {
        let mut bag = std::mem::take(&mut self.bag);
        let unread = std::mem::take(&mut self.unread);
        let Some(heir) = heir else {
            return;
        };
        for content in self.reads.successors(step).iter().chain(&unread) {
            drop_tokens(&mut bag, *content, 1, &self.contents, &self.given);
        }
        bag.free.extend_from_slice(own);
        let there = &mut self.bags[heir as usize];
        if there.free.len() + there.held.len() < bag.free.len() + bag.held.len() {
            std::mem::swap(there, &mut bag);
        }
        there.free.append(&mut bag.free);
        for (content, tokens) in bag.held {
            drop_tokens(there, content, tokens, &self.contents, &self.given);
        }
    }
}

fn drop_tokens(bag: &mut Bag, content: u32, tokens: u32, all: &[Content], given: &[SlotId]) {
    let Content { needed, slots } = all[content as usize];
    if needed == u32::MAX {
        return;
    }
    let held = bag.held.entry(content).or_default();
    *held += tokens;
    if *held >= needed {
        bag.held.remove(&content);
        bag.free.extend_from_slice(slots.of(given));
    }
}
