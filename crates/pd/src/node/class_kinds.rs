//! Signal classes that are good by themselves, as kinds under their Pd names.

use super::class_unit::ClassUnit;
use super::kind::BLOCK_FRAMES;
use graph::{Kind, KindPicture, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor, Registry};

/// How a parameter reaches its inlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamWay {
    /// A number at a signal inlet: it can be driven at audio rate.
    Signal(usize),
    /// A number at an inlet for messages.
    Message(usize),
    /// A message with this selector at the left inlet, where the node states the parameter.
    Selector(&'static str),
    /// A place in a list at the left inlet.
    List(usize),
    /// An argument of the box.
    Argument,
}

/// A parameter.
pub(super) struct ClassParam {
    name: &'static str,
    pub(super) way: ParamWay,
    default: f64,
    unit: &'static str,
    doc: &'static str,
}

/// A class as a kind.
pub(super) struct ClassKind {
    pub(super) class: &'static str,
    summary: &'static str,
    /// Names of the ports at the inlets from the left.
    pub(super) inputs: &'static [&'static str],
    pub(super) outputs: &'static [&'static str],
    pub(super) params: &'static [ClassParam],
    picture: KindPicture,
}

const fn param(
    name: &'static str,
    way: ParamWay,
    default: f64,
    unit: &'static str,
    doc: &'static str,
) -> ClassParam {
    ClassParam {
        name,
        way,
        default,
        unit,
        doc,
    }
}

/// A class that makes a number of each number of a signal; its picture shows those of a range.
const fn function(
    class: &'static str,
    summary: &'static str,
    (from, to): (i32, i32),
    params: &'static [ClassParam],
) -> ClassKind {
    ClassKind {
        picture: KindPicture::Transfer(from, to),
        ..filter(class, summary, params)
    }
}

const fn filter(
    class: &'static str,
    summary: &'static str,
    params: &'static [ClassParam],
) -> ClassKind {
    ClassKind {
        class,
        summary,
        inputs: &["in"],
        outputs: &["out"],
        params,
        picture: KindPicture::ByPorts,
    }
}

const fn source(
    class: &'static str,
    summary: &'static str,
    params: &'static [ClassParam],
) -> ClassKind {
    ClassKind {
        class,
        summary,
        inputs: &[],
        outputs: &["out"],
        params,
        picture: KindPicture::ByPorts,
    }
}

use ParamWay::{Argument, List, Message, Selector, Signal};

const COEFFICIENT: &[ClassParam] = &[param("coef", Signal(1), 0.0, "", "Its coefficient.")];

const COMPLEX: &[ClassParam] = &[
    param(
        "coef_re",
        Signal(2),
        0.0,
        "",
        "Real part of its coefficient.",
    ),
    param(
        "coef_im",
        Signal(3),
        0.0,
        "",
        "Imaginary part of its coefficient.",
    ),
];

/// A filter of complex numbers.
const fn complex(class: &'static str, summary: &'static str) -> ClassKind {
    ClassKind {
        class,
        summary,
        inputs: &["re", "im"],
        outputs: &["re", "im"],
        params: COMPLEX,
        picture: KindPicture::ByPorts,
    }
}

