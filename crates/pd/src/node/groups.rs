//! Groups of steps that become one node.
//!
//! An object of a patch computes for some tens of nanoseconds, less than an executor needs to pass from one node to the next. So steps
//! that could not run side by side anyway become one node, up to a cost that is worth the way to another core:
//!
//! ```text
//!   osc~ ─▶ *~ ─▶ +~ ─▶ dac~       a chain is one node, and what leads only into it belongs to it
//!   sig~ ──────────┘
//! ```
//!
//! A step joins the only node for which it waits; then a node joins the only one that waits for it. Neither closes a circle: a circle
//! would need a second way between the two. Where that one waits for others too, only what is cheap joins it: it begins when all are
//! there, and what could have been computed meanwhile would come then. What waits for nothing comes first, so that a dear source and the
//! cheap steps behind it are together before those steps are looked at.

use std::collections::BTreeSet;

/// Cost in nanoseconds up to which steps are put together: about that of waking a worker.
pub(super) const MAX_GROUP_NS: u64 = 4000;

/// Cost of a node that joins one for which others compute too: about that of the way of its sound to another core.
const MAX_JOINED_NS: u64 = 250;

/// A step, as the grouping sees it.
pub(super) struct StepCost {
    /// Steps for which it waits, all before it.
    pub(super) before: Vec<usize>,
    pub(super) cost_ns: u64,
    /// Its patch: steps of two never share a node, so that one may be removed.
    pub(super) patch: u16,
}

/// Puts steps into groups: the steps of each in their order, groups in the order of their first steps. Only what costs at most
/// `max_ns` together is put together.
pub(super) fn group(steps: &[&StepCost], max_ns: u64) -> Vec<Vec<usize>> {
    let total: u64 = steps.iter().map(|step| step.cost_ns).sum();
    let is_one = steps.iter().all(|step| step.patch == steps[0].patch);
    if total <= max_ns && !steps.is_empty() && is_one {
        return vec![(0..steps.len()).collect()];
    }
    let mut groups = Groups {
        of_step: Vec::with_capacity(steps.len()),
        costs: Vec::new(),
        patches: Vec::new(),
        max_ns,
    };
    for step in steps {
        groups.add(step);
    }
    groups.join_readers(steps);
    let mut all = vec![Vec::new(); groups.costs.len()];
    for (step, group) in groups.of_step.into_iter().enumerate() {
        all[group].push(step);
    }
    all.retain(|group| !group.is_empty());
    all.sort_unstable_by_key(|group| group[0]);
    all
}

struct Groups {
    of_step: Vec<usize>,
    costs: Vec<u64>,
    patches: Vec<u16>,
    max_ns: u64,
}

impl Groups {
    /// Adds a step to the only group for which it waits, or as a group of its own.
    fn add(&mut self, step: &StepCost) {
        let before = step.before.iter().map(|step| self.of_step[*step]);
        let before = BTreeSet::from_iter(before);
        let only = before.first().copied().filter(|_| before.len() == 1);
        let fits = |group: &usize| {
            self.costs[*group] + step.cost_ns <= self.max_ns && self.patches[*group] == step.patch
        };
        let group = only.filter(fits).unwrap_or(self.costs.len());
        if group == self.costs.len() {
            self.costs.push(0);
            self.patches.push(step.patch);
        }
        self.costs[group] += step.cost_ns;
        self.of_step.push(group);
    }

    /// Adds each group to the only one that waits for it, until no more can be added.
    fn join_readers(&mut self, steps: &[&StepCost]) {
        let mut edges = GroupEdges::new(steps, &self.of_step, self.costs.len());
        for only_sources in [true, false] {
            while self.join_some(&mut edges, only_sources) {}
        }
        for group in &mut self.of_step {
            *group = edges.joined(*group);
        }
    }

    /// Adds groups to their readers, each once at most. Returns true if there was one.
    fn join_some(&mut self, edges: &mut GroupEdges, only_sources: bool) -> bool {
        let mut has_joined = false;
        for group in 0..self.costs.len() {
            if let Some(reader) = self.joinable(group, edges, only_sources) {
                self.costs[reader] += std::mem::take(&mut self.costs[group]);
                edges.join(group, reader);
                has_joined = true;
            }
        }
        has_joined
    }

    /// The group that `group` joins. With `only_sources`, one for which others compute takes in what waits for nothing.
    fn joinable(&self, group: usize, edges: &GroupEdges, only_sources: bool) -> Option<usize> {
        let (1, Some(&reader)) = (edges.readers[group].len(), edges.readers[group].first()) else {
            return None;
        };
        let is_alone = edges.before[reader].len() == 1;
        let is_cheap =
            self.costs[group] <= MAX_JOINED_NS && (edges.before[group].is_empty() || !only_sources);
        let fits = self.costs[group] + self.costs[reader] <= self.max_ns
            && self.patches[group] == self.patches[reader];
        (fits && (is_alone || is_cheap)).then_some(reader)
    }
}

