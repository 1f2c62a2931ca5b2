//! [`Checkpoint`]: the states of a plan's processors between two blocks.

use exec::{Executor, HeldLine, StateVisitor};
use graph::NodeId;
use processor::Processor;

/// States of processors, in the order of a plan's steps.
pub(super) struct Checkpoint {
    bytes: Vec<u8>,
    /// Each node, and the end of its state in `bytes`.
    ends: Vec<(NodeId, usize)>,
}

impl Checkpoint {
    /// An empty one, with room for the states of `processors` processors, of `bytes` bytes together.
    ///
    /// Real-time: setup.
    pub(super) fn with_room(processors: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(processors),
        }
    }

    /// Saves what the nodes of `executor` hold. Returns false if a worker is in one.
    ///
    /// Real-time: hot if there is the room.
    pub(super) fn save(&mut self, executor: &mut dyn Executor) -> bool {
        self.bytes.clear();
        self.ends.clear();
        executor.visit_states(&mut Saving(self), 0)
    }

    /// Has the nodes of `executor` go on from here. Returns false if a worker is in one.
    ///
    /// Real-time: hot.
    pub(super) fn load(&self, executor: &mut dyn Executor) -> bool {
        let mut loading = Loading {
            from: self,
            next: 0,
            start: 0,
        };
        executor.visit_states(&mut loading, 0)
    }
}

struct Saving<'a>(&'a mut Checkpoint);

impl StateVisitor for Saving<'_> {
    fn loads(&self) -> bool {
        false
    }

    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        processor.save(&mut self.0.bytes);
        self.0.ends.push((node, self.0.bytes.len()));
    }

    fn line(&mut self, _line: &mut HeldLine<'_>) {}
}

struct Loading<'a> {
    from: &'a Checkpoint,
    next: usize,
    start: usize,
}

impl StateVisitor for Loading<'_> {
    fn loads(&self) -> bool {
        true
    }

    /// Panics where the state is not there or does not fit: the node is silent then, and counted as a fault.
    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor) {
        let found = self.from.ends.get(self.next).copied();
        let end = found
            .filter(|(saved, _)| *saved == node)
            .map(|(_, end)| end);
        let state = end.and_then(|end| self.from.bytes.get(self.start..end));
        if let Some(end) = end {
            (self.next, self.start) = (self.next + 1, end);
        }
        let loaded = state.map(|state| processor.load(state));
        assert!(
            matches!(loaded, Some(Ok(()))),
            "a state of the same node fits"
        );
    }

    fn line(&mut self, _line: &mut HeldLine<'_>) {}
}
