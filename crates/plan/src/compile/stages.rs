//! Pass 4: pipelining. The graph is cut into stages, each a cycle behind the one before.
//!
//! ```text
//!            stage 0      stage 1      stage 2
//!   cycle 5  block 5      block 4      block 3        all three at the same time
//!   cycle 6  block 6      block 5      block 4
//! ```
//!
//! In one cycle stages do not wait for each other, so even a chain keeps several workers busy; the price is latency. A
//! signal that crosses from one stage to a later one goes through a relay: an operation that sends and one that receives,
//! neither of which waits for the other. Operations that must be in one stage form a *cluster*: the two halves of a delay,
//! nodes connected by events, nodes that share state, and all of a feedback loop. The device's inputs are in the first stage, sinks in the last. A plan
//! that takes over from another is bound by its stages ([`PreviousStages`]).

use super::costs::cost;
use super::ops::{Op, OpKind, Ops, Relay};
use super::wiring::{WiredEdge, Wiring};
use crate::depth_first::depth_first;
use crate::{PlanOptions, PreviousStages};
use graph::{Adjacency, Role, Signal};
use units::Nanos;

/// Assigns a stage to every operation, and adds relays to edges between stages.
pub(super) fn pipeline(wiring: &Wiring<'_>, ops: &mut Ops, options: &PlanOptions) {
    let clusters = clusters(wiring, ops);
    let stages = stages(wiring, ops, &clusters, options);
    for (op, stage) in ops.all.iter_mut().zip(stages) {
        op.lag = stage;
    }
    add_relays(wiring, ops);
}

/// The cluster of each operation: its smallest member. Operations that must be together are made to wait for each other;
/// then clusters are strongly connected components.
fn clusters(wiring: &Wiring<'_>, ops: &Ops) -> Vec<u32> {
    let mut pairs = ops.dependencies.clone();
    let uncut = |e: &&WiredEdge| !is_audio(wiring, e) || shares_state(wiring, e);
    let uncut = wiring.edges.iter().filter(uncut);
    pairs.extend(uncut.map(|e| (ops.reader(e), ops.output_op(e.from))));
    for (read, op) in (0..).zip(&ops.all) {
        if matches!(op.kind, OpKind::ReadLine(_)) {
            pairs.extend([(read, read + 1), (read + 1, read)]);
        }
    }
    Adjacency::new(ops.all.len(), pairs).strong_components()
}

/// Returns true if both ends share more than the edge.
fn shares_state(wiring: &Wiring<'_>, edge: &WiredEdge) -> bool {
    let shares = |node: u32| wiring.nodes[node as usize].kind.shares_state;
    shares(edge.from) && shares(edge.to)
}

fn is_audio(wiring: &Wiring<'_>, edge: &WiredEdge) -> bool {
    matches!(wiring.signal(edge.from, edge.output), Signal::Audio(_))
}

/// Range of stages in which a cluster must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constraint {
    First,
    Anywhere,
    Last,
}

/// The stage of each operation. Two topological orders are cut into equal shares of the cost; the one with fewer edges
/// between stages wins.
fn stages(wiring: &Wiring<'_>, ops: &Ops, clusters: &[u32], options: &PlanOptions) -> Vec<u32> {
    let count = ops.all.len();
    let ends = |(a, b): &(u32, u32)| (clusters[*a as usize], clusters[*b as usize]);
    let pairs = ops.dependencies.iter().map(ends).filter(|(a, b)| a != b);
    let graph = Adjacency::new(count, pairs.collect());
    let kahn = graph.topological_order();
    let mut costs = vec![Nanos(0); count];
    for (op, cluster) in ops.all.iter().zip(clusters) {
        let total = &mut costs[*cluster as usize];
        *total = total.saturating_add(cost(wiring, *op, options));
    }
    let constraints = constraints(wiring, ops, clusters, &graph, &kahn);
    let min = min_stages(wiring, ops, clusters, &options.previous_stages);
    let stages = |order: &[u32]| {
        let by_cluster = cut(
            order,
            &graph,
            (&costs, &constraints, &min),
            options.latency_blocks,
        );
        let of = |cluster: &u32| by_cluster[*cluster as usize];
        clusters.iter().map(of).collect::<Vec<u32>>()
    };
    let missing = graph.in_degrees();
    let sources = kahn.iter().copied();
    let deep = depth_first(
        sources.filter(|at| missing[*at as usize] == 0).collect(),
        missing.clone(),
        |at| graph.successors(at).iter().copied(),
        |_| Nanos(0),
    );
    let candidates = [stages(&kahn), stages(&deep)];
    let crossings = |stages: &Vec<u32>| {
        let stage = |op: u32| stages[op as usize];
        let crosses = |e: &&WiredEdge| stage(ops.output_op(e.from)) != stage(ops.reader(e));
        wiring.edges.iter().filter(crosses).count()
    };
    let best = candidates.into_iter().min_by_key(crossings);
    best.unwrap_or_default()
}

