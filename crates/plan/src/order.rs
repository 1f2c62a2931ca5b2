//! Third pass: the order of the turns, and which of them make a loop.
//!
//! A cycle lives only through delays that are shorter than the block (the others have been cut by the pass before). It
//! becomes one loop, on blocks no longer than the shortest of its delays; a cycle without a delay is an error.

use crate::PlanError;
use crate::arrows::Arrows;
use crate::turns::{Act, Turns};
use crate::wiring::Wiring;
use graph::Diagnostic;
use std::collections::{HashMap, HashSet};
use units::Frames;

/// Turns that are one step of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Which, in [`Order::turns`].
    pub(crate) start: u32,
    /// One past the last.
    pub(crate) end: u32,
    /// The frames in a round where it is a loop.
    pub(crate) round: Option<Frames>,
}

/// In which order turns run.
#[derive(Debug)]
pub(crate) struct Order {
    /// All turns, in an order in which they may run.
    pub(crate) turns: Vec<u32>,
    /// The steps, in order: runs of `turns`.
    pub(crate) groups: Vec<Group>,
    /// The step of each turn.
    pub(crate) step_of: Vec<u32>,
    /// Which step waits for which.
    pub(crate) waits: Arrows,
}

impl Order {
    /// The turns of one step.
    pub(crate) fn turns_of(&self, group: Group) -> &[u32] {
        &self.turns[group.start as usize..group.end as usize]
    }
}

/// Finds the order.
pub(crate) fn order(wiring: &Wiring<'_>, turns: &Turns) -> Result<Order, PlanError> {
    let component = turns.arrows().components();
    let mut wrong = Vec::new();
    let mut inside = loops(wiring, turns, &component, &mut wrong);
    if !wrong.is_empty() {
        return Err(PlanError(wrong));
    }
    // Components count as groups in the order of their first turns: that breaks ties by node id.
    let mut group_of = vec![0; component.len()];
    let mut names = Vec::new();
    for (turn, name) in component.iter().enumerate() {
        if *name as usize == turn {
            group_of[turn] = names.len() as u32;
            names.push(*name);
        } else {
            group_of[turn] = group_of[*name as usize];
        }
    }
    let between = |step: &[u32]| {
        let ends = |(a, b): &(u32, u32)| (step[*a as usize], step[*b as usize]);
        let pairs = turns.waits.iter().map(ends).filter(|(a, b)| a != b);
        Arrows::new(names.len(), pairs.collect())
    };
    let mut order = Order {
        turns: Vec::with_capacity(component.len()),
        groups: Vec::with_capacity(names.len()),
        step_of: vec![0; component.len()],
        waits: Arrows::new(0, Vec::new()),
    };
    for group in between(&group_of).topological() {
        let name = names[group as usize];
        let start = order.turns.len() as u32;
        let (members, round) = match inside.remove(&name) {
            Some(knot) => (knot.turns, Some(knot.round)),
            None => (vec![name], None),
        };
        for turn in &members {
            order.step_of[*turn as usize] = order.groups.len() as u32;
        }
        order.turns.extend(members);
        let end = order.turns.len() as u32;
        order.groups.push(Group { start, end, round });
    }
    order.waits = between(&order.step_of);
    Ok(order)
}

/// A component with a cycle, put in order.
struct Knot {
    turns: Vec<u32>,
    round: Frames,
}

/// Every component with a cycle, by name. What cannot be cut goes to `wrong`.
fn loops(
    wiring: &Wiring<'_>,
    turns: &Turns,
    component: &[u32],
    wrong: &mut Vec<Diagnostic>,
) -> HashMap<u32, Knot> {
    let same = |a: u32, b: u32| component[a as usize] == component[b as usize];
    let knotted: HashSet<u32> = turns
        .waits
        .iter()
        .filter(|(a, b)| same(*a, *b))
        .map(|(a, _)| component[*a as usize])
        .collect();
    if knotted.is_empty() {
        return Default::default();
    }
    let cuts = || {
        turns
            .short
            .iter()
            .filter(|s| same(s.write, s.read) && s.least > Frames(0))
    };
    let cut: HashSet<(u32, u32)> = cuts().map(|s| (s.write, s.read)).collect();
    let pairs = turns.waits.iter().copied();
    let left = pairs.filter(|pair| same(pair.0, pair.1) && !cut.contains(pair));
    let left = Arrows::new(component.len(), left.collect());
    name_cycles(wiring, turns, &left, wrong);
    let mut knots: HashMap<u32, Knot> = cuts()
        .map(|s| {
            let knot = Knot {
                turns: Vec::new(),
                round: Frames(u32::MAX),
            };
            (component[s.read as usize], knot)
        })
        .collect();
    for s in cuts() {
        if let Some(knot) = knots.get_mut(&component[s.read as usize]) {
            knot.round = knot.round.min(s.least);
        }
    }
    for turn in left.topological() {
        if let Some(knot) = knots.get_mut(&component[turn as usize]) {
            knot.turns.push(turn);
        }
    }
    knots
}

/// One mistake for each component that is still a cycle.
fn name_cycles(wiring: &Wiring<'_>, turns: &Turns, left: &Arrows, wrong: &mut Vec<Diagnostic>) {
    let component = left.components();
    for turn in 0..left.count() as u32 {
        if component[turn as usize] != turn {
            continue;
        }
        if let Some(way) = left.cycle(turn, |to| component[to as usize] == turn) {
            wrong.push(without_delay(wiring, turns, &way));
        }
    }
}

fn without_delay(wiring: &Wiring<'_>, turns: &Turns, way: &[u32]) -> Diagnostic {
    let mut members: Vec<u32> = way.iter().map(|t| turns.all[*t as usize].member).collect();
    members.dedup();
    if members.len() > 1 && members.first() == members.last() {
        members.pop();
    }
    let node = |m: u32| wiring.members[m as usize].node;
    let mut names = String::new();
    for member in members.iter().chain(members.first()) {
        if !names.is_empty() {
            names += " → ";
        }
        names += &node(*member).name;
    }
    let start = node(members[0]);
    let mut mistake = Diagnostic::error(start.place, format!("a cycle without a delay: `{names}`"))
        .help("put a `delay` of at least one frame into it");
    for member in &members[1..] {
        let node = node(*member);
        mistake = mistake.also(node.place, format!("`{}` is part of it", node.name));
    }
    let zero = |t: &&u32| matches!(turns.all[**t as usize].act, Act::Read(_));
    if let Some(turn) = way.iter().find(zero) {
        let node = node(turns.all[*turn as usize].member);
        mistake = mistake.also(
            node.place,
            format!("`{}` may be shorter than a frame", node.name),
        );
    }
    mistake
}
