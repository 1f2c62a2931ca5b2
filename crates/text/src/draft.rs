//! What a text says, word for word, before anyone asks whether it makes sense.

use crate::source::Span;
use graph::ParamValue;
use std::borrow::Cow;
use units::Nanos;

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Word<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) at: Span,
}

/// `key = value`, each with its place.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: Word<'t>,
    pub(crate) value: ParamValue,
    pub(crate) value_at: Span,
}

/// A node as it is written. What is about the node and not about its kind has been taken out of the entries.
#[derive(Clone, Debug)]
pub(crate) struct DraftNode<'t> {
    pub(crate) name: Word<'t>,
    pub(crate) kind: Option<Word<'t>>,
    pub(crate) stand_in: Option<Word<'t>>,
    pub(crate) entries: Vec<Entry<'t>>,
    pub(crate) cost: Option<Nanos>,
    pub(crate) every: u32,
    pub(crate) enabled: bool,
    /// Whether an entry could not be read: then none is said to be missing.
    pub(crate) is_damaged: bool,
}

impl<'t> DraftNode<'t> {
    pub(crate) fn new(name: Word<'t>) -> Self {
        Self {
            name,
            kind: None,
            stand_in: None,
            entries: Vec::new(),
            cost: None,
            every: 1,
            enabled: true,
            is_damaged: false,
        }
    }
}

/// Which port an edge names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortWord<'t> {
    /// None: the first.
    First,
    /// By number, as it is written: from 1.
    Number(u64),
    /// By name.
    Name(Cow<'t, str>),
}

/// One end of an edge as it is written.
#[derive(Clone, Debug)]
pub(crate) struct DraftEnd<'t> {
    pub(crate) node: Word<'t>,
    pub(crate) port: PortWord<'t>,
    pub(crate) port_at: Span,
    /// Whether it is the middle of a chain: entered here, and left as the next edge.
    pub(crate) is_middle: bool,
}

impl DraftEnd<'_> {
    /// From the node's name to the end of the port.
    pub(crate) fn at(&self) -> Span {
        self.node.at.start..self.port_at.end.max(self.node.at.end)
    }
}

/// Nodes and edges as they are written.
#[derive(Default)]
pub(crate) struct Draft<'t> {
    pub(crate) nodes: Vec<DraftNode<'t>>,
    pub(crate) edges: Vec<(DraftEnd<'t>, DraftEnd<'t>)>,
}

/// Which language a text is in, where it matters for what is a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Quoted numbers count; unknown kinds get a stand-in; keys that no kind knows are the author's own.
    Ag,
    /// Types count; what is unknown is a mistake.
    Toml,
}