/// By cluster. What a device input waits for is in the first stage too.
fn constraints(
    wiring: &Wiring<'_>,
    ops: &Ops,
    clusters: &[u32],
    graph: &Adjacency,
    order: &[u32],
) -> Vec<Constraint> {
    let mut all = vec![Constraint::Anywhere; ops.all.len()];
    for (op, cluster) in ops.all.iter().zip(clusters) {
        let constraint = &mut all[*cluster as usize];
        if wiring.nodes[op.node as usize].kind.role == Role::Source {
            *constraint = Constraint::First;
        } else if op.kind == OpKind::Sink && *constraint == Constraint::Anywhere {
            *constraint = Constraint::Last;
        }
    }
    for at in order.iter().rev() {
        let mut after = graph.successors(*at).iter();
        if after.any(|to| all[*to as usize] == Constraint::First) {
            all[*at as usize] = Constraint::First;
        }
    }
    all
}

/// By cluster: the first stage in which the plan before lets it be.
fn min_stages(
    wiring: &Wiring<'_>,
    ops: &Ops,
    clusters: &[u32],
    previous: &PreviousStages,
) -> Vec<u32> {
    let mut all = vec![0; ops.all.len()];
    for (op, cluster) in ops.all.iter().zip(clusters) {
        let key = match op.kind {
            OpKind::Align(index) => {
                let aligner = &wiring.aligners[index as usize];
                let node = &wiring.nodes[aligner.node as usize];
                (node.id, Some(aligner.output))
            }
            _ => (wiring.nodes[op.node as usize].id, None),
        };
        let min = &mut all[*cluster as usize];
        *min = previous.min(key).max(*min);
    }
    all
}

/// The stage of each cluster: in the order, a stage ends where its share of the cost is reached.
fn cut(
    order: &[u32],
    graph: &Adjacency,
    (costs, constraints, min): (&[Nanos], &[Constraint], &[u32]),
    last: u32,
) -> Vec<u32> {
    let mut stages = min.to_vec();
    let all = order.iter().map(|at| costs[*at as usize]);
    let total = all.fold(Nanos(0), Nanos::saturating_add);
    let mut before = Nanos(0);
    for &at in order {
        let it = at as usize;
        let middle = u128::from(before.0) + u128::from(costs[it].0 / 2);
        let share = middle * u128::from(last + 1) / u128::from(total.0.max(1));
        let stage = match constraints[it] {
            Constraint::First => 0,
            Constraint::Anywhere => (share as u32).min(last),
            Constraint::Last => last,
        };
        stages[it] = stage.max(stages[it]);
        before = before.saturating_add(costs[it]);
        for to in graph.successors(at) {
            stages[*to as usize] = stages[*to as usize].max(stages[it]);
        }
    }
    stages
}

/// Adds a relay for each output and later stage that reads it, and derives dependencies anew.
fn add_relays(wiring: &Wiring<'_>, ops: &mut Ops) {
    let mut dependencies: Vec<(u32, u32)> = ops.short_dependencies().collect();
    let mut crossings = Vec::new();
    for edge in &wiring.edges {
        let (writer, reader) = (ops.output_op(edge.from), ops.reader(edge));
        let stage = ops.all[reader as usize].lag;
        if ops.all[writer as usize].lag == stage {
            dependencies.push((writer, reader));
        } else {
            crossings.push((edge.from, edge.output, stage));
        }
    }
    crossings.sort_unstable();
    crossings.dedup();
    for (index, (node, output, stage)) in (0..).zip(crossings) {
        let writer = ops.output_op(node);
        let send = ops.all.len() as u32;
        let lag = ops.all[writer as usize].lag;
        for (kind, lag) in [(OpKind::Send(index), lag), (OpKind::Receive(index), stage)] {
            let op = Op::new(node, kind);
            ops.all.push(Op { lag, ..op });
        }
        dependencies.push((writer, send));
        ops.relays.push(Relay {
            node,
            output,
            stage,
            send,
            receive: send + 1,
        });
    }
    for edge in &wiring.edges {
        let reader = ops.reader(edge);
        let (from, _) = ops.source(reader, edge);
        dependencies.push((from, reader));
    }
    ops.dependencies = dependencies;
}
