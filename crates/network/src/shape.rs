//! [`Topology`]: a network as plain data, without what its nodes do. The static checks need no more.

use std::fmt;

/// A node, by its place among the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// A queue, by its place among the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub usize);

/// What becomes of the last frames of an input, when there are fewer than a window and no more will come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndOfStream {
    /// They are dropped, and the node ends.
    Drop,
    /// Silence is put behind them until each has been seen; then the node ends.
    #[default]
    Pad,
    /// Silence is put behind them until each has been taken; then the node ends.
    Flush,
    /// Silence is put behind them for as long as another input goes on; the node ends with the last of these. What it
    /// gave itself, and hears again by a circle, does not keep it going where it hears anything else.
    Extend,
}

/// What one firing takes from an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPort {
    /// Its name, unique among the node's inputs.
    pub name: String,
    /// Frames that must be there: the firing threshold.
    pub window: usize,
    /// Frames that are gone afterwards, at most the window. The others are the first of the next window.
    pub consume: usize,
    /// Frames of silence before the first that comes: what a filter remembers.
    pub history: usize,
    /// Samples a frame.
    pub channels: usize,
    /// What becomes of the last frames.
    pub at_end: EndOfStream,
}

/// What one firing gives to an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPort {
    /// Its name, unique among the node's outputs.
    pub name: String,
    /// Frames there must be room for.
    pub window: usize,
    /// Frames that are given away, at most the room. What was written behind them is there again in the next room.
    pub produce: usize,
    /// Samples a frame.
    pub channels: usize,
}

/// The two sides of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Inputs, in order.
    pub inputs: Vec<InputPort>,
    /// Outputs, in order.
    pub outputs: Vec<OutputPort>,
}

/// A node without what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its name, unique in the network.
    pub name: String,
    /// Where queues begin and end.
    pub ports: Ports,
}

/// A queue between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// The node that writes, and which of its outputs.
    pub from: (NodeId, usize),
    /// The node that reads, and which of its inputs.
    pub to: (NodeId, usize),
    /// Frames of silence it begins with, besides the input's lead: what a cycle needs.
    pub initial: usize,
    /// Frames it has at first; none: as many as the static check finds sufficient.
    pub size: Option<usize>,
}

/// A network as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// The nodes.
    pub nodes: Vec<NodeSpec>,
    /// The queues.
    pub queues: Vec<QueueSpec>,
}

/// Why a network is not whole, or a queue cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WiringError {
    /// There is a node of that name: name this one otherwise.
    DuplicateNode(String),
    /// A port takes nothing, gives nothing, or more than it asks for.
    Threshold {
        /// The port, as `node.port`.
        port: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is no such node or port.
    NoSuchPort(String),
    /// A queue begins or ends there already: put a node that splits in between.
    PortTaken(String),
    /// The two ports have different channels.
    ChannelMismatch {
        /// The queue.
        queue: String,
        /// Channels that are written.
        written: usize,
        /// Channels that are read.
        read: usize,
    },
    /// No queue begins or ends there.
    Unconnected(String),
}

impl InputPort {
    /// An input that sees `window` frames and takes `consume` of them.
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

    /// The same with so many frames of silence before the first.
    #[must_use]
    pub fn history(mut self, frames: usize) -> Self {
        self.history = frames;
        self
    }

    /// The same with so many channels.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// The same with another end.
    #[must_use]
    pub fn at_end(mut self, rest: EndOfStream) -> Self {
        self.at_end = rest;
        self
    }

    /// Frames of a window that were in the one before.
    pub fn overlap(&self) -> usize {
        self.window - self.consume
    }
}

impl OutputPort {
    /// An output that has room for `room` frames and gives `produce` of them.
    pub fn new(name: impl Into<String>, window: usize, produce: usize) -> Self {
        Self {
            name: name.into(),
            window,
            produce,
            channels: 1,
        }
    }

    /// The same with so many channels.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }
}

impl Ports {
    /// One input, no output.
    pub fn sink(input: InputPort) -> Self {
        Self {
            inputs: vec![input],
            outputs: Vec::new(),
        }
    }

    /// No input, one output.
    pub fn source(output: OutputPort) -> Self {
        Self {
            inputs: Vec::new(),
            outputs: vec![output],
        }
    }

