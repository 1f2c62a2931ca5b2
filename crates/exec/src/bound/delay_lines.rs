//! Delay lines that outlive plans: one per delay node, and one per output whose latency is compensated.

use super::aligner::AlignerLines;
use super::ring::{DelayLineMemory, capacity};
use graph::NodeId;
use plan::{DelayLine, DelayedEdge, FadeState, Plan};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use units::Frames;

/// The delay lines of one engine. A plan that names a line of the same size takes it over with its content, if the plan
/// before it had that line too.
#[derive(Default)]
pub struct DelayLines {
    delays: HashMap<NodeId, Weak<DelayLineMemory>>,
    pub(super) aligners: AlignerLines,
}

impl DelayLines {
    /// Progress of the fade of `edge`, which the running plan `plan` delays, at absolute frame `position`.
    ///
    /// Real-time: setup.
    pub fn fade_state(&self, plan: &Plan, edge: &DelayedEdge, position: u64) -> FadeState {
        self.aligners.fade_state(plan, edge, position)
    }

    /// The memory for `line` in a plan with blocks of `block` frames: that of the running plan if it has the same size,
    /// else new memory.
    pub(super) fn memory(&mut self, line: &DelayLine, block: Frames) -> Arc<DelayLineMemory> {
        let size = (u32::from(line.channels.0), capacity(line.max, block));
        let existing = self.delays.get(&line.node).and_then(Weak::upgrade);
        if let Some(existing) = existing.filter(|memory| memory.has_size(size)) {
            return existing;
        }
        let memory = Arc::new(DelayLineMemory::new(size.0, size.1));
        self.delays.insert(line.node, Arc::downgrade(&memory));
        memory
    }

    /// Forgets the lines that `plan`, the newest one, does not have. An older executor may hold them for a while yet: a
    /// worker can be late to let go of it. Whether a later plan finds their content must not depend on that.
    pub(super) fn keep_those_of(&mut self, plan: &Plan) {
        let nodes: HashSet<NodeId> = plan.delay_lines.iter().map(|line| line.node).collect();
        self.delays.retain(|node, _| nodes.contains(node));
        self.aligners.keep_those_of(plan);
    }
}
