//! One box of the patch, its ports and its parameters.

use crate::SourceSpan;
use units::{Channels, Nanos};

/// What travels over an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Sound: so many channels, one sample a frame on each.
    Audio(Channels),
    /// A number that changes at stated frames and holds in between.
    Control,
    /// Events at stated frames: notes, MIDI.
    Event,
}

/// One place of a node where edges begin or end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Its name, unique among the node's inputs or among its outputs.
    pub name: String,
    /// What travels through it.
    pub signal: Signal,
}

/// A parameter's value as the text has it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// Any number; integers too, exact up to 2^53.
    Number(f64),
    /// Words: a file name, a choice, or what a kind keeps for others.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

/// One box of the patch. Nothing here runs.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name the patch gives it; unique in the graph.
    pub name: String,
    /// The kind as it was written.
    pub kind: String,
    /// The kind that plays in its stead, where the written one is unknown.
    pub stand_in: Option<String>,
    /// Its inputs, in order.
    pub inputs: Vec<Port>,
    /// Its outputs, in order.
    pub outputs: Vec<Port>,
    /// Parameters in the order they were written; keys that no kind knows are kept.
    pub params: Vec<(String, ParamValue)>,
    /// What one block of it costs, where the text says so.
    pub cost: Option<Nanos>,
    /// Runs once in so many cycles; 1 is every cycle. Never 0.
    pub every: u32,
    /// A node that is not enabled gives silence and costs nothing.
    pub enabled: bool,
    /// Where it was declared.
    pub span: SourceSpan,
}

impl Node {
    /// A node of `kind` without ports or parameters.
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            stand_in: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            params: Vec::new(),
            cost: None,
            every: 1,
            enabled: true,
            span: SourceSpan::NONE,
        }
    }

    /// The kind that plays: the stand-in's, or the written one.
    pub fn effective_kind(&self) -> &str {
        self.stand_in.as_deref().unwrap_or(&self.kind)
    }

    /// The value written for `key`.
    pub fn param(&self, key: &str) -> Option<&ParamValue> {
        self.params.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The number written for `key`; a text that reads as a number counts, since `.ag` files quote them.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.param(key)? {
            ParamValue::Number(n) => Some(*n),
            ParamValue::Text(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            ParamValue::Flag(_) => None,
        }
    }

    /// The words written for `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.param(key)? {
            ParamValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether `key` is on: true, a number other than 0, or the words "true", "yes", "on".
    pub fn flag(&self, key: &str) -> bool {
        match self.param(key) {
            Some(ParamValue::Flag(on)) => *on,
            Some(ParamValue::Number(n)) => *n != 0.0,
            Some(ParamValue::Text(text)) => matches!(text.as_str(), "true" | "yes" | "on" | "1"),
            None => false,
        }
    }

    /// Writes `value` for `key`, in the place of the old one if there is one.
    pub fn set(&mut self, key: impl Into<String>, value: ParamValue) {
        let key = key.into();
        match self.params.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.params.push((key, value)),
        }
    }
}

/// Two nodes are equal if they say the same, wherever they stand.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.stand_in == other.stand_in
            && self.inputs == other.inputs
            && self.outputs == other.outputs
            && self.params == other.params
            && self.cost == other.cost
            && self.every == other.every
            && self.enabled == other.enabled
    }
}
