//! [`CellLink`]: the way between a cell's node and the monitor of its process.

use super::Drill;
use crate::inner_events::{InnerEvents, InnerText};
use crate::message::HostEnd;
use crate::section::CellLatency;
use crate::slots::KeptSlots;
use crate::status::CellStatus;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use units::Frames;

/// Link of a cell's node to the monitor of its process.
pub struct CellLink {
    /// Rings of a new process.
    pub(crate) fresh: rtrb::Consumer<HostEnd>,
    /// Rings that the node uses no more.
    pub(crate) retired: rtrb::Producer<HostEnd>,
    pub(crate) status: Arc<CellStatus>,
    pub(crate) latency: CellLatency,
    /// Latency of the cell's graph.
    pub(crate) graph_latency: Frames,
    /// Failures to cause, in the order of their frames.
    pub(crate) drills: Vec<Drill>,
    /// Targets of events from outside.
    pub(crate) slots: KeptSlots,
    /// Messages in words for nodes inside.
    pub(crate) texts: rtrb::Consumer<InnerText>,
    /// Numbers of slots that each process is told, since the session has others.
    pub(crate) told: Vec<(u16, f32)>,
    /// Number of the first block: above those that a supervisor before has asked for.
    pub(crate) first_block: u64,
    /// Frames from the engine's position to that of the run, after a supervisor was lost.
    pub(crate) offset: Arc<AtomicU64>,
}

/// The node's part of its link.
pub(super) struct NodeLink {
    pub(super) fresh: rtrb::Consumer<HostEnd>,
    pub(super) retired: rtrb::Producer<HostEnd>,
    pub(super) status: Arc<CellStatus>,
    pub(super) latency: CellLatency,
    pub(super) graph_latency: Frames,
    pub(super) drills: Vec<Drill>,
    pub(super) first_block: u64,
    pub(super) offset: Arc<AtomicU64>,
}

impl CellLink {
    /// The node's part, and what it makes of events for nodes inside.
    pub(super) fn take(self) -> (NodeLink, InnerEvents) {
        let inner = InnerEvents::new(self.slots, self.texts, &self.told);
        let link = NodeLink {
            fresh: self.fresh,
            retired: self.retired,
            status: self.status,
            latency: self.latency,
            graph_latency: self.graph_latency,
            drills: self.drills,
            first_block: self.first_block,
            offset: self.offset,
        };
        (link, inner)
    }
}

/// Links of the nodes that are still to be made, by the names of the nodes.
pub type CellLinks = Arc<Mutex<HashMap<String, CellLink>>>;
