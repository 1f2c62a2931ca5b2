//! [`NodeState`]: what a node holds, on its way from one engine to another.

use super::EngineResources;
use graph::{Node, NodeId};
use std::collections::HashMap;
use units::{Frames, SampleRate};

/// State of a node's processor: phases, filters, delays. A node of the same kind in another engine of the same rate and
/// block continues from it. Kinds that cannot be duplicated (players, recorders, networks) may leave things out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    kind: String,
    format: (SampleRate, Frames),
    bytes: Vec<u8>,
}

/// States of nodes that leave an engine and of nodes that come into it.
#[derive(Default)]
pub(crate) struct NodeStates {
    /// Nodes whose state is kept when they leave; `None` while they play.
    pub(crate) leaving: HashMap<NodeId, Option<NodeState>>,
    /// By the names of the nodes that the edit of now adds.
    pub(crate) coming: HashMap<String, NodeState>,
}

impl EngineResources {
    /// Keeps the state of a node that leaves, if that was asked for. No plan has the node any more.
    pub(super) fn keep_state(&mut self, id: NodeId) {
        let Some(kept) = self.states.leaving.get_mut(&id) else {
            return;
        };
        let there = self.nodes.get(&id);
        let saved = there.and_then(|there| {
            Some(NodeState {
                kind: there.made_of.effective_kind().to_owned(),
                format: (self.options.rate, self.options.block),
                bytes: self.processors.save(id)?,
            })
        });
        match saved {
            Some(saved) => *kept = Some(saved),
            None => drop(self.states.leaving.remove(&id)),
        }
    }

    /// Has a node that was just made continue from the state that came with it, if one did.
    ///
    /// # Errors
    ///
    /// It does not fit: the reason.
    pub(super) fn load_state(&mut self, id: NodeId, node: &Node) -> Result<(), String> {
        let Some(state) = self.states.coming.get(&node.name) else {
            return Ok(());
        };
        if state.kind != node.effective_kind() {
            let kind = &state.kind;
            return Err(format!("the state is that of a node of kind `{kind}`"));
        }
        let (rate, block) = state.format;
        if state.format != (self.options.rate, self.options.block) {
            return Err(format!("the state is that of {block} at {rate}"));
        }
        let loaded = self.processors.load(id, &state.bytes);
        loaded.map_err(|error| error.to_string())
    }
}
