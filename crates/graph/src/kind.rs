//! A kind of node as its users see it: ports, parameters with units and ranges, and facts that a plan needs.

use units::{Channels, Frames};

/// Role of a node in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Runs its processor.
    #[default]
    Inner,
    /// Its input is an output channel of the program.
    Sink,
    /// Its output is an input channel of the program.
    Source,
}

/// Signal of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortSignal {
    /// Audio with a fixed number of channels.
    Fixed(Channels),
    /// Audio with the node's number of channels: its parameter `channels`, or without it the widest signal that enters.
    AsNode,
    /// Audio with the node's number of output channels, where that may be another: of a matrix of gains or a file.
    AsOutput,
    /// Numbers that hold until the next one.
    Control,
    /// Events.
    Event,
}

/// Number of ports that a [`PortSpec`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortCount {
    /// One, under the name of the spec.
    One,
    /// As many as the node's parameter `in` (inputs) or `out` (outputs): `NAME1`, `NAME2`, …
    Many {
        /// Number without the parameter.
        default: u16,
        /// Minimum.
        min: u16,
        /// Maximum.
        max: u16,
    },
    /// One for each of the node's channels: named after the loudspeakers of its `layout`, else `NAME1`, `NAME2`, …
    Channels,
}

/// One port of a kind, or a numbered series of equal ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Its name; the stem of the names in a series.
    pub name: &'static str,
    /// Its signal.
    pub signal: PortSignal,
    /// Number of ports.
    pub count: PortCount,
}

impl PortSpec {
    /// One audio port with the node's number of channels.
    pub const fn audio(name: &'static str) -> Self {
        Self {
            name,
            signal: PortSignal::AsNode,
            count: PortCount::One,
        }
    }

    /// One port for events.
    pub const fn events(name: &'static str) -> Self {
        Self {
            name,
            signal: PortSignal::Event,
            count: PortCount::One,
        }
    }

    /// `min` to `max` audio ports with the node's number of channels.
    pub const fn many(name: &'static str, default: u16, min: u16, max: u16) -> Self {
        Self {
            name,
            signal: PortSignal::AsNode,
            count: PortCount::Many { default, min, max },
        }
    }

    /// One audio port of one channel.
    pub const fn mono(name: &'static str) -> Self {
        Self {
            name,
            signal: PortSignal::Fixed(Channels(1)),
            count: PortCount::One,
        }
    }
}

/// Number of ports of the series among `specs`, of a node with `all` ports on that side: what its `in` or `out` states.
///
/// Real-time: setup.
pub fn series_len(specs: &[PortSpec], all: usize) -> usize {
    let has_series = specs
        .iter()
        .any(|spec| matches!(spec.count, PortCount::Many { .. }));
    let single = specs
        .iter()
        .filter(|spec| spec.count == PortCount::One)
        .count();
    match has_series {
        true => all.saturating_sub(single),
        false => all,
    }
}

/// Values that a parameter accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamRange {
    /// A number from `min` to `max`.
    Number {
        /// Inclusive.
        min: f64,
        /// Inclusive.
        max: f64,
        /// Value where the node states none; `NaN` if it must state one.
        default: f64,
    },
    /// One of these words, by default the first.
    Choice(&'static [&'static str]),
    /// A file; `true` if the node must name one.
    File(bool),
    /// Yes or no, no by default.
    Flag,
    /// Any text.
    Text,
}

/// One parameter of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its unit: `Hz`, `dB`, `s`, … ; empty for a plain number.
    pub unit: &'static str,
    /// The values that it accepts.
    pub range: ParamRange,
    /// True if an event may change it while it plays. The event's target is the index among the kind's parameters.
    pub live: bool,
    /// True if an input can drive it at audio rate, one value a frame. Another live number gets a value every 16 frames.
    pub audio_rate: bool,
    /// One sentence.
    pub doc: &'static str,
}