/// All of them.
#[rustfmt::skip]
pub(super) const KINDS: &[ClassKind] = &[
    source("osc~", "A cosine, as Pd's osc~ makes it.", &[
        param("freq", Signal(0), 440.0, "Hz", "Frequency."),
    ]),
    source("phasor~", "A ramp from 0 to 1, as Pd's phasor~ makes it.", &[
        param("freq", Signal(0), 440.0, "Hz", "Frequency."),
    ]),
    source("noise~", "White noise, as Pd's noise~ makes it.", &[
        param("seed", Selector("seed"), 0.0, "", "Begin of its row of numbers; without it that of a patch's first noise~."),
    ]),
    function("cos~", "A cosine of its input, in cycles, as Pd's cos~ makes it.", (-2, 2), &[]),
    filter("lop~", "A low-pass filter of one pole, as Pd's lop~ makes it.", &[
        param("freq", Message(1), 1000.0, "Hz", "Frequency at which it bends."),
    ]),
    filter("hip~", "A high-pass filter of one pole, as Pd's hip~ makes it.", &[
        param("freq", Message(1), 1000.0, "Hz", "Frequency at which it bends."),
    ]),
    filter("bp~", "A band-pass filter, as Pd's bp~ makes it.", &[
        param("freq", Message(1), 1000.0, "Hz", "Frequency of its peak."),
        param("q", Message(2), 1.0, "", "Resonance."),
    ]),
    ClassKind {
        class: "vcf~",
        summary: "A resonant filter whose frequency is a signal, as Pd's vcf~ makes it: band-pass and low-pass.",
        inputs: &["in"],
        outputs: &["bp", "lp"],
        params: &[
            param("freq", Signal(1), 1000.0, "Hz", "Frequency of its peak."),
            param("q", Message(2), 1.0, "", "Resonance."),
        ],
        picture: KindPicture::ByPorts,
    },
    filter("bob~", "A ladder filter, as Pd's bob~ makes it.", &[
        param("freq", Signal(1), 1000.0, "Hz", "Frequency at which it bends."),
        param("resonance", Signal(2), 0.0, "", "Resonance; from 4 on it oscillates."),
    ]),
    filter("slop~", "A low-pass filter whose slope is bounded, as Pd's slop~ makes it.", &[
        param("freq", Signal(1), 1000.0, "Hz", "Frequency at which it bends, between the two bounds."),
        param("down", Signal(2), 0.0, "", "Distance below which the next frequency counts."),
        param("down_freq", Signal(3), 0.0, "Hz", "Frequency below it."),
        param("up", Signal(4), 0.0, "", "Distance above which the next frequency counts."),
        param("up_freq", Signal(5), 0.0, "Hz", "Frequency above it."),
    ]),
    filter("rpole~", "A filter of one real pole, as Pd's rpole~ makes it.", COEFFICIENT),
    filter("rzero~", "A filter of one real zero, as Pd's rzero~ makes it.", COEFFICIENT),
    filter("rzero_rev~", "A filter of one real zero, reversed in time, as Pd's rzero_rev~ makes it.", COEFFICIENT),
    filter("biquad~", "A filter of two poles and two zeros, as Pd's biquad~ makes it; silent where it is not stable.", &[
        param("fb1", List(0), 0.0, "", "What the output of one frame before adds."),
        param("fb2", List(1), 0.0, "", "What the output of two frames before adds."),
        param("ff1", List(2), 1.0, "", "What the input adds."),
        param("ff2", List(3), 0.0, "", "What the input of one frame before adds."),
        param("ff3", List(4), 0.0, "", "What the input of two frames before adds."),
    ]),
    complex("cpole~", "A filter of one complex pole, as Pd's cpole~ makes it."),
    complex("czero~", "A filter of one complex zero, as Pd's czero~ makes it."),
    complex("czero_rev~", "A filter of one complex zero, reversed in time, as Pd's czero_rev~ makes it."),
    ClassKind {
        class: "samphold~",
        summary: "Takes a sample whenever the control signal falls, as Pd's samphold~ does.",
        inputs: &["in", "control"],
        outputs: &["out"],
        params: &[],
        picture: KindPicture::Step,
    },
    function("clip~", "Holds a signal between two bounds, as Pd's clip~ does.", (-2, 2), &[
        param("low", Message(1), -1.0, "", "Lower bound."),
        param("high", Message(2), 1.0, "", "Upper bound."),
    ]),
    function("pow~", "A signal to a power, as Pd's pow~ makes it.", (-2, 2), &[
        param("exponent", Signal(1), 1.0, "", "The power."),
    ]),
    function("log~", "The logarithm, as Pd's log~ makes it.", (0, 4), &[
        param("base", Signal(1), 0.0, "", "Its base; the natural one where this is not above 0."),
    ]),
    filter("lrshift~", "Moves the samples within each 64 frames, as Pd's lrshift~ does.", &[
        param("shift", Argument, 0.0, "", "Frames to the left; below 0 to the right."),
    ]),
    function("wrap~", "What a signal has behind the point, as Pd's wrap~ gives it.", (-2, 2), &[]),
    function("abs~", "A signal without its sign, as Pd's abs~ gives it.", (-2, 2), &[]),
    function("sqrt~", "The square root, as Pd's sqrt~ makes it.", (-2, 2), &[]),
    function("rsqrt~", "One over the square root, as Pd's rsqrt~ makes it.", (0, 4), &[]),
    function("exp~", "The exponential, as Pd's exp~ makes it.", (-2, 2), &[]),
    function("mtof~", "Notes to hertz, as Pd's mtof~ makes it.", (0, 127), &[]),
    function("ftom~", "Hertz to notes, as Pd's ftom~ makes it.", (0, 4000), &[]),
    function("dbtorms~", "Decibels, of which 100 are full, to a level, as Pd's dbtorms~ makes it.", (0, 120), &[]),
    function("rmstodb~", "A level to decibels, of which 100 are full, as Pd's rmstodb~ makes it.", (0, 2), &[]),
    function("dbtopow~", "Decibels, of which 100 are full, to a power, as Pd's dbtopow~ makes it.", (0, 120), &[]),
    function("powtodb~", "A power to decibels, of which 100 are full, as Pd's powtodb~ makes it.", (0, 2), &[]),
];

/// Adds them to a registry.
pub(super) fn register(registry: &mut Registry) {
    for class in KINDS {
        registry.add(class.kind(), make);
    }
}

impl ClassKind {
    fn kind(&self) -> Kind {
        let port = |name: &&'static str| PortSpec::mono(name);
        Kind {
            inputs: self.inputs.iter().map(port).collect(),
            outputs: self.outputs.iter().map(port).collect(),
            params: self.params.iter().map(ClassParam::param).collect(),
            duplicable: false,
            min_block: BLOCK_FRAMES,
            typical_ns: 500,
            picture: self.picture,
            ..Kind::new(self.class, self.summary)
        }
    }
}

impl ClassParam {
    fn param(&self) -> Param {
        let param = Param::number(self.name, (-1e9, 1e9), self.default);
        let param = param.unit(self.unit).doc(self.doc);
        match self.way {
            Signal(_) => param.audio_rate(),
            Message(_) | List(_) => param.live(),
            Selector(_) | Argument => param,
        }
    }
}

fn make(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let name = context.kind.name;
    let class = KINDS.iter().find(|class| class.class == name);
    let class = class.expect("only these kinds are made by it");
    let mut values = Vec::with_capacity(class.params.len());
    for (at, param) in (0..).zip(class.params) {
        let is_left_out =
            matches!(param.way, Selector(_)) && context.node.number(param.name).is_none();
        #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
        let value = context.number(param.name)? as f32;
        values.push((!is_left_out).then_some((value, context.is_driven(at))));
    }
    Ok(Box::new(ClassUnit::new(class, values)))
}
