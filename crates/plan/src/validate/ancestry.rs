//! Whether one step always runs before another.

use crate::Plan;

/// Why one step must be over before another starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// The later reads what the earlier wrote to this slot.
    Reads(u32),
    /// The later overwrites what the earlier reads or wrote there.
    Overwrites(u32),
    /// The later hears what the earlier sends.
    Hears(u32),
    /// The later reads what the earlier wrote to this line.
    Line(u32),
}

/// That a step is over before another starts, in whatever order steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) why: Why,
}

impl Claim {
    /// What is wrong if it does not hold.
    pub(super) fn words(self) -> String {
        let Self { earlier, later, .. } = self;
        match self.why {
            Why::Reads(slot) => {
                format!(
                    "step {later} reads slot {slot} but need not wait for its writer, step {earlier}"
                )
            }
            Why::Overwrites(slot) => {
                format!(
                    "step {later} overwrites slot {slot} but need not wait for step {earlier}, which uses it"
                )
            }
            Why::Hears(send) => {
                format!(
                    "step {later} hears send {send} but need not wait for its sender, step {earlier}"
                )
            }
            Why::Line(line) => {
                format!(
                    "step {later} reads line {line} but need not wait for its writer, step {earlier}"
                )
            }
        }
    }
}

/// How many steps are followed at once: the bits of a [`Mask`].
const BATCH: usize = 256;
type Mask = [u64; BATCH / 64];

/// The claims that do not hold. The shape of the plan has been checked.
///
/// Takes up to [`BATCH`] earlier steps together and marks all that comes after each, only as far as anyone asks.
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
        mark(plan, &sources, last, &mut masks);
        refuted.extend(batch.iter().filter(|claim| {
            let bit = sources.partition_point(|s| *s < claim.earlier);
            claim.later <= claim.earlier || !is_marked(&masks, claim.later - sources[0], bit)
        }));
    }
    refuted.into_iter()
}

fn is_marked(masks: &[Mask], at: u32, bit: usize) -> bool {
    masks[at as usize][bit / 64] & (1 << (bit % 64)) != 0
}

/// Fills `masks`, from the first source up to `last`: bit b is whether the step waits for source b.
fn mark(plan: &Plan, sources: &[u32], last: u32, masks: &mut Vec<Mask>) {
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
                let there = &mut masks[(to.0 - base) as usize];
                there.iter_mut().zip(mask).for_each(|(a, b)| *a |= b);
            }
        }
    }
}
