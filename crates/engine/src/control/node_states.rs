//! Nodes that move from one engine to another with what they hold.

use super::Engine;
use crate::{EngineError, NodeState};
use graph::{Edit, NodeId};

impl Engine {
    /// Has the state of `node` kept when an edit removes it, for [`take_state`](Self::take_state).
    ///
    /// Real-time: setup.
    pub fn keep_state(&mut self, node: NodeId) {
        if self.graph.node(node).is_some() {
            self.resources.states.leaving.insert(node, None);
        }
    }

    /// The state of a node that was removed after [`keep_state`](Self::keep_state). `None` as long as it plays, which ends
    /// with its fade in a call of [`update`](Self::update), and for one that had failed.
    ///
    /// Real-time: setup.
    pub fn take_state(&mut self, node: NodeId) -> Option<NodeState> {
        let leaving = &mut self.resources.states.leaving;
        let state = leaving.get_mut(&node)?.take()?;
        leaving.remove(&node);
        Some(state)
    }

    /// As [`edit`](Self::edit); the added nodes of these names continue from states, of this engine or of another one of
    /// the same rate and block.
    ///
    /// # Errors
    ///
    /// As for [`edit`](Self::edit), and [`EngineError::Graph`] at the node if a state is of another kind, rate or block, or
    /// does not fit; then nothing has changed.
    ///
    /// Real-time: setup.
    pub fn edit_with_states(
        &mut self,
        edits: impl IntoIterator<Item = Edit>,
        states: impl IntoIterator<Item = (String, NodeState)>,
    ) -> Result<Vec<NodeId>, EngineError> {
        self.resources.states.coming = states.into_iter().collect();
        let added = self.edit(edits);
        self.resources.states.coming.clear();
        added
    }
}