    /// One of each.
    pub fn through(input: InputPort, output: OutputPort) -> Self {
        Self {
            inputs: vec![input],
            outputs: vec![output],
        }
    }

    /// Samples a port may have in one frame, and frames it may ask for at once: more is a mistake.
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
        let flawed = inputs
            .chain(outputs)
            .find_map(|(name, moved, asked, channels)| {
                let what = match (moved, asked, channels) {
                    (_, _, 0) => "it has no channels",
                    (0, _, _) => "a firing moves no frame of it",
                    (moved, asked, _) if moved > asked => {
                        "a firing moves more frames than it asks for"
                    }
                    (_, asked, channels) if asked.max(channels) > Self::MAX => {
                        "it asks for too much"
                    }
                    _ => return None,
                };
                Some((name.as_str(), what))
            });
        let far = |i: &&InputPort| i.history > Self::MAX;
        let lead = self
            .inputs
            .iter()
            .find(far)
            .map(|i| (i.name.as_str(), "its lead is too long"));
        flawed.or(lead)
    }
}

impl Topology {
    /// The input that a queue ends at.
    pub fn input(&self, queue: QueueId) -> &InputPort {
        let (node, port) = self.queues[queue.0].to;
        &self.nodes[node.0].ports.inputs[port]
    }

    /// The output that a queue begins at.
    pub fn output(&self, queue: QueueId) -> &OutputPort {
        let (node, port) = self.queues[queue.0].from;
        &self.nodes[node.0].ports.outputs[port]
    }

    /// Frames of silence that a queue begins with.
    pub fn initial_frames(&self, queue: QueueId) -> usize {
        self.queues[queue.0].initial + self.input(queue).history
    }

    /// The fewest frames with which a queue can ever move: what its two ports ask for at once, and what it begins with.
    pub fn min_size(&self, queue: QueueId) -> usize {
        let (input, output) = (self.input(queue), self.output(queue));
        input
            .window
            .max(output.window)
            .max(self.initial_frames(queue))
    }

    /// A queue in words: `a.out -> b.in`.
    pub fn queue_name(&self, queue: QueueId) -> String {
        let QueueSpec { from, to, .. } = &self.queues[queue.0];
        let (from_node, to_node) = (&self.nodes[from.0.0].name, &self.nodes[to.0.0].name);
        let (output, input) = (self.output(queue), self.input(queue));
        format!("{from_node}.{} -> {to_node}.{}", output.name, input.name)
    }

    /// All queues.
    pub fn queue_ids(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.queues.len()).map(QueueId)
    }

    /// Every port without a queue.
    pub fn unconnected_ports(&self) -> Vec<(NodeId, WiringError)> {
        let mut open = Vec::new();
        for (i, node) in self.nodes.iter().enumerate() {
            let id = NodeId(i);
            let ins = node.ports.inputs.iter().map(|port| &port.name).enumerate();
            let outs = node.ports.outputs.iter().map(|port| &port.name).enumerate();
            let ins = ins.filter(|(p, _)| !self.queues.iter().any(|q| q.to == (id, *p)));
            let outs = outs.filter(|(p, _)| !self.queues.iter().any(|q| q.from == (id, *p)));
            let named = ins
                .chain(outs)
                .map(|(_, port)| format!("{}.{port}", node.name));
            open.extend(named.map(|port| (id, WiringError::Unconnected(port))));
        }
        open
    }

    /// Adds a queue where there can be one.
    ///
    /// # Errors
    ///
    /// There is no such port, it is taken, or the channels differ.
    pub fn connect(&mut self, queue: QueueSpec) -> Result<QueueId, WiringError> {
        let ((from, output), (to, input)) = (queue.from, queue.to);
        let node = |id: NodeId| self.nodes.get(id.0).ok_or_else(|| nowhere(id, "node"));
        let (from, to) = (node(from)?, node(to)?);
        let written = from
            .ports
            .outputs
            .get(output)
            .ok_or_else(|| nowhere(queue.from.0, "output"))?;
        let read = to
            .ports
            .inputs
            .get(input)
            .ok_or_else(|| nowhere(queue.to.0, "input"))?;
        let name = |node: &NodeSpec, port: &str| format!("{}.{port}", node.name);
        if self.queues.iter().any(|q| q.from == queue.from) {
            return Err(WiringError::PortTaken(name(from, &written.name)));
        }
        if self.queues.iter().any(|q| q.to == queue.to) {
            return Err(WiringError::PortTaken(name(to, &read.name)));
        }
        let asked = queue.initial.max(queue.size.unwrap_or(0));
        if asked > Ports::MAX {
            let port = name(to, &read.name);
            let what = "its queue is too long";
            return Err(WiringError::Threshold { port, what });
        }
        if written.channels != read.channels {
            let (a, b) = (name(from, &written.name), name(to, &read.name));
            return Err(WiringError::ChannelMismatch {
                queue: format!("{a} -> {b}"),
                written: written.channels,
                read: read.channels,
            });
        }
        self.queues.push(queue);
        Ok(QueueId(self.queues.len() - 1))
    }
}

