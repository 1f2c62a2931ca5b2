//! Equal groups of steps, as voices are, that share a node: there their filters run side by side (`signal/lanes`).
//!
//! ```text
//!   50 groups of osc~ ─▶ lop~ ─▶ *~, one a voice    8 nodes of 6 or 7 voices each
//! ```
//!
//! Groups of one level share a node: the level is the longest way from a group that waits for nothing, so none of them waits for another
//! one, and no circle of nodes comes from it. There are 2 or 4 nodes, or a multiple of 4, so that workers get as much as each other.

use super::groups::StepCost;
use crate::signal::LANES;
use std::collections::{BTreeSet, HashMap};

/// Cost of a node of several groups, in nanoseconds, as if each step ran alone.
const MAX_BUNDLE_NS: u64 = 8000;

/// Groups for which it is worth it.
const LEAST: usize = 3;

/// Classes whose steps run side by side.
const SIDE_BY_SIDE: [&str; 7] = ["lop~", "hip~", "bp~", "biquad~", "vcf~", "rpole~", "cpole~"];

/// Puts equal groups together. `classes` has the class of each step.
pub(super) fn bundle(
    groups: Vec<Vec<usize>>,
    steps: &[&StepCost],
    classes: &[&str],
) -> Vec<Vec<usize>> {
    let levels = levels(&groups, steps);
    let mut equal: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        let shape = Vec::from_iter(group.iter().map(|step| classes[*step]));
        if shape.iter().any(|class| SIDE_BY_SIDE.contains(class)) {
            let patch = steps[group[0]].patch;
            equal
                .entry((levels[at], patch, shape))
                .or_default()
                .push(at);
        }
    }
    let mut groups = Vec::from_iter(groups.into_iter().map(Some));
    let mut bundles = Vec::with_capacity(groups.len());
    for same in equal.values() {
        let cost = |at: &usize| {
            let steps = groups[*at]
                .iter()
                .flatten()
                .map(|step| steps[*step].cost_ns);
            steps.sum::<u64>()
        };
        let dearest = same.iter().map(cost).max().unwrap_or_default();
        let count = bundle_count(same.len(), dearest);
        for bundle in 0..count {
            // As even as can be.
            let part = same.len() * bundle / count..same.len() * (bundle + 1) / count;
            let part = same[part].iter().filter_map(|at| groups[*at].take());
            let mut steps = Vec::from_iter(part.flatten());
            steps.sort_unstable();
            bundles.push(steps);
        }
    }
    bundles.extend(groups.into_iter().flatten());
    bundles.sort_unstable_by_key(|group| group[0]);
    bundles
}

/// Nodes for `groups` equal groups of this cost; none where each stays alone.
fn bundle_count(groups: usize, cost_ns: u64) -> usize {
    let size = MAX_BUNDLE_NS / cost_ns.max(1);
    let size = usize::try_from(size).unwrap_or(LANES).min(LANES);
    let multiple = if groups >= 4 * LEAST { 4 } else { 2 };
    let count = groups.div_ceil(size.max(1)).next_multiple_of(multiple);
    if groups / count >= LEAST { count } else { 0 }
}

/// The level of each group.
fn levels(groups: &[Vec<usize>], steps: &[&StepCost]) -> Vec<usize> {
    let mut of_step = vec![0; steps.len()];
    for (at, group) in groups.iter().enumerate() {
        group.iter().for_each(|step| of_step[*step] = at);
    }
    let mut behind = vec![BTreeSet::new(); groups.len()];
    for (at, step) in steps.iter().enumerate() {
        for before in &step.before {
            if of_step[*before] != of_step[at] {
                behind[of_step[*before]].insert(of_step[at]);
            }
        }
    }
    let mut counts = vec![0; groups.len()];
    behind.iter().flatten().for_each(|at| counts[*at] += 1);
    let ready = (0..groups.len()).filter(|at| counts[*at] == 0);
    let (mut ready, mut levels) = (Vec::from_iter(ready), vec![0; groups.len()]);
    while let Some(at) = ready.pop() {
        for other in &behind[at] {
            levels[*other] = levels[*other].max(levels[at] + 1);
            counts[*other] -= 1;
            if counts[*other] == 0 {
                ready.push(*other);
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: &[usize], cost_ns: u64) -> StepCost {
        StepCost {
            before: before.to_vec(),
            cost_ns,
            patch: 0,
        }
    }

    #[test]
    fn voices_share_a_multiple_of_four_nodes_as_evenly_as_can_be() {
        for (groups, cost_ns, expected) in [
            (5, 700, 0),
            (6, 700, 2),
            (12, 700, 4),
            (16, 700, 4),
            (50, 700, 8),
            (50, 2500, 0),
            (50, 2000, 16),
            (50, 100_000, 0),
        ] {
            assert_eq!(
                bundle_count(groups, cost_ns),
                expected,
                "{groups} {cost_ns}"
            );
        }
    }

    #[test]
    fn equal_groups_of_one_level_are_put_together_and_no_others() {
        // Six filters, each behind a source; one more behind the first of them, and a group without filters.
        let mut steps = Vec::new();
        let mut classes = Vec::new();
        for voice in 0..6 {
            steps.extend([step(&[], 100), step(&[2 * voice], 100)]);
            classes.extend(["osc~", "lop~"]);
        }
        steps.extend([step(&[1], 100), step(&[12], 100), step(&[], 10)]);
        classes.extend(["osc~", "lop~", "*~"]);
        let mut groups: Vec<Vec<usize>> = (0..7).map(|at| vec![2 * at, 2 * at + 1]).collect();
        groups.push(vec![14]);
        let found = bundle(groups, &Vec::from_iter(&steps), &classes);
        let expected = [
            vec![0, 1, 2, 3, 4, 5],
            vec![6, 7, 8, 9, 10, 11],
            vec![12, 13],
            vec![14],
        ];
        assert_eq!(found, expected);
    }
}
