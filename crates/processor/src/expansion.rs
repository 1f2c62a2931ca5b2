//! [`Expansion`]: a node that plays as several nodes.
//!
//! A patch is one node to its user. What plays in its place is the node itself, which comes first, and inner nodes behind it:
//!
//! ```text
//!   user's graph      in ──▶ patch ──▶ out
//!
//!   plan              in ──▶ patch ──▶ 1 ──▶ 3 ──▶ out
//!                              └─────▶ 2 ────┘
//! ```
//!
//! Several nodes may play as one set, when they share more than sound: then a node of the set meets them all.
//!
//! ```text
//!   a ──▶ meeting ──▶ 1 ──▶ a's outputs ──▶ b        b's sound comes from a: b comes behind the meeting
//!            └──────▶ 2 ◀─────────────────┘
//! ```
//!
//! Edges without channels order nodes that share more than sound. They carry nothing, and a pipeline does not cut them.

use crate::{MakeContext, MakeError, OwnParam, Processor};
use graph::{Node, Port, Signal};
use std::sync::Arc;
use units::{Channels, Frames, SampleRate};

/// Signal of an edge that only orders two nodes.
pub const ORDER: Signal = Signal::Audio(Channels(0));

/// Takes lines that nodes print: the name of the node, and the line. It is called on a thread that may wait.
pub type Console = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Takes messages in words for a node, and tells what has become of them.
pub trait Inbox: Send {
    /// Takes one, for the next block; false if too many wait.
    ///
    /// Real-time: setup.
    fn send(&mut self, text: &str) -> bool;

    /// The room for messages.
    ///
    /// Real-time: setup.
    fn room(&self) -> WordsRoom;

    /// The next message that the node has taken; `None` if it has taken none since the last call.
    ///
    /// Real-time: setup.
    fn taken(&mut self) -> Option<TakenWords>;
}

/// Room for messages in words, each of which takes a byte more than its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordsRoom {
    /// Bytes of one message, at most.
    pub longest: usize,
    /// Bytes if none waits.
    pub whole: usize,
    /// Bytes that are free now.
    pub free: usize,
}

/// A message in words that a node has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenWords {
    /// Its number among all that were sent to the node, from 1.
    pub number: u64,
    /// Absolute frame of the block in which it was taken.
    pub frame: u64,
    /// False if nothing receives under its name.
    pub is_received: bool,
}

/// Format in which an expansion will be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpandFormat {
    /// Sample rate.
    pub rate: SampleRate,
    /// Frames in a block.
    pub block: Frames,
    /// Frame at which an offline run ends, where that is known: what is done behind it is not heard, and must not be written
    /// or printed.
    pub end: Option<u64>,
    /// True if cheap parts may become one node.
    pub fuse: bool,
}

/// Argument of an expander.
pub struct ExpandContext<'a> {
    /// The node and its surroundings.
    pub make: MakeContext<'a>,
    /// Format in which it will be played.
    pub format: ExpandFormat,
    /// Takes what is printed, where somebody reads it.
    pub console: Option<Console>,
    /// Nodes that are expanded with it, by their indices, to which its outputs lead.
    pub leads_to: Vec<usize>,
}

/// Nodes that are expanded together.
pub struct ExpandedGroup {
    /// Their indices in what was asked for.
    pub members: Vec<usize>,
    /// What plays in their place; with an error, the index of its node.
    pub made: Result<Expansion, (usize, MakeError)>,
}

/// A port of a node of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerPort {
    /// The expanded nodes come first, from 0, then the inner nodes.
    pub node: u32,
    /// Its port, from 0.
    pub port: u16,
}

/// The nodes that play in place of one or several.
pub struct Expansion {
    /// The expanded nodes, at least one.
    pub heads: Vec<ExpandedNode>,
    /// The inner nodes, each with its processor.
    pub nodes: Vec<(Node, Box<dyn Processor>)>,
    /// Edges between all of them.
    pub edges: Vec<(InnerPort, InnerPort)>,
    /// Where several nodes meet.
    pub meeting: Option<Meeting>,
}

/// A node that plays as several, in the plan.
pub struct ExpandedNode {
    /// Processor of the node itself, which keeps its inputs and its events.
    pub processor: Box<dyn Processor>,
    /// Outputs of the node itself, to inner nodes alone.
    pub outputs: Vec<Port>,
    /// What the outputs of the node are, for its readers.
    pub reads: Vec<InnerPort>,
    /// Takes messages to the node, if it understands words.
    pub inbox: Option<Box<dyn Inbox>>,
    /// The node's own parameters. Their indices follow those of the kind.
    pub own_params: Vec<OwnParam>,
}

/// An inner node that comes behind all expanded nodes but those to which the set's own outputs lead: these come behind it. All ports
/// only order.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Its input, behind nodes.
    pub input: InnerPort,
    /// Its output, before nodes. An input for it is added to each of them.
    pub output: InnerPort,
    /// Output of each expanded node.
    pub head_output: u16,
}
