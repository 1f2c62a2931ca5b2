//! [`NetworkInstance`]: a network with its queues in memory, before the first firing and after the last.

use crate::actor::Actor;
use crate::checks::sufficient_sizes;
use crate::error::{RunError, RunOptions, RunSummary};
use crate::network::Network;
use crate::run::node::{Failure, RunningNode};
use crate::run::queue_ends::{InputEnd, OutputEnd};
use crate::run::queues::{Queues, RingEnds};
use crate::topology::{QueueId, Topology};
use graph::Adjacency;

/// A network with its queues in memory.
pub(crate) struct NetworkInstance {
    /// Nodes, in the topology's order.
    pub(crate) nodes: Vec<RunningNode>,
    pub(crate) queues: Queues,
    pub(crate) options: RunOptions,
}

impl NetworkInstance {
    /// Creates the queues, and gives their ends to the nodes.
    ///
    /// # Errors
    ///
    /// A port has no queue, or there is too little memory.
    pub(crate) fn new(network: Network, options: &RunOptions) -> Result<Self, RunError> {
        let topology = network.topology().clone();
        if let Some((_, error)) = topology.unconnected_ports().into_iter().next() {
            return Err(error.into());
        }
        let sizes = first_sizes(&topology);
        let mut nodes: Vec<RunningNode> = network.actors.into_iter().map(running_node).collect();
        let mut queues = Queues::new(topology, options.memory);
        for (queue, size) in queues.topology.queue_ids().zip(sizes) {
            let (mut producer, consumer) = queues.create_ring(queue, size, 0)?;
            let initial = queues.topology.initial_frames(queue);
            if let Ok(chunk) = producer.write_chunk(initial) {
                chunk.commit(initial); // new memory is zero, so this is silence
            }
            attach(
                &queues.topology,
                &mut nodes,
                queue,
                size,
                (producer, consumer),
            );
            queues.sizes.push(size);
        }
        mark_feedback(&queues.topology, &mut nodes);
        Ok(Self {
            nodes,
            queues,
            options: options.clone(),
        })
    }

    /// Number of nodes without outputs. The network ends with the last of them, whatever other nodes could still do: a
    /// cycle that feeds itself would run for ever, with no effect.
    pub(crate) fn sink_count(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_sink).count()
    }

    /// Firings, sizes and growths until now.
    pub(crate) fn summary(&self) -> RunSummary {
        RunSummary {
            firings: self.nodes.iter().map(|node| node.firings).collect(),
            sizes: self.queues.sizes.clone(),
            growths: self.queues.growths.clone(),
            wakes: 0,
        }
    }
}

/// The error of a network that ends because `node` failed.
pub(crate) fn run_error(topology: &Topology, node: usize, failure: Failure) -> RunError {
    let node = topology.nodes[node].name.clone();
    match failure {
        Failure::Panic(message) => RunError::Panicked { node, message },
        Failure::Reported(message) => RunError::Failed { node, message },
    }
}

/// Size of each queue at the start: what the topology sets, else what is sufficient, else the smallest possible.
fn first_sizes(topology: &Topology) -> Vec<usize> {
    let is_open = topology.queues.iter().any(|queue| queue.size.is_none());
    let sufficient = is_open.then(|| sufficient_sizes(topology).ok()).flatten();
    let size = |queue: QueueId| {
        let found = sufficient.as_ref().map(|sizes| sizes[queue.0]);
        let set = topology.queues[queue.0].size;
        // A queue is at least as large as what it begins with.
        let set = set.map(|size| size.max(topology.initial_frames(queue)).max(1));
        set.or(found).unwrap_or_else(|| topology.min_size(queue))
    };
    topology.queue_ids().map(size).collect()
}

fn running_node(actor: Box<dyn Actor>) -> RunningNode {
    RunningNode {
        actor,
        inputs: Vec::new(),
        outputs: Vec::new(),
        neighbours: Box::default(),
        firings: 0,
        has_ended: false,
        is_sink: true,
    }
}

/// Gives the ends of a queue to its nodes. Queues come in order, but ports may not.
fn attach(
    topology: &Topology,
    nodes: &mut [RunningNode],
    queue: QueueId,
    size: usize,
    (producer, consumer): RingEnds,
) {
    let spec = &topology.queues[queue.0];
    let (writer, reader) = (spec.writer(), spec.reader());
    let spec_of = |queue: QueueId| &topology.queues[queue.0];
    nodes[writer].is_sink = false;
    let outputs = &mut nodes[writer].outputs;
    let at = outputs.partition_point(|end| spec_of(end.queue).from.port < spec.from.port);
    let port = topology.output(queue).clone();
    outputs.insert(at, OutputEnd::new(queue, port, producer, size));
    let inputs = &mut nodes[reader].inputs;
    let at = inputs.partition_point(|end| spec_of(end.queue).to.port < spec.to.port);
    let port = topology.input(queue).clone();
    inputs.insert(at, InputEnd::new(queue, port, consumer));
    for (node, other) in [(writer, reader), (reader, writer)] {
        let known = &mut nodes[node].neighbours;
        if !known.contains(&other) {
            *known = known.iter().copied().chain([other]).collect();
        }
    }
}

/// Marks inputs on cycles, of nodes that have other inputs too: these end with the other inputs.
fn mark_feedback(topology: &Topology, nodes: &mut [RunningNode]) {
    let edges = topology.queues.iter();
    let edges = edges.map(|queue| (queue.writer() as u32, queue.reader() as u32));
    let component = Adjacency::new(topology.nodes.len(), edges.collect()).strong_components();
    let is_on_cycle = |end: &InputEnd| {
        let queue = &topology.queues[end.queue.0];
        component[queue.writer()] == component[queue.reader()]
    };
    for node in nodes {
        if !node.inputs.iter().all(is_on_cycle) {
            for end in &mut node.inputs {
                end.is_feedback = is_on_cycle(end);
            }
        }
    }
}
