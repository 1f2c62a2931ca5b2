//! Plays the firings of a network, or of a part of one, through, without sound, until they repeat or stop.
//!
//! Round by round: in each, a node may fire as often more as the balance equations say. Whatever can fire does, the
//! nodes near the outputs first. A node that lags behind the rounds may catch up; when no node lags more than a round
//! ago, the queues hold what they held then, and all is said. Nodes that wait for each other in a circle, all of which
//! still might fire in this round, wait for ever: no firing takes away another's chance.

use super::CheckError;
use super::parts::Part;
use crate::shape::{NodeId, QueueId, Topology};

/// Frames that each queue of a part may have; without number where there is none.
pub(super) type Bounds = [Option<u64>];

/// The most firings that are played to find sizes.
pub(super) const TOO_MANY: u128 = 16_000_000;

/// How many firings may still be played.
#[derive(Debug)]
pub(super) struct Patience(pub(super) u128);

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
    /// As the network counts it, as the queue is.
    pub(super) node: NodeId,
    pub(super) queue: QueueId,
    /// Frames that the queue would have to have, if it is room that the node waits for.
    pub(super) needed: Option<u64>,
    /// Frames that it may have.
    pub(super) bound: Option<u64>,
}

/// A queue as the play sees it; nodes by their place in the part.
struct Edge {
    queue: QueueId,
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

/// A network, or a part of one, that is being played.
pub(super) struct Play<'a> {
    part: &'a Part,
    edges: Vec<Edge>,
    ins: Vec<Vec<usize>>,
    outs: Vec<Vec<usize>>,
    /// How often each may fire yet in this round.
    left: Vec<u64>,
    firings: u128,
    /// Firings after which it is too long.
    most: u128,
    perhaps: Perhaps,
}

/// Plays until the firings repeat; the frames that each queue needed for it.
pub(super) fn unroll(
    shape: &Topology,
    part: &Part,
    bounds: &Bounds,
    patience: &mut Patience,
) -> Result<Vec<u64>, Stop> {
    if part.round() > patience.0 {
        return Err(Stop::TooLong(part.round()));
    }
    let mut play = Play::new(shape, part, bounds);
    play.most = patience.0;
    let done = play.until_it_repeats();
    patience.0 = patience.0.saturating_sub(play.firings.max(part.round()));
    done.map(|()| play.edges.iter().map(|edge| edge.peak).collect())
}

impl<'a> Play<'a> {
    pub(super) fn new(shape: &Topology, part: &'a Part, bounds: &Bounds) -> Self {
        let nodes = part.nodes.len();
        let place = |node: NodeId| {
            let found = part.nodes.binary_search(&node);
            found.expect("a part has the nodes of its queues")
        };
        let (mut ins, mut outs) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let mut edges = Vec::with_capacity(bounds.len());
        for (queue, bound) in part.queues.iter().copied().zip(bounds) {
            let (input, output) = (shape.input(queue), shape.output(queue));
            let ends = &shape.queues[queue.0];
            let (from, to) = (place(ends.from.0), place(ends.to.0));
            let fill = shape.initial_frames(queue) as u64;
            ins[to].push(edges.len());
            outs[from].push(edges.len());
            edges.push(Edge {
                queue,
                from,
                to,
                produce: output.produce as u64,
                room: output.window as u64,
                consume: input.consume as u64,
                window: input.window as u64,
                bound: *bound,
                fill,
                peak: fill,
            });
        }
        Self {
            perhaps: Perhaps::new(from_the_outputs(&edges, &outs)),
            part,
            edges,
            ins,
            outs,
            left: vec![0; nodes],
            firings: 0,
            most: TOO_MANY,
        }
    }

    fn until_it_repeats(&mut self) -> Result<(), Stop> {
        loop {
            let lag = self.left.clone();
            self.round()?;
            if self.left == lag {
                return Ok(());
            }
        }
    }

