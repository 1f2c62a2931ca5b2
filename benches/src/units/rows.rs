//! [`rows`]: the units that are compared, with the same parameters in each program.

use super::Bench;
use super::divisi::CopyText;
use super::fundsp::{Input, bench};
use super::scsynth::AddCopy;
use super::synthdef::Value;
use ::fundsp::prelude32::*;

/// A unit in each of the programs that have one.
pub struct Row {
    pub name: &'static str,
    /// One of the ten whose sum is compared.
    pub is_common: bool,
    pub copies: usize,
    /// Channels of the unit: times are for one of them.
    pub channels: usize,
    /// Sources of white noise that the copies share.
    pub noises: usize,
    pub divisi: CopyText,
    pub fundsp: Option<MakeFundsp>,
    pub scsynth: Option<AddCopy>,
    /// Where the programs do not compute the same.
    pub note: &'static str,
}

/// Makes copies of a unit of fundsp.
pub type MakeFundsp = fn(copies: usize) -> Box<dyn Bench>;

const NOISE: CopyText = CopyText {
    nodes: "",
    edges: &["noise1 -> n#"],
    outputs: &["n#"],
};

const NO_INPUT: CopyText = CopyText {
    edges: &[],
    ..NOISE
};

/// Behind a gain of -20 dB.
const QUIET: CopyText = CopyText {
    edges: &["noise1 -> g# -> n#"],
    ..NOISE
};

/// A unit with one input and one output, that is noise.
const FILTER: Row = Row {
    name: "",
    is_common: false,
    copies: 64,
    channels: 1,
    noises: 1,
    divisi: NOISE,
    fundsp: None,
    scsynth: None,
    note: "",
};

const GENERATOR: Row = Row {
    noises: 0,
    divisi: NO_INPUT,
    ..FILTER
};

/// All rows, in the order of the table.
pub fn rows() -> Vec<Row> {
    [generators(), filters(), mixing(), effects()]
        .into_iter()
        .flatten()
        .collect()
}

fn generators() -> Vec<Row> {
    vec![
        Row {
            name: "sine",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "osc", freq = HZ }"#,
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Noise, sine_hz)),
            scsynth: Some(|def, _, hz| vec![def.add("SinOsc", &values([hz, 0.0]))]),
            note: "Divisi, fundsp: polynomial; scsynth: table",
            ..GENERATOR
        },
        Row {
            name: "saw",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "osc", wave = "saw", freq = HZ }"#,
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Noise, poly_saw_hz)),
            scsynth: Some(|def, _, hz| vec![def.add("Saw", &values([hz]))]),
            note: "Divisi: residual over 4 samples; fundsp: over 2; scsynth: summed impulses",
            ..GENERATOR
        },
        Row {
            name: "wavetable saw",
            divisi: CopyText {
                nodes: r#"n# = { kind = "wavetable", freq = HZ }"#,
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Noise, saw_hz)),
            note: "scsynth: none that is band-limited",
            ..GENERATOR
        },
        Row {
            name: "white noise",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "noise" }"#,
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| white())),
            scsynth: Some(|def, _, _| vec![def.add("WhiteNoise", &[])]),
            note: "Divisi: a hash of 64 bits; fundsp: of 32; scsynth: shift register of 32",
            ..GENERATOR
        },
        Row {
            name: "pink noise",
            divisi: CopyText {
                nodes: r#"n# = { kind = "noise", color = "pink" }"#,
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| pink())),
            scsynth: Some(|def, _, _| vec![def.add("PinkNoise", &[])]),
            note: "Divisi, fundsp: Kellet's filter; scsynth: sums of held noise",
            ..GENERATOR
        },
        Row {
            name: "FM pair",
            divisi: CopyText {
                nodes: "m# = { kind = \"osc\", freq = 70 }\nn# = { kind = \"osc\", freq = HZ }",
                edges: &["m# -> n#.freq: 100"],
                ..NO_INPUT
            },
            fundsp: Some(|n| {
                bench(n, Input::Noise, |hz| {
                    (sine_hz(70.0) * dc(100.0) + dc(hz)) >> sine()
                })
            }),
            scsynth: Some(|def, _, hz| {
                let modulator = def.add("SinOsc", &values([70.0, 0.0]));
                let freq = def.add("MulAdd", &[modulator, 100.0.into(), hz.into()]);
                vec![def.add("SinOsc", &[freq, 0.0.into()])]
            }),
            note: "frequency by a sine at audio rate",
            ..GENERATOR
        },
        Row {
            name: "ADSR",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "envelope", attack = 0.01, decay = 0.05, sustain = 0.5, release = 0.05 }"#,
                edges: &["gate -> n#.gate"],
                ..NO_INPUT
            },
            fundsp: Some(|n| bench(n, Input::Gate, |_| adsr_live(0.01, 0.05, 0.5, 0.05))),
            scsynth: Some(|def, sources, _| {
                let mut inputs = vec![sources.gate];
                // Level, its offset, time; nothing at the end. From 0, three segments, held before the third, no loop; then level,
                // time, shape and curve of each.
                inputs.extend(values([1.0, 0.0, 1.0, 0.0, 0.0, 3.0, 2.0, -99.0]));
                inputs.extend(values([1.0, 0.01, 5.0, -4.0, 0.5, 0.05, 5.0, -4.0]));
                inputs.extend(values([0.0, 0.05, 5.0, -4.0]));
                vec![def.add("EnvGen", &inputs)]
            }),
            note: "gate of 4 Hz; fundsp computes every 2 ms and draws lines between",
            ..GENERATOR
        },
    ]
}

