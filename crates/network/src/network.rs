//! [`Network`]: nodes with their actors, and the queues between them.

use crate::actor::Actor;
use crate::topology::{NodeSpec, QueueId, QueueSpec, Topology, WiringError};
use graph::NodeId;

/// Nodes with their actors and the queues between them, ready to run.
#[derive(Default)]
pub struct Network {
    topology: Topology,
    /// One for each node, in the topology's order.
    pub(crate) actors: Vec<Box<dyn Actor>>,
}

impl Network {
    /// A network without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node.
    ///
    /// # Errors
    ///
    /// The name is taken, or the numbers of a port make no sense.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        actor: impl Actor + 'static,
    ) -> Result<NodeId, WiringError> {
        self.add_boxed(name.into(), Box::new(actor))
    }

    /// Adds a node whose actor's type is not known at compile time.
    ///
    /// # Errors
    ///
    /// As for [`Network::add`].
    pub fn add_boxed(
        &mut self,
        name: String,
        actor: Box<dyn Actor>,
    ) -> Result<NodeId, WiringError> {
        let ports = actor.ports();
        if self.topology.nodes.iter().any(|node| node.name == name) {
            return Err(WiringError::DuplicateNode(name));
        }
        if let Some((port, reason)) = ports.first_error() {
            let port = format!("{name}.{port}");
            return Err(WiringError::Threshold { port, reason });
        }
        let id = NodeId(self.actors.len() as u32);
        self.topology.nodes.push(NodeSpec { name, ports });
        self.actors.push(actor);
        Ok(id)
    }

    /// Connects an output to an input, each given as its node and its index there.
    ///
    /// # Errors
    ///
    /// There is no such port, it has a queue, or the channels differ.
    pub fn connect(
        &mut self,
        from: (NodeId, u16),
        to: (NodeId, u16),
    ) -> Result<QueueId, WiringError> {
        self.connect_with(QueueSpec::new(from, to))
    }

    /// Adds a queue with initial frames and a size.
    ///
    /// # Errors
    ///
    /// As for [`Network::connect`].
    pub fn connect_with(&mut self, queue: QueueSpec) -> Result<QueueId, WiringError> {
        self.topology.connect(queue)
    }

    /// Connects each node's first output to the next node's first input.
    ///
    /// # Errors
    ///
    /// As for [`Network::connect`].
    pub fn chain(&mut self, nodes: &[NodeId]) -> Result<(), WiringError> {
        for pair in nodes.windows(2) {
            self.connect((pair[0], 0), (pair[1], 0))?;
        }
        Ok(())
    }

    /// The network as plain data, for the static checks.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
}
