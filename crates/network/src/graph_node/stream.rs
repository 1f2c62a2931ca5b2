//! [`Stream`]: a network that runs block by block: frames go in, all that can fire fires, as many frames come out.

use super::NodeSettings;
use super::state::StateLayout;
use crate::error::{RunError, RunOptions};
use crate::run::instance::NetworkInstance;
use crate::run::node::{FireOutcome, RunningNode};
use crate::run::queue_ends::{InputEnd, OutputEnd};
use crate::session::{MAX_MEMORY, Placeholder};
use processor::Block;

/// A network with its queues, without its nodes `input` and `output`: the graph's node stands in their place.
pub(super) struct Stream {
    /// Writing end of the queue behind `input`.
    pub(super) input: OutputEnd,
    /// Reading end of the queue before `output`.
    pub(super) output: InputEnd,
    /// All other nodes, writers before readers except on cycles.
    pub(super) nodes: Vec<RunningNode>,
    /// Initial frames of each queue.
    initial_frames: Vec<usize>,
    /// Places of the queues in a saved state.
    pub(super) layout: StateLayout,
    /// True once an actor has failed: there is silence until a reset.
    pub(super) has_failed: bool,
    /// True from a load on. A state that lets the network fail is forgotten.
    pub(super) is_loaded: bool,
}

impl Stream {
    /// Creates the queues, for blocks of at most `block` frames.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    ///
    /// Real-time: setup.
    pub(super) fn new(settings: &NodeSettings, block: usize) -> Result<Self, RunError> {
        let mut spec = settings.spec.clone();
        let size = settings.max_ahead as usize + block + 1;
        spec.delay(settings.latency as usize, size);
        let ends = [spec.input_node(), spec.output_node()];
        let ports = ends.map(|node| spec.topology().node(node).ports.clone());
        let [input, output] = ports.map(|ports| Box::new(Placeholder(ports)));
        let network = spec.build(input, output);
        let options = RunOptions {
            memory: MAX_MEMORY,
            ..RunOptions::default()
        };
        let mut instance = NetworkInstance::new(network, &options)?;
        let topology = spec.topology();
        let [input, output] = ends.map(|node| node.0 as usize);
        let input_end = instance.nodes[input].outputs.pop();
        let output_end = instance.nodes[output].inputs.pop();
        let order = in_signal_order(&instance.nodes, input);
        let mut nodes: Vec<Option<RunningNode>> = instance.nodes.into_iter().map(Some).collect();
        let inner = order
            .into_iter()
            .filter(|node| ![input, output].contains(node));
        let initial_frames = topology.queue_ids();
        let initial_frames = initial_frames.map(|queue| topology.initial_frames(queue));
        let mut stream = Self {
            input: input_end.expect("the input has an output"),
            output: output_end.expect("the output has an input"),
            nodes: inner.filter_map(|node| nodes[node].take()).collect(),
            initial_frames: initial_frames.collect(),
            layout: StateLayout::default(),
            has_failed: false,
            is_loaded: false,
        };
        stream.layout = StateLayout::of(&stream);
        stream.touch_pages();
        stream.reset();
        Ok(stream)
    }

    /// Processes a block.
    ///
    /// Real-time: hot.
    pub(super) fn process(&mut self, block: &mut Block<'_>, channels: usize) {
        let (frames, mut at) = (block.frames(), 0);
        while at < frames && !self.has_failed {
            let count = self.input.free().min(frames - at);
            let input = block.input(0);
            let copy = |channel: usize, to: &mut [f32]| {
                to.copy_from_slice(&input.channel(channel)[at..at + count]);
            };
            // There is room, as the static check has found that the network goes on.
            let is_in = count > 0 && self.input.push(count, copy);
            self.fire_all();
            let mut output = block.output(0);
            let is_out = is_in
                && self.output.pull(count, |channel, from| {
                    output.channel(channel)[at..at + count].copy_from_slice(from);
                });
            self.has_failed |= !is_out;
            at += count;
        }
        if self.has_failed && self.is_loaded {
            self.reset();
            return block.silence_outputs();
        }
        if self.has_failed {
            let mut output = block.output(0);
            (0..channels).for_each(|channel| output.channel(channel).fill(0.0));
        }
    }

    /// Fires nodes until none can fire. It ends, since the input is finite.
    fn fire_all(&mut self) {
        loop {
            let mut has_fired = false;
            for node in &mut self.nodes {
                loop {
                    match node.try_fire() {
                        FireOutcome::Fired => has_fired = true,
                        FireOutcome::Blocked => break,
                        FireOutcome::Ended | FireOutcome::Failed(_) => {
                            self.has_failed = true;
                            return;
                        }
                    }
                }
            }
            if !has_fired {
                return;
            }
        }
    }

    /// Returns to the state of a new stream: every queue holds its initial frames, and silence in all other memory.
    ///
    /// Real-time: hot.
    pub(super) fn reset(&mut self) {
        let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        inputs.chain([&mut self.output]).for_each(InputEnd::clear);
        let outputs = self.nodes.iter_mut().flat_map(|node| &mut node.outputs);
        for end in outputs.chain([&mut self.input]) {
            end.push_silence(self.initial_frames[end.queue.0]);
        }
        self.nodes.iter_mut().for_each(|node| node.actor.reset());
        (self.has_failed, self.is_loaded) = (false, false);
    }

    /// Writes to every page of every ring through both of its mappings, so that `process` causes no page fault.
    fn touch_pages(&mut self) {
        // First all frames but one, which leads from the end of the first mapping into the second; then that one.
        for less in [1, 0] {
            let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
            inputs.chain([&mut self.output]).for_each(InputEnd::clear);
            let outputs = self.nodes.iter_mut().flat_map(|node| &mut node.outputs);
            for end in outputs.chain([&mut self.input]) {
                end.push_silence(end.capacity() - less);
            }
        }
    }
}

/// Indices of the nodes in breadth-first order from `input`; nodes that are not connected with it come last.
fn in_signal_order(nodes: &[RunningNode], input: usize) -> Vec<usize> {
    let mut order = vec![input];
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        let neighbours = nodes[node].neighbours.iter();
        let next = neighbours.filter(|other| !order.contains(other));
        let next: Vec<usize> = next.copied().collect();
        order.extend(next);
        at += 1;
    }
    let others = (0..nodes.len()).filter(|node| !order.contains(node));
    let others: Vec<usize> = others.collect();
    order.extend(others);
    order
}
