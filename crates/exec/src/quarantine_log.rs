//! [`QuarantineLog`]: the nodes whose processors were quarantined, for plans that are bound and do not run yet.
//!
//! A plan is bound on a control thread while another plan runs. When it begins to run, it must not call processors that
//! were quarantined meanwhile. It reads them from this log: looking at each of its steps would take the audio thread
//! milliseconds in a large graph.
//!
//! | who | what | so that |
//! |---|---|---|
//! | the thread that quarantines a processor | marks it, then adds its node (Release) | – |
//! | a plan that is bound | reads the length (Acquire), then looks at the mark of each processor | it misses none that was added before |
//! | a plan that begins to run | reads the nodes that were added since | it misses none that was added after |
//!
//! Only threads of the executor that owns the runtime add nodes, and only the next owner reads them.

use graph::NodeId;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Number of nodes that are kept. A plan that missed more looks at all of its steps.
const KEPT: usize = 1024;

/// The nodes whose processors were quarantined, in one engine.
pub(crate) struct QuarantineLog {
    /// Number of nodes that were added, in all.
    count: AtomicU64,
    /// The last [`KEPT`] of them, each at its number modulo [`KEPT`].
    nodes: Box<[AtomicU32]>,
}

impl QuarantineLog {
    pub(crate) fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            nodes: (0..KEPT).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Number of nodes that were added.
    pub(crate) fn len(&self) -> u64 {
        // Acquire pairs with `add`: the marks of these nodes are visible.
        self.count.load(Ordering::Acquire)
    }

    /// Adds a node whose processor has been marked as quarantined.
    pub(crate) fn add(&self, node: NodeId) {
        // Release pairs with `len`.
        let at = self.count.fetch_add(1, Ordering::Release);
        // Relaxed: it is read by the next owner of the runtime, after this one has released it.
        self.nodes[at as usize % KEPT].store(node.0, Ordering::Relaxed);
    }

    /// The nodes that were added after the first `from`; `None` if some of them are not kept any more.
    pub(crate) fn since(&self, from: u64) -> Option<impl Iterator<Item = NodeId> + '_> {
        let len = self.len();
        // Relaxed: as in `add`.
        let node = |at: u64| NodeId(self.nodes[at as usize % KEPT].load(Ordering::Relaxed));
        (len - from <= KEPT as u64).then(|| (from..len).map(node))
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, QuarantineLog};
    use graph::NodeId;

    #[test]
    fn a_plan_finds_the_nodes_that_were_added_since_it_was_bound() {
        let log = QuarantineLog::new();
        log.add(NodeId(7));
        let bound_at = log.len();
        assert_eq!(log.since(bound_at).unwrap().count(), 0);
        [8, 9].into_iter().for_each(|node| log.add(NodeId(node)));
        assert!(log.since(bound_at).unwrap().eq([NodeId(8), NodeId(9)]));
    }

    #[test]
    fn a_plan_that_missed_more_than_are_kept_is_told_so() {
        let log = QuarantineLog::new();
        (0..KEPT as u32).for_each(|node| log.add(NodeId(node)));
        assert_eq!(log.since(0).unwrap().count(), KEPT);
        log.add(NodeId(0));
        assert!(log.since(0).is_none() && log.since(1).is_some());
    }
}
