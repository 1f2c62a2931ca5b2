//! Pass 5: the order of operations, and which of them make a loop.
//!
//! Only delays shorter than the block are left in cycles (pass 3 has cut the others). Such a cycle becomes one loop: it is
//! cut at its delays and runs on sub-blocks no longer than the shortest of them. A cycle without a delay is a mistake.
//!
//! ```text
//!   add -> filter -> write ~~(delay of 20)~~> read       one step: the loop
//!    ^                                         |           64 frames = 20 + 20 + 20 + 4,
//!    +-----------------------------------------+           each: read, add, filter, write
//! ```

use super::banks::order_in_banks;
use super::ops::{OpKind, Ops, ShortDelay};
use super::wiring::Wiring;
use crate::PlanError;
use graph::{Adjacency, Diagnostic};
use std::collections::{HashMap, HashSet};
use units::Frames;

/// Operations that make one step of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// First index into [`OpOrder::ops`].
    start: u32,
    /// One past the last index.
    end: u32,
    /// Frames of an iteration, if it is a loop.
    pub(super) sub_block: Option<Frames>,
}

/// The order of operations.
#[derive(Debug)]
pub(super) struct OpOrder {
    /// All operations in topological order.
    ops: Vec<u32>,
    /// The steps: runs of `ops`.
    pub(super) groups: Vec<Group>,
    /// The step of each operation.
    pub(super) step_of: Vec<u32>,
    /// Dependencies of steps.
    pub(super) dependencies: Adjacency,
}

impl OpOrder {
    fn push(&mut self, ops: &[u32], sub_block: Option<Frames>) {
        let start = self.ops.len() as u32;
        for op in ops {
            self.step_of[*op as usize] = self.groups.len() as u32;
        }
        self.ops.extend(ops);
        let end = self.ops.len() as u32;
        self.groups.push(Group {
            start,
            end,
            sub_block,
        });
    }

    /// The operations of one step.
    pub(super) fn ops_of(&self, group: Group) -> &[u32] {
        &self.ops[group.start as usize..group.end as usize]
    }
}

/// Finds the order, or reports every cycle without a delay.
pub(super) fn order(wiring: &Wiring<'_>, ops: &Ops) -> Result<OpOrder, PlanError> {
    let component = ops.adjacency().strong_components();
    let inside = without_cuts(ops, &component);
    let mistakes = report_cycles(wiring, ops, &inside);
    if !mistakes.is_empty() {
        return Err(PlanError(mistakes));
    }
    let mut loops = feedback_loops(ops, &component, &inside);
    let mut names: Vec<&u32> = loops.keys().collect();
    names.sort_unstable();
    let mistakes = names
        .iter()
        .filter_map(|name| short_loop(wiring, ops, &loops[name]));
    let mistakes: Vec<Diagnostic> = mistakes.collect();
    if !mistakes.is_empty() {
        return Err(PlanError(mistakes));
    }
    for it in loops.values_mut() {
        it.sub_block = whole_blocks(wiring, ops, it);
    }
    Ok(order_components((wiring, ops), &component, loops))
}

/// A component with a cycle.
struct FeedbackLoop {
    /// In order.
    ops: Vec<u32>,
    /// The shortest delay.
    sub_block: Frames,
}

/// The delays at which cycles are cut: both halves in one component, and at least a frame long.
fn cuts<'a>(ops: &'a Ops, component: &'a [u32]) -> impl Iterator<Item = &'a ShortDelay> {
    let is_inside = |s: &&ShortDelay| component[s.write as usize] == component[s.read as usize];
    let delays = ops.short_delays.iter().filter(is_inside);
    delays.filter(|s| s.min > Frames(0))
}

/// The dependencies within components that are left once cycles are cut.
fn without_cuts(ops: &Ops, component: &[u32]) -> Adjacency {
    let cut: HashSet<(u32, u32)> = cuts(ops, component).map(|s| (s.write, s.read)).collect();
    let pairs = ops.dependencies.iter().copied();
    let inside = pairs.filter(|(a, b)| component[*a as usize] == component[*b as usize]);
    let left = inside.filter(|pair| !cut.contains(pair));
    Adjacency::new(component.len(), left.collect())
}

/// Every component with a cycle, by its smallest operation.
fn feedback_loops(ops: &Ops, component: &[u32], inside: &Adjacency) -> HashMap<u32, FeedbackLoop> {
    let mut loops: HashMap<u32, FeedbackLoop> = HashMap::new();
    for cut in cuts(ops, component) {
        let name = component[cut.read as usize];
        let it = loops.entry(name).or_insert(FeedbackLoop {
            ops: Vec::new(),
            sub_block: cut.min,
        });
        it.sub_block = it.sub_block.min(cut.min);
    }
    if !loops.is_empty() {
        for op in inside.topological_order() {
            if let Some(it) = loops.get_mut(&component[op as usize]) {
                it.ops.push(op);
            }
        }
    }
    loops
}

