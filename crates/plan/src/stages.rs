//! Pipelining: the graph is cut into stages, each a cycle behind the one before.
//!
//! In one cycle the first stage plays block b, the next one block b - 1 and so on, so stages need not wait for each
//! other: even a line then keeps several workers busy. What a later stage hears is handed on by a relay, two turns
//! that wait for nothing of each other. Both halves of a delay, what is connected by events, and what lies in one loop
//! stay in one stage; what the device gives is in the first, sinks are in the last.

use crate::PlanOptions;
use crate::costs::cost;
use crate::levels::sum;
use crate::turns::{Act, Relay, Turn, Turns};
use crate::wiring::{Wire, Wiring};
use graph::Adjacency;
use graph::{Role, Signal};
use units::Nanos;

/// Gives every turn its stage, and adds relays where wires cross.
pub(crate) fn pipeline(wiring: &Wiring<'_>, turns: &mut Turns, options: &PlanOptions) {
    let clusters = clusters(wiring, turns);
    let stages = stages(wiring, turns, &clusters, options);
    for (turn, stage) in turns.all.iter_mut().zip(stages) {
        turn.lag = stage;
    }
    relay(wiring, turns);
}

/// For each turn the name of all that must be in one stage with it.
fn clusters(wiring: &Wiring<'_>, turns: &Turns) -> Vec<u32> {
    let mut pairs = turns.waits.clone();
    let back = wiring.wires.iter().filter(|w| !is_audio(wiring, w));
    pairs.extend(back.map(|w| (turns.taking(w.to), turns.giving(w.from))));
    for first in (0..).zip(&turns.all) {
        if let (
            read,
            Turn {
                act: Act::Read(_), ..
            },
        ) = first
        {
            pairs.extend([(read, read + 1), (read + 1, read)]);
        }
    }
    Adjacency::new(turns.all.len(), pairs).strong_components()
}

fn is_audio(wiring: &Wiring<'_>, wire: &Wire) -> bool {
    matches!(wiring.signal(wire.from, wire.output), Signal::Audio(_))
}

/// Where a cluster must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    First,
    Anywhere,
    Last,
}

/// The stage of each turn: clusters in order, cut where equal shares of the cost end. Of the orders to cut the one with
/// fewer crossings.
fn stages(wiring: &Wiring<'_>, turns: &Turns, clusters: &[u32], options: &PlanOptions) -> Vec<u32> {
    let count = turns.all.len();
    let ends = |(a, b): &(u32, u32)| (clusters[*a as usize], clusters[*b as usize]);
    let pairs = turns.waits.iter().map(ends).filter(|(a, b)| a != b);
    let arrows = Adjacency::new(count, pairs.collect());
    let mut costs = vec![Nanos(0); count];
    let mut places = vec![Where::Anywhere; count];
    for (index, turn) in turns.all.iter().enumerate() {
        let cluster = clusters[index] as usize;
        costs[cluster] = sum(costs[cluster], cost(wiring, *turn, options));
        if wiring.members[turn.member as usize].kind.role == Role::Source {
            places[cluster] = Where::First;
        } else if turn.act == Act::Keep && places[cluster] == Where::Anywhere {
            places[cluster] = Where::Last;
        }
    }
    let kahn = arrows.topological_order();
    for at in kahn.iter().rev() {
        if arrows
            .successors(*at)
            .iter()
            .any(|to| places[*to as usize] == Where::First)
        {
            places[*at as usize] = Where::First;
        }
    }
    let cut = |order: &[u32]| {
        let by_cluster = cut(order, &arrows, (&costs, &places), options.latency_blocks);
        let of = |turn: &u32| by_cluster[*turn as usize];
        clusters.iter().map(of).collect::<Vec<u32>>()
    };
    let candidates = [cut(&kahn), cut(&deep(&arrows, &kahn))];
    let crossings = |stages: &Vec<u32>| {
        let stage = |turn: u32| stages[turn as usize];
        let crosses = |w: &&Wire| stage(turns.giving(w.from)) != stage(turns.taking(w.to));
        wiring.wires.iter().filter(crosses).count()
    };
    let best = candidates.into_iter().min_by_key(crossings);
    best.unwrap_or_default()
}

/// The stage of each cluster.
fn cut(
    order: &[u32],
    arrows: &Adjacency,
    (costs, places): (&[Nanos], &[Where]),
    ahead: u32,
) -> Vec<u32> {
    let mut stages = vec![0; arrows.len()];
    let total = order
        .iter()
        .fold(Nanos(0), |all, at| sum(all, costs[*at as usize]));
    let mut before = Nanos(0);
    for &at in order {
        let it = at as usize;
        let middle = u128::from(before.0) + u128::from(costs[it].0 / 2);
        let share = middle * u128::from(ahead + 1) / u128::from(total.0.max(1));
        let stage = match places[it] {
            Where::First => 0,
            Where::Anywhere => (share as u32).min(ahead),
            Where::Last => ahead,
        };
        stages[it] = stage.max(stages[it]);
        before = sum(before, costs[it]);
        for to in arrows.successors(at) {
            stages[*to as usize] = stages[*to as usize].max(stages[it]);
        }
    }
    stages
}

/// An order that follows a way to its end before it begins another.
fn deep(arrows: &Adjacency, starts: &[u32]) -> Vec<u32> {
    let mut waits = arrows.in_degrees();
    let mut order = Vec::with_capacity(starts.len());
    let mut stack = Vec::new();
    let sources: Vec<u32> = starts
        .iter()
        .copied()
        .filter(|s| waits[*s as usize] == 0)
        .collect();
    for source in sources {
        stack.push(source);
        while let Some(at) = stack.pop() {
            order.push(at);
            for to in arrows.successors(at).iter().rev() {
                waits[*to as usize] -= 1;
                if waits[*to as usize] == 0 {
                    stack.push(*to);
                }
            }
        }
    }
    order
}

/// Puts relays where wires cross from stage to stage, and has each half wait for the right ones.
fn relay(wiring: &Wiring<'_>, turns: &mut Turns) {
    let mut waits: Vec<(u32, u32)> = turns.short.iter().map(|s| (s.write, s.read)).collect();
    let mut relays = Vec::new();
    for wire in &wiring.wires {
        let (giving, taking) = (turns.giving(wire.from), turns.taking(wire.to));
        let stage = turns.all[taking as usize].lag;
        if turns.all[giving as usize].lag == stage {
            waits.push((giving, taking));
        } else {
            relays.push((wire.from, wire.output, stage));
        }
    }
    relays.sort_unstable();
    relays.dedup();
    for (index, (member, output, stage)) in (0..).zip(relays) {
        let giving = turns.giving(member);
        let send = turns.all.len() as u32;
        let lag = turns.all[giving as usize].lag;
        turns.all.push(Turn {
            member,
            act: Act::Send(index),
            lag,
            copy: 0,
        });
        turns.all.push(Turn {
            member,
            act: Act::Receive(index),
            lag: stage,
            copy: 0,
        });
        waits.push((giving, send));
        turns.relays.push(Relay {
            member,
            output,
            stage,
            send,
            receive: send + 1,
        });
    }
    for wire in &wiring.wires {
        let taking = turns.taking(wire.to);
        let (from, _) = turns.source(taking, wire);
        waits.push((from, taking));
    }
    turns.waits = waits;
}
