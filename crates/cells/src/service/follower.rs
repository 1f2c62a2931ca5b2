//! [`Follower`]: the new process of a cell whose part changes, beside the present one.

use super::served::ServedCell;
use crate::checkpoint::EACH_BLOCK;
use crate::node::CellLink;
use graph::NodeId;
use rt::mirror::SharedWords;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

/// Blocks in a row that a new process has to answer in time.
const STEADY_BLOCKS: u64 = 3;

/// The new process of a cell.
pub(super) struct Follower {
    /// Place of the cell.
    pub(super) at: usize,
    pub(super) cell: ServedCell,
    pub(super) link: Option<CellLink>,
    pub(super) came: Receiver<Result<u32, String>>,
    pub(super) has_come: bool,
    /// Its node in the supervisor's graph, once it is there.
    pub(super) id: Option<NodeId>,
    /// Blocks and losses when it was looked at last.
    pub(super) seen: (u64, u64),
    pub(super) is_steady: bool,
    /// Memory of the process before. As long as it is open, the new one finds it.
    pub(super) _before: Option<OwnedFd>,
    /// Its first words.
    pub(super) head: Option<SharedWords>,
}

impl Follower {
    /// Asks the process before for a checkpoint after each block, or no more.
    pub(super) fn ask(&self, each_block: bool) {
        if let Some(head) = &self.head {
            // Relaxed: nothing travels with it.
            head.words()[EACH_BLOCK].store(u64::from(each_block), Ordering::Relaxed);
        }
    }

    /// Returns true once it has answered some blocks in a row.
    pub(super) fn looks_steady(&mut self) -> bool {
        let now = (self.cell.status.blocks(), self.cell.status.lost());
        let needed = STEADY_BLOCKS + self.cell.spec.latency.blocks();
        if now.0 < self.seen.0 + needed {
            return self.is_steady;
        }
        self.is_steady |= now.1 == self.seen.1 && self.cell.status.process().is_some();
        self.seen = now;
        self.is_steady
    }
}
