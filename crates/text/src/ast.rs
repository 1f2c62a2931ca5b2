//! The abstract syntax of both formats: nodes and edges as they are written, with their places, before anything is
//! checked against the catalogue.
//!
//! Names borrow from the text where they can (`'t`); strings with escapes are decoded copies.

use crate::source::ByteRange;
use graph::{Amount, ParamValue};
use std::borrow::Cow;
use units::Nanos;

/// All nodes and edges of a text, in its order.
#[derive(Default)]
pub(crate) struct Ast<'t> {
    pub(crate) nodes: Vec<AstNode<'t>>,
    pub(crate) edges: Vec<(AstEnd<'t>, AstEnd<'t>)>,
    /// Definitions of parts. None is left when the text is flat.
    pub(crate) parts: Vec<AstPart<'t>>,
    /// True if nodes or edges may be copies with the same places.
    pub(crate) has_copies: bool,
    pub(crate) tempo: Option<graph::TempoMap>,
    /// True if lists of events or curves became nodes.
    pub(crate) has_scores: bool,
}

/// The definition of a part: a graph with ports and parameters that is used like a kind.
pub(crate) struct AstPart<'t> {
    pub(crate) name: Ident<'t>,
    pub(crate) inputs: Vec<Ident<'t>>,
    pub(crate) outputs: Vec<Ident<'t>>,
    /// Parameters with their defaults.
    pub(crate) params: Vec<AstEntry<'t>>,
    pub(crate) body: Ast<'t>,
}

/// An identifier or a string, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Ident<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) at: ByteRange,
}

/// `key = value`.
#[derive(Clone, Debug)]
pub(crate) struct AstEntry<'t> {
    pub(crate) key: Ident<'t>,
    pub(crate) value: ParamValue,
    pub(crate) value_at: ByteRange,
    /// True for a key of the author's own, which no kind may know.
    pub(crate) is_own: bool,
}

/// `key = [value, ...]`: a value for each copy of a node.
#[derive(Clone, Debug)]
pub(crate) struct AstList<'t> {
    pub(crate) key: Ident<'t>,
    pub(crate) items: Vec<(ParamValue, ByteRange)>,
    pub(crate) at: ByteRange,
}

/// A node. The keys that every kind has are fields; all others are entries.
#[derive(Clone, Debug)]
pub(crate) struct AstNode<'t> {
    pub(crate) name: Ident<'t>,
    pub(crate) kind: Option<Ident<'t>>,
    pub(crate) stand_in: Option<Ident<'t>>,
    pub(crate) entries: Vec<AstEntry<'t>>,
    pub(crate) lists: Vec<AstList<'t>>,
    pub(crate) cost: Option<Nanos>,
    pub(crate) every: u32,
    pub(crate) enabled: bool,
    pub(crate) bypassed: bool,
    /// True if an entry could not be read: then no parameter is reported as missing.
    pub(crate) is_damaged: bool,
    /// Number of the copy that this node is, from 1; 0 for a node that is written as it is.
    pub(crate) copy: u32,
}

impl<'t> AstNode<'t> {
    pub(crate) fn new(name: Ident<'t>) -> Self {
        Self {
            name,
            kind: None,
            stand_in: None,
            entries: Vec::new(),
            lists: Vec::new(),
            cost: None,
            every: 1,
            enabled: true,
            bypassed: false,
            is_damaged: false,
            copy: 0,
        }
    }
}

/// The port that an edge names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortName<'t> {
    /// No name: the first port.
    First,
    /// A number, from 1: its digits, however many.
    Number(Cow<'t, str>),
    Name(Cow<'t, str>),
}

/// The side of a node that a port is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortSide {
    Input,
    Output,
}

/// One end of an edge.
#[derive(Clone, Debug)]
pub(crate) struct AstEnd<'t> {
    pub(crate) node: Ident<'t>,
    /// Names between the first and the last of three or more: the way into a part. Empty when the text is flat.
    pub(crate) path: Vec<Ident<'t>>,
    pub(crate) port: PortName<'t>,
    pub(crate) port_at: ByteRange,
    /// True in the middle of a chain: the end of one edge and the start of the next.
    pub(crate) is_middle: bool,
    /// Amount and law, where they are written; only the last end of a chain can have them.
    pub(crate) amount: Option<Amount>,
}

impl AstEnd<'_> {
    /// From the node's name to the end of the port.
    pub(crate) fn at(&self) -> ByteRange {
        self.node.at.start..self.port_at.end.max(self.node.at.end)
    }
}

/// The format of a text. The same text can be valid in one format and an error in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Quoted numbers are numbers; an unknown kind gets a stand-in; unknown keys are the author's own.
    Ag,
    /// Values have types; unknown kinds and keys are mistakes.
    Toml,
}