fn nowhere(node: NodeId, what: &str) -> WiringError {
    WiringError::NoSuchPort(format!("there is no such {what} (node {})", node.0))
}

impl fmt::Display for WiringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateNode(name) => write!(f, "there are two nodes called `{name}`"),
            Self::Threshold { port, what } => write!(f, "`{port}`: {what}"),
            Self::NoSuchPort(what) => f.write_str(what),
            Self::PortTaken(port) => write!(f, "`{port}` has a queue already"),
            Self::ChannelMismatch {
                queue,
                written,
                read,
            } => write!(
                f,
                "`{queue}`: {written} channels are written and {read} are read"
            ),
            Self::Unconnected(port) => write!(f, "`{port}` has no queue"),
        }
    }
}

impl std::error::Error for WiringError {}

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
                node("a", Ports::source(OutputPort::new("out", 4, 4))),
                node("b", Ports::sink(InputPort::new("in", 8, 2).history(6))),
            ],
            queues: Vec::new(),
        }
    }

    fn queue(from: (usize, usize), to: (usize, usize)) -> QueueSpec {
        QueueSpec {
            from: (NodeId(from.0), from.1),
            to: (NodeId(to.0), to.1),
            initial: 1,
            size: None,
        }
    }

    #[test]
    fn a_queue_joins_two_ports_once() {
        let mut shape = chain();
        assert_eq!(shape.unconnected_ports().len(), 2);
        let id = shape.connect(queue((0, 0), (1, 0))).unwrap();
        assert_eq!(shape.queue_name(id), "a.out -> b.in");
        assert_eq!((shape.initial_frames(id), shape.min_size(id)), (7, 8));
        assert!(shape.unconnected_ports().is_empty());
        let taken = shape.connect(queue((0, 0), (1, 0)));
        assert_eq!(taken, Err(WiringError::PortTaken("a.out".into())));
        let mut long = queue((0, 0), (1, 0));
        long.initial = Ports::MAX + 1;
        let too_long = chain().connect(long);
        assert!(matches!(too_long, Err(WiringError::Threshold { .. })));
        for wrong in [
            queue((0, 1), (1, 0)),
            queue((0, 0), (1, 1)),
            queue((2, 0), (1, 0)),
        ] {
            assert!(matches!(
                shape.connect(wrong),
                Err(WiringError::NoSuchPort(_))
            ));
        }
    }

    #[test]
    fn different_channels_do_not_meet() {
        let mut shape = chain();
        shape.nodes[0].ports.outputs[0].channels = 2;
        let refused = shape
            .connect(queue((0, 0), (1, 0)))
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            "`a.out -> b.in`: 2 channels are written and 1 are read"
        );
    }

    #[test]
    fn ports_that_cannot_move_are_found() {
        let flaw = |input: InputPort| Ports::sink(input).first_error().is_some();
        assert!(!flaw(InputPort::new("in", 3, 3)));
        assert!(flaw(InputPort::new("in", 3, 0)) && flaw(InputPort::new("in", 3, 4)));
        assert!(
            flaw(InputPort::new("in", 3, 3).channels(0))
                && flaw(InputPort::new("in", usize::MAX, 1))
        );
        assert!(flaw(InputPort::new("in", 3, 3).history(usize::MAX)));
    }
}
