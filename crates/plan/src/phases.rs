//! In which cycle a node runs that does not run in each: spread, so that no cycle has them all.
//!
//! Nodes that are connected share a phase, so that one hears what the other has just said. The rest is spread by cost:
//! each goes where there is least so far. Costs measured on a machine do not count here: a phase is heard, and a graph
//! sounds the same everywhere.

use crate::PlanOptions;
use crate::costs::stated_cost;
use crate::turns::{Act, Turn};
use crate::wiring::{Part, Wiring};
use std::collections::HashMap;

/// For each member how often it runs, and when: (`every`, `phase`).
pub(crate) fn phases(wiring: &Wiring<'_>, options: &PlanOptions) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = wiring.members.iter().map(|m| (every(m), 0)).collect();
    let mut knots = knots(wiring, &all, options);
    // How many of each period there are bounds the phases that can be of use.
    let mut loads: HashMap<u32, Vec<u64>> = HashMap::new();
    for knot in &knots {
        let load = loads.entry(knot.period).or_default();
        if load.len() < knot.period as usize {
            load.push(0);
        }
    }
    knots.sort_by_key(|k| (std::cmp::Reverse(k.cost), k.members[0]));
    for knot in knots {
        let Some(load) = loads.get_mut(&knot.period) else {
            continue;
        };
        let least = load.iter().copied().enumerate().min_by_key(|l| (l.1, l.0));
        let (phase, _) = least.unwrap_or((0, 0));
        load[phase] = load[phase].saturating_add(knot.cost);
        for member in knot.members {
            let (every, own) = &mut all[member as usize];
            *own = phase as u32 % *every;
        }
    }
    all
}

/// A delay runs in every cycle whatever the text says: its line moves on. So does silence.
fn every(member: &crate::wiring::Member<'_>) -> u32 {
    match member.part {
        Part::Plain | Part::Sink { .. } => member.node.every.max(1),
        Part::Delay(_) | Part::Mute | Part::Align(_) => 1,
    }
}

/// Members that run seldom and are connected.
struct Knot {
    members: Vec<u32>,
    /// Their longest.
    period: u32,
    cost: u64,
}

fn knots(wiring: &Wiring<'_>, all: &[(u32, u32)], options: &PlanOptions) -> Vec<Knot> {
    let seldom = |m: u32| all[m as usize].0 > 1;
    let mut parent: Vec<u32> = (0..all.len() as u32).collect();
    let ends = wiring.wires.iter().map(|w| (wiring.origin(w.from), w.to));
    for (from, to) in ends.filter(|(from, to)| seldom(*from) && seldom(*to)) {
        let (a, b) = (root(&mut parent, from), root(&mut parent, to));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut knots: Vec<Knot> = Vec::new();
    let mut known = HashMap::new();
    for member in (0..all.len() as u32).filter(|m| seldom(*m)) {
        let index = *known
            .entry(root(&mut parent, member))
            .or_insert(knots.len());
        if index == knots.len() {
            knots.push(Knot {
                members: Vec::new(),
                period: 1,
                cost: 0,
            });
        }
        let knot = &mut knots[index];
        let act = Act::Run;
        let cost = stated_cost(
            &wiring.members[member as usize],
            Turn {
                member,
                act,
                lag: 0,
                copy: 0,
            },
            options,
        );
        knot.members.push(member);
        knot.period = knot.period.max(all[member as usize].0);
        knot.cost = knot.cost.saturating_add(cost.0);
    }
    knots
}

/// The smallest member known to be connected with `at`.
fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
    }
    at
}
