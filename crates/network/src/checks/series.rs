//! Queues in a row that can stand in for each other.
//!
//! What a queue keeps its writer from is a function of how often its reader has fired. Where both move as many frames a
//! firing, that is so many firings more than the reader's, by the queue's size: a mere shift. In a row of queues whose
//! inner nodes have no other way, these functions follow each other, and a shift before or behind another function is
//! the same as so many frames more in that one's queue: for each firing as many as their common node moves there. So a
//! queue that shifts may stay as small as it can be by itself, and the next one has the room, where it is not dearer
//! there.

use super::parts::Part;
use crate::shape::{NodeId, QueueId, Topology};

/// Which queues of a part may stay as small as they can be by themselves, in the part's order.
pub(super) fn stand_ins(shape: &Topology, part: &Part) -> Vec<bool> {
    let row = Row { shape, part };
    let mut stays = vec![false; part.queues.len()];
    for (i, &queue) in part.queues.iter().enumerate() {
        let Some(firing) = row.shifts(queue) else {
            continue;
        };
        let own = row.price(queue, firing);
        stays[i] = [true, false].into_iter().any(|is_up| {
            let next = row.next(queue, is_up, &stays);
            next.is_some_and(|(next, frames)| row.price(next, frames) <= own)
        });
    }
    stays
}

struct Row<'a> {
    shape: &'a Topology,
    part: &'a Part,
}

impl Row<'_> {
    /// Frames a firing, where writer and reader move as many.
    fn shifts(&self, queue: QueueId) -> Option<usize> {
        let (written, read) = (
            self.shape.output(queue).produce,
            self.shape.input(queue).consume,
        );
        (written == read).then_some(written)
    }

    /// Samples of so many frames.
    fn price(&self, queue: QueueId, frames: usize) -> u128 {
        frames as u128 * self.shape.input(queue).channels as u128
    }

    /// The next queue up or down the row that does not stay as it is, and how many frames of it one firing moves.
    fn next(&self, queue: QueueId, is_up: bool, stays: &[bool]) -> Option<(QueueId, usize)> {
        let mut at = queue;
        loop {
            let ends = &self.shape.queues[at.0];
            let node = if is_up { ends.from.0 } else { ends.to.0 };
            at = self.other(node, at, is_up)?;
            if at == queue {
                return None;
            }
            let place = self.part.queues.binary_search(&at).ok()?;
            if !stays[place] {
                let frames = match is_up {
                    true => self.shape.input(at).consume,
                    false => self.shape.output(at).produce,
                };
                return Some((at, frames));
            }
        }
    }

    /// The queue on the other side of a node that has two in this part, one to read and one to write.
    fn other(&self, node: NodeId, queue: QueueId, is_up: bool) -> Option<QueueId> {
        let touching = |at: &&QueueId| {
            let ends = &self.shape.queues[at.0];
            ends.from.0 == node || ends.to.0 == node
        };
        let mut both = self.part.queues.iter().filter(touching);
        let (first, second) = (*both.next()?, *both.next()?);
        let other = if first == queue { second } else { first };
        let ends = &self.shape.queues[other.0];
        let leads_on = match is_up {
            true => ends.to.0 == node && ends.from.0 != node,
            false => ends.from.0 == node && ends.to.0 != node,
        };
        (both.next().is_none() && leads_on).then_some(other)
    }
}
