//! What was measured of nodes.

use graph::{Graph, NodeId};
use std::collections::BTreeMap;
use units::{Frames, Nanos, SampleRate};

/// What something takes, in one state of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// The median of all readings.
    pub typical: Nanos,
    /// The dearest cycle, each cycle taken at its best: the largest over the cycles of a run of the least over its
    /// repeats. So it is the node's own worst, and what other programs took away does not count.
    pub worst: Nanos,
}

/// What something takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCost {
    /// One cycle right behind the other.
    pub warm: StepTimes,
    /// After other data have gone through the caches.
    pub polluted: StepTimes,
}

/// What one node takes for a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCost {
    /// Which.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// What it plays.
    pub kind: String,
    /// What it takes. Of a delay it is the reading half; of nodes in a loop, all rounds, shared out as their stated
    /// costs are.
    pub cost: StepCost,
}

/// What the nodes of one kind take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCost {
    /// Which kind.
    pub kind: String,
    /// How many nodes of it there are.
    pub nodes: usize,
    /// What is typical for the middle one, and what was worst for any.
    pub cost: StepCost,
}

/// What the nodes of a graph take.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCosts {
    /// Frames in a block.
    pub block: Frames,
    /// Frames a second.
    pub rate: SampleRate,
    /// Each node, in the order in which they run.
    pub nodes: Vec<NodeCost>,
    /// A whole cycle on one worker.
    pub cycle: StepCost,
    /// How many cycles a run had.
    pub cycles: u32,
    /// How often it was repeated, with the caches warm and again with them polluted.
    pub repeats: u32,
    /// What taking a step's time costs; it has been taken off every time here.
    pub mark_ns: f64,
    /// How much was read to pollute the caches.
    pub swept_bytes: usize,
}

impl NodeCosts {
    /// Typical costs with warm caches: what to expect.
    pub fn typical(&self) -> plan::MeasuredCosts {
        self.each(|cost| cost.warm.typical)
    }

    /// The worst, with polluted caches: what to be ready for.
    pub fn worst(&self) -> plan::MeasuredCosts {
        self.each(|cost| cost.polluted.worst)
    }

    fn each(&self, which: impl Fn(&StepCost) -> Nanos) -> plan::MeasuredCosts {
        let all = self.nodes.iter().map(|n| (n.node, which(&n.cost)));
        plan::MeasuredCosts {
            by_node: all.collect(),
        }
    }

    /// The same by kind, dearest first.
    pub fn kinds(&self) -> Vec<KindCost> {
        let mut by_kind = BTreeMap::<&str, Vec<StepCost>>::new();
        for node in &self.nodes {
            by_kind.entry(&node.kind).or_default().push(node.cost);
        }
        let kinds = by_kind.into_iter().map(|(kind, all)| KindCost {
            kind: kind.to_owned(),
            nodes: all.len(),
            cost: StepCost {
                warm: middle(&all, |c| c.warm),
                polluted: middle(&all, |c| c.polluted),
            },
        });
        let mut kinds: Vec<KindCost> = kinds.collect();
        kinds.sort_by_key(|k| std::cmp::Reverse(k.cost.warm.typical));
        kinds
    }

    /// Keeps them in the costs file's part of this machine, under the patch's name and for each kind.
    pub fn store(&self, machine: &mut report::MachineCosts, patch: &str, graph: &Graph) {
        let of_nodes = self
            .nodes
            .iter()
            .map(|n| (n.node, measured(self.block, &n.cost)));
        machine.keep_patch(patch, graph, of_nodes);
        for kind in self.kinds() {
            machine.keep_kind(&kind.kind, measured(self.block, &kind.cost));
        }
    }
}

fn measured(block: Frames, cost: &StepCost) -> report::BlockCost {
    report::BlockCost {
        block: block.0,
        ns: cost.warm.typical.0,
        worst_ns: Some(cost.polluted.worst.0),
    }
}

fn middle(all: &[StepCost], of: impl Fn(&StepCost) -> StepTimes) -> StepTimes {
    let mut typical: Vec<Nanos> = all.iter().map(|c| of(c).typical).collect();
    typical.sort_unstable();
    let worst = all.iter().map(|c| of(c).worst).max();
    StepTimes {
        typical: typical.get(typical.len() / 2).copied().unwrap_or_default(),
        worst: worst.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(ns: u64) -> StepCost {
        let times = StepTimes {
            typical: Nanos(ns),
            worst: Nanos(10 * ns),
        };
        StepCost {
            warm: times,
            polluted: times,
        }
    }

    #[test]
    fn a_kind_is_as_its_middle_node_and_as_bad_as_its_worst() {
        let all = [3, 1, 2].map(cost);
        let middle = middle(&all, |c| c.warm);
        assert_eq!((middle.typical, middle.worst), (Nanos(2), Nanos(30)));
    }
}
