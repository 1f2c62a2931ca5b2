//! Plays a network's firings through, without sound, until they repeat or stop.
//!
//! Round by round: in each, a node may fire as often more as the balance equations say. Whatever can fire does, the
//! nodes near the outputs first. A node that lags behind the rounds may catch up; when no node lags more than a round
//! ago, the queues hold what they held then, and all is said. Nodes that wait for each other in a circle, all of which
//! still might fire in this round, wait for ever: no firing takes away another's chance.

use super::CheckError;
use crate::shape::{NodeId, QueueId, Shape};
use std::collections::BTreeSet;

/// Frames that each queue may have; without number where there is none.
pub(super) type Bounds = [Option<u64>];

/// The most firings that are played.
pub(super) const TOO_MANY: u128 = 4_000_000;

/// As often as it can.
const FREE: u64 = u64::MAX / 2;

/// Why it did not come to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Each of these waits for the next, at that queue.
    Stuck(Vec<Waiting>),
    /// More firings than are played.
    TooLong(u128),
}

/// A node of a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) node: NodeId,
    pub(super) queue: QueueId,
    /// Frames that the queue would have to have, if it is room that the node waits for.
    pub(super) needed: Option<u64>,
    /// Frames that it may have.
    pub(super) bound: Option<u64>,
}

/// A queue as the play sees it.
struct Edge {
    from: usize,
    to: usize,
    produce: u64,
    room: u64,
    consume: u64,
    window: u64,
    bound: Option<u64>,
    fill: u64,
    peak: u64,
}

pub(super) struct Play<'a> {
    edges: Vec<Edge>,
    ins: Vec<Vec<usize>>,
    outs: Vec<Vec<usize>>,
    /// Where each node stands, those near the outputs first.
    order: Vec<usize>,
    counts: &'a [u64],
    /// How often each may fire yet in this round.
    left: Vec<u64>,
    firings: u128,
    /// Those that perhaps can fire, by their place in the order.
    perhaps: BTreeSet<(usize, usize)>,
}

/// Plays until the firings repeat; the frames that each queue needed for it.
pub(super) fn unroll(shape: &Shape, counts: &[u64], bounds: &Bounds) -> Result<Vec<u64>, Stop> {
    let round: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    if round > TOO_MANY {
        return Err(Stop::TooLong(round));
    }
    let mut play = Play::new(shape, counts, bounds);
    loop {
        let lag = play.left.clone();
        play.round()?;
        if play.left == lag {
            return Ok(play.edges.iter().map(|edge| edge.peak).collect());
        }
    }
}

impl<'a> Play<'a> {
    pub(super) fn new(shape: &Shape, counts: &'a [u64], bounds: &Bounds) -> Self {
        let (mut ins, mut outs) = (
            vec![Vec::new(); counts.len()],
            vec![Vec::new(); counts.len()],
        );
        let mut edges = Vec::with_capacity(bounds.len());
        for (queue, bound) in shape.queue_ids().zip(bounds) {
            let (input, output) = (shape.input(queue), shape.output(queue));
            let (from, to) = (shape.queues[queue.0].from.0.0, shape.queues[queue.0].to.0.0);
            let fill = shape.first(queue) as u64;
            ins[to].push(edges.len());
            outs[from].push(edges.len());
            edges.push(Edge {
                from,
                to,
                produce: output.produce as u64,
                room: output.room as u64,
                consume: input.consume as u64,
                window: input.window as u64,
                bound: *bound,
                fill,
                peak: fill,
            });
        }
        let order = from_the_outputs(&edges, &outs);
        Self {
            edges,
            ins,
            outs,
            order,
            counts,
            left: vec![0; counts.len()],
            firings: 0,
            perhaps: BTreeSet::new(),
        }
    }

    fn round(&mut self) -> Result<(), Stop> {
        for (left, count) in self.left.iter_mut().zip(self.counts) {
            *left += count;
        }
        let all = (0..self.counts.len()).map(|node| (self.order[node], node));
        self.perhaps = all.collect();
        self.settle()?;
        match self.circle() {
            Some(circle) => Err(Stop::Stuck(circle)),
            None => Ok(()),
        }
    }

    /// Fires whatever can.
    fn settle(&mut self) -> Result<(), Stop> {
        while let Some((_, node)) = self.perhaps.pop_first() {
            if self.left[node] > 0 && self.waits(node).is_none() {
                self.fire(node);
            }
            if self.firings > TOO_MANY {
                return Err(Stop::TooLong(self.firings));
            }
        }
        Ok(())
    }

    /// All but one node may fire as often as they can.
    pub(super) fn let_all_but(&mut self, node: usize) {
        self.left.fill(FREE);
        self.left[node] = 0;
    }