/// Orders components. Of several candidates the one with the smallest operation goes first: ties are broken by node id. Nodes that are
/// computed side by side wait for each other.
fn order_components(
    (wiring, ops): (&Wiring<'_>, &Ops),
    component: &[u32],
    mut loops: HashMap<u32, FeedbackLoop>,
) -> OpOrder {
    let mut group_of = vec![0; component.len()];
    let mut names = Vec::new();
    for (op, name) in component.iter().enumerate() {
        if *name as usize == op {
            group_of[op] = names.len() as u32;
            names.push(*name);
        } else {
            group_of[op] = group_of[*name as usize];
        }
    }
    let between = |group: &[u32]| {
        let ends = |(a, b): &(u32, u32)| (group[*a as usize], group[*b as usize]);
        let pairs = ops.dependencies.iter().map(ends).filter(|(a, b)| a != b);
        Adjacency::new(names.len(), pairs.collect())
    };
    let mut order = OpOrder {
        ops: Vec::with_capacity(component.len()),
        groups: Vec::with_capacity(names.len()),
        step_of: vec![0; component.len()],
        dependencies: Adjacency::new(0, Vec::new()),
    };
    let bank = |group: u32| {
        let name = names[group as usize];
        let op = &ops.all[name as usize];
        let kind = wiring.nodes[op.node as usize].kind;
        let may = kind.side_by_side && matches!(op.kind, OpKind::Process);
        (may && !loops.contains_key(&name)).then_some(kind.name)
    };
    for group in order_in_banks(&between(&group_of), bank) {
        let name = names[group as usize];
        match loops.remove(&name) {
            Some(it) => order.push(&it.ops, Some(it.sub_block)),
            None => order.push(&[name], None),
        }
    }
    order.dependencies = between(&order.step_of);
    order
}

/// One mistake for each component that still has a cycle.
fn report_cycles(wiring: &Wiring<'_>, ops: &Ops, left: &Adjacency) -> Vec<Diagnostic> {
    let component = left.strong_components();
    let firsts = (0..left.len() as u32).filter(|op| component[*op as usize] == *op);
    let cycles = firsts.filter_map(|op| left.shortest_cycle(op, |to| component[to as usize] == op));
    cycles
        .map(|cycle| cycle_mistake(wiring, ops, &cycle))
        .collect()
}

/// Frames at once in a loop: as many as the shortest delay has, or fewer, so that nodes which play some at once always play a multiple.
fn whole_blocks(wiring: &Wiring<'_>, ops: &Ops, found: &FeedbackLoop) -> Frames {
    let nodes = found.ops.iter().map(|op| ops.all[*op as usize].node);
    let least = nodes.map(|node| wiring.nodes[node as usize].kind.min_block.0);
    let least = least.max().unwrap_or(1).max(1);
    Frames(found.sub_block.0 / least * least)
}

/// The mistake of a loop that is shorter than a node in it can play at once.
fn short_loop(wiring: &Wiring<'_>, ops: &Ops, found: &FeedbackLoop) -> Option<Diagnostic> {
    let nodes = found.ops.iter().map(|op| ops.all[*op as usize].node);
    let nodes = nodes.map(|node| &wiring.nodes[node as usize]);
    let mut nodes = nodes.filter(|it| it.kind.min_block > found.sub_block);
    let first = nodes.next()?;
    let message = format!(
        "`{}` plays {} frames at once, and is in a cycle with a delay of {}",
        first.node.name, first.kind.min_block.0, found.sub_block.0
    );
    let help = "make the delay longer, or take the node out of the cycle";
    Some(Diagnostic::error(first.node.span, message).help(help))
}

fn cycle_mistake(wiring: &Wiring<'_>, ops: &Ops, cycle: &[u32]) -> Diagnostic {
    let index = |op: &u32| ops.all[*op as usize].node;
    let mut nodes: Vec<u32> = cycle.iter().map(index).collect();
    // The two operations of a delay are one name.
    nodes.dedup();
    if nodes.len() > 1 && nodes.first() == nodes.last() {
        nodes.pop();
    }
    let node = |n: &u32| wiring.nodes[*n as usize].node;
    let names = nodes.iter().chain(nodes.first());
    let names: Vec<&str> = names.map(|n| node(n).name.as_str()).collect();
    let message = format!("a cycle without a delay: `{}`", names.join(" → "));
    let mut mistake = Diagnostic::error(node(&nodes[0]).span, message)
        .help("put a `delay` of at least one frame into it");
    for node in nodes[1..].iter().map(node) {
        mistake = mistake.related(node.span, format!("`{}` is part of it", node.name));
    }
    let is_read = |op: &&u32| matches!(ops.all[**op as usize].kind, OpKind::ReadLine(_));
    if let Some(op) = cycle.iter().find(is_read) {
        let node = node(&index(op));
        let message = format!("`{}` may be shorter than a frame", node.name);
        mistake = mistake.related(node.span, message);
    }
    mistake
}
