//! An order of a row's steps that brings equal recursions together.
//!
//! Pd computes voice after voice, so the filter of one voice waits for each of its samples before that of the next voice begins. Here a
//! recursion waits until nothing else can be computed: by then those of the other voices wait too, and run beside it (`lanes`).
//!
//! ```text
//!   Pd    osc~ lop~ *~ │ osc~ lop~ *~ │ osc~ lop~ *~
//!   here  osc~ osc~ osc~ │ lop~ lop~ lop~ │ *~ *~ *~
//! ```
//!
//! Whatever waits for another step, by a signal or by what both touch, comes behind it as before, so the sound is the same.

use super::bound_step::BoundStep;
use super::order_edges::OrderEdges;
use super::recursion::{LANES, LEAST, RecursionKind};
use super::shared::SharedName;
use std::collections::{BTreeSet, HashMap};

/// Steps that are computed together: one, or equal recursions, by their numbers in Pd's order.
pub(super) type Together = Vec<usize>;

/// Puts steps in order. `kinds` has the recursion that each of them is, if it is one.
pub(super) fn schedule(steps: &[BoundStep], kinds: &[Option<RecursionKind>]) -> Vec<Together> {
    let in_turn = || Vec::from_iter((0..steps.len()).map(|at| vec![at]));
    let mut counts = HashMap::new();
    for kind in kinds.iter().flatten() {
        *counts.entry(*kind).or_insert(0) += 1;
    }
    if counts.values().all(|count| *count < LEAST) {
        return in_turn();
    }
    let mut waiting = Waiting::new(steps, kinds);
    let mut order = Vec::with_capacity(steps.len());
    while let Some(next) = waiting.next() {
        next.iter().for_each(|at| waiting.end(*at));
        order.push(next);
    }
    match order.iter().any(|together| together.len() >= LEAST) {
        true => order,
        false => in_turn(),
    }
}

/// Returns true for a step without a signal of its own that writes no delay line.
fn may_be_last(step: &BoundStep) -> bool {
    let is_line = |name: &SharedName| matches!(name, SharedName::Delay(_));
    let writes_line = step.accesses.iter().any(|(name, _)| is_line(name));
    step.step.outlets().is_empty() && !writes_line
}

/// Steps, and for how many others each one waits.
struct Waiting<'k> {
    kinds: &'k [Option<RecursionKind>],
    counts: Vec<usize>,
    behind: Vec<Vec<usize>>,
    /// Those that wait for none: those for which others wait, recursions, and those that come last, since nothing waits for them.
    ready: BTreeSet<usize>,
    recursions: BTreeSet<usize>,
    last: BTreeSet<usize>,
    /// True for a step that may come last: it leaves nothing to others. Delay lines are written while what they keep is near.
    may_be_last: Vec<bool>,
}

impl<'k> Waiting<'k> {
    fn new(steps: &[BoundStep], kinds: &'k [Option<RecursionKind>]) -> Self {
        let mut new = Self {
            kinds,
            counts: Vec::with_capacity(steps.len()),
            behind: vec![Vec::new(); steps.len()],
            ready: BTreeSet::new(),
            recursions: BTreeSet::new(),
            last: BTreeSet::new(),
            may_be_last: steps.iter().map(may_be_last).collect(),
        };
        let mut edges = OrderEdges::default();
        let (mut writers, mut early) = (HashMap::new(), HashMap::<_, Vec<usize>>::new());
        for (at, step) in steps.iter().enumerate() {
            let mut before = edges.before(at, &step.accesses);
            for signal in step.step.inlets() {
                match writers.get(&signal) {
                    Some(writer) => before.push(*writer),
                    // It reads silence, and must not come behind who writes the signal.
                    None => early.entry(signal).or_default().push(at),
                }
            }
            for signal in step.step.outlets() {
                before.extend(early.remove(&signal).into_iter().flatten());
                writers.insert(signal, at);
            }
            let before = BTreeSet::from_iter(before.into_iter().filter(|other| *other != at));
            before.iter().for_each(|other| new.behind[*other].push(at));
            new.counts.push(before.len());
        }
        for at in 0..steps.len() {
            if new.counts[at] == 0 {
                new.make_ready(at);
            }
        }
        new
    }

    fn make_ready(&mut self, at: usize) {
        match self.kinds[at] {
            Some(_) => self.recursions.insert(at),
            None if self.may_be_last[at] && self.behind[at].is_empty() => self.last.insert(at),
            None => self.ready.insert(at),
        };
    }

