//! [`Topology`]: a network as plain data, without its actors. The static checks need no more.
//!
//! ```text
//!  NodeSpec "a"                    QueueSpec                     NodeSpec "b"
//! ┌─────────────────┐                                          ┌──────────────────┐
//! │ OutputPort "out"│──▶ [ initial + history | … up to size ] ──▶ InputPort "in"   │
//! │ window, produce │        frames in first-in-first-out order │ window, consume  │
//! └─────────────────┘                                          └──────────────────┘
//! ```
//!
//! Nodes and ports are named by `graph`'s [`NodeId`] and [`PortRef`]; nodes are numbered from 0 in the order in which they
//! were added.

use graph::{NodeId, PortRef};

/// A queue, by its index among the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub usize);

/// Treatment of the last frames of an input, when fewer than a window are left and no more will come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndOfStream {
    /// They are dropped, and the node ends.
    Drop,
    /// Silence follows them until each has been in a window; then the node ends.
    #[default]
    Pad,
    /// Silence follows them until each has been consumed; then the node ends.
    Flush,
    /// Silence follows them for as long as another input goes on; the node ends with the last of these. An input that
    /// carries the node's own output back to it, through a cycle, counts as ended once all others have.
    Extend,
}

/// An input: what one firing reads and consumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPort {
    /// Name, unique among the node's inputs.
    pub name: String,
    /// Frames that a firing reads: the firing threshold.
    pub window: usize,
    /// Frames that a firing removes, at most `window`. The others begin the next window.
    pub consume: usize,
    /// Frames of silence before the first frame of the stream, for instance a filter's memory.
    pub history: usize,
    /// Samples in a frame.
    pub channels: usize,
    /// Treatment of the last frames.
    pub at_end: EndOfStream,
}

/// An output: what one firing writes and produces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPort {
    /// Name, unique among the node's outputs.
    pub name: String,
    /// Frames that a firing may write, for which there must be room.
    pub window: usize,
    /// Frames that a firing adds to the queue, at most `window`. What was written behind them begins the next window.
    pub produce: usize,
    /// Samples in a frame.
    pub channels: usize,
}

/// Inputs and outputs of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodePorts {
    /// Inputs, in order.
    pub inputs: Vec<InputPort>,
    /// Outputs, in order.
    pub outputs: Vec<OutputPort>,
}

/// A node without its actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Name, unique in the network.
    pub name: String,
    /// Inputs and outputs.
    pub ports: NodePorts,
}

/// A queue between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// The output that writes.
    pub from: PortRef,
    /// The input that reads.
    pub to: PortRef,
    /// Frames of silence at the beginning, besides the input's history: what a cycle needs to start (initial tokens).
    pub initial: usize,
    /// Size in frames; `None`: as the static check finds sufficient. May grow during a run.
    pub size: Option<usize>,
}

/// A network as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Nodes, at the index of their [`NodeId`].
    pub nodes: Vec<NodeSpec>,
    /// Queues, at the index of their [`QueueId`].
    pub queues: Vec<QueueSpec>,
}

/// Error of a network that is not complete, or of a queue that cannot be connected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WiringError {
    /// There is a node of that name: choose another name.
    #[error("there are two nodes called `{0}`")]
    DuplicateNode(String),
    /// A port moves no frames, or more than its window, or is too large.
    #[error("`{port}`: {reason}")]
    Threshold {
        /// The port, as `node.port`.
        port: String,
        /// Reason, in words.
        reason: &'static str,
    },
    /// There is no such node or port.
    #[error("{0}")]
    NoSuchPort(String),
    /// The port has a queue already: put a node that splits or adds between.
    #[error("`{0}` has a queue already")]
    PortTaken(String),
    /// The two ports have different numbers of channels.
    #[error("`{queue}`: {written} channels are written and {read} are read")]
    ChannelMismatch {
        /// The queue.
        queue: String,
        /// Channels of the output.
        written: usize,
        /// Channels of the input.
        read: usize,
    },
    /// The port has no queue.
    #[error("`{0}` has no queue")]
    Unconnected(String),
}

