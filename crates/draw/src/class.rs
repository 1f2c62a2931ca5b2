//! The class of a node, which is its colour in every picture.

use crate::picture::color::{self, BoxColors};

/// The class of a node: a diagram of a graph and a chart of its schedule show the same class in the same colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeClass {
    /// No inputs, or a source by its kind.
    Source,
    /// One input and one output; also the default of an unknown node.
    #[default]
    Effect,
    /// A mix or a split: more than two ports.
    Join,
    /// A delay, which may close a cycle of edges.
    Delay,
    /// No outputs, or a sink by its kind.
    Sink,
    /// Anything that is not a running node: overhead, deferred pieces, nodes that are not enabled.
    Other,
}

impl NodeClass {
    /// All classes, in the order of legends.
    pub(crate) const ALL: [Self; 6] = [
        Self::Source,
        Self::Effect,
        Self::Join,
        Self::Delay,
        Self::Sink,
        Self::Other,
    ];

    /// The class of a node of which only the number of ports is known.
    pub fn from_ports(inputs: usize, outputs: usize) -> Self {
        match (inputs, outputs) {
            (0, _) => Self::Source,
            (_, 0) => Self::Sink,
            (1, 1) => Self::Effect,
            _ => Self::Join,
        }
    }

    /// Its name in the legend of a diagram.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Effect => "one in, one out",
            Self::Join => "mix or split",
            Self::Delay => "delay",
            Self::Sink => "sink",
            Self::Other => "not enabled",
        }
    }

    pub(crate) fn colors(self) -> BoxColors {
        match self {
            Self::Source => color::GREEN,
            Self::Effect => color::BLUE,
            Self::Join => color::AMBER,
            Self::Delay => color::PINK,
            Self::Sink => color::VIOLET,
            Self::Other => color::GREY,
        }
    }
}