/// Which groups wait for which.
struct GroupEdges {
    before: Vec<BTreeSet<usize>>,
    readers: Vec<BTreeSet<usize>>,
    /// The group that each has joined: itself, if none.
    joined: Vec<usize>,
}

impl GroupEdges {
    fn new(steps: &[&StepCost], of_step: &[usize], count: usize) -> Self {
        let mut edges = Self {
            before: vec![BTreeSet::new(); count],
            readers: vec![BTreeSet::new(); count],
            joined: (0..count).collect(),
        };
        for (step, group) in steps.iter().zip(of_step) {
            let before = step.before.iter().map(|before| of_step[*before]);
            for before in before.filter(|before| before != group) {
                edges.readers[before].insert(*group);
                edges.before[*group].insert(before);
            }
        }
        edges
    }

    /// Lets a group join its only reader.
    fn join(&mut self, group: usize, reader: usize) {
        let before = std::mem::take(&mut self.before[group]);
        for other in &before {
            self.readers[*other].remove(&group);
            self.readers[*other].insert(reader);
        }
        self.before[reader].remove(&group);
        self.before[reader].extend(before);
        self.readers[group].clear();
        self.joined[group] = reader;
    }

    /// The group in which all that have joined ended.
    fn joined(&self, mut group: usize) -> usize {
        while self.joined[group] != group {
            group = self.joined[group];
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: &[(&[usize], u64)]) -> Vec<StepCost> {
        let step = |(before, cost_ns): &(&[usize], u64)| StepCost {
            before: before.to_vec(),
            cost_ns: *cost_ns,
            patch: 0,
        };
        all.iter().map(step).collect()
    }

    fn groups(steps: &[StepCost], max_ns: u64) -> Vec<Vec<usize>> {
        group(&Vec::from_iter(steps), max_ns)
    }

    #[test]
    fn a_chain_is_one_group_up_to_the_cost() {
        let chain = steps(&[(&[], 40), (&[0], 40), (&[1], 40), (&[2], 40)]);
        assert_eq!(groups(&chain, 1000), [[0, 1, 2, 3]]);
        assert_eq!(groups(&chain, 80), [[0, 1], [2, 3]]);
        assert_eq!(groups(&chain, 0).len(), 4);
    }

    #[test]
    fn branches_stay_apart_and_what_leads_into_one_belongs_to_it() {
        // Two voices of a source and a filter each, and their sum.
        let voices = steps(&[
            (&[], 10),
            (&[0], 60),
            (&[], 10),
            (&[2], 60),
            (&[1, 3], 40),
            (&[4], 10),
        ]);
        assert_eq!(groups(&voices, 100), [vec![0, 1], vec![2, 3], vec![4, 5]]);
    }

    #[test]
    fn a_voice_does_not_wait_for_the_others_in_their_sum() {
        // Two voices of a dear source, a number and their product; a third one is dear too, a fourth cheap; then their sum.
        let voices = steps(&[
            (&[], 600),
            (&[], 20),
            (&[0, 1], 10),
            (&[], 700),
            (&[], 20),
            (&[3, 4], 10),
            (&[], 500),
            (&[], 30),
            (&[2, 5], 10),
            (&[8, 6], 10),
            (&[9, 7], 10),
        ]);
        let expected = [vec![0, 1, 2], vec![3, 4, 5], vec![6], vec![7, 8, 9, 10]];
        assert_eq!(groups(&voices, 1000), expected);
    }

    #[test]
    fn no_group_waits_for_one_that_waits_for_it() {
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..500 {
            let count = 2 + random(40);
            let steps: Vec<StepCost> = (0..count)
                .map(|at| StepCost {
                    before: (0..random(4))
                        .filter(|_| at > 0)
                        .map(|_| random(at.max(1)))
                        .collect(),
                    cost_ns: 1 + random(50) as u64,
                    patch: 0,
                })
                .collect();
            let groups = groups(&steps, 100);
            let of_step = |step: usize| groups.iter().position(|it| it.contains(&step)).unwrap();
            // Groups that can be played one after the other.
            let mut done = BTreeSet::new();
            while done.len() < groups.len() {
                let is_ready = |at: &usize| {
                    let before = groups[*at].iter().flat_map(|step| &steps[*step].before);
                    let mut before = before.map(|step| of_step(*step));
                    !done.contains(at) && before.all(|other| other == *at || done.contains(&other))
                };
                let next = (0..groups.len()).find(is_ready);
                done.insert(next.expect("a group whose steps need not wait"));
            }
        }
    }
}
