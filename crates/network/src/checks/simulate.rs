//! Simulation of the firings of a part, without samples, until the queues' contents repeat or all nodes wait.
//!
//! Iteration by iteration: in each, every node may fire as often more as the repetition vector says. Every node that can fire
//! does, those near the outputs first, which keeps queues short. A node that has not used its firings keeps them for
//! the next iteration; when what is left over is the same after two iterations, the queues hold the same frames too, and
//! everything repeats from there.
//!
//! Nodes on a cycle of waiting, all of which still have firings left, wait for ever: firings of other nodes cannot help
//! them, since in a dataflow graph no firing disables another (Karp and Miller, 1966).
//!
//! The largest content of a queue during the simulation is its peak. With the peaks as sizes the same schedule is possible, so
//! no other schedule blocks for ever.

use super::biconnected::Part;
use super::error::CheckError;
use crate::topology::{QueueId, Topology, waiting_cycles};
use graph::NodeId;

/// Size of each queue of a part in frames; `None` if it is not bounded.
pub(super) type Bounds = [Option<u64>];

/// Largest number of firings that are simulated for one network.
pub(super) const MAX_FIRINGS: u128 = 16_000_000;

/// Firings that may still be simulated.
#[derive(Debug)]
pub(super) struct FiringBudget(pub(super) u128);

/// Firings left for a node that may fire any number of times.
const UNLIMITED: u64 = u64::MAX / 2;

/// Reason why a simulation did not reach a state that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SimulationError {
    /// Each of these nodes waits for the next one, at that queue.
    Deadlock(Vec<WaitingNode>),
    /// More firings than the budget has.
    TooManyFirings(u128),
}

/// A node on a cycle of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitingNode {
    pub(super) node: NodeId,
    pub(super) queue: QueueId,
    /// Size that the queue would need, if the node waits for room.
    pub(super) needed: Option<u64>,
    /// Size that the queue has.
    pub(super) bound: Option<u64>,
}

/// A queue in the simulation. Nodes are numbered as in the part.
struct QueueState {
    id: QueueId,
    writer: usize,
    reader: usize,
    produce: u64,
    write_window: u64,
    consume: u64,
    read_window: u64,
    bound: Option<u64>,
    /// Frames in the queue.
    fill: u64,
    /// Largest number of frames, with the window of a firing that is written.
    peak: u64,
}

/// A part that is simulated.
pub(super) struct Simulation<'a> {
    part: &'a Part,
    queues: Vec<QueueState>,
    /// Queues that each node reads, and those that it writes.
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    /// Firings that each node has left in this iteration.
    left: Vec<u64>,
    firings: u128,
    max_firings: u128,
    candidates: Candidates,
}

/// Simulates a part until its firings repeat; the peak of each queue.
pub(super) fn simulate(
    topology: &Topology,
    part: &Part,
    bounds: &Bounds,
    budget: &mut FiringBudget,
) -> Result<Vec<u64>, SimulationError> {
    if part.firings() > budget.0 {
        return Err(SimulationError::TooManyFirings(part.firings()));
    }
    let mut simulation = Simulation::new(topology, part, bounds);
    simulation.max_firings = budget.0;
    let done = simulation.until_it_repeats();
    budget.0 = budget
        .0
        .saturating_sub(simulation.firings.max(part.firings()));
    done.map(|()| simulation.queues.iter().map(|queue| queue.peak).collect())
}

impl<'a> Simulation<'a> {
    /// A simulation before the first firing.
    pub(super) fn new(topology: &Topology, part: &'a Part, bounds: &Bounds) -> Self {
        let nodes = part.nodes.len();
        let (mut inputs, mut outputs) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let mut queues = Vec::with_capacity(bounds.len());
        for (id, bound) in part.queues.iter().copied().zip(bounds) {
            let (input, output) = (topology.input(id), topology.output(id));
            let ends = &topology.queues[id.0];
            let (writer, reader) = (part.index_of(ends.from.node), part.index_of(ends.to.node));
            let fill = topology.initial_frames(id) as u64;
            inputs[reader].push(queues.len());
            outputs[writer].push(queues.len());
            queues.push(QueueState {
                id,
                writer,
                reader,
                produce: output.produce as u64,
                write_window: output.window as u64,
                consume: input.consume as u64,
                read_window: input.window as u64,
                bound: *bound,
                fill,
                peak: fill,
            });
        }
        Self {
            candidates: Candidates::new(outputs_first(&queues, &outputs)),
            part,
            queues,
            inputs,
            outputs,
            left: vec![0; nodes],
            firings: 0,
            max_firings: MAX_FIRINGS,
        }
    }

    fn until_it_repeats(&mut self) -> Result<(), SimulationError> {
        loop {
            let lag = self.left.clone();
            self.iteration()?;
            if self.left == lag {
                return Ok(());
            }
        }
    }

    fn iteration(&mut self) -> Result<(), SimulationError> {
        for (left, count) in self.left.iter_mut().zip(&self.part.repetitions) {
            *left += count;
        }
        self.candidates.insert_all();
        self.fire_all()?;
        match self.waiting_cycle() {
            Some(cycle) => Err(SimulationError::Deadlock(cycle)),
            None => Ok(()),
        }
    }

    /// Fires nodes until none can fire.
    fn fire_all(&mut self) -> Result<(), SimulationError> {
        while let Some(node) = self.candidates.pop_first() {
            if self.left[node] > 0 && self.blocking_queue(node).is_none() {
                self.fire(node);
            }
            if self.firings > self.max_firings {
                return Err(SimulationError::TooManyFirings(self.firings));
            }
        }
        Ok(())
    }

    /// Lets all nodes but one fire any number of times.
    pub(super) fn allow_all_but(&mut self, node: usize) {
        self.left.fill(UNLIMITED);
        self.left[node] = 0;
    }