impl Param {
    /// A plain number from `min` to `max`, fixed for the node's life; `default` is `NaN` if the node must state one.
    pub const fn number(name: &'static str, (min, max): (f64, f64), default: f64) -> Self {
        Self::new(name, ParamRange::Number { min, max, default })
    }

    /// One of these words, by default the first.
    pub const fn choice(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, ParamRange::Choice(words))
    }

    /// A file that the node must name if it `is_required`.
    pub const fn file(name: &'static str, is_required: bool) -> Self {
        Self::new(name, ParamRange::File(is_required))
    }

    /// Yes or no, no by default.
    pub const fn flag(name: &'static str) -> Self {
        Self::new(name, ParamRange::Flag)
    }

    /// Any text.
    pub const fn text(name: &'static str) -> Self {
        Self::new(name, ParamRange::Text)
    }

    /// A parameter without a unit or a sentence, fixed for the node's life.
    pub const fn new(name: &'static str, range: ParamRange) -> Self {
        Self {
            name,
            unit: "",
            range,
            live: false,
            audio_rate: false,
            doc: "",
        }
    }

    /// The same parameter in a unit.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The same parameter with a sentence about it.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// The same parameter, which events may change while it plays.
    #[must_use]
    pub fn live(self) -> Self {
        Self { live: true, ..self }
    }

    /// The same parameter, live, for keys of a node's own.
    const fn own(self) -> Self {
        Self {
            name: self.name,
            unit: self.unit,
            range: self.range,
            live: true,
            audio_rate: false,
            doc: self.doc,
        }
    }

    /// The same parameter, live, which an input can drive at audio rate.
    #[must_use]
    pub fn audio_rate(self) -> Self {
        let audio_rate = true;
        Self {
            audio_rate,
            ..self.live()
        }
    }

    /// Returns true if an input can drive it: a live number.
    pub fn can_be_driven(&self) -> bool {
        self.live && matches!(self.range, ParamRange::Number { .. })
    }
}

/// The parameters, in seconds, that bound a delay line: a plan sizes the line by them and breaks a cycle at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayParams {
    /// The delay itself.
    pub time: &'static str,
    /// The shortest delay while it plays; by default the delay itself.
    pub min: &'static str,
    /// The longest delay while it plays; by default the delay itself.
    pub max: &'static str,
}

/// The picture that shows what a kind does (`divisi draw --unit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KindPicture {
    /// By its ports: with an audio input its response, with an audio output alone its waveform, else none.
    #[default]
    ByPorts,
    /// Its outputs over time, without an input.
    Waveform,
    /// The level of its outputs over frequency, for an impulse at its first input.
    Response,
    /// Output over input, for a slow ramp at its first input between these two.
    Transfer(i32, i32),
    /// Level of the output over level of the input, for a sine of 1 kHz.
    Levels,
    /// The same for a sine of so many hertz.
    LevelsAt(u32),
    /// Its outputs over time, for a step up and down at its first input and pulses at its second.
    Step,
    /// Phase over frequency: of its output beside its input, or of further outputs beside the first.
    Phase,
    /// Its outputs over time, for a sine at its first input.
    Tone,
    /// Its outputs over four seconds, for a rising sine at its first input.
    Glide,
    /// Its outputs over twelve seconds, for strokes of noise half a second apart at its first input.
    Strokes,
    /// Its outputs over two seconds, for a note of one second (C4) at its event input, if it has one.
    Note,
    /// Its outputs over the first of these parameters that changes them, for each of its audio inputs alone.
    Sweep(&'static [&'static str]),
    /// Values of these gauges of it over ten seconds, for a sine of three levels at its first input.
    Gauges(&'static [&'static str]),
}

