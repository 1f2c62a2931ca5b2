//! A network that is played block by block: frames go in, whatever can fire does, as many frames come out.

use super::Plan;
use crate::ends::{InEnd, OutEnd};
use crate::error::{RunError, RunOptions};
use crate::live::{Live, Step};
use crate::session::{Border, MAX_MEMORY};
use crate::started::Started;
use processor::Block;

/// A network with its queues, without its borders: the node stands in their place.
pub(super) struct Stream {
    into: OutEnd,
    out: InEnd,
    /// The other nodes, who writes before who reads where there are no circles.
    nodes: Vec<Live>,
    /// Frames that each queue begins with.
    first: Vec<usize>,
    /// A node failed: there is silence until a reset.
    has_failed: bool,
}

impl Stream {
    /// Makes the queues, for blocks of at most `block` frames.
    ///
    /// Real-time: setup.
    pub(super) fn new(plan: &Plan, block: usize) -> Result<Self, RunError> {
        let mut patch = plan.patch.clone();
        let size = plan.ahead as usize + block + 1;
        patch.delay(plan.latency as usize, size);
        let (input, output) = (patch.input_node(), patch.output_node());
        let ports = |node: crate::NodeId| patch.topology().nodes[node.0].ports.clone();
        let borders = [input, output].map(|node| Box::new(Border(ports(node))));
        let [into, out] = borders;
        let network = patch.build(into, out);
        let options = RunOptions {
            memory: MAX_MEMORY,
            ..RunOptions::default()
        };
        let mut started = Started::new(network, &options)?;
        let shape = patch.topology();
        let into = started.lives[input.0]
            .outs
            .pop()
            .expect("an input has an output");
        let out = started.lives[output.0]
            .ins
            .pop()
            .expect("an output has an input");
        let order = from_the_input(&started.lives, input.0);
        let mut lives: Vec<Option<Live>> = started.lives.into_iter().map(Some).collect();
        let inner = order
            .into_iter()
            .filter(|node| ![input.0, output.0].contains(node));
        let mut stream = Self {
            into,
            out,
            nodes: inner.filter_map(|node| lives[node].take()).collect(),
            first: shape
                .queue_ids()
                .map(|queue| shape.initial_frames(queue))
                .collect(),
            has_failed: false,
        };
        stream.touch();
        stream.reset();
        Ok(stream)
    }

    /// Plays a block.
    ///
    /// Real-time: hot.
    pub(super) fn play(&mut self, block: &mut Block<'_>, channels: usize) {
        let (frames, mut at) = (block.frames(), 0);
        while at < frames && !self.has_failed {
            let count = self.into.free().min(frames - at);
            let input = block.input(0);
            let heard = |channel: usize, to: &mut [f32]| {
                to.copy_from_slice(&input.channel(channel)[at..at + count]);
            };
            // There is room as long as the network is as live as the static check says.
            let is_in = count > 0 && self.into.push(count, heard);
            self.fire_all();
            let mut output = block.output(0);
            let is_out = is_in
                && self.out.pull(count, |channel, from| {
                    output.channel(channel)[at..at + count].copy_from_slice(from);
                });
            self.has_failed |= !is_out;
            at += count;
        }
        if self.has_failed {
            let mut output = block.output(0);
            (0..channels).for_each(|channel| output.channel(channel).fill(0.0));
        }
    }

    /// Fires whatever can. It ends, since what goes in is all there is.
    fn fire_all(&mut self) {
        loop {
            let mut fired = false;
            for node in &mut self.nodes {
                loop {
                    match node.step() {
                        Step::Fired => fired = true,
                        Step::Held(_) => break,
                        Step::Ended | Step::Failed(_) => {
                            self.has_failed = true;
                            return;
                        }
                    }
                }
            }
            if !fired {
                return;
            }
        }
    }

    /// Becomes as new: every queue has what it began with, and silence where nothing was written yet.
    ///
    /// Real-time: hot.
    pub(super) fn reset(&mut self) {
        let ins = self.nodes.iter_mut().flat_map(|node| &mut node.ins);
        ins.chain([&mut self.out]).for_each(InEnd::clear);
        let outs = self.nodes.iter_mut().flat_map(|node| &mut node.outs);
        for end in outs.chain([&mut self.into]) {
            end.silence(self.first[end.queue.0]);
        }
        self.nodes.iter_mut().for_each(|node| node.fire.reset());
        self.has_failed = false;
    }

    /// Writes to every page of every ring, through both of its mappings: so none is missing later.
    fn touch(&mut self) {
        // All but one frame, which leads from the end of the first mapping through the second; then that one.
        for less in [1, 0] {
            let ins = self.nodes.iter_mut().flat_map(|node| &mut node.ins);
            ins.chain([&mut self.out]).for_each(InEnd::clear);
            let outs = self.nodes.iter_mut().flat_map(|node| &mut node.outs);
            for end in outs.chain([&mut self.into]) {
                end.silence(end.capacity() - less);
            }
        }
    }
}

/// The nodes in the order in which sound comes to them.
fn from_the_input(lives: &[Live], input: usize) -> Vec<usize> {
    let mut order = vec![input];
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        let next = lives[node]
            .neighbours
            .iter()
            .filter(|other| !order.contains(other));
        let next: Vec<usize> = next.copied().collect();
        order.extend(next);
        at += 1;
    }
    let others = (0..lives.len()).filter(|node| !order.contains(node));
    let others: Vec<usize> = others.collect();
    order.extend(others);
    order
}
