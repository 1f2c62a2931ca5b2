//! [`Network`]: nodes and queues, put together by hand or read from a session.

use crate::fire::Actor;
use crate::shape::{NodeId, NodeSpec, QueueId, QueueSpec, Topology, WiringError};

/// Nodes and the queues between them, ready to run.
#[derive(Default)]
pub struct Network {
    topology: Topology,
    pub(crate) fires: Vec<Box<dyn Actor>>,
}

impl Network {
    /// One without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node.
    ///
    /// # Errors
    ///
    /// Its name is taken, or a port of it cannot move.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        fire: impl Actor + 'static,
    ) -> Result<NodeId, WiringError> {
        self.add_boxed(name.into(), Box::new(fire))
    }

    /// As [`Network::add`], for a node whose type is not known.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn add_boxed(&mut self, name: String, fire: Box<dyn Actor>) -> Result<NodeId, WiringError> {
        let ports = fire.ports();
        if self.topology.nodes.iter().any(|node| node.name == name) {
            return Err(WiringError::DuplicateNode(name));
        }
        if let Some((port, what)) = ports.first_error() {
            let port = format!("{name}.{port}");
            return Err(WiringError::Threshold { port, what });
        }
        self.topology.nodes.push(NodeSpec { name, ports });
        self.fires.push(fire);
        Ok(NodeId(self.fires.len() - 1))
    }

    /// A queue from an output to an input, each named by its node and its place there.
    ///
    /// # Errors
    ///
    /// There is no such port, it has a queue, or the channels differ.
    pub fn connect(
        &mut self,
        from: (NodeId, usize),
        to: (NodeId, usize),
    ) -> Result<QueueId, WiringError> {
        self.connect_with(QueueSpec {
            from,
            to,
            initial: 0,
            size: None,
        })
    }

    /// As [`Network::connect`], with what the queue begins with and how large it is at first.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn connect_with(&mut self, queue: QueueSpec) -> Result<QueueId, WiringError> {
        self.topology.connect(queue)
    }

    /// Queues from each node's first output to the next one's first input.
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

    /// The same as plain data: what the static checks look at.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What a node does.
    pub fn actor_mut(&mut self, node: NodeId) -> Option<&mut dyn Actor> {
        match self.fires.get_mut(node.0) {
            Some(fire) => Some(fire.as_mut()),
            None => None,
        }
    }
}
