//! A node with its ports and parameters.

use crate::{Diagnostic, Modulation, SourceSpan};
use units::{Channels, Nanos};

/// Signal of an edge or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Audio: a number of channels, with one sample per frame on each.
    Audio(Channels),
    /// A number that changes at stated frames and holds in between.
    Control,
    /// Events at stated frames: notes, MIDI.
    Event,
}

/// An input or output of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Its name, unique among the node's inputs or among its outputs.
    pub name: String,
    /// Its signal.
    pub signal: Signal,
    /// The parameter that it drives, if it is no port of the kind.
    pub modulation: Option<Modulation>,
}

impl Port {
    /// A port of a kind.
    pub fn new(name: impl Into<String>, signal: Signal) -> Self {
        Self {
            name: name.into(),
            signal,
            modulation: None,
        }
    }

    /// Name of the parameter that it drives: its own without the number of a further input.
    pub fn driven_name(&self) -> &str {
        self.name.split(" (").next().unwrap_or_default()
    }
}

/// Value of a parameter as the text states it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// Any number; integers too, exact up to 2^53.
    Number(f64),
    /// Text: a file name, a choice, or a value that only other programs read.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl From<f64> for ParamValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for ParamValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for ParamValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// A node of the graph, as data: nothing here runs.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, unique in the graph.
    pub name: String,
    /// The kind as the text states it.
    pub kind: String,
    /// The kind that replaces an unknown one.
    pub stand_in: Option<String>,
    /// Its inputs, in order: those of the kind, and behind them those that drive parameters.
    pub inputs: Vec<Port>,
    /// Its outputs, in order.
    pub outputs: Vec<Port>,
    /// Width of the ports that follow the node ([`PortSignal::AsNode`](crate::PortSignal::AsNode)): stated as `channels`, or that
    /// of the signals that enter it. It is set together with the ports.
    pub channels: Channels,
    /// Width of the ports that follow the output ([`PortSignal::AsOutput`](crate::PortSignal::AsOutput)); `None`: as wide as
    /// `channels`.
    pub output_channels: Option<Channels>,
    /// Parameters in the order they were written; keys that no kind knows are kept.
    pub params: Vec<(String, ParamValue)>,
    /// Cost of one block, if the text states it.
    pub cost: Option<Nanos>,
    /// Runs once in so many cycles; 1 means every cycle. Never 0.
    pub every: u32,
    /// A node that is not enabled puts out silence and costs nothing.
    pub enabled: bool,
    /// A node that is bypassed runs on, and what reads its outputs reads its inputs ([`Graph::without_bypasses`](crate::Graph::without_bypasses)).
    pub bypassed: bool,
    /// Rank of its outputs among the terms of sums, where that is not its id: of a node that an edit has put in the place of another.
    pub rank: Option<u32>,
    /// Place of its declaration.
    pub span: SourceSpan,
}

impl Node {
    /// An error at the place where the node was declared.
    pub fn mistake(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span, message)
    }

    /// A node of `kind` without ports or parameters.
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            stand_in: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            channels: Channels(1),
            output_channels: None,
            params: Vec::new(),
            cost: None,
            every: 1,
            enabled: true,
            bypassed: false,
            rank: None,
            span: SourceSpan::NONE,
        }
    }

    /// The kind that runs: the stand-in, or else the stated kind.
    pub fn effective_kind(&self) -> &str {
        self.stand_in.as_deref().unwrap_or(&self.kind)
    }

    /// The value of `key`.
    pub fn param(&self, key: &str) -> Option<&ParamValue> {
        self.params.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The number of `key`. A text that is a number counts, since `.ag` files quote numbers.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.param(key)? {
            ParamValue::Number(n) => Some(*n),
            ParamValue::Text(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            ParamValue::Flag(_) => None,
        }
    }

    /// The text of `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.param(key)? {
            ParamValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true if `key` is on: true, a number other than 0, or the text "true", "yes", "on" or "1".
    pub fn flag(&self, key: &str) -> bool {
        match self.param(key) {
            Some(ParamValue::Flag(on)) => *on,
            Some(ParamValue::Number(n)) => *n != 0.0,
            Some(ParamValue::Text(text)) => matches!(text.as_str(), "true" | "yes" | "on" | "1"),
            None => false,
        }
    }

    /// Sets `key` to `value`. An old value is replaced in its place.
    pub fn set(&mut self, key: impl Into<String>, value: ParamValue) {
        let key = key.into();
        match self.params.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.params.push((key, value)),
        }
    }
}

/// Two nodes are equal if they state the same, wherever they are in the text.
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
            && self.bypassed == other.bypassed
    }
}