    fn round(&mut self) -> Result<(), Stop> {
        for (left, count) in self.left.iter_mut().zip(&self.part.counts) {
            *left += count;
        }
        self.perhaps.put_all();
        self.settle()?;
        match self.circle() {
            Some(circle) => Err(Stop::Stuck(circle)),
            None => Ok(()),
        }
    }

    /// Fires whatever can.
    fn settle(&mut self) -> Result<(), Stop> {
        while let Some(node) = self.perhaps.take_first() {
            if self.left[node] > 0 && self.waits(node).is_none() {
                self.fire(node);
            }
            if self.firings > self.most {
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
        self.perhaps.put_all();
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

    /// At which queue a node must wait; and how many frames that would have to have, if it is room that the node lacks.
    fn waits(&self, node: usize) -> Option<(usize, Option<u64>)> {
        let short = self.ins[node].iter().find(|e| {
            let edge = &self.edges[**e];
            edge.fill < edge.window
        });
        if let Some(e) = short {
            return Some((*e, None));
        }
        self.outs[node].iter().find_map(|e| {
            let edge = &self.edges[*e];
            let needed = edge.fill + edge.room;
            let is_full = edge.bound.is_some_and(|bound| needed > bound);
            is_full.then_some((*e, Some(needed)))
        })
    }

    fn fire(&mut self, node: usize) {
        self.left[node] -= 1;
        self.firings += 1;
        self.perhaps.put(node);
        for e in &self.outs[node] {
            let edge = &mut self.edges[*e];
            edge.peak = edge.peak.max(edge.fill + edge.room);
            edge.fill += edge.produce;
            self.perhaps.put(edge.to);
        }
        for e in &self.ins[node] {
            let edge = &mut self.edges[*e];
            edge.fill -= edge.consume;
            self.perhaps.put(edge.from);
        }
    }

    /// Nodes that wait for each other and all might fire in this round.
    fn circle(&self) -> Option<Vec<Waiting>> {
        let nodes = self.left.len();
        let mut walk_of = vec![0; nodes];
        for begin in 0..nodes {
            let (walk, mut at, mut path) = (begin + 1, begin, Vec::new());
            while walk_of[at] == 0 && self.left[at] > 0 {
                walk_of[at] = walk;
                let (e, needed) = self.waits(at)?;
                let edge = &self.edges[e];
                path.push(Waiting {
                    node: self.part.nodes[at],
                    queue: edge.queue,
                    needed,
                    bound: edge.bound,
                });
                at = if needed.is_some() { edge.to } else { edge.from };
            }
            if walk_of[at] == walk && self.left[at] > 0 {
                let met = |waiting: &Waiting| waiting.node == self.part.nodes[at];
                let first = path.iter().position(met)?;
                return Some(path.split_off(first));
            }
        }
        None
    }
}

/// The nodes that perhaps can fire, in an order of theirs.
struct Perhaps {
    /// Each node's place, and the node of each place.
    places: Vec<usize>,
    nodes: Vec<usize>,
    /// A bit for each place.
    words: Vec<u64>,
}

impl Perhaps {
    fn new(places: Vec<usize>) -> Self {
        let mut nodes = vec![0; places.len()];
        for (node, place) in places.iter().enumerate() {
            nodes[*place] = node;
        }
        Self {
            words: vec![0; places.len().div_ceil(64)],
            places,
            nodes,
        }
    }

    fn put(&mut self, node: usize) {
        let place = self.places[node];
        self.words[place / 64] |= 1 << (place % 64);
    }

    fn put_all(&mut self) {
        (0..self.places.len()).for_each(|node| self.put(node));
    }

    fn take_first(&mut self) -> Option<usize> {
        let word = self.words.iter().position(|word| *word != 0)?;
        let bit = self.words[word].trailing_zeros() as usize;
        self.words[word] &= self.words[word] - 1;
        Some(self.nodes[64 * word + bit])
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
    pub(super) fn error(self, shape: &Topology) -> CheckError {
        let circle = match self {
            Self::TooLong(firings) => return CheckError::TooManyFirings { firings },
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
