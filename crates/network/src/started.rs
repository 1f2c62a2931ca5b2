//! [`Started`]: a network with its queues in memory, before the first firing and after the last.

use crate::checks;
use crate::ends::{InEnd, OutEnd};
use crate::error::{RunError, RunOptions, RunSummary};
use crate::live::{Failure, Live};
use crate::network::Network;
use crate::shape::{QueueId, Topology};
use crate::stuck::Circuit;
use rt::mirror::{Consumer, PageSize, Producer, Ring};

/// A network with its queues in memory.
pub(crate) struct Started {
    pub(crate) lives: Vec<Live>,
    pub(crate) circuit: Circuit,
    pub(crate) options: RunOptions,
}

impl Started {
    /// Makes the queues.
    pub(crate) fn new(network: Network, options: &RunOptions) -> Result<Self, RunError> {
        let shape = network.topology().clone();
        if let Some((_, open)) = shape.unconnected_ports().into_iter().next() {
            return Err(open.into());
        }
        let sizes = sizes(&shape);
        let mut lives: Vec<Live> = network.fires.into_iter().map(live).collect();
        let mut circuit = Circuit::new(shape, options.memory);
        for (queue, size) in circuit.shape.queue_ids().zip(sizes) {
            let channels = circuit.shape.input(queue).channels;
            let (mut producer, consumer) = circuit.ring(queue, channels, size, 0)?;
            let first = circuit.shape.initial_frames(queue);
            if let Ok(room) = producer.write_chunk(first) {
                room.commit(first); // new memory is silent
            }
            circuit.tie(&mut lives, queue, size, (producer, consumer));
        }
        go_round(&circuit.shape, &mut lives);
        Ok(Self {
            lives,
            circuit,
            options: options.clone(),
        })
    }

    /// How many nodes without outputs there are. When the last of them has ended, all is over, whatever others still
    /// could do: a circle of nodes that feeds itself would go on for ever and nobody hear it.
    pub(crate) fn sinks(&self) -> usize {
        self.lives.iter().filter(|live| live.is_sink).count()
    }

    /// What became of it.
    pub(crate) fn summary(&self) -> RunSummary {
        RunSummary {
            firings: self.lives.iter().map(|live| live.firings).collect(),
            sizes: self.circuit.sizes.clone(),
            growths: self.circuit.growths.clone(),
            wakes: 0,
        }
    }

    /// Why node `node` ended the network.
    pub(crate) fn failed(&self, node: usize, failure: Failure) -> RunError {
        failed(&self.circuit.shape, node, failure)
    }
}

/// Why node `node` ended the network.
pub(crate) fn failed(shape: &Topology, node: usize, failure: Failure) -> RunError {
    let node = shape.nodes[node].name.clone();
    match failure {
        Failure::Panic(message) => RunError::Panicked { node, message },
        Failure::Told(message) => RunError::Failed { node, message },
    }
}

/// What the queues have at first: what was asked for, else what the static check finds sufficient, else the least.
fn sizes(shape: &Topology) -> Vec<usize> {
    let is_open = shape.queues.iter().any(|queue| queue.size.is_none());
    let sufficient = is_open
        .then(|| checks::sufficient_sizes(shape).ok())
        .flatten();
    let size = |queue: QueueId| {
        let found = sufficient.as_ref().map(|sizes| sizes[queue.0]);
        let asked = shape.queues[queue.0].size;
        // A queue that begins with more has more.
        let asked = asked.map(|size| size.max(shape.initial_frames(queue)).max(1));
        asked.or(found).unwrap_or_else(|| shape.min_size(queue))
    };
    shape.queue_ids().map(size).collect()
}

fn live(fire: Box<dyn crate::Actor>) -> Live {
    Live {
        fire,
        ins: Vec::new(),
        outs: Vec::new(),
        neighbours: Box::default(),
        firings: 0,
        has_ended: false,
        is_sink: true,
    }
}

/// Tells the ends of queues in circles, but where a node hears nothing else.
fn go_round(shape: &Topology, lives: &mut [Live]) {
    let pairs = shape
        .queues
        .iter()
        .map(|queue| (queue.from.0.0 as u32, queue.to.0.0 as u32));
    let circle = graph::Adjacency::new(shape.nodes.len(), pairs.collect()).strong_components();
    let is_round = |end: &InEnd| {
        let queue = &shape.queues[end.queue.0];
        circle[queue.from.0.0] == circle[queue.to.0.0]
    };
    for live in lives {
        if !live.ins.iter().all(is_round) {
            let ends = live.ins.iter_mut();
            ends.for_each(|end| end.goes_round = is_round(end));
        }
    }
}

pub(crate) type Ends = (Producer<f32>, Consumer<f32>);

impl Circuit {
    /// A ring for `queue`, which has `old` frames in a ring already; its memory is counted.
    pub(crate) fn ring(
        &mut self,
        queue: QueueId,
        channels: usize,
        frames: usize,
        old: usize,
    ) -> Result<Ends, RunError> {
        let of = |frames: usize| {
            frames
                .saturating_mul(channels)
                .saturating_mul(size_of::<f32>())
        };
        let least = self
            .bytes
            .saturating_sub(of(old))
            .saturating_add(of(frames));
        if least > self.memory {
            return Err(self.too_large(queue, least));
        }
        let refused = |source| RunError::Ring {
            queue: self.shape.queue_name(queue),
            source,
        };
        let ring = Ring::<f32>::new(channels, frames, PageSize::Default).map_err(refused)?;
        let bytes = self.bytes - of(old) + of(ring.capacity());
        if bytes > self.memory {
            return Err(self.too_large(queue, bytes));
        }
        let ends = (
            ring.producer().map_err(refused)?,
            ring.consumer().map_err(refused)?,
        );
        self.bytes = bytes;
        Ok(ends)
    }

    fn too_large(&self, queue: QueueId, bytes: usize) -> RunError {
        RunError::Memory {
            queue: self.shape.queue_name(queue),
            bytes,
            limit: self.memory,
        }
    }

    /// Gives the two ends to the nodes. Queues come in order, ports perhaps not.
    fn tie(&mut self, lives: &mut [Live], queue: QueueId, size: usize, ends: Ends) {
        let (input, output) = (
            self.shape.input(queue).clone(),
            self.shape.output(queue).clone(),
        );
        let ((from, output_at), (to, input_at)) = {
            let shape = &self.shape.queues[queue.0];
            (shape.from, shape.to)
        };
        let place = |shape: &Topology, queue: QueueId| {
            let queue = &shape.queues[queue.0];
            (queue.from.1, queue.to.1)
        };
        let shape = &self.shape;
        lives[from.0].is_sink = false;
        let outs = &mut lives[from.0].outs;
        let at = outs.partition_point(|end| place(shape, end.queue).0 < output_at);
        outs.insert(at, OutEnd::new(queue, output, ends.0, size));
        let ins = &mut lives[to.0].ins;
        let at = ins.partition_point(|end| place(shape, end.queue).1 < input_at);
        ins.insert(at, InEnd::new(queue, input, ends.1));
        for (node, other) in [(from.0, to.0), (to.0, from.0)] {
            let known = &mut lives[node].neighbours;
            if !known.contains(&other) {
                let more = known.iter().copied().chain([other]);
                *known = more.collect();
            }
        }
        self.sizes.push(size);
    }
}