impl InputPort {
    /// A mono input that reads `window` frames and consumes `consume` of them.
    pub fn new(name: impl Into<String>, window: usize, consume: usize) -> Self {
        Self {
            name: name.into(),
            window,
            consume,
            history: 0,
            channels: 1,
            at_end: EndOfStream::Pad,
        }
    }

    /// The same input with `frames` frames of silence before the first.
    #[must_use]
    pub fn history(mut self, frames: usize) -> Self {
        self.history = frames;
        self
    }

    /// The same input with `channels` channels.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// The same input with another treatment of its last frames.
    #[must_use]
    pub fn at_end(mut self, treatment: EndOfStream) -> Self {
        self.at_end = treatment;
        self
    }

    /// Frames of a window that the next window reads again.
    pub fn overlap(&self) -> usize {
        self.window - self.consume
    }
}

impl OutputPort {
    /// A mono output that writes `window` frames and produces `produce` of them.
    pub fn new(name: impl Into<String>, window: usize, produce: usize) -> Self {
        Self {
            name: name.into(),
            window,
            produce,
            channels: 1,
        }
    }

    /// The same output with `channels` channels.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }
}

impl NodePorts {
    /// One input, no output.
    pub fn sink(input: InputPort) -> Self {
        Self {
            inputs: vec![input],
            ..Self::default()
        }
    }

    /// No input, one output.
    pub fn source(output: OutputPort) -> Self {
        Self {
            outputs: vec![output],
            ..Self::default()
        }
    }

    /// One input and one output.
    pub fn through(input: InputPort, output: OutputPort) -> Self {
        Self {
            inputs: vec![input],
            outputs: vec![output],
        }
    }

    /// The same ports, each with `channels` channels.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.inputs.iter_mut().for_each(|p| p.channels = channels);
        self.outputs.iter_mut().for_each(|p| p.channels = channels);
        self
    }

    /// Largest number of channels, and of frames in a window: more is taken for a mistake.
    pub const MAX: usize = 1 << 30;

    /// The first port whose numbers make no sense, with the reason.
    pub fn first_error(&self) -> Option<(&str, &'static str)> {
        let inputs = self
            .inputs
            .iter()
            .map(|i| (&i.name, i.consume, i.window, i.channels));
        let outputs = self
            .outputs
            .iter()
            .map(|o| (&o.name, o.produce, o.window, o.channels));
        let wrong = inputs
            .chain(outputs)
            .find_map(|(name, moved, window, channels)| {
                let reason = match (moved, window, channels) {
                    (_, _, 0) => "it has no channels",
                    (0, _, _) => "a firing moves no frame of it",
                    (moved, window, _) if moved > window => {
                        "a firing moves more frames than its window has"
                    }
                    (_, window, channels) if window.max(channels) > Self::MAX => "it is too large",
                    _ => return None,
                };
                Some((name.as_str(), reason))
            });
        let history = self.inputs.iter().find(|i| i.history > Self::MAX);
        wrong.or(history.map(|i| (i.name.as_str(), "its history is too long")))
    }
}

impl QueueSpec {
    /// A queue without initial frames, and with a sufficient size; each end is a node and the index of its port.
    pub fn new(from: (NodeId, u16), to: (NodeId, u16)) -> Self {
        let port = |(node, port)| PortRef { node, port };
        Self {
            from: port(from),
            to: port(to),
            initial: 0,
            size: None,
        }
    }

    /// Index of the node that writes.
    pub(crate) fn writer(&self) -> usize {
        self.from.node.0 as usize
    }

    /// Index of the node that reads.
    pub(crate) fn reader(&self) -> usize {
        self.to.node.0 as usize
    }
}

impl Topology {
    /// A node by its id.
    pub fn node(&self, id: NodeId) -> &NodeSpec {
        &self.nodes[id.0 as usize]
    }

