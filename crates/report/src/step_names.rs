//! Names of a plan's steps, and the cycles in which each is due.

use draw::NodeClass;
use graph::{Graph, NodeId};
use plan::{Plan, StepOp};

/// Names, kinds and periods of a plan's steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepNames(Vec<StepName>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct StepName {
    name: String,
    kind: String,
    hue: NodeClass,
    every: u32,
    phase: u32,
}

impl StepNames {
    /// The steps of `plan`, named after the nodes of `graph`; a loop is named after its members.
    pub fn from_plan(plan: &Plan, graph: &Graph) -> Self {
        let named = plan.steps.iter().map(|step| StepName {
            name: name(plan, graph, step.op),
            kind: kind(graph, step.op),
            hue: hue(graph, step.op),
            every: step.every.max(1),
            phase: step.phase,
        });
        Self(named.collect())
    }

    /// Steps with these names, each due in every cycle.
    #[cfg(test)]
    pub(crate) fn from_names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let named = names.into_iter().map(|name| StepName {
            name: name.into(),
            kind: String::new(),
            hue: NodeClass::default(),
            every: 1,
            phase: 0,
        });
        Self(named.collect())
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Name of the step of this index.
    pub fn name(&self, step: usize) -> Option<&str> {
        self.0.get(step).map(|step| step.name.as_str())
    }

    /// The node's kind, with the half of a delay; `loop` for a loop.
    pub fn kind(&self, step: usize) -> Option<&str> {
        self.0.get(step).map(|step| step.kind.as_str())
    }

    /// The colour of a step in pictures.
    pub fn hue(&self, step: usize) -> NodeClass {
        self.0
            .get(step)
            .map_or(NodeClass::default(), |step| step.hue)
    }

    /// The steps that are due in cycle `cycle`.
    pub(crate) fn due(&self, cycle: u32) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(move |step| self.is_due(*step, cycle))
    }

    /// Returns true if the step is due in cycle `cycle`. Only the low 32 bits of cycle numbers are known here. So for a
    /// period that is not a power of two, the phase shifts where they wrap, after weeks of playing.
    pub(crate) fn is_due(&self, step: usize, cycle: u32) -> bool {
        let step = &self.0[step];
        cycle % step.every == step.phase
    }
}

/// Upper bound on members in a loop's name, before "…".
const MEMBERS: usize = 3;

/// The node of a step; none for a loop.
fn node(work: StepOp) -> Option<NodeId> {
    match work {
        StepOp::Process { node, .. }
        | StepOp::WriteLine { node, .. }
        | StepOp::Sink { node }
        | StepOp::Silence { node }
        | StepOp::Send { node, .. }
        | StepOp::Receive { node, .. }
        | StepOp::Align { node, .. } => Some(node),
        StepOp::Loop(_) => None,
    }
}

fn name(plan: &Plan, graph: &Graph, work: StepOp) -> String {
    if let StepOp::Loop(id) = work {
        let members = plan.loops[id.0 as usize].steps.of(&plan.loop_steps);
        let names = members.iter().map(|step| name(plan, graph, step.op));
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

fn kind(graph: &Graph, work: StepOp) -> String {
    let there = node(work).and_then(|id| graph.node(id));
    let kind = there.map_or("", |node| node.effective_kind());
    match work {
        StepOp::Loop(_) => "loop".to_owned(),
        StepOp::WriteLine { .. } => format!("{kind}, writing"),
        StepOp::Send { .. } => format!("{kind}, handing on"),
        StepOp::Receive { .. } => format!("{kind}, taking up"),
        StepOp::Align { .. } => format!("{kind}, made late"),
        StepOp::Process { line: Some(_), .. } => format!("{kind}, reading"),
        StepOp::Silence { .. } => format!("{kind}, off"),
        _ => kind.to_owned(),
    }
}

/// Class of a step, for its colour; as in the graph's picture.
fn hue(graph: &Graph, work: StepOp) -> NodeClass {
    match (work, node(work).and_then(|id| graph.node(id))) {
        (StepOp::Sink { .. }, _) => NodeClass::Sink,
        (StepOp::WriteLine { .. } | StepOp::Align { .. } | StepOp::Loop(_), _)
        | (StepOp::Process { line: Some(_), .. }, _) => NodeClass::Delay,
        (_, Some(node)) => NodeClass::from_ports(node.kind_inputs().len(), node.outputs.len()),
        _ => NodeClass::Effect,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Node;
    use plan::{IndexRange, Loop, LoopId, PlanOptions, Step};
    use units::{Frames, Nanos, SampleRate};

    fn step(work: StepOp, every: u32, phase: u32) -> Step {
        Step {
            op: work,
            inputs: IndexRange::default(),
            outputs: IndexRange::default(),
            successors: IndexRange::default(),
            activation: 0,
            every,
            phase,
            lag: 0,
            event_room: 0,
            copy: 0,
            cost: Nanos(0),
        }
    }

    /// A plan without anything, to which steps are given.
    fn plan(steps: Vec<Step>, inner: Vec<Step>, loops: Vec<Loop>) -> Plan {
        let options = PlanOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
        let empty = plan::compile(&Graph::default(), &graph::Catalogue::default(), &options);
        Plan {
            steps,
            loop_steps: inner,
            loops,
            ..empty.unwrap()
        }
    }

    #[test]
    fn steps_are_named_after_their_nodes_and_loops_after_their_members() {
        let mut graph = Graph::default();
        let ids = ["a", "b", "c", "d", "e"].map(|name| graph.add(Node::new(name, "mix")).unwrap());
        let node = |i: usize| StepOp::Process {
            node: ids[i],
            line: None,
        };
        let inner = (1..5).map(|i| step(node(i), 1, 0)).collect();
        let loops = vec![Loop {
            steps: IndexRange { start: 0, end: 4 },
            sub_block: Frames(8),
        }];
        let off = StepOp::Silence { node: ids[1] };
        let steps = vec![
            step(node(0), 4, 3),
            step(StepOp::Loop(LoopId(0)), 1, 0),
            step(off, 1, 0),
        ];
        let named = StepNames::from_plan(&plan(steps, inner, loops), &graph);
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
