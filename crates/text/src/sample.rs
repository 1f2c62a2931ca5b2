//! A small catalogue for this crate's tests, with ports and parameters of every sort.

use graph::{Catalogue, Kind, Param, ParamRange, PortCount, PortSignal, PortSpec, Role};
use units::Channels;

fn param(name: &'static str, unit: &'static str, range: ParamRange) -> Param {
    Param {
        name,
        unit,
        range,
        live: name == "freq",
        audio_rate: false,
        doc: "A parameter.",
    }
}

fn number(min: f64, max: f64, default: f64) -> ParamRange {
    ParamRange::Number { min, max, default }
}

fn many(name: &'static str, default: u16) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::AsNode,
        count: PortCount::Many {
            default,
            min: 0,
            max: 4096,
        },
    }
}

const EVENT: PortSpec = PortSpec {
    name: "gate",
    signal: PortSignal::Event,
    count: PortCount::One,
};

/// The kinds of the test texts.
pub(crate) fn catalogue() -> Catalogue {
    let mono = PortSpec::mono;
    let freq = || param("freq", "Hz", number(0.0, 384_000.0, f64::NAN));
    let volume = || param("volume", "", number(-100.0, 100.0, 1.0));
    let mut all = Catalogue::default();
    let mut add = |name, inputs: &[PortSpec], outputs: &[PortSpec], params: &[Param]| {
        all.insert(Kind {
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            params: params.to_vec(),
            role: if name == "sink" {
                Role::Sink
            } else {
                Role::Inner
            },
            matrix: (name == "matrix").then_some("gains"),
            layout_outputs: (name == "pan").then(|| vec![PortSpec::audio("out")]),
            ..Kind::new(name, "A kind.")
        });
    };
    let wave = ParamRange::Choice(&["sine", "saw"]);
    add(
        "osc",
        &[],
        &[mono("out")],
        &[freq(), volume(), param("wave", "", wave)],
    );
    add("mod", &[mono("in")], &[mono("out")], &[freq(), volume()]);
    add(
        "sink",
        &[mono("in")],
        &[],
        &[param("channel", "", number(0.0, 63.0, 0.0))],
    );
    let grouped = param("grouped", "", ParamRange::Flag);
    add("mix", &[many("in", 2)], &[many("out", 1)], &[grouped]);
    let db = param("gain_db", "dB", number(-120.0, 40.0, 0.0));
    add(
        "gain",
        &[PortSpec::audio("in")],
        &[PortSpec::audio("out")],
        &[db],
    );
    let ns = param("ns", "ns", number(0.0, 1e10, 1000.0));
    add("work", &[many("in", 1)], &[many("out", 1)], &[ns]);
    let stereo = PortSpec {
        signal: PortSignal::Fixed(Channels(2)),
        ..mono("out")
    };
    let file = [
        param("file", "", ParamRange::File(true)),
        param("note", "", ParamRange::Text),
    ];
    add("player", &[], &[stereo], &file);
    let series = |name| PortSpec {
        count: PortCount::Channels,
        ..mono(name)
    };
    add("split", &[PortSpec::audio("in")], &[series("out")], &[]);
    add("join", &[series("in")], &[PortSpec::audio("out")], &[]);
    let sums = PortSpec {
        signal: PortSignal::AsOutput,
        ..PortSpec::audio("out")
    };
    let gains = param("gains", "", ParamRange::Text);
    add("matrix", &[PortSpec::audio("in")], &[sums], &[gains]);
    let sides = [mono("left"), mono("right")];
    add("pan", &[mono("in")], &sides, &[]);
    add("metro", &[], &[EVENT], &[]);
    add("envelope", &[mono("in"), EVENT], &[mono("out")], &[]);
    all
}
