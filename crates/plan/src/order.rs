//! Third pass: the order of the turns, and which of them make a loop.
//!
//! A cycle lives only through delays that are shorter than the block (the others have been cut by the pass before). It
//! becomes one loop, on blocks no longer than the shortest of its delays; a cycle without a delay is an error.

use crate::PlanError;
use crate::turns::{Act, Short, Turns};
use crate::wiring::Wiring;
use graph::Adjacency;
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
    pub(crate) waits: Adjacency,
}

impl Order {
    fn push(&mut self, turns: &[u32], round: Option<Frames>) {
        let start = self.turns.len() as u32;
        for turn in turns {
            self.step_of[*turn as usize] = self.groups.len() as u32;
        }
        self.turns.extend(turns);
        let end = self.turns.len() as u32;
        self.groups.push(Group { start, end, round });
    }

    /// The turns of one step.
    pub(crate) fn turns_of(&self, group: Group) -> &[u32] {
        &self.turns[group.start as usize..group.end as usize]
    }
}

/// Finds the order.
pub(crate) fn order(wiring: &Wiring<'_>, turns: &Turns) -> Result<Order, PlanError> {
    let component = turns.arrows().strong_components();
    let inside = uncut(turns, &component);
    let wrong = name_cycles(wiring, turns, &inside);
    if !wrong.is_empty() {
        return Err(PlanError(wrong));
    }
    let knots = knots(turns, &component, &inside);
    Ok(arrange(turns, &component, knots))
}

/// A component with a cycle, put in order.
struct Knot {
    turns: Vec<u32>,
    round: Frames,
}

/// The delays that cut a cycle: both halves in one component, and at least a frame apart.
fn cuts<'a>(turns: &'a Turns, component: &'a [u32]) -> impl Iterator<Item = &'a Short> {
    let same = |s: &&Short| component[s.write as usize] == component[s.read as usize];
    let short = turns.short.iter();
    short.filter(same).filter(|s| s.least > Frames(0))
}

/// What is left within components once cycles are cut.
fn uncut(turns: &Turns, component: &[u32]) -> Adjacency {
    let cut: HashSet<(u32, u32)> = cuts(turns, component).map(|s| (s.write, s.read)).collect();
    let pairs = turns.waits.iter().copied();
    let inside = pairs.filter(|(a, b)| component[*a as usize] == component[*b as usize]);
    let left = inside.filter(|pair| !cut.contains(pair));
    Adjacency::new(component.len(), left.collect())
}

/// Every component with a cycle, by name.
fn knots(turns: &Turns, component: &[u32], inside: &Adjacency) -> HashMap<u32, Knot> {
    let mut knots: HashMap<u32, Knot> = HashMap::new();
    for cut in cuts(turns, component) {
        let knot = knots.entry(component[cut.read as usize]).or_insert(Knot {
            turns: Vec::new(),
            round: cut.least,
        });
        knot.round = knot.round.min(cut.least);
    }
    if !knots.is_empty() {
        for turn in inside.topological_order() {
            if let Some(knot) = knots.get_mut(&component[turn as usize]) {
                knot.turns.push(turn);
            }
        }
    }
    knots
}

/// Puts components in order, those that could go first by their first turns: that breaks ties by node id.
fn arrange(turns: &Turns, component: &[u32], mut knots: HashMap<u32, Knot>) -> Order {
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
        Adjacency::new(names.len(), pairs.collect())
    };
    let mut order = Order {
        turns: Vec::with_capacity(component.len()),
        groups: Vec::with_capacity(names.len()),
        step_of: vec![0; component.len()],
        waits: Adjacency::new(0, Vec::new()),
    };
    for group in between(&group_of).topological_order() {
        let name = names[group as usize];
        match knots.remove(&name) {
            Some(knot) => order.push(&knot.turns, Some(knot.round)),
            None => order.push(&[name], None),
        }
    }
    order.waits = between(&order.step_of);
    order
}

/// One mistake for each component that is still a cycle.
fn name_cycles(wiring: &Wiring<'_>, turns: &Turns, left: &Adjacency) -> Vec<Diagnostic> {
    let component = left.strong_components();
    let firsts = (0..left.len() as u32).filter(|turn| component[*turn as usize] == *turn);
    let ways =
        firsts.filter_map(|turn| left.shortest_cycle(turn, |to| component[to as usize] == turn));
    ways.map(|way| without_delay(wiring, turns, &way)).collect()
}

fn without_delay(wiring: &Wiring<'_>, turns: &Turns, way: &[u32]) -> Diagnostic {
    let member = |turn: &u32| turns.all[*turn as usize].member;
    let mut members: Vec<u32> = way.iter().map(member).collect();
    // The halves of a delay are one name.
    members.dedup();
    if members.len() > 1 && members.first() == members.last() {
        members.pop();
    }
    let node = |m: &u32| wiring.members[*m as usize].node;
    let names = members.iter().chain(members.first());
    let names: Vec<&str> = names.map(|m| node(m).name.as_str()).collect();
    let words = format!("a cycle without a delay: `{}`", names.join(" → "));
    let mut mistake = Diagnostic::error(node(&members[0]).span, words)
        .help("put a `delay` of at least one frame into it");
    for node in members[1..].iter().map(node) {
        mistake = mistake.related(node.span, format!("`{}` is part of it", node.name));
    }
    let zero = |t: &&u32| matches!(turns.all[**t as usize].act, Act::Read(_));
    if let Some(turn) = way.iter().find(zero) {
        let node = node(&member(turn));
        mistake = mistake.related(
            node.span,
            format!("`{}` may be shorter than a frame", node.name),
        );
    }
    mistake
}
