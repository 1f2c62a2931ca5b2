//! What a kind of node looks like from outside: ports, parameters with units and ranges, and what a plan must know.

use units::Channels;

/// What the host does with a node of this kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Computes.
    #[default]
    Inner,
    /// Its input is an output channel of the program.
    Sink,
    /// Its output is an input channel of the program.
    Source,
}

/// How many channels a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortSignal {
    /// Always so many.
    Fixed(Channels),
    /// As the node's `channels` parameter says; 1 where it says nothing.
    AsNode,
    /// No sound: a number that holds.
    Control,
    /// No sound: events.
    Event,
}

/// How many ports a [`PortSpec`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortCount {
    /// One, under the spec's own name.
    One,
    /// As many as the node says with the key `in` (inputs) or `out` (outputs): `NAME1`, `NAME2`, …
    Many {
        /// Where the node does not say.
        default: u16,
        /// The least.
        min: u16,
        /// The most.
        max: u16,
    },
}

/// One port of a kind, or one run of like ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Its name; the stem of the names where there are many.
    pub name: &'static str,
    /// What it carries.
    pub signal: PortSignal,
    /// How many there are.
    pub count: PortCount,
}

impl PortSpec {
    /// One port as wide as the node's `channels` says.
    pub const fn audio(name: &'static str) -> Self {
        Self {
            name,
            signal: PortSignal::AsNode,
            count: PortCount::One,
        }
    }

    /// One port of one channel.
    pub const fn mono(name: &'static str) -> Self {
        Self {
            name,
            signal: PortSignal::Fixed(Channels(1)),
            count: PortCount::One,
        }
    }
}

/// What values a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamRange {
    /// A number from `least` to `most`, `default` where the node says nothing (`NaN`: it must say).
    Number {
        /// Inclusive.
        min: f64,
        /// Inclusive.
        max: f64,
        /// `NaN` where the node must say.
        default: f64,
    },
    /// One of these words; the first where the node says nothing.
    Choice(&'static [&'static str]),
    /// A file; `true` where the node must name one.
    File(bool),
    /// Yes or no, no by default.
    Flag,
    /// Any words.
    Text,
}

/// One parameter of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its unit: `Hz`, `dB`, `s`, … ; empty for a plain number.
    pub unit: &'static str,
    /// What it may be.
    pub range: ParamRange,
    /// Whether an event may change it while it plays. Its index among the kind's parameters is the event's target.
    pub live: bool,
    /// One sentence.
    pub doc: &'static str,
}

/// The parameters, in seconds, that bound a delay line: what a plan needs in order to size the line and to break a
/// cycle at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayParams {
    /// The delay itself.
    pub time: &'static str,
    /// The shortest it may become while it plays; the delay itself where the node says nothing.
    pub min: &'static str,
    /// The longest it may become while it plays; the delay itself where the node says nothing.
    pub max: &'static str,
}

/// One kind of node.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The name in files.
    pub name: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// Inputs in order; at most one spec is [`PortCount::Many`], and it comes last.
    pub inputs: Vec<PortSpec>,
    /// Outputs in order, likewise.
    pub outputs: Vec<PortSpec>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What the host does with it.
    pub role: Role,
    /// A delay: two steps on one line, read and write.
    pub delay: Option<DelayParams>,
    /// Whether a scheduler may run copies of it on several workers.
    pub duplicable: bool,
    /// A typical cost of one 64-frame block of one channel, in ns, until one is measured.
    pub typical_ns: u32,
}

impl Kind {
    /// A kind without ports or parameters.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            inputs: Vec::new(),
            outputs: Vec::new(),
            params: Vec::new(),
            role: Role::Inner,
            delay: None,
            duplicable: true,
            typical_ns: 100,
        }
    }

    /// The parameter called `name` and its index.
    pub fn param(&self, name: &str) -> Option<(u16, &Param)> {
        let index = self.params.iter().position(|p| p.name == name)?;
        Some((index as u16, &self.params[index]))
    }
}
