//! Changes to a graph, as data: a live edit is a list of them.

use crate::{Edge, Graph, Modulation, Node, NodeId, ParamValue, PortRef, Signal, SourceSpan};
use units::Channels;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Add a node.
    Add(Node),
    /// Add a node at an id that no node has or had: that of another engine's graph.
    Place(NodeId, Node),
    /// Remove a node with all its edges.
    Remove(NodeId),
    /// Add an edge.
    Connect(Edge),
    /// Let an output drive a parameter: an input is added behind those of the node.
    Modulate {
        /// The output.
        from: PortRef,
        /// The node.
        to: NodeId,
        /// Name of the parameter.
        param: String,
        /// The parameter, the law and the amount.
        modulation: Modulation,
        /// Place in the text.
        span: SourceSpan,
    },
    /// Remove an edge. An input that drives a parameter stays and changes nothing any more.
    Disconnect(PortRef, PortRef),
    /// Enable a node, or make it silent.
    Enable(NodeId, bool),
    /// Let a node's inputs pass by it to its outputs, or not any more. The node runs on, so its state is that of a node
    /// that was never bypassed.
    Bypass(NodeId, bool),
    /// Give a node another name. Its state stays.
    Rename(NodeId, String),
    /// Set a parameter.
    Set(NodeId, String, ParamValue),
}

/// Reason why an edit was refused; the graph has not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such node. Ask the graph for its ids.
    #[error("there is no node {}", .0.0)]
    NoNode(NodeId),
    /// The name is taken. Choose another.
    #[error("the name `{0}` is taken")]
    NameTaken(String),
    /// There is no such output. Look at the node's outputs.
    #[error("node {} has no output {}", .0.node.0, .0.port + 1)]
    NoOutput(PortRef),
    /// There is no such input. Look at the node's inputs.
    #[error("node {} has no input {}", .0.node.0, .0.port + 1)]
    NoInput(PortRef),
    /// The node has no room for another input.
    #[error("node {} has too many inputs", .0.0)]
    TooManyInputs(NodeId),
    /// There is no such edge.
    #[error("no edge goes from node {} output {} to node {} input {}", .0.node.0, .0.port + 1, .1.node.0, .1.port + 1)]
    NoEdge(PortRef, PortRef),
}

impl Graph {
    /// Makes one change. Returns the id of a node that it adds.
    ///
    /// # Errors
    ///
    /// [`EditError`] names what does not exist or is taken; the graph has not changed then.
    pub fn apply(&mut self, edit: Edit) -> Result<Option<NodeId>, EditError> {
        match edit {
            Edit::Add(node) => {
                let added = self.add(node);
                return added
                    .map(Some)
                    .map_err(|(node, _)| EditError::NameTaken(node.name));
            }
            Edit::Place(id, node) => {
                let placed = self.restore(id, node);
                placed.map_err(|node| EditError::NameTaken(node.name))?;
                return Ok(Some(id));
            }
            Edit::Remove(id) => {
                self.remove(id).ok_or(EditError::NoNode(id))?;
            }
            Edit::Connect(edge) => {
                let from = self.existing(edge.from.node)?;
                if usize::from(edge.from.port) >= from.outputs.len() {
                    return Err(EditError::NoOutput(edge.from));
                }
                let to = self.existing(edge.to.node)?;
                if usize::from(edge.to.port) >= to.inputs.len() {
                    return Err(EditError::NoInput(edge.to));
                }
                self.connect(edge);
            }
            Edit::Modulate {
                from,
                to,
                param,
                modulation,
                span,
            } => self.modulate((from, span), to, &param, modulation)?,
            Edit::Disconnect(from, to) => {
                if !self.disconnect(from, to) {
                    return Err(EditError::NoEdge(from, to));
                }
            }
            Edit::Enable(id, enabled) => {
                self.node_mut(id).ok_or(EditError::NoNode(id))?.enabled = enabled;
            }
            Edit::Bypass(id, bypassed) => {
                self.node_mut(id).ok_or(EditError::NoNode(id))?.bypassed = bypassed;
            }
            Edit::Rename(id, name) => self.rename(id, name)?,
            Edit::Set(id, key, value) => {
                self.node_mut(id)
                    .ok_or(EditError::NoNode(id))?
                    .set(key, value);
            }
        }
        Ok(None)
    }

    /// Lets an output drive a parameter. Takes an input that drives it in the same way and has no edge, or adds one.
    ///
    /// # Errors
    ///
    /// There is no such output or node, or the node has no room for another input.
    pub fn modulate(
        &mut self,
        (from, span): (PortRef, SourceSpan),
        to: NodeId,
        param: &str,
        modulation: Modulation,
    ) -> Result<(), EditError> {
        let output = self
            .existing(from.node)?
            .outputs
            .get(usize::from(from.port));
        let signal = match output.ok_or(EditError::NoOutput(from))?.signal {
            // Several channels are added, as for every input of one channel.
            Signal::Audio(_) => Signal::Audio(Channels(1)),
            signal => signal,
        };
        let port = |port| PortRef { node: to, port };
        let inputs = &self.existing(to)?.inputs;
        let is_free = |(index, _): &(u16, _)| !self.edges().iter().any(|e| e.to == port(*index));
        let same = (0..).zip(inputs);
        let same = same.filter(|(_, it)| {
            (it.signal, it.modulation) == (signal, Some(modulation)) && it.driven_name() == param
        });
        let free = same.into_iter().find(is_free).map(|(index, _)| index);
        let index = free.or_else(|| {
            let node = self.node_mut(to)?;
            node.add_modulation(param, signal, modulation)
        });
        let to = port(index.ok_or(EditError::TooManyInputs(to))?);
        self.connect(Edge { from, to, span });
        Ok(())
    }

    fn existing(&self, id: NodeId) -> Result<&Node, EditError> {
        self.node(id).ok_or(EditError::NoNode(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_edit_changes_nothing() {
        let mut graph = Graph::default();
        graph.apply(Edit::Add(Node::new("a", "osc"))).unwrap();
        let before = graph.clone();
        let end = |node| PortRef {
            node: NodeId(node),
            port: 0,
        };
        let refused = [
            Edit::Add(Node::new("a", "mix")),
            Edit::Remove(NodeId(7)),
            Edit::Connect(Edge {
                from: end(0),
                to: end(0),
                span: Default::default(),
            }),
            Edit::Disconnect(end(0), end(0)),
            Edit::Enable(NodeId(1), false),
            Edit::Bypass(NodeId(1), true),
            Edit::Rename(NodeId(1), "b".to_owned()),
        ];
        for edit in refused {
            assert!(graph.apply(edit).is_err());
            assert_eq!(graph, before);
        }
    }
}