    /// Has that one fire, and then whatever can.
    pub(super) fn fire_once(&mut self, node: usize) -> Result<(), Stop> {
        self.left[node] = 1;
        let all = (0..self.counts.len()).map(|node| (self.order[node], node));
        self.perhaps = all.collect();
        self.settle()
    }

    /// How often a node has fired that may as often as it can.
    pub(super) fn fired(&self, node: usize) -> u64 {
        FREE - self.left[node]
    }

    /// Frames in each queue.
    pub(super) fn fills(&self) -> Vec<u64> {
        self.edges.iter().map(|edge| edge.fill).collect()
    }

    /// At which queue a node must wait.
    fn waits(&self, node: usize) -> Option<Waiting> {
        let short = self.ins[node].iter().find(|e| {
            let edge = &self.edges[**e];
            edge.fill < edge.window
        });
        let waiting = |e: usize, needed| Waiting {
            node: NodeId(node),
            queue: QueueId(e),
            needed,
            bound: self.edges[e].bound,
        };
        if let Some(e) = short {
            return Some(waiting(*e, None));
        }
        self.outs[node].iter().find_map(|e| {
            let edge = &self.edges[*e];
            let needed = edge.fill + edge.room;
            let is_full = edge.bound.is_some_and(|bound| needed > bound);
            is_full.then(|| waiting(*e, Some(needed)))
        })
    }

    fn fire(&mut self, node: usize) {
        self.left[node] -= 1;
        self.firings += 1;
        let again = |node: usize, order: &[usize]| (order[node], node);
        self.perhaps.insert(again(node, &self.order));
        for e in &self.outs[node] {
            let edge = &mut self.edges[*e];
            edge.peak = edge.peak.max(edge.fill + edge.room);
            edge.fill += edge.produce;
            self.perhaps.insert(again(edge.to, &self.order));
        }
        for e in &self.ins[node] {
            let edge = &mut self.edges[*e];
            edge.fill -= edge.consume;
            self.perhaps.insert(again(edge.from, &self.order));
        }
    }

    /// Nodes that wait for each other and all might fire in this round.
    fn circle(&self) -> Option<Vec<Waiting>> {
        let mut walk_of = vec![0; self.counts.len()];
        for begin in 0..self.counts.len() {
            let (walk, mut at, mut path) = (begin + 1, begin, Vec::new());
            while walk_of[at] == 0 && self.left[at] > 0 {
                walk_of[at] = walk;
                let waiting = self.waits(at)?;
                path.push(waiting);
                let edge = &self.edges[waiting.queue.0];
                at = if waiting.needed.is_some() {
                    edge.to
                } else {
                    edge.from
                };
            }
            if walk_of[at] == walk && self.left[at] > 0 {
                let first = path.iter().position(|waiting| waiting.node.0 == at)?;
                return Some(path.split_off(first));
            }
        }
        None
    }
}

/// Each node's place in an order in which, but for cycles, who reads comes before who writes.
fn from_the_outputs(edges: &[Edge], outs: &[Vec<usize>]) -> Vec<usize> {
    let mut places = vec![usize::MAX; outs.len()];
    let mut is_seen = vec![false; outs.len()];
    let mut next = 0;
    for begin in 0..outs.len() {
        let mut stack = vec![(begin, 0)];
        if std::mem::replace(&mut is_seen[begin], true) {
            continue;
        }
        while let Some((node, done)) = stack.pop() {
            let Some(e) = outs[node].get(done) else {
                places[node] = next;
                next += 1;
                continue;
            };
            stack.push((node, done + 1));
            let reader = edges[*e].to;
            if !std::mem::replace(&mut is_seen[reader], true) {
                stack.push((reader, 0));
            }
        }
    }
    places
}

impl Stop {
    /// The same in the user's words.
    pub(super) fn error(self, shape: &Shape) -> CheckError {
        let circle = match self {
            Self::TooLong(firings) => return CheckError::TooLong { firings },
            Self::Stuck(circle) => circle,
        };
        let full = circle
            .iter()
            .filter_map(|w| Some((w.needed?, w.queue, w.bound?)));
        if let Some((needed, queue, size)) = full.min() {
            return CheckError::too_small(shape, queue, size, needed);
        }
        let name = |w: &Waiting| {
            (
                shape.nodes[w.node.0].name.clone(),
                shape.queue_name(w.queue),
            )
        };
        CheckError::Deadlock {
            names: circle.iter().map(name).collect(),
            cycle: circle.iter().map(|w| (w.node, w.queue)).collect(),
        }
    }
}