    /// Fires that node once, and then all that can fire.
    pub(super) fn fire_once(&mut self, node: usize) -> Result<(), SimulationError> {
        self.left[node] = 1;
        self.candidates.insert_all();
        self.fire_all()
    }

    /// Number of firings of a node that may fire any number of times.
    pub(super) fn fired(&self, node: usize) -> u64 {
        UNLIMITED - self.left[node]
    }

    /// Number of frames in each queue.
    pub(super) fn fills(&self) -> Vec<u64> {
        self.queues.iter().map(|queue| queue.fill).collect()
    }

    /// The queue that keeps a node from firing, and the size that it would need, if the node waits for room.
    fn blocking_queue(&self, node: usize) -> Option<(usize, Option<u64>)> {
        let is_short = |queue: &&usize| {
            let queue = &self.queues[**queue];
            queue.fill < queue.read_window
        };
        if let Some(queue) = self.inputs[node].iter().find(is_short) {
            return Some((*queue, None));
        }
        self.outputs[node].iter().find_map(|index| {
            let queue = &self.queues[*index];
            let needed = queue.fill + queue.write_window;
            let is_full = queue.bound.is_some_and(|bound| needed > bound);
            is_full.then_some((*index, Some(needed)))
        })
    }

    fn fire(&mut self, node: usize) {
        self.left[node] -= 1;
        self.firings += 1;
        self.candidates.insert(node);
        for index in &self.outputs[node] {
            let queue = &mut self.queues[*index];
            queue.peak = queue.peak.max(queue.fill + queue.write_window);
            queue.fill += queue.produce;
            self.candidates.insert(queue.reader);
        }
        for index in &self.inputs[node] {
            let queue = &mut self.queues[*index];
            queue.fill -= queue.consume;
            self.candidates.insert(queue.writer);
        }
    }

    /// A cycle of nodes that wait for each other and all have firings left.
    fn waiting_cycle(&self) -> Option<Vec<WaitingNode>> {
        let waits = |node: usize| self.blocking_queue(node).filter(|_| self.left[node] > 0);
        let waits_for = |node| {
            let (index, needed) = waits(node)?;
            let queue = &self.queues[index];
            Some(needed.map_or(queue.writer, |_| queue.reader))
        };
        let waits_for: Vec<_> = (0..self.left.len()).map(waits_for).collect();
        let cycle = waiting_cycles(&waits_for).into_iter().next()?;
        let waiting = |node: usize| {
            let (index, needed) = waits(node)?;
            let queue = &self.queues[index];
            Some(WaitingNode {
                node: self.part.nodes[node],
                queue: queue.id,
                needed,
                bound: queue.bound,
            })
        };
        cycle.into_iter().map(waiting).collect()
    }
}

/// Set of nodes that may be able to fire, with those near the outputs first.
struct Candidates {
    /// Rank of each node, and the node of each rank.
    ranks: Vec<usize>,
    nodes: Vec<usize>,
    /// A bit for each rank.
    words: Vec<u64>,
}

impl Candidates {
    fn new(ranks: Vec<usize>) -> Self {
        let mut nodes = vec![0; ranks.len()];
        for (node, rank) in ranks.iter().enumerate() {
            nodes[*rank] = node;
        }
        Self {
            words: vec![0; ranks.len().div_ceil(64)],
            ranks,
            nodes,
        }
    }

    fn insert(&mut self, node: usize) {
        let rank = self.ranks[node];
        self.words[rank / 64] |= 1 << (rank % 64);
    }

    fn insert_all(&mut self) {
        (0..self.ranks.len()).for_each(|node| self.insert(node));
    }

    fn pop_first(&mut self) -> Option<usize> {
        let word = self.words.iter().position(|word| *word != 0)?;
        let bit = self.words[word].trailing_zeros() as usize;
        self.words[word] &= self.words[word] - 1;
        Some(self.nodes[64 * word + bit])
    }
}

/// Rank of each node in an order in which, except on cycles, readers come before writers: a depth-first post-order.
fn outputs_first(queues: &[QueueState], outputs: &[Vec<usize>]) -> Vec<usize> {
    let mut ranks = vec![usize::MAX; outputs.len()];
    let mut is_seen = vec![false; outputs.len()];
    let mut next = 0;
    for begin in 0..outputs.len() {
        let mut stack = vec![(begin, 0)];
        if std::mem::replace(&mut is_seen[begin], true) {
            continue;
        }
        while let Some((node, done)) = stack.pop() {
            let Some(queue) = outputs[node].get(done) else {
                ranks[node] = next;
                next += 1;
                continue;
            };
            stack.push((node, done + 1));
            let reader = queues[*queue].reader;
            if !std::mem::replace(&mut is_seen[reader], true) {
                stack.push((reader, 0));
            }
        }
    }
    ranks
}

impl SimulationError {
    /// The error in the user's terms.
    pub(super) fn for_user(self, topology: &Topology) -> CheckError {
        let cycle = match self {
            Self::TooManyFirings(firings) => return CheckError::TooManyFirings { firings },
            Self::Deadlock(cycle) => cycle,
        };
        let full = cycle
            .iter()
            .filter_map(|w| Some((w.needed?, w.queue, w.bound?)));
        if let Some((needed, queue, size)) = full.min() {
            return CheckError::too_small(topology, queue, size, needed);
        }
        let name = |w: &WaitingNode| {
            (
                topology.node(w.node).name.clone(),
                topology.queue_name(w.queue),
            )
        };
        CheckError::Deadlock {
            names: cycle.iter().map(name).collect(),
            cycle: cycle.iter().map(|w| (w.node, w.queue)).collect(),
        }
    }
}