fn filters() -> Vec<Row> {
    vec![
        Row {
            name: "one-pole low-pass",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "onepole", freq = 1000 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| lowpole_hz(1000.0))),
            scsynth: Some(|def, sources, _| {
                vec![def.add("OnePole", &[sources.noise[0], 0.877.into()])]
            }),
            note: "Divisi: trapezoidal, 64-bit floats; the others: y += (1 - c)(x - y)",
            ..FILTER
        },
        Row {
            name: "biquad low-pass",
            divisi: CopyText {
                nodes: r#"n# = { kind = "biquad", freq = 1000 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| butterpass_hz(1000.0))),
            scsynth: Some(|def, sources, _| {
                vec![def.add("LPF", &[sources.noise[0], 1000.0.into()])]
            }),
            note: "Divisi: 64-bit floats; fundsp: 32",
            ..FILTER
        },
        Row {
            name: "state-variable low-pass",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "svf", freq = 1000, q = 2 }"#,
                outputs: &["n#.low"],
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| lowpass_hz(1000.0, 2.0))),
            scsynth: Some(|def, sources, _| {
                vec![def.add("RLPF", &[sources.noise[0], 1000.0.into(), 0.5.into()])]
            }),
            note: "Divisi: 64-bit floats, band and high too; scsynth: a biquad",
            ..FILTER
        },
        Row {
            name: "ladder",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "ladder", freq = 1000, resonance = 0.5 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| moog_hz(1000.0, 0.5))),
            scsynth: Some(|def, sources, _| {
                let [freq, gain, reset] = values([1000.0, 2.0, 0.0]);
                vec![def.add("MoogFF", &[sources.noise[0], freq, gain, reset])]
            }),
            note: "Divisi: a clip; fundsp: tanh and a delay in the loop; scsynth: linear",
            ..FILTER
        },
        Row {
            name: "feedback delay",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "comb", freq = 20, feedback = 0.5 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| feedback(delay(0.05) * dc(0.5)))),
            scsynth: Some(|def, sources, _| {
                // Down by 60 dB in the time of ten rounds.
                let [max, time, decay] = values([0.05, 0.05, 0.5]);
                vec![def.add("CombL", &[sources.noise[0], max, time, decay])]
            }),
            note: "50 ms; Divisi and scsynth read between frames, fundsp does not; Divisi damps too",
            ..FILTER
        },
        Row {
            name: "delay",
            divisi: CopyText {
                nodes: r#"n# = { kind = "delay", time = 0.05 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| delay(0.05))),
            scsynth: Some(|def, sources, _| {
                let [max, time] = values([0.05, 0.05]);
                vec![def.add("DelayN", &[sources.noise[0], max, time])]
            }),
            note: "50 ms, whole frames",
            ..FILTER
        },
    ]
}

fn mixing() -> Vec<Row> {
    vec![
        Row {
            name: "gain",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "gain", gain = 0.3 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| mul(0.3))),
            scsynth: Some(|def, sources, _| vec![def.multiply(sources.noise[0], 0.3.into())]),
            ..FILTER
        },
        Row {
            name: "pan",
            is_common: true,
            divisi: CopyText {
                nodes: r#"n# = { kind = "pan", pan = 0.3 }"#,
                outputs: &["n#.left", "n#.right"],
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| pan(0.3))),
            scsynth: Some(|def, sources, _| {
                let [position, level] = values([0.3, 1.0]);
                def.add_wide("Pan2", &[sources.noise[0], position, level], 2)
            }),
            note: "a frame of its input",
            ..FILTER
        },
        Row {
            name: "mix of 8",
            noises: 8,
            divisi: CopyText {
                nodes: r#"n# = { kind = "mix", in = 8 }"#,
                edges: &[
                    "noise1 -> n#.in1",
                    "noise2 -> n#.in2",
                    "noise3 -> n#.in3",
                    "noise4 -> n#.in4",
                    "noise5 -> n#.in5",
                    "noise6 -> n#.in6",
                    "noise7 -> n#.in7",
                    "noise8 -> n#.in8",
                ],
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| join::<U8>())),
            scsynth: Some(|def, sources, _| vec![def.sum(&sources.noise)]),
            note: "a frame of its output; fundsp multiplies by 1/8 too",
            ..FILTER
        },
        Row {
            name: "track",
            copies: 32,
            divisi: CopyText {
                nodes: "g# = { kind = \"gain\", gain = 0.3 }\nf# = { kind = \"onepole\", freq = 1000 }\nn# = { kind = \"pan\", pan = 0.3 }\na# = { kind = \"gain\", gain = 0.2 }\nb# = { kind = \"gain\", gain = 0.1 }",
                edges: &["noise1 -> g# -> f# -> n#", "f# -> a#", "f# -> b#"],
                outputs: &["n#.left", "n#.right", "a#", "b#"],
            },
            scsynth: Some(|def, sources, _| {
                let [position, level] = values([0.3, 1.0]);
                let loud = def.multiply(sources.noise[0], 0.3.into());
                let low = def.add("OnePole", &[loud, 0.877.into()]);
                let mut outputs = def.add_wide("Pan2", &[low, position, level], 2);
                outputs.extend([0.2, 0.1].map(|send| def.multiply(low, send.into())));
                outputs
            }),
            note: "gain, one-pole low-pass, pan and two sends, which are gains; fundsp: not measured",
            ..FILTER
        },
    ]
}

