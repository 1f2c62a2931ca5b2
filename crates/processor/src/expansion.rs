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
//! Edges without channels order nodes that share more than sound. They carry nothing, and a pipeline does not cut them.

use crate::{MakeContext, Processor};
use graph::{Node, Port, Signal};
use std::sync::Arc;
use units::{Channels, Frames, SampleRate};

/// Signal of an edge that only orders two nodes.
pub const ORDER: Signal = Signal::Audio(Channels(0));

/// Takes lines that nodes print: the name of the node, and the line. It is called on a thread that may wait.
pub type Console = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Takes a message in words, for the next block; false if too many wait.
pub type Inbox = Box<dyn FnMut(&str) -> bool + Send>;

/// Format in which an expansion will be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpandFormat {
    /// Sample rate.
    pub rate: SampleRate,
    /// Frames in a block.
    pub block: Frames,
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
}

/// A port of a node of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerPort {
    /// 0 for the expanded node itself, then the inner nodes from 1.
    pub node: u32,
    /// Its port, from 0.
    pub port: u16,
}

/// The nodes that play in place of one.
pub struct Expansion {
    /// Processor of the node itself, which keeps its inputs and its events.
    pub head: Box<dyn Processor>,
    /// Outputs of the node itself, to inner nodes alone.
    pub head_outputs: Vec<Port>,
    /// The inner nodes, each with its processor.
    pub nodes: Vec<(Node, Box<dyn Processor>)>,
    /// Edges between all of them.
    pub edges: Vec<(InnerPort, InnerPort)>,
    /// What the outputs of the node are, for its readers.
    pub outputs: Vec<InnerPort>,
    /// Takes messages to the node, if it understands words.
    pub inbox: Option<Inbox>,
    /// Names of the node's own parameters. Their indices follow those of the kind.
    pub own_params: Vec<String>,
}
