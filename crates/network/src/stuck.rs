//! All nodes wait: an artificial deadlock is resolved (Parks), a true one is reported.
//!
//! Each node that has not ended waits for one other: for the writer of a queue that has too few frames, or for the
//! reader of one that has too little room. So whoever follows goes round in the end. A circle in which each waits for
//! frames is for ever. In any other one there is a queue whose size alone is in the way: the smallest of these grows.

use crate::ends::{InEnd, OutEnd};
use crate::error::{QueueGrowth, RunError};
use crate::live::{Hold, Live};
use crate::shape::{QueueId, Topology};

/// What is known of a running network besides its nodes.
pub(crate) struct Circuit {
    pub(crate) shape: Topology,
    /// Bytes that the rings may have.
    pub(crate) memory: usize,
    /// Bytes that they have.
    pub(crate) bytes: usize,
    /// Frames that each queue has.
    pub(crate) sizes: Vec<usize>,
    pub(crate) growths: Vec<QueueGrowth>,
}

/// What is to be done when all nodes have stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// These can go on.
    Go(Vec<usize>),
    /// All have ended.
    Over,
}

impl Circuit {
    pub(crate) fn new(shape: Topology, memory: usize) -> Self {
        Self {
            shape,
            memory,
            bytes: 0,
            sizes: Vec::new(),
            growths: Vec::new(),
        }
    }

    /// Finds out why all of `lives`, in the network's order, have stopped. Nobody else may touch them meanwhile.
    ///
    /// # Errors
    ///
    /// A true deadlock, or a queue that cannot grow.
    pub(crate) fn resolve(&mut self, lives: &mut [&mut Live]) -> Result<Way, RunError> {
        let holds: Vec<Hold> = lives.iter_mut().map(|live| live.hold()).collect();
        let can_go = |&node: &usize| holds[node] == Hold::No;
        let free: Vec<usize> = (0..holds.len()).filter(can_go).collect();
        if !free.is_empty() {
            return Ok(Way::Go(free));
        }
        if holds.iter().all(|hold| *hold == Hold::Ended) {
            return Ok(Way::Over);
        }
        let mut smallest: Option<QueueId> = None;
        for circle in self.circles(&holds) {
            match self.smallest_full(&circle, &holds) {
                None => return Err(self.deadlock(&circle, &holds)),
                full => smallest = self.smaller(smallest, full),
            }
        }
        let queue = smallest.expect("whoever follows those who wait goes round");
        self.grow(queue, lives)?;
        Ok(Way::Go(vec![self.shape.queues[queue.0].from.0.0]))
    }

    /// Whom a node waits for.
    fn waits_for(&self, hold: Hold) -> Option<usize> {
        match hold {
            Hold::Needs(queue) => Some(self.shape.queues[queue.0].from.0.0),
            Hold::Full(queue) => Some(self.shape.queues[queue.0].to.0.0),
            Hold::No | Hold::Ended => None,
        }
    }

    /// The circles of nodes that wait for each other.
    fn circles(&self, holds: &[Hold]) -> Vec<Vec<usize>> {
        // The walk that came by a node first; 0 for none.
        let mut walk_of = vec![0; holds.len()];
        let mut circles = Vec::new();
        for begin in 0..holds.len() {
            let (walk, mut at) = (begin + 1, begin);
            while walk_of[at] == 0 {
                walk_of[at] = walk;
                let Some(next) = self.waits_for(holds[at]) else {
                    break;
                };
                at = next;
            }
            let is_back = walk_of[at] == walk && self.waits_for(holds[at]).is_some();
            if is_back {
                circles.push(self.circle(at, holds));
            }
        }
        circles
    }

    fn circle(&self, begin: usize, holds: &[Hold]) -> Vec<usize> {
        let next = |at: &usize| self.waits_for(holds[*at]).filter(|next| *next != begin);
        std::iter::successors(Some(begin), next).collect()
    }

    fn samples(&self, queue: QueueId) -> usize {
        self.sizes[queue.0] * self.shape.input(queue).channels
    }

    fn smaller(&self, a: Option<QueueId>, b: Option<QueueId>) -> Option<QueueId> {
        let both = a.into_iter().chain(b);
        both.min_by_key(|queue| (self.samples(*queue), queue.0))
    }

    fn smallest_full(&self, circle: &[usize], holds: &[Hold]) -> Option<QueueId> {
        let full = circle.iter().filter_map(|node| match holds[*node] {
            Hold::Full(queue) => Some(queue),
            _ => None,
        });
        full.fold(None, |least, queue| self.smaller(least, Some(queue)))
    }

    fn deadlock(&self, circle: &[usize], holds: &[Hold]) -> RunError {
        let named = circle.iter().filter_map(|node| match holds[*node] {
            Hold::Needs(queue) | Hold::Full(queue) => {
                let name = self.shape.nodes[*node].name.clone();
                Some((name, self.shape.queue_name(queue)))
            }
            _ => None,
        });
        RunError::Deadlock {
            cycle: named.collect(),
        }
    }

    /// Half as large again, or as much as the next firing needs.
    fn grow(&mut self, queue: QueueId, lives: &mut [&mut Live]) -> Result<(), RunError> {
        let (from, to) = {
            let shape = &self.shape.queues[queue.0];
            (shape.from.0.0, shape.to.0.0)
        };
        let fill = in_end(lives[to], queue).fill();
        let end = out_end(lives[from], queue);
        let (old, capacity, channels) = (end.limit(), end.capacity(), end.channels());
        let needed = fill + end.room();
        let wished = needed.max(old + old / 2);
        let size = match capacity {
            capacity if wished <= capacity => wished,
            // All that the ring has will do.
            capacity if needed <= capacity => capacity,
            _ => {
                let larger = self.ring(queue, channels, wished, capacity);
                let (size, ends) = match larger {
                    Ok(ends) => (wished, ends),
                    Err(_) => (needed, self.ring(queue, channels, needed, capacity)?),
                };
                move_queue(queue, lives, (from, to), ends);
                size
            }
        };
        out_end(lives[from], queue).widen(size);
        self.growths.push(QueueGrowth {
            queue: self.shape.queue_name(queue),
            from: old,
            to: size,
        });
        self.sizes[queue.0] = size;
        Ok(())
    }
}

fn out_end(live: &mut Live, queue: QueueId) -> &mut OutEnd {
    let end = live.outs.iter_mut().find(|end| end.queue == queue);
    end.expect("a node that waits for room has that end")
}

fn in_end(live: &mut Live, queue: QueueId) -> &mut InEnd {
    let end = live.ins.iter_mut().find(|end| end.queue == queue);
    end.expect("a node that is waited for has not ended")
}

/// Takes all that a queue holds over into another ring.
fn move_queue(
    queue: QueueId,
    lives: &mut [&mut Live],
    (from, to): (usize, usize),
    (mut producer, consumer): crate::started::Ends,
) {
    let content = in_end(lives[to], queue).content();
    let pending = out_end(lives[from], queue).pending();
    for (frames, is_given) in [(content, true), (pending, false)] {
        let count = frames.first().map_or(0, Vec::len);
        if let Ok(mut room) = producer.write_chunk(count) {
            for (channel, samples) in frames.iter().enumerate() {
                room.channel(channel).copy_from_slice(samples);
            }
            if is_given {
                room.commit(count);
            }
        }
    }
    in_end(lives[to], queue).move_to(consumer);
    out_end(lives[from], queue).move_to(producer);
}
