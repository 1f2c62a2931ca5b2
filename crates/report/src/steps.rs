//! What steps of a plan are called, and when each is due.

use graph::{Graph, NodeId};
use plan::{Plan, Work};

/// The names of a plan's steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<Named>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    name: String,
    every: u32,
    phase: u32,
}

impl Steps {
    /// The steps of `plan`, called as the nodes of `graph`; a loop is called by its members.
    pub fn of(plan: &Plan, graph: &Graph) -> Self {
        let named = plan.steps.iter().map(|step| Named {
            name: name(plan, graph, step.work),
            every: step.every.max(1),
            phase: step.phase,
        });
        Self(named.collect())
    }

    /// Steps with these names, each due in every cycle.
    pub fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let named = names.into_iter().map(|name| Named {
            name: name.into(),
            every: 1,
            phase: 0,
        });
        Self(named.collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn name(&self, step: usize) -> &str {
        &self.0[step].name
    }

    /// Which steps cycle `cycle` must have run. Only the low 32 bits of cycles are known here, so for a rate that is
    /// not a power of two this slips where they wrap, after weeks of playing.
    pub(crate) fn due(&self, cycle: u32) -> impl Iterator<Item = usize> {
        let steps = self.0.iter().enumerate();
        steps.filter_map(move |(i, step)| (cycle % step.every == step.phase).then_some(i))
    }
}

/// How many members a loop's name has before it says "…".
const MEMBERS: usize = 3;

fn name(plan: &Plan, graph: &Graph, work: Work) -> String {
    let named = |node: NodeId| {
        let there = graph.node(node).map(|node| node.name.clone());
        there.unwrap_or_else(|| format!("node {}", node.0))
    };
    match work {
        Work::Node { node, .. }
        | Work::Write { node, .. }
        | Work::Keep { node }
        | Work::Mute { node } => named(node),
        Work::Loop(id) => {
            let members = plan.loops[id.0 as usize].steps.of(&plan.inner);
            let mut names: Vec<String> = members
                .iter()
                .map(|step| name(plan, graph, step.work))
                .collect();
            names.dedup();
            let more = if names.len() > MEMBERS { ", …" } else { "" };
            names.truncate(MEMBERS);
            format!("loop of {}{more}", names.join(", "))
        }
    }
}