    /// Takes what comes next: the first step that is no recursion, or the recursions of which most are ready, or what nothing waits for.
    fn next(&mut self) -> Option<Together> {
        if let Some(first) = self.ready.pop_first() {
            return Some(vec![first]);
        }
        // Ready recursions of each kind, in the order in which the first of each comes.
        let mut ready: Vec<Together> = Vec::new();
        for at in &self.recursions {
            let mut all = ready.iter_mut();
            let same = all.find(|same| self.kinds[same[0]] == self.kinds[*at]);
            match same {
                Some(same) => same.push(*at),
                None => ready.push(vec![*at]),
            }
        }
        let mut most = ready.into_iter().reduce(|most, other| {
            if other.len() > most.len() {
                other
            } else {
                most
            }
        });
        let Some(most) = &mut most else {
            return self.last.pop_first().map(|first| vec![first]);
        };
        most.truncate(LANES);
        for at in &*most {
            self.recursions.remove(at);
        }
        Some(std::mem::take(most))
    }

    /// A step has been put in order: those that have waited for it alone are ready.
    fn end(&mut self, at: usize) {
        for other in std::mem::take(&mut self.behind[at]) {
            self.counts[other] -= 1;
            if self.counts[other] == 0 {
                self.make_ready(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Step;
    use super::super::shared::SharedName;
    use super::super::world::BufferId;
    use super::*;
    use RecursionKind::{HighPass, LowPass};

    /// Steps of signals that are read and written.
    fn steps(all: &[(&[u32], &[u32])]) -> Vec<BoundStep> {
        let ids = |all: &[u32]| all.iter().map(|id| BufferId(*id)).collect();
        let step = |(inlets, outlets): &(&[u32], &[u32])| {
            BoundStep::unbound(Step::Perform {
                object: crate::control::ObjectId(0),
                inlets: ids(inlets),
                outlets: ids(outlets),
            })
        };
        all.iter().map(step).collect()
    }

    #[test]
    fn equal_recursions_of_voices_come_together() {
        // Two voices of a source and two filters, and their sum.
        let voices = steps(&[
            (&[], &[1]),
            (&[1], &[2]),
            (&[2], &[3]),
            (&[], &[4]),
            (&[4], &[5]),
            (&[5], &[6]),
            (&[3, 6], &[7]),
        ]);
        let [low, high] = [LowPass, HighPass].map(Some);
        let kinds = [None, low, high, None, low, high, None];
        let expected: [&[usize]; 5] = [&[0], &[3], &[1, 4], &[2, 5], &[6]];
        assert_eq!(schedule(&voices, &kinds), expected);
        // Where nothing comes together, Pd's order stays.
        let kinds = [None, low, None, None, high, None, None];
        let expected = Vec::from_iter((0..7).map(|at| vec![at]));
        assert_eq!(schedule(&voices, &kinds), expected);
    }

    #[test]
    fn a_filter_behind_another_one_does_not_come_beside_it() {
        let chain = steps(&[(&[], &[1]), (&[1], &[2]), (&[2], &[3])]);
        let kinds = [None, Some(LowPass), Some(LowPass)];
        assert_eq!(schedule(&chain, &kinds), [[0], [1], [2]]);
    }

    #[test]
    fn what_reads_a_signal_before_it_is_written_stays_before() {
        // Step 0 reads silence where step 3 writes later.
        let all = steps(&[(&[4], &[1]), (&[], &[2]), (&[2], &[3]), (&[], &[4])]);
        let kinds = [Some(LowPass), None, Some(LowPass), None];
        let order = schedule(&all, &kinds).concat();
        let place = |step| order.iter().position(|at| *at == step);
        assert!(place(0) < place(3), "{order:?}");
    }

    #[test]
    fn steps_that_share_a_thing_keep_their_order() {
        let mut all = steps(&[
            (&[], &[1]),
            (&[1], &[2]),
            (&[2], &[]),
            (&[], &[3]),
            (&[3], &[4]),
        ]);
        let line = SharedName::Output(0);
        all[2].accesses = vec![(line, true)];
        all[3].accesses = vec![(line, false)];
        let kinds = [None, Some(LowPass), None, None, Some(LowPass)];
        assert_eq!(schedule(&all, &kinds).concat(), [0, 1, 2, 3, 4]);
    }
}
