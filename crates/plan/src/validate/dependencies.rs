//! Proves that one step always runs before another.
//!
//! The other files collect *claims*: pairs of steps that must be ordered. A claim holds if a path of successors leads from
//! the earlier step to the later one. All claims are checked together, 256 earlier steps at a time: a bit mask for each
//! step says which of them are its ancestors, and one pass over the steps fills the masks.
//!
//! ```text
//!   earlier steps   3  7             bit 0 is step 3, bit 1 is step 7
//!   step            3     4     5     6     7     8
//!   mask            01    01    00    01    10    11        8 comes after both
//! ```

use crate::Plan;

/// Reason for which one step must run before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The later step reads what the earlier one wrote to this slot.
    ReadsSlot(u32),
    /// The later step overwrites what the earlier one reads or wrote there.
    OverwritesSlot(u32),
    /// The later step reads the events that the earlier one wrote to this buffer.
    ReadsEvents(u32),
    /// The later step reads what the earlier one wrote to this delay line.
    ReadsLine(u32),
}

/// The claim that one step runs before another, in whatever order steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) reason: Reason,
}

impl Claim {
    pub(super) fn new(earlier: u32, later: u32, reason: Reason) -> Self {
        Self {
            earlier,
            later,
            reason,
        }
    }

    /// A sentence for a claim that does not hold.
    pub(super) fn message(self) -> String {
        let Self { earlier, later, .. } = self;
        let (what, role) = match self.reason {
            Reason::ReadsSlot(slot) => (format!("reads slot {slot}"), "writes it"),
            Reason::OverwritesSlot(slot) => (format!("overwrites slot {slot}"), "uses it"),
            Reason::ReadsEvents(buffer) => (format!("reads event buffer {buffer}"), "writes it"),
            Reason::ReadsLine(line) => (format!("reads line {line}"), "writes it"),
        };
        format!("step {later} {what} but does not wait for step {earlier}, which {role}")
    }
}

/// Number of earlier steps that are followed at once: the bits of a [`Mask`].
const BATCH: usize = 256;
type Mask = [u64; BATCH / 64];

/// The claims that do not hold. The arrays of the plan have been checked.
pub(super) fn refuted(plan: &Plan, mut claims: Vec<Claim>) -> impl Iterator<Item = Claim> {
    claims.sort_unstable();
    claims.dedup();
    let mut refuted = Vec::new();
    let mut masks: Vec<Mask> = Vec::new();
    let mut rest = claims.as_slice();
    while let Some(first) = rest.first() {
        let mut sources = vec![first.earlier];
        let mut taken = 0;
        for claim in rest {
            if sources.last() != Some(&claim.earlier) {
                if sources.len() == BATCH {
                    break;
                }
                sources.push(claim.earlier);
            }
            taken += 1;
        }
        let (batch, others) = rest.split_at(taken);
        rest = others;
        let last = batch.iter().map(|c| c.later).max().unwrap_or(0);
        fill_masks(plan, &sources, last, &mut masks);
        refuted.extend(batch.iter().filter(|claim| {
            let bit = sources.partition_point(|s| *s < claim.earlier);
            claim.later <= claim.earlier || !is_set(&masks, claim.later - sources[0], bit)
        }));
    }
    refuted.into_iter()
}

fn is_set(masks: &[Mask], at: u32, bit: usize) -> bool {
    masks[at as usize][bit / 64] & (1 << (bit % 64)) != 0
}

/// Fills the masks of all steps from the first source to `last`: bit `b` is set if source `b` is the step or one of its
/// ancestors.
fn fill_masks(plan: &Plan, sources: &[u32], last: u32, masks: &mut Vec<Mask>) {
    let base = sources[0];
    masks.clear();
    masks.resize((last.max(base) - base) as usize + 1, [0; BATCH / 64]);
    let mut next = 0;
    for at in base..=last {
        let mut mask = masks[(at - base) as usize];
        if sources.get(next) == Some(&at) {
            mask[next / 64] |= 1 << (next % 64);
            next += 1;
        }
        if mask == [0; BATCH / 64] {
            continue;
        }
        let step = &plan.steps[at as usize];
        for to in step.successors.of(&plan.successors) {
            if to.0 <= last {
                let mask_of_next = &mut masks[(to.0 - base) as usize];
                mask_of_next.iter_mut().zip(mask).for_each(|(a, b)| *a |= b);
            }
        }
    }
}