    /// The input that a queue leads to.
    pub fn input(&self, queue: QueueId) -> &InputPort {
        let to = self.queues[queue.0].to;
        &self.node(to.node).ports.inputs[usize::from(to.port)]
    }

    /// The output that a queue comes from.
    pub fn output(&self, queue: QueueId) -> &OutputPort {
        let from = self.queues[queue.0].from;
        &self.node(from.node).ports.outputs[usize::from(from.port)]
    }

    /// Frames of silence that a queue begins with: its initial frames and its input's history.
    pub fn initial_frames(&self, queue: QueueId) -> usize {
        self.queues[queue.0].initial + self.input(queue).history
    }

    /// Smallest size with which a queue can ever move: room for either port's window, and for what it begins with.
    pub fn min_size(&self, queue: QueueId) -> usize {
        let (input, output) = (self.input(queue), self.output(queue));
        let window = input.window.max(output.window);
        window.max(self.initial_frames(queue))
    }

    /// Name of a queue: `a.out -> b.in`.
    pub fn queue_name(&self, queue: QueueId) -> String {
        let QueueSpec { from, to, .. } = &self.queues[queue.0];
        let (writer, reader) = (&self.node(from.node).name, &self.node(to.node).name);
        let (output, input) = (self.output(queue), self.input(queue));
        format!("{writer}.{} -> {reader}.{}", output.name, input.name)
    }

    /// All queues, in order.
    pub fn queue_ids(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.queues.len()).map(QueueId)
    }

    /// All nodes, in order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(|index| NodeId(index as u32))
    }

    /// Every port without a queue, as an error.
    pub fn unconnected_ports(&self) -> Vec<(NodeId, WiringError)> {
        let mut found = Vec::new();
        for (id, node) in self.node_ids().zip(&self.nodes) {
            let at = |port: usize| PortRef {
                node: id,
                port: port as u16,
            };
            let inputs = node.ports.inputs.iter().map(|port| &port.name).enumerate();
            let outputs = node.ports.outputs.iter().map(|port| &port.name).enumerate();
            let inputs = inputs.filter(|(port, _)| !self.queues.iter().any(|q| q.to == at(*port)));
            let outputs =
                outputs.filter(|(port, _)| !self.queues.iter().any(|q| q.from == at(*port)));
            let names = inputs
                .chain(outputs)
                .map(|(_, port)| format!("{}.{port}", node.name));
            found.extend(names.map(|port| (id, WiringError::Unconnected(port))));
        }
        found
    }

    /// Adds a queue.
    ///
    /// # Errors
    ///
    /// There is no such port, it has a queue, the channels differ, or the queue would be too long.
    pub fn connect(&mut self, queue: QueueSpec) -> Result<QueueId, WiringError> {
        let (writer, output) = self.find(queue.from, "output", |ports| &ports.outputs)?;
        let (reader, input) = self.find(queue.to, "input", |ports| &ports.inputs)?;
        let from = format!("{}.{}", writer.name, output.name);
        let to = format!("{}.{}", reader.name, input.name);
        if self.queues.iter().any(|other| other.from == queue.from) {
            return Err(WiringError::PortTaken(from));
        }
        if self.queues.iter().any(|other| other.to == queue.to) {
            return Err(WiringError::PortTaken(to));
        }
        if queue.initial.max(queue.size.unwrap_or(0)) > NodePorts::MAX {
            let reason = "its queue is too long";
            return Err(WiringError::Threshold { port: to, reason });
        }
        if output.channels != input.channels {
            return Err(WiringError::ChannelMismatch {
                queue: format!("{from} -> {to}"),
                written: output.channels,
                read: input.channels,
            });
        }
        self.queues.push(queue);
        Ok(QueueId(self.queues.len() - 1))
    }

    /// The node and the port that `at` names, on the side that `ports` picks.
    fn find<P>(
        &self,
        at: PortRef,
        side: &str,
        ports: impl Fn(&NodePorts) -> &Vec<P>,
    ) -> Result<(&NodeSpec, &P), WiringError> {
        let missing = |what: &str| {
            let message = format!("there is no such {what} (node {})", at.node.0);
            WiringError::NoSuchPort(message)
        };
        let node = self.nodes.get(at.node.0 as usize);
        let node = node.ok_or_else(|| missing("node"))?;
        let port = ports(&node.ports).get(usize::from(at.port));
        Ok((node, port.ok_or_else(|| missing(side))?))
    }
}

