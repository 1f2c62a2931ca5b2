//! [`Follower`]: the new process of a cell whose part changes, beside the present one.

use super::{CellService, ServedCell};
use crate::checkpoint::{CheckpointMemory, EACH_BLOCK};
use crate::monitor::{CellTexts, NewCell, Order};
use crate::node::CellLink;
use crate::section::CellSpec;
use crate::split::CellPart;
use graph::NodeId;
use rt::mirror::SharedWords;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Longest wait for the monitor, which looks every two milliseconds.
const SHARE_LIMIT: Duration = Duration::from_secs(1);
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
    seen: (u64, u64),
    is_steady: bool,
    /// Memory of the process before. As long as it is open, the new one finds it.
    _before: Option<OwnedFd>,
    /// Its first words.
    head: Option<SharedWords>,
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

impl CellService {
    /// Starts the new process of the cell at `at`.
    pub(super) fn follow(
        &mut self,
        at: usize,
        part: CellPart,
        session: &std::sync::Arc<[u8]>,
    ) -> Follower {
        let (sender, shared) = mpsc::channel();
        self.monitor
            .order(Order::Share(self.cells[at].index, sender));
        let before = shared.recv_timeout(SHARE_LIMIT).ok().flatten();
        let head = before.as_ref().and_then(|file| file.try_clone().ok());
        let head = head.and_then(|file| CheckpointMemory::of(file).map_head());
        let path = before.as_ref().map(|file| {
            let (own, number) = (std::process::id(), file.as_raw_fd());
            format!("/proc/{own}/fd/{number}")
        });
        let index = self.next_index;
        self.next_index += 1;
        let NewCell {
            link,
            texts,
            status,
            came,
        } = self.monitor.add(index, &part, (session.clone(), path));
        let old = &self.cells[at];
        // It has the cores of the one before, which may have moved.
        let spec = CellSpec {
            cores: old.spec.cores.clone(),
            ..part.spec
        };
        let cell = ServedCell {
            index,
            spec,
            status,
            node: part.node,
            slots: part.slots,
            texts: CellTexts(texts),
            stopped: None,
            moves: old.moves,
            response: None,
        };
        Follower {
            at,
            cell,
            link: Some(link),
            came,
            has_come: false,
            id: None,
            seen: (0, 0),
            is_steady: false,
            _before: before,
            head,
        }
    }
}
