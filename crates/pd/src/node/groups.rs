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
//! would need a second way between the two.

use std::collections::BTreeSet;

/// Cost in nanoseconds up to which steps are put together: about that of waking a worker.
pub(super) const MAX_GROUP_NS: u64 = 4000;

/// A step, as the grouping sees it.
pub(super) struct StepCost {
    /// Steps for which it waits, all before it.
    pub(super) before: Vec<usize>,
    pub(super) cost_ns: u64,
}

/// Puts steps into groups: the steps of each in their order, groups in the order of their first steps. Only what costs at most
/// `max_ns` together is put together.
pub(super) fn group(steps: &[&StepCost], max_ns: u64) -> Vec<Vec<usize>> {
    let total: u64 = steps.iter().map(|step| step.cost_ns).sum();
    if total <= max_ns && !steps.is_empty() {
        return vec![(0..steps.len()).collect()];
    }
    let mut groups = Groups {
        of_step: Vec::with_capacity(steps.len()),
        costs: Vec::new(),
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
    max_ns: u64,
}

impl Groups {
    /// Adds a step to the only group for which it waits, or as a group of its own.
    fn add(&mut self, step: &StepCost) {
        let before = step.before.iter().map(|step| self.of_step[*step]);
        let before = BTreeSet::from_iter(before);
        let only = before.first().copied().filter(|_| before.len() == 1);
        let fits = |group: &usize| self.costs[*group] + step.cost_ns <= self.max_ns;
        let group = only.filter(fits).unwrap_or(self.costs.len());
        if group == self.costs.len() {
            self.costs.push(0);
        }
        self.costs[group] += step.cost_ns;
        self.of_step.push(group);
    }

    /// Adds each group to the only one that waits for it. Groups are in an order in which none waits for a later one, since only the
    /// first step of a group waits for others.
    fn join_readers(&mut self, steps: &[&StepCost]) {
        let mut readers = vec![BTreeSet::new(); self.costs.len()];
        for (step, group) in steps.iter().zip(&self.of_step) {
            for before in &step.before {
                readers[self.of_step[*before]].insert(*group);
            }
        }
        let mut joined: Vec<usize> = (0..self.costs.len()).collect();
        for group in (0..joined.len()).rev() {
            let others = readers[group].iter().map(|reader| joined[*reader]);
            let others: BTreeSet<usize> = others.filter(|other| *other != group).collect();
            if let (1, Some(&other)) = (others.len(), others.first())
                && self.costs[group] + self.costs[other] <= self.max_ns
            {
                self.costs[other] += self.costs[group];
                joined[group] = other;
            }
        }
        for group in &mut self.of_step {
            *group = joined[*group];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: &[(&[usize], u64)]) -> Vec<StepCost> {
        let step = |(before, cost_ns): &(&[usize], u64)| StepCost {
            before: before.to_vec(),
            cost_ns: *cost_ns,
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