/// One kind of node.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The name in files.
    pub name: &'static str,
    /// One sentence that describes it.
    pub summary: &'static str,
    /// Inputs in order; at most one spec is [`PortCount::Many`], and it comes last.
    pub inputs: Vec<PortSpec>,
    /// Outputs in order, likewise.
    pub outputs: Vec<PortSpec>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Old keys of parameters, each with the one that replaced it. Readers accept them for one release and add a note.
    pub renamed: Vec<(&'static str, &'static str)>,
    /// The parameter that names a file which the node writes, if it writes one: no two nodes of a graph may name the same.
    pub writes: Option<&'static str>,
    /// The parameter that holds a matrix of [`Gains`](crate::Gains), which states the numbers of input and output channels.
    pub matrix: Option<&'static str>,
    /// The outputs of a node that states a `layout`, if they are others.
    pub layout_outputs: Option<Vec<PortSpec>>,
    /// Its role in the program.
    pub role: Role,
    /// The bounds of its delay line, if it is a delay: then it becomes two steps, read and write.
    pub delay: Option<DelayParams>,
    /// True if a scheduler may run copies of it on several workers.
    pub duplicable: bool,
    /// True if several nodes are computed faster side by side than one after the other: a plan brings them together.
    pub side_by_side: bool,
    /// True if nodes of such kinds share state, so that a pipeline may not cut the edges between them.
    pub shares_state: bool,
    /// Fewest frames that it can play at once: a loop with a shorter delay refuses it.
    pub min_block: Frames,
    /// Typical cost of 64 frames of one channel, in nanoseconds, until it is measured. With a series of ports it is that
    /// of the default number of ports.
    pub typical_ns: u32,
    /// The parameter that states the cost of a block in nanoseconds, if the kind has one.
    pub cost_param: Option<&'static str>,
    /// The picture that shows what it does.
    pub picture: KindPicture,
    /// True if other keys of a node are parameters of its own, live numbers: what a patch receives by name.
    pub has_own_params: bool,
}

/// A parameter of a node's own. Its name is the node's key, and its index is known once the node is made.
static OWN_PARAM: Param = Param::number("", (-MAX_OWN, MAX_OWN), f64::NAN).own();
/// Largest value of a node's own parameter.
const MAX_OWN: f64 = 1e37;

/// Keys that no parameter of a node's own has, since every node may have them.
const COMMON_KEYS: [&str; 11] = [
    "bypass", "channels", "cost_us", "enabled", "every", "in", "kind", "layout", "out", "own",
    "stand_in",
];

impl Kind {
    /// Index of a parameter of a node's own, before the node is made. Behind the kind's parameters those of the node follow.
    pub const OWN: u16 = u16::MAX;

    /// A kind without ports or parameters.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            inputs: Vec::new(),
            outputs: Vec::new(),
            params: Vec::new(),
            renamed: Vec::new(),
            writes: None,
            matrix: None,
            layout_outputs: None,
            role: Role::Inner,
            delay: None,
            duplicable: true,
            side_by_side: false,
            shares_state: false,
            min_block: Frames(1),
            typical_ns: 100,
            cost_param: None,
            picture: KindPicture::ByPorts,
            has_own_params: false,
        }
    }

    /// A kind with the audio input `in` and the audio output `out`, both with the node's number of channels.
    pub fn effect(name: &'static str, summary: &'static str) -> Self {
        Self {
            inputs: vec![PortSpec::audio("in")],
            outputs: vec![PortSpec::audio("out")],
            ..Self::new(name, summary)
        }
    }

    /// The parameter called `name` and its index: [`Kind::OWN`] if it is one of a node's own.
    pub fn param(&self, name: &str) -> Option<(u16, &Param)> {
        match self.params.iter().position(|p| p.name == name) {
            Some(index) => Some((index as u16, &self.params[index])),
            None if self.has_own_params && !COMMON_KEYS.contains(&name) => {
                Some((Self::OWN, &OWN_PARAM))
            }
            None => None,
        }
    }

    /// The key that replaced `old`; `None` if `old` is no old key of this kind.
    pub fn new_key(&self, old: &str) -> Option<&'static str> {
        let found = self.renamed.iter().find(|(key, _)| *key == old);
        found.map(|(_, new)| *new)
    }
}
