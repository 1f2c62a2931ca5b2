//! What steps of a plan are called, and when each is due.

use draw::Hue;
use graph::{Graph, NodeId};
use plan::{Plan, Work};

/// The names of a plan's steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<Named>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    name: String,
    kind: String,
    hue: Hue,
    every: u32,
    phase: u32,
}

impl Steps {
    /// The steps of `plan`, called as the nodes of `graph`; a loop is called by its members.
    pub fn of(plan: &Plan, graph: &Graph) -> Self {
        let named = plan.steps.iter().map(|step| Named {
            name: name(plan, graph, step.work),
            kind: kind(graph, step.work),
            hue: hue(graph, step.work),
            every: step.every.max(1),
            phase: step.phase,
        });
        Self(named.collect())
    }

    /// Steps with these names, each due in every cycle.
    pub fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let named = names.into_iter().map(|name| Named {
            name: name.into(),
            kind: String::new(),
            hue: Hue::default(),
            every: 1,
            phase: 0,
        });
        Self(named.collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the step of this index is called.
    pub fn name(&self, step: usize) -> Option<&str> {
        self.0.get(step).map(|step| step.name.as_str())
    }

    /// What it does: its node's kind; of a delay that which half, of a loop that it is one.
    pub fn kind(&self, step: usize) -> Option<&str> {
        self.0.get(step).map(|step| step.kind.as_str())
    }

    /// Which colour it has in pictures.
    /// The colour of a step in pictures.
    pub fn hue(&self, step: usize) -> Hue {
        self.0.get(step).map_or(Hue::default(), |step| step.hue)
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

/// Whose step it is; none for a loop's.
fn node(work: Work) -> Option<NodeId> {
    match work {
        Work::Node { node, .. }
        | Work::Write { node, .. }
        | Work::Keep { node }
        | Work::Mute { node }
        | Work::Send { node, .. }
        | Work::Receive { node, .. }
        | Work::Align { node, .. } => Some(node),
        Work::Loop(_) => None,
    }
}

fn name(plan: &Plan, graph: &Graph, work: Work) -> String {
    if let Work::Loop(id) = work {
        let members = plan.loops[id.0 as usize].steps.of(&plan.inner);
        let names = members.iter().map(|step| name(plan, graph, step.work));
        let mut names: Vec<String> = names.collect();
        names.dedup();
        let more = if names.len() > MEMBERS { ", …" } else { "" };
        names.truncate(MEMBERS);
        return format!("loop of {}{more}", names.join(", "));
    }
    let id = node(work).expect("only a loop has no node");
    let there = graph.node(id).map(|node| node.name.clone());
    there.unwrap_or_else(|| format!("node {}", id.0))
}

fn kind(graph: &Graph, work: Work) -> String {
    let there = node(work).and_then(|id| graph.node(id));
    let kind = there.map_or("", |node| node.plays());
    match work {
        Work::Loop(_) => "loop".to_owned(),
        Work::Write { .. } => format!("{kind}, writing"),
        Work::Send { .. } => format!("{kind}, handing on"),
        Work::Receive { .. } => format!("{kind}, taking up"),
        Work::Align { .. } => format!("{kind}, made late"),
        Work::Node { line: Some(_), .. } => format!("{kind}, reading"),
        Work::Mute { .. } => format!("{kind}, off"),
        _ => kind.to_owned(),
    }
}

/// As in the graph's picture.
fn hue(graph: &Graph, work: Work) -> Hue {
    match (work, node(work).and_then(|id| graph.node(id))) {
        (Work::Keep { .. }, _) => Hue::Sink,
        (Work::Write { .. } | Work::Align { .. } | Work::Loop(_), _)
        | (Work::Node { line: Some(_), .. }, _) => Hue::Delay,
        (_, Some(node)) if node.inputs.is_empty() => Hue::Source,
        (_, Some(node)) if node.outputs.is_empty() => Hue::Sink,
        (_, Some(node)) if node.inputs.len() + node.outputs.len() > 2 => Hue::Join,
        _ => Hue::Effect,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Node;
    use plan::{Loop, LoopId, Options, Span, Step};
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

    /// A plan without anything, to which steps are given.
    fn plan(steps: Vec<Step>, inner: Vec<Step>, loops: Vec<Loop>) -> Plan {
        let options = Options::new(Frames(64), SampleRate::new(48_000).unwrap());
        let empty = plan::compile(&Graph::default(), &graph::Catalogue::default(), &options);
        Plan {
            steps,
            inner,
            loops,
            ..empty.unwrap()
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
        let off = Work::Mute { node: ids[1] };
        let steps = vec![
            step(node(0), 4, 3),
            step(Work::Loop(LoopId(0)), 1, 0),
            step(off, 1, 0),
        ];
        let named = Steps::of(&plan(steps, inner, loops), &graph);
        let names: Vec<_> = (0..4).map(|i| named.name(i)).collect();
        assert_eq!(
            names,
            [Some("a"), Some("loop of b, c, d, …"), Some("b"), None]
        );
        let kinds: Vec<_> = (0..4).map(|i| named.kind(i)).collect();
        assert_eq!(kinds, [Some("mix"), Some("loop"), Some("mix, off"), None]);
        assert_eq!(named.due(2).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(named.due(7).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