/// Cycles of nodes that wait for each other; `waits_for` says for each node which one it waits for.
pub(crate) fn waiting_cycles(waits_for: &[Option<usize>]) -> Vec<Vec<usize>> {
    // The walk that came to a node first; 0 for none.
    let mut walk_of = vec![0; waits_for.len()];
    let mut cycles = Vec::new();
    for begin in 0..waits_for.len() {
        let (walk, mut at) = (begin + 1, begin);
        while walk_of[at] == 0 {
            walk_of[at] = walk;
            let Some(next) = waits_for[at] else { break };
            at = next;
        }
        if walk_of[at] == walk && waits_for[at].is_some() {
            let next = |node: &usize| waits_for[*node].filter(|next| *next != at);
            cycles.push(std::iter::successors(Some(at), next).collect());
        }
    }
    cycles
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn chain() -> Topology {
        let node = |name: &str, ports| NodeSpec {
            name: name.into(),
            ports,
        };
        Topology {
            nodes: vec![
                node("a", NodePorts::source(OutputPort::new("out", 4, 4))),
                node("b", NodePorts::sink(InputPort::new("in", 8, 2).history(6))),
            ],
            queues: Vec::new(),
        }
    }

    fn queue(from: (u32, u16), to: (u32, u16)) -> QueueSpec {
        let port = |(node, port)| (NodeId(node), port);
        QueueSpec {
            initial: 1,
            ..QueueSpec::new(port(from), port(to))
        }
    }

    #[test]
    fn a_port_has_one_queue() {
        let mut topology = chain();
        assert_eq!(topology.unconnected_ports().len(), 2);
        let id = topology.connect(queue((0, 0), (1, 0))).unwrap();
        assert_eq!(topology.queue_name(id), "a.out -> b.in");
        assert_eq!((topology.initial_frames(id), topology.min_size(id)), (7, 8));
        assert!(topology.unconnected_ports().is_empty());
        let taken = topology.connect(queue((0, 0), (1, 0)));
        assert_eq!(taken, Err(WiringError::PortTaken("a.out".into())));
        let mut long = queue((0, 0), (1, 0));
        long.initial = NodePorts::MAX + 1;
        let too_long = chain().connect(long);
        assert!(matches!(too_long, Err(WiringError::Threshold { .. })));
        for wrong in [
            queue((0, 1), (1, 0)),
            queue((0, 0), (1, 1)),
            queue((2, 0), (1, 0)),
        ] {
            assert!(matches!(
                topology.connect(wrong),
                Err(WiringError::NoSuchPort(_))
            ));
        }
    }

    #[test]
    fn ports_of_different_channels_are_refused() {
        let mut topology = chain();
        topology.nodes[0].ports.outputs[0].channels = 2;
        let refused = topology
            .connect(queue((0, 0), (1, 0)))
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            "`a.out -> b.in`: 2 channels are written and 1 are read"
        );
    }

    #[test]
    fn ports_that_move_no_frames_are_refused() {
        let is_wrong = |input: InputPort| NodePorts::sink(input).first_error().is_some();
        assert!(!is_wrong(InputPort::new("in", 3, 3)));
        assert!(is_wrong(InputPort::new("in", 3, 0)) && is_wrong(InputPort::new("in", 3, 4)));
        assert!(
            is_wrong(InputPort::new("in", 3, 3).channels(0))
                && is_wrong(InputPort::new("in", usize::MAX, 1))
        );
        assert!(is_wrong(InputPort::new("in", 3, 3).history(usize::MAX)));
    }
}
