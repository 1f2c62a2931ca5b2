//! [`AheadResources`]: the second processors of the nodes that are played ahead, and the thread that plays them.

use super::AheadCounts;
use exec::ProcessorPool;
use graph::NodeId;
use processor::Transport;
use std::collections::HashMap;
use std::sync::Arc;
use workers::{BackgroundTaskId, BackgroundThread};

/// Processors, states and thread of the nodes that are played ahead.
pub(crate) struct AheadResources {
    /// The second processors, which the thread plays.
    pub(crate) pool: ProcessorPool,
    /// Bytes of the nodes' states; `None` for a node that cannot be played ahead.
    pub(crate) state_bytes: HashMap<NodeId, Option<usize>>,
    /// Offline the callback polls.
    pub(crate) thread: Option<Arc<BackgroundThread>>,
    pub(crate) task: Option<BackgroundTaskId>,
    pub(crate) counts: Arc<AheadCounts>,
    /// Number of nodes that are played ahead now.
    pub(crate) nodes: usize,
}

impl AheadResources {
    /// For nodes that follow `transport`. Nothing is played ahead yet.
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self {
            pool: ProcessorPool::new(transport, Arc::default()),
            state_bytes: HashMap::new(),
            thread: None,
            task: None,
            counts: Arc::default(),
            nodes: 0,
        }
    }
}

/// Nodes that are played ahead, and blocks since the engine was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadStatus {
    /// Number of nodes.
    pub nodes: usize,
    /// Blocks that were there in time.
    pub ahead: u64,
    /// Blocks that the callback has played.
    pub played: u64,
}
