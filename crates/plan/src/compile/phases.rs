//! Pass 6: the phases of nodes that do not run in every cycle, spread so that no cycle has all of them.
//!
//! ```text
//!   cycle              0     1     2     3     4
//!   every 2, phase 0   A           A           A
//!   every 2, phase 1         B           B
//!   every 4, phase 3                     C
//! ```
//!
//! Nodes that are connected share a phase, so that one reads what the other has just written. These groups are spread by
//! cost, the largest first, each to the phase with the least load so far. Measured costs do not count: the phase changes
//! the sound, and a graph sounds the same on every machine.

use super::costs::stated_cost;
use super::ops::OpKind;
use super::wiring::{NodePart, WiredNode, Wiring};
use crate::PlanOptions;
use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::HashMap;

/// For each node (`every`, `phase`): it runs where `cycle % every == phase`.
pub(super) fn phases(wiring: &Wiring<'_>, options: &PlanOptions) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = wiring.nodes.iter().map(|n| (every(n), 0)).collect();
    let mut groups = groups(wiring, &all, options);
    // By period: load of each phase. There are no more phases than groups that could use them.
    let mut loads: HashMap<u32, Vec<u64>> = HashMap::new();
    for group in &groups {
        let load = loads.entry(group.period).or_default();
        if load.len() < group.period as usize {
            load.push(0);
        }
    }
    groups.sort_by_key(|g| (Reverse(g.cost), g.nodes[0]));
    for group in groups {
        let load = loads
            .get_mut(&group.period)
            .expect("every period has loads");
        let min = load.iter().copied().enumerate().min_by_key(|l| (l.1, l.0));
        let (phase, _) = min.unwrap_or((0, 0));
        load[phase] = load[phase].saturating_add(group.cost);
        for node in group.nodes {
            let (every, own) = &mut all[node as usize];
            *own = phase as u32 % *every;
        }
    }
    all
}

/// A delay runs in every cycle whatever the graph says, as its line moves on. So does silence.
fn every(node: &WiredNode<'_>) -> u32 {
    match node.part {
        NodePart::Process | NodePart::Sink { .. } => node.node.every.max(1),
        NodePart::Delay(_) | NodePart::Silence | NodePart::Align(_) => 1,
    }
}

/// Connected nodes that do not run in every cycle.
struct Group {
    /// In rising order.
    nodes: Vec<u32>,
    /// The longest `every`.
    period: u32,
    cost: u64,
}

fn groups(wiring: &Wiring<'_>, all: &[(u32, u32)], options: &PlanOptions) -> Vec<Group> {
    let is_rare = |node: u32| all[node as usize].0 > 1;
    let ends = wiring.edges.iter().map(|e| (wiring.origin(e.from), e.to));
    let ends = ends.filter(|(from, to)| is_rare(*from) && is_rare(*to));
    // With each edge in both directions, connected nodes are strongly connected.
    let both = ends.flat_map(|(from, to)| [(from, to), (to, from)]);
    let component = Adjacency::new(all.len(), both.collect()).strong_components();
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = HashMap::new();
    for node in (0..all.len() as u32).filter(|n| is_rare(*n)) {
        let name = component[node as usize];
        let index = *group_of.entry(name).or_insert(groups.len());
        if index == groups.len() {
            groups.push(Group {
                nodes: Vec::new(),
                period: 1,
                cost: 0,
            });
        }
        let group = &mut groups[index];
        let cost = stated_cost(&wiring.nodes[node as usize], OpKind::Process, options);
        group.nodes.push(node);
        group.period = group.period.max(all[node as usize].0);
        group.cost = group.cost.saturating_add(cost.0);
    }
    groups
}
