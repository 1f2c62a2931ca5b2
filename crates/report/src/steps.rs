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

    /// Which steps cycle `cycle` must have run.
    pub(crate) fn due(&self, cycle: u32) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(move |step| self.is_due(*step, cycle))
    }

    /// Whether cycle `cycle` must have run the step. Only the low 32 bits of cycles are known here, so for a rate that
    /// is not a power of two this slips where they wrap, after weeks of playing.
    pub(crate) fn is_due(&self, step: usize, cycle: u32) -> bool {
        let step = &self.0[step];
        cycle % step.every == step.phase
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

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Node;
    use plan::{Loop, LoopId, Span, Step};
    use units::{Frames, Nanos, SampleRate};

    fn step(work: Work, every: u32, phase: u32) -> Step {
        Step {
            work,
            inputs: Span::default(),
            outputs: Span::default(),
            successors: Span::default(),
            activation: 0,
            every,
            phase,
            lag: 0,
            copy: 0,
            cost: Nanos(0),
        }
    }

    fn plan(steps: Vec<Step>, inner: Vec<Step>, loops: Vec<Loop>) -> Plan {
        Plan {
            block: Frames(64),
            rate: SampleRate::new(48_000).unwrap(),
            steps,
            inner,
            loops,
            successors: Vec::new(),
            tasks: Vec::new(),
            released: Vec::new(),
            inputs: Vec::new(),
            feeds: Vec::new(),
            summed: Vec::new(),
            event_feeds: Vec::new(),
            outputs: Vec::new(),
            written: Vec::new(),
            slots: 0,
            sends: 0,
            lines: Vec::new(),
            sinks: Vec::new(),
            static_levels: Vec::new(),
            lanes: Vec::new(),
            latency: Frames(0),
        }
    }

    #[test]
    fn steps_are_called_as_their_nodes_and_loops_by_their_members() {
        let mut graph = Graph::default();
        let ids = ["a", "b", "c", "d", "e"].map(|name| graph.add(Node::new(name, "mix")).unwrap());
        let node = |i: usize| Work::Node {
            node: ids[i],
            line: None,
        };
        let inner = (1..5).map(|i| step(node(i), 1, 0)).collect();
        let loops = vec![Loop {
            steps: Span { start: 0, end: 4 },
            sub_block: Frames(8),
        }];
        let steps = vec![step(node(0), 4, 3), step(Work::Loop(LoopId(0)), 1, 0)];
        let named = Steps::of(&plan(steps, inner, loops), &graph);
        assert_eq!((named.name(0), named.name(1)), ("a", "loop of b, c, d, …"));
        assert_eq!(named.due(2).collect::<Vec<_>>(), [1]);
        assert_eq!(named.due(7).collect::<Vec<_>>(), [0, 1]);
    }
}