fn effects() -> Vec<Row> {
    vec![
        Row {
            name: "chorus",
            divisi: CopyText {
                nodes: r#"n# = { kind = "chorus", voices = 4 }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| chorus(1, 0.012, 0.004, 0.6))),
            note: "4 copies and the sound itself; scsynth: none",
            ..FILTER
        },
        Row {
            name: "compressor",
            divisi: CopyText {
                nodes: r#"n# = { kind = "compressor" }"#,
                ..NOISE
            },
            scsynth: Some(|def, sources, _| {
                let mut inputs = vec![sources.noise[0]; 2];
                inputs.extend(values([0.1, 1.0, 0.25, 0.005, 0.1]));
                vec![def.add("Compander", &inputs)]
            }),
            note: "fundsp: none; scsynth: no knee",
            ..FILTER
        },
        Row {
            name: "limiter",
            divisi: CopyText {
                nodes: r#"n# = { kind = "limiter" }"#,
                ..NOISE
            },
            note: "true peak, at eight times the rate; neither peer has one",
            ..FILTER
        },
        Row {
            name: "limiter, quiet",
            divisi: CopyText {
                nodes: "g# = { kind = \"gain\", gain = 0.1 }\nn# = { kind = \"limiter\" }",
                ..QUIET
            },
            note: "20 dB below: nothing is limited; with a gain before it",
            ..FILTER
        },
        Row {
            name: "limiter of samples",
            divisi: CopyText {
                nodes: r#"n# = { kind = "limiter", detector = "sample-peak" }"#,
                ..NOISE
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| limiter(0.005, 0.05))),
            scsynth: Some(|def, sources, _| {
                let [level, duration] = values([0.9, 0.005]);
                vec![def.add("Limiter", &[sources.noise[0], level, duration])]
            }),
            note: "Divisi: lines between segments of 1.3 ms, scsynth: of 5 ms; fundsp: a follower, 1 dB below",
            ..FILTER
        },
        Row {
            name: "limiter of samples, quiet",
            divisi: CopyText {
                nodes: "g# = { kind = \"gain\", gain = 0.1 }\nn# = { kind = \"limiter\", detector = \"sample-peak\" }",
                ..QUIET
            },
            scsynth: Some(|def, sources, _| {
                let [level, duration] = values([0.9, 0.005]);
                let quiet = def.multiply(sources.noise[0], 0.1.into());
                vec![def.add("Limiter", &[quiet, level, duration])]
            }),
            note: "20 dB below; each with a gain before it",
            ..FILTER
        },
        Row {
            name: "reverb",
            copies: 4,
            channels: 2,
            noises: 2,
            divisi: CopyText {
                nodes: "j# = { kind = \"join\", channels = 2 }\nn# = { kind = \"reverb\", channels = 2 }\ns# = { kind = \"split\", channels = 2 }",
                edges: &["noise1 -> j#.in1", "noise2 -> j#.in2", "j# -> n# -> s#"],
                outputs: &["s#.out1", "s#.out2"],
            },
            fundsp: Some(|n| bench(n, Input::Noise, |_| reverb_stereo(10.0, 2.0, 0.5))),
            scsynth: Some(|def, sources, _| {
                let mut inputs = sources.noise.clone();
                inputs.extend(values([0.3, 0.8, 0.5]));
                def.add_wide("FreeVerb2", &inputs, 2)
            }),
            note: "stereo; Divisi: a network of 16 lines; fundsp: of 32; scsynth: 8 combs and 4 all-passes a channel",
            ..FILTER
        },
    ]
}

fn values<const N: usize>(numbers: [f32; N]) -> [Value; N] {
    numbers.map(Value::from)
}
