//! By how much what a node hears and gives lags behind the inputs of the program.
//!
//! Nodes in a cycle (a strongly connected component of the wires) count as one to the outside: all that enters it is
//! taken to come with the latest of it, and a member gives by so much later as is the least latency on a way to it within
//! the cycle: sound goes round and comes again and again, and what counts is when it comes first. A cycle that nothing
//! enters begins where its delays are heard.

use crate::PlanOptions;
use crate::wiring::{Part, Wire, Wiring};
use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Frames;

/// The latencies of all members, in frames.
#[derive(Debug)]
pub(crate) struct Latencies {
    /// By the smallest member of the cycle that each member is in; its own number where it is in none.
    cycle: Vec<u32>,
    /// By how much lags what each member hears, or what enters its cycle.
    heard: Vec<u32>,
    /// By how much lags what it gives.
    given: Vec<u32>,
}

impl Latencies {
    /// Of the wires as the graph has them.
    pub(crate) fn of(wiring: &Wiring<'_>, options: &PlanOptions) -> Self {
        let count = wiring.members.len();
        let pairs = || wiring.wires.iter().map(|w| (w.from, w.to));
        let cycle = Adjacency::new(count, pairs().collect()).strong_components();
        let within = within(wiring, &cycle, options);
        let of = |member: u32| cycle[member as usize];
        let between = pairs().map(|(a, b)| (of(a), of(b)));
        let between = Adjacency::new(count, between.filter(|(a, b)| a != b).collect());
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for member in 0..count as u32 {
            members[of(member) as usize].push(member);
        }
        let (mut heard, mut given) = (vec![0_u32; count], vec![0_u32; count]);
        for name in between.topological_order() {
            let inside = &members[name as usize];
            let wires = inside.iter().flat_map(|member| wiring.wires_to(*member));
            let entering = wires.filter(|wire| of(wire.from) != name);
            let latest = entering.map(|wire| given[wire.from as usize]).max();
            for &member in inside {
                let at = member as usize;
                heard[at] = latest.unwrap_or(0);
                given[at] = heard[at].saturating_add(within[at]);
            }
        }
        Self {
            cycle,
            heard,
            given,
        }
    }

    /// By how much the latest sink lags.
    pub(crate) fn longest(&self, wiring: &Wiring<'_>) -> u32 {
        let members = wiring.members.iter().zip(&self.given);
        let sinks = members.filter(|(member, _)| matches!(member.part, Part::Sink { .. }));
        sinks.map(|(_, given)| *given).max().unwrap_or(0)
    }

    /// Whether both ends of a wire are in one cycle.
    pub(crate) fn is_within(&self, wire: &Wire) -> bool {
        self.cycle[wire.from as usize] == self.cycle[wire.to as usize]
    }

    /// By how many frames what a wire carries comes before the latest that its end hears. Within a cycle nothing is early,
    /// nor is the silence of who is muted.
    pub(crate) fn early(&self, wiring: &Wiring<'_>, wire: &Wire) -> Frames {
        let [from, to] = [wire.from, wire.to].map(|member| member as usize);
        if self.is_within(wire) || wiring.members[from].part == Part::Mute {
            return Frames(0);
        }
        Frames(self.heard[to].saturating_sub(self.given[from]))
    }

    /// Has all sinks hear as late as the latest of them.
    pub(crate) fn level_sinks(&mut self, wiring: &Wiring<'_>) {
        let longest = self.longest(wiring);
        for (at, member) in wiring.members.iter().enumerate() {
            if matches!(member.part, Part::Sink { .. }) {
                self.heard[at] += longest - self.given[at];
                self.given[at] = longest;
            }
        }
    }
}

/// What a member adds by itself.
fn own(wiring: &Wiring<'_>, options: &PlanOptions, member: u32) -> u32 {
    let member = &wiring.members[member as usize];
    match member.part {
        Part::Mute => 0,
        _ => options.latencies.get(&member.id).map_or(0, |own| own.0),
    }
}

/// By how much each member gives later than what enters its cycle comes: the least latency on a way to it (Dijkstra).
fn within(wiring: &Wiring<'_>, cycle: &[u32], options: &PlanOptions) -> Vec<u32> {
    let inside = |wire: &&Wire| cycle[wire.from as usize] == cycle[wire.to as usize];
    let pairs = wiring.wires.iter().filter(inside).map(|w| (w.from, w.to));
    let arrows = Adjacency::new(cycle.len(), pairs.collect());
    let mut least: Vec<Option<u32>> = vec![None; cycle.len()];
    let mut next = BinaryHeap::new();
    let mut reach = |next: &mut BinaryHeap<_>, member: u32, late: u32| {
        if least[member as usize].is_none_or(|least| late < least) {
            least[member as usize] = Some(late);
            next.push(Reverse((late, member)));
        }
    };
    for member in begins(wiring, cycle) {
        reach(&mut next, member, own(wiring, options, member));
    }
    while let Some(Reverse((late, member))) = next.pop() {
        for &to in arrows.successors(member) {
            reach(&mut next, to, late.saturating_add(own(wiring, options, to)));
        }
    }
    // A cycle without a delay has no beginning, and is a mistake that a later pass tells of.
    least.into_iter().map(Option::unwrap_or_default).collect()
}

/// Where cycles begin: members that something enters from outside; in a cycle without any, who hears its delays.
fn begins(wiring: &Wiring<'_>, cycle: &[u32]) -> Vec<u32> {
    let leaves = |wire: &&Wire| cycle[wire.from as usize] != cycle[wire.to as usize];
    let mut all: Vec<u32> = wiring.wires.iter().filter(leaves).map(|w| w.to).collect();
    let mut is_entered = vec![false; cycle.len()];
    for member in &all {
        is_entered[cycle[*member as usize] as usize] = true;
    }
    let mut is_large = vec![false; cycle.len()];
    for wire in wiring.wires.iter().filter(|wire| !leaves(wire)) {
        let name = cycle[wire.to as usize] as usize;
        is_large[name] = true;
        let from = &wiring.members[wire.from as usize];
        if !is_entered[name] && matches!(from.part, Part::Delay(_)) {
            all.push(wire.to);
        }
    }
    let alone = (0..cycle.len()).filter(|at| !is_large[cycle[*at] as usize]);
    all.extend(alone.map(|at| at as u32));
    all
}
