//! Pass 7: which slots may be used again, and when. The register allocation of the compiler.
//!
//! The content of a slot is dead once all steps that read it have run. Step B may write the slot if each of these steps
//! is an ancestor of B: then no order of running brings them together. To know that without asking for ancestors, a *pool*
//! travels down the graph, along one successor of each step, its *main successor* (the one with the longest path to the
//! end). A pool holds free slots, and for each output the number of its readers that the pool has passed:
//!
//! ```text
//!   W writes slot 0; A and B read it, C does not
//!
//!        +--> A --+          pool of A: {slot 0: 1 of 2 readers}  --+
//!   W ---+        +--> D                                            +--> pool of D: slot 0 is free
//!        +--> B --+          pool of B: {slot 0: 1 of 2 readers}  --+
//!        |
//!        +--> C -> E         pool of E: knows nothing of slot 0, so E takes another slot
//! ```
//!
//! All that is in the pool of a step comes from its ancestors, so reuse is never wrong; where the readers' pools do not
//! meet, some is missed. Pools are merged, the smaller into the larger, so that all merges of `n` entries together cost
//! O(n log n).

use crate::{IndexRange, SlotId};
use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The slots of one output: they are written and freed together.
#[derive(Clone, Copy, Debug, Default)]
struct OutputSlots {
    /// Number of steps that must have read them; [`NEVER`] for slots that are never freed.
    readers: u32,
    /// In [`SlotAllocator::allocated`].
    slots: IndexRange,
}

const NEVER: u32 = u32::MAX;

/// Free slots and reads that a step inherits from the steps before it.
#[derive(Debug, Default)]
struct Pool {
    free: Vec<SlotId>,
    /// By output: number of its readers that are ancestors.
    reads: BTreeMap<u32, u32>,
}

/// Allocates slots, step by step in topological order.
#[derive(Debug)]
pub(super) struct SlotAllocator {
    /// Number of slots so far.
    pub(super) count: u32,
    allocated: Vec<SlotId>,
    outputs: Vec<OutputSlots>,
    /// By step: the outputs of other steps that it reads.
    reads: Adjacency,
    main_successors: Vec<Option<u32>>,
    pools: Vec<Pool>,
    /// The pool of the current step.
    pool: Pool,
    /// Outputs of the current step that no step reads.
    unread: Vec<u32>,
    /// Slots that the current step has for itself: sums.
    temporary: Vec<SlotId>,
}

impl SlotAllocator {
    /// For `outputs` outputs of all steps; `reads` are the pairs (step, output of another step that it reads), and
    /// `dependencies` is the graph of steps.
    pub(super) fn new(outputs: usize, reads: Vec<(u32, u32)>, dependencies: &Adjacency) -> Self {
        let steps = dependencies.len();
        let reads = Adjacency::new(steps.max(outputs), reads);
        let slots = IndexRange::default();
        let readers = reads.in_degrees().into_iter().take(outputs);
        Self {
            count: 0,
            allocated: Vec::new(),
            outputs: readers
                .map(|readers| OutputSlots { readers, slots })
                .collect(),
            reads,
            main_successors: main_successors(dependencies),
            pools: (0..steps).map(|_| Pool::default()).collect(),
            pool: Pool::default(),
            unread: Vec::new(),
            temporary: Vec::new(),
        }
    }

    /// Makes `step` the current step.
    pub(super) fn begin_step(&mut self, step: u32) {
        self.pool = std::mem::take(&mut self.pools[step as usize]);
    }

    /// Slots for an output of the current step. A `kept` one shares them with no other, before or after.
    pub(super) fn output(&mut self, output: u32, channels: u16, kept: bool) -> &[SlotId] {
        let start = self.allocated.len();
        for _ in 0..channels {
            let slot = if kept {
                self.new_slot()
            } else {
                self.any_slot()
            };
            self.allocated.push(slot);
        }
        let entry = &mut self.outputs[output as usize];
        entry.slots = IndexRange::since(&self.allocated, start);
        if kept {
            entry.readers = NEVER;
        } else if entry.readers == 0 {
            entry.readers = 1;
            self.unread.push(output);
        }
        &self.allocated[start..]
    }

    /// A slot that belongs to the current step alone, until it ends.
    pub(super) fn temporary(&mut self) -> SlotId {
        let slot = self.any_slot();
        self.temporary.push(slot);
        slot
    }

    fn any_slot(&mut self) -> SlotId {
        match self.pool.free.pop() {
            Some(slot) => slot,
            None => self.new_slot(),
        }
    }

    fn new_slot(&mut self) -> SlotId {
        self.count += 1;
        SlotId(self.count - 1)
    }

    /// Ends the current step: counts its reads and gives its pool to its main successor.
    pub(super) fn end_step(&mut self, step: u32) {
        let mut pool = std::mem::take(&mut self.pool);
        let unread = std::mem::take(&mut self.unread);
        let temporary = std::mem::take(&mut self.temporary);
        let Some(successor) = self.main_successors[step as usize] else {
            return;
        };
        for output in self.reads.successors(step).iter().chain(&unread) {
            pool.count_reads(*output, 1, &self.outputs, &self.allocated);
        }
        pool.free.extend(temporary);
        let other = &mut self.pools[successor as usize];
        if other.free.len() + other.reads.len() < pool.free.len() + pool.reads.len() {
            std::mem::swap(other, &mut pool);
        }
        other.free.append(&mut pool.free);
        for (output, reads) in pool.reads {
            other.count_reads(output, reads, &self.outputs, &self.allocated);
        }
    }
}

impl Pool {
    /// Notes that `count` more readers of an output have run, and frees its slots behind the last one.
    fn count_reads(&mut self, output: u32, count: u32, all: &[OutputSlots], allocated: &[SlotId]) {
        let OutputSlots { readers, slots } = all[output as usize];
        if readers == NEVER {
            return;
        }
        let reads = self.reads.entry(output).or_default();
        *reads += count;
        if *reads >= readers {
            self.reads.remove(&output);
            self.free.extend_from_slice(slots.of(allocated));
        }
    }
}

/// For each step, of the steps that wait for it the one with the most steps on a path to the end.
fn main_successors(dependencies: &Adjacency) -> Vec<Option<u32>> {
    let mut heights = vec![0u32; dependencies.len()];
    let mut main = vec![None; dependencies.len()];
    for step in (0..dependencies.len()).rev() {
        let height = |next: &u32| (heights[*next as usize], Reverse(*next));
        let after = dependencies.successors(step as u32).iter().copied();
        let successor = after.max_by_key(height);
        heights[step] = successor.map_or(0, |next| heights[next as usize] + 1);
        main[step] = successor;
    }
    main
}
