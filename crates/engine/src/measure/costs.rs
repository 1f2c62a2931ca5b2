//! Costs of nodes, as they were measured.

use ::costs::{BlockCost, MachineCosts, node_shape};
use graph::{Catalogue, Graph, NodeId};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use units::{Frames, Nanos, SampleRate};

/// Times in one state of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// Median of all readings.
    pub typical: Nanos,
    /// Longest cycle, each cycle taken at its shortest reading: so it is the node's own worst case, without the time
    /// that other programs took away.
    pub worst: Nanos,
}

/// Times of a step, with warm and with polluted caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCost {
    /// With warm caches: one cycle directly after the other.
    pub warm: StepTimes,
    /// With polluted caches: after other data went through them.
    pub polluted: StepTimes,
}

impl StepCost {
    /// Both times, with no worst time below a typical one: a worst time is the longest of the shortest repeats, and so may
    /// come out below a median in which other programs have a part.
    pub(super) fn new(warm: StepTimes, polluted: StepTimes) -> Self {
        let raised = |times: StepTimes, least: Nanos| StepTimes {
            worst: times.worst.max(times.typical).max(least),
            ..times
        };
        Self {
            warm: raised(warm, Nanos(0)),
            polluted: raised(polluted, warm.typical),
        }
    }
}

/// Cost of one node for a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCost {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// Its effective kind.
    pub kind: String,
    /// Its cost without that of its deferred work. Of a delay it is the reading half. Nodes of a loop share the cost of all its
    /// rounds in proportion to their stated costs.
    pub cost: StepCost,
    /// Its deferred work, by job. A job that was never asked for is left out.
    pub work: Vec<MeasuredWork>,
}

/// Cost of a deferred job of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredWork {
    /// Cost of one request.
    pub cost: StepCost,
    /// Fewest blocks from a request until its result is due.
    pub blocks: u64,
}

impl MeasuredWork {
    fn stored(&self) -> ::costs::WorkCost {
        ::costs::WorkCost {
            ns: self.cost.warm.typical.0,
            worst_ns: self.cost.polluted.worst.0,
            blocks: u32::try_from(self.blocks).unwrap_or(u32::MAX),
        }
    }
}

/// Cost of the nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCost {
    /// The kind.
    pub kind: String,
    /// Number of its nodes.
    pub nodes: usize,
    /// Typical times of the median node, and worst times of any.
    pub cost: StepCost,
}

/// Costs of the nodes of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCosts {
    /// Frames in a block.
    pub block: Frames,
    /// Sample rate.
    pub rate: SampleRate,
    /// Each node, in the order in which they run.
    pub nodes: Vec<NodeCost>,
    /// A whole cycle on one worker.
    pub cycle: StepCost,
    /// Number of cycles in a run.
    pub cycles: u32,
    /// Number of repeats, with warm caches and again with polluted ones.
    pub repeats: u32,
    /// Cost of taking one time stamp, in ns. It is already subtracted from all times.
    pub mark_ns: f64,
    /// Number of bytes that were read to pollute the caches.
    pub swept_bytes: usize,
}

impl NodeCosts {
    /// Typical costs with warm caches: what to expect.
    pub fn typical(&self) -> plan::MeasuredCosts {
        self.each(|cost| cost.warm.typical)
    }

    /// Worst costs with polluted caches: the worst case to plan for.
    pub fn worst(&self) -> plan::MeasuredCosts {
        self.each(|cost| cost.polluted.worst)
    }

    fn each(&self, which: impl Fn(&StepCost) -> Nanos) -> plan::MeasuredCosts {
        let all = self.nodes.iter().map(|n| (n.node, which(&n.cost)));
        plan::MeasuredCosts {
            by_node: all.collect(),
        }
    }

    /// Costs by kind, most expensive first.
    pub fn kinds(&self) -> Vec<KindCost> {
        let mut by_kind = BTreeMap::<&str, Vec<StepCost>>::new();
        for node in &self.nodes {
            by_kind.entry(&node.kind).or_default().push(node.cost);
        }
        let kinds = by_kind.into_iter().map(|(kind, all)| KindCost {
            kind: kind.to_owned(),
            nodes: all.len(),
            cost: median_step(&all),
        });
        let mut kinds: Vec<KindCost> = kinds.collect();
        kinds.sort_by_key(|k| std::cmp::Reverse(k.cost.warm.typical));
        kinds
    }

    /// Stores the costs in the costs file's entry of this machine, under the patch's name and for each kind and shape.
    pub fn store(
        &self,
        machine: &mut MachineCosts,
        patch: &str,
        graph: &Graph,
        catalogue: &Catalogue,
    ) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let stamped = BlockCost {
            block: self.block.0,
            at_s: now.map_or(0, |now| now.as_secs()),
            crossing_ns: machine.crossing_ns(),
            ..BlockCost::default()
        };
        let of = |shape: u64, cost: &StepCost, work: &[MeasuredWork]| BlockCost {
            shape,
            ns: cost.warm.typical.0,
            worst_ns: Some(cost.polluted.worst.0),
            work: Some(work.iter().map(MeasuredWork::stored).collect()),
            ..stamped.clone()
        };
        let mut by_shape = BTreeMap::<(&str, u64), Vec<&NodeCost>>::new();
        let mut of_nodes = Vec::with_capacity(self.nodes.len());
        for cost in &self.nodes {
            let Some(node) = graph.node(cost.node) else {
                continue;
            };
            let shape = node_shape(node, catalogue);
            by_shape.entry((&cost.kind, shape)).or_default().push(cost);
            of_nodes.push((cost.node, of(shape, &cost.cost, &cost.work)));
        }
        machine.keep_patch(patch, graph, of_nodes);
        for ((kind, shape), all) in by_shape {
            let steps: Vec<StepCost> = all.iter().map(|it| it.cost).collect();
            let work = dearest_work(&all);
            machine.keep_kind(kind, of(shape, &median_step(&steps), work));
        }
    }
}

/// The deferred work of the node that takes most for it.
fn dearest_work<'a>(all: &[&'a NodeCost]) -> &'a [MeasuredWork] {
    let total = |node: &&&NodeCost| -> u64 {
        let work = node.work.iter();
        work.map(|it| it.cost.polluted.worst.0 / it.blocks.max(1))
            .sum()
    };
    let dearest = all.iter().max_by_key(total);
    dearest.map_or(&[], |node| &node.work)
}

/// Typical times of the median node, and worst times of any.
fn median_step(all: &[StepCost]) -> StepCost {
    StepCost::new(
        median_cost(all, |c| c.warm),
        median_cost(all, |c| c.polluted),
    )
}

fn median_cost(all: &[StepCost], of: impl Fn(&StepCost) -> StepTimes) -> StepTimes {
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
    fn no_worst_time_is_below_a_typical_one() {
        let times = |typical, worst| StepTimes {
            typical: Nanos(typical),
            worst: Nanos(worst),
        };
        let cost = StepCost::new(times(9, 7), times(5, 6));
        assert_eq!((cost.warm, cost.polluted), (times(9, 9), times(5, 9)));
    }

    #[test]
    fn a_kind_has_the_typical_time_of_its_median_node_and_the_worst_of_all() {
        let all = [3, 1, 2].map(cost);
        let median_cost = median_cost(&all, |c| c.warm);
        assert_eq!(
            (median_cost.typical, median_cost.worst),
            (Nanos(2), Nanos(30))
        );
    }
}
