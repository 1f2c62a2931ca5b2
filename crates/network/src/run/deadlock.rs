//! All nodes wait: an artificial deadlock is resolved by growing a queue (Parks, 1995), a true one is reported.
//!
//! Each node that has not ended waits for one other node: for the writer of a queue with too few frames, or for the reader of
//! a queue with too little room. So following the waits from any node ends in a cycle:
//!
//! ```text
//! a ── frames ──▶ b ── frames ──▶ c ── frames ──▶ a      all wait for frames: a true deadlock
//! a ── frames ──▶ b ── room ────▶ c ── frames ──▶ a      one waits for room: that queue's size is in the way
//! ```
//!
//! Of all full queues on such cycles the smallest grows. Growing only the smallest keeps all queues bounded, if any
//! bounded schedule exists (Parks, *Bounded scheduling of process networks*, 1995).

use crate::error::{QueueGrowth, RunError};
use crate::run::node::{RunningNode, WaitState};
use crate::run::queue_ends::{InputEnd, OutputEnd};
use crate::run::queues::{Queues, RingEnds};
use crate::topology::{QueueId, waiting_cycles};

/// Result of resolving a state in which all nodes have stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// These nodes can go on.
    Resume(Vec<usize>),
    /// All nodes have ended.
    Finished,
}

impl Queues {
    /// Finds out why all of `nodes`, in the network's order, are blocked, and resolves it. No other thread may touch them
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// A true deadlock, or a queue that cannot grow.
    pub(crate) fn resolve(
        &mut self,
        nodes: &mut [&mut RunningNode],
    ) -> Result<Resolution, RunError> {
        let states: Vec<WaitState> = nodes.iter_mut().map(|node| node.wait_state()).collect();
        let is_ready = |&node: &usize| states[node] == WaitState::Ready;
        let ready: Vec<usize> = (0..states.len()).filter(is_ready).collect();
        if !ready.is_empty() {
            return Ok(Resolution::Resume(ready));
        }
        if states.iter().all(|state| *state == WaitState::Ended) {
            return Ok(Resolution::Finished);
        }
        let mut smallest: Option<QueueId> = None;
        let waits_for: Vec<_> = states.iter().map(|state| self.waits_for(*state)).collect();
        for cycle in waiting_cycles(&waits_for) {
            match self.smallest_full(&cycle, &states) {
                None => return Err(self.deadlock(&cycle, &states)),
                full => smallest = self.smaller(smallest, full),
            }
        }
        let queue = smallest.expect("following waiting nodes ends in a cycle");
        self.grow(queue, nodes)?;
        Ok(Resolution::Resume(vec![
            self.topology.queues[queue.0].writer(),
        ]))
    }

    /// The node that a waiting node waits for.
    fn waits_for(&self, state: WaitState) -> Option<usize> {
        match state {
            WaitState::ForFrames(queue) => Some(self.topology.queues[queue.0].writer()),
            WaitState::ForRoom(queue) => Some(self.topology.queues[queue.0].reader()),
            WaitState::Ready | WaitState::Ended => None,
        }
    }

    fn samples(&self, queue: QueueId) -> usize {
        self.sizes[queue.0] * self.topology.input(queue).channels
    }

    fn smaller(&self, a: Option<QueueId>, b: Option<QueueId>) -> Option<QueueId> {
        let both = a.into_iter().chain(b);
        both.min_by_key(|queue| (self.samples(*queue), queue.0))
    }

    fn smallest_full(&self, cycle: &[usize], states: &[WaitState]) -> Option<QueueId> {
        let full = cycle.iter().filter_map(|node| match states[*node] {
            WaitState::ForRoom(queue) => Some(queue),
            _ => None,
        });
        full.fold(None, |smallest, queue| self.smaller(smallest, Some(queue)))
    }

    fn deadlock(&self, cycle: &[usize], states: &[WaitState]) -> RunError {
        let named = cycle.iter().filter_map(|node| match states[*node] {
            WaitState::ForFrames(queue) | WaitState::ForRoom(queue) => {
                let name = self.topology.nodes[*node].name.clone();
                Some((name, self.topology.queue_name(queue)))
            }
            _ => None,
        });
        RunError::Deadlock {
            cycle: named.collect(),
        }
    }

    /// Grows a queue by half, or as far as its writer's next firing needs, if that is more.
    fn grow(&mut self, queue: QueueId, nodes: &mut [&mut RunningNode]) -> Result<(), RunError> {
        let (from, to) = {
            let spec = &self.topology.queues[queue.0];
            (spec.writer(), spec.reader())
        };
        let fill = input_end(nodes[to], queue).fill();
        let end = output_end(nodes[from], queue);
        let (old, capacity) = (end.size(), end.capacity());
        let needed = fill + end.window_len();
        let wanted = needed.max(old + old / 2);
        let size = match capacity {
            capacity if wanted <= capacity => wanted,
            // The rest of the ring's pages is enough.
            capacity if needed <= capacity => capacity,
            _ => {
                let larger = self.create_ring(queue, wanted, capacity);
                let (size, ends) = match larger {
                    Ok(ends) => (wanted, ends),
                    Err(_) => (needed, self.create_ring(queue, needed, capacity)?),
                };
                move_queue(queue, nodes, (from, to), ends);
                size
            }
        };
        output_end(nodes[from], queue).set_size(size);
        self.growths.push(QueueGrowth {
            queue: self.topology.queue_name(queue),
            from: old,
            to: size,
        });
        self.sizes[queue.0] = size;
        Ok(())
    }
}

fn output_end(node: &mut RunningNode, queue: QueueId) -> &mut OutputEnd {
    let end = node.outputs.iter_mut().find(|end| end.queue == queue);
    end.expect("a node that waits for room has the queue's end")
}

fn input_end(node: &mut RunningNode, queue: QueueId) -> &mut InputEnd {
    let end = node.inputs.iter_mut().find(|end| end.queue == queue);
    end.expect("a node that another one waits for has not ended")
}

/// Moves the content of a queue to another ring, with what its writer has written behind the frames that it produced.
fn move_queue(
    queue: QueueId,
    nodes: &mut [&mut RunningNode],
    (from, to): (usize, usize),
    (mut producer, consumer): RingEnds,
) {
    let content = input_end(nodes[to], queue).content();
    let pending = output_end(nodes[from], queue).pending();
    for (frames, is_produced) in [(content, true), (pending, false)] {
        let count = frames.first().map_or(0, Vec::len);
        if let Ok(mut chunk) = producer.write_chunk(count) {
            for (channel, samples) in frames.iter().enumerate() {
                chunk.channel(channel).copy_from_slice(samples);
            }
            if is_produced {
                chunk.commit(count);
            }
        }
    }
    input_end(nodes[to], queue).move_to(consumer);
    output_end(nodes[from], queue).move_to(producer);
}
