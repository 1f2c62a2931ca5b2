//! The cases: sessions, shapes, convolutions and networks, each played in several ways.

use std::path::Path;

/// Executors; all must give the bits of the first one.
const EXECUTORS: &[&[&str]] = &[
    &["--scheduler", "sequential"],
    &["--scheduler", "hlfet", "--workers", "2", "--force-workers"],
    &[
        "--scheduler",
        "etf",
        "--workers",
        "3",
        "--fuse",
        "off",
        "--force-workers",
    ],
    &["--scheduler", "cpfd", "--workers", "2", "--force-workers"],
    &["--scheduler", "random", "--workers", "2", "--force-workers"],
    &[
        "--scheduler",
        "stealing",
        "--workers",
        "2",
        "--force-workers",
    ],
    &[
        "--scheduler",
        "stealing",
        "--workers",
        "4",
        "--fuse",
        "off",
        "--force-workers",
    ],
    &["--scheduler", "global", "--workers", "2", "--force-workers"],
    &[
        "--scheduler",
        "weighted",
        "--workers",
        "2",
        "--force-workers",
    ],
    &[
        "--scheduler",
        "deadline",
        "--workers",
        "2",
        "--force-workers",
    ],
    &[
        "--scheduler",
        "pipelined",
        "--workers",
        "2",
        "--force-workers",
    ],
    &["--scheduler", "mutex", "--workers", "2", "--force-workers"],
];

/// One call, `program ARGS -o FILE`.
pub(crate) struct Case {
    /// Cases of one group must give equal files.
    pub(crate) group: String,
    pub(crate) args: Vec<String>,
}

/// A session of its own that plays most kinds of nodes.
const KINDS: &str = r#"
edges = [
    "saw -> svf.in", "svf.low -> mixer.in1", "svf.band -> mixer.in2", "svf.high -> mixer.in3",
    "noise -> biquad -> shape -> mixer.in4", "square -> onepole -> product.in1", "metro -> env.notes",
    "env -> product.in2", "product -> mixer.in5", "tri -> ring -> fir -> mixer.in6", "loop -> gain -> mixer.in7",
    "pink -> peak -> mixer.in8", "mixer -> sum.in1", "sum -> meter -> pan", "sum.out1 -> echo -> feedback -> sum.in2",
    "pan.left -> left", "pan.right -> right",
]
[nodes]
saw = { kind = "osc", freq = 110.5, wave = "saw", volume = 0.3 }
svf = { kind = "svf", freq = 900, q = 3.0 }
noise = { kind = "noise", seed = 7, volume = 0.2 }
pink = { kind = "noise", seed = 9, color = "pink", volume = 0.2 }
biquad = { kind = "biquad", mode = "lowshelf", freq = 400, gain_db = 6 }
peak = { kind = "biquad", mode = "peak", freq = 2400, gain_db = -9, q = 2 }
shape = { kind = "shape", drive_db = 9 }
square = { kind = "osc", freq = 61.7, wave = "square", volume = 0.25 }
tri = { kind = "osc", freq = 501, wave = "triangle", phase = 0.25, volume = 0.3 }
onepole = { kind = "onepole", freq = 1200 }
metro = { kind = "metro", bpm = 333 }
env = { kind = "envelope", attack = 0.003, decay = 0.04, sustain = 0.5, release = 0.05 }
product = { kind = "multiply" }
ring = { kind = "mod", freq = 33 }
fir = { kind = "fir", taps = 63, freq = 3000 }
loop = { kind = "player", file = "loop.wav", loop = true, gain_db = -6 }
gain = { kind = "gain", gain_db = -2.5 }
mixer = { kind = "mixer", in = 8, level2 = -6, level5 = 1.5 }
sum = { kind = "mix", in = 2, out = 1 }
echo = { kind = "delay", time = TIME }
feedback = { kind = "gain", gain = 0.6 }
meter = { kind = "meter" }
pan = { kind = "pan", pan = -0.3 }
left = { kind = "sink", channel = 1 }
right = { kind = "sink", channel = 2 }
"#;

/// A session with a convolver beside a direct path, which waits where the convolver has latency.
const HALL: &str = r#"
edges = ["loop -> hall -> sum.in1", "loop -> dry -> sum.in2", "sum -> out"]
[nodes]
loop = { kind = "player", file = "loop.wav", loop = true }
hall = { kind = "convolver", file = "loop.wav", CONVOLVER }
dry = { kind = "gain", gain = 0.5 }
sum = { kind = "mix" }
out = { kind = "sink" }
"#;

/// Writes the input files to `folder` and returns all cases. `shapes` are graphs that the old program wrote there.
pub(crate) fn cases(folder: &Path, shapes: &[String]) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let path = |name: &str| folder.join(name).display().to_string();
    for (name, time) in [("long", "0.21"), ("short", "0.0004")] {
        std::fs::write(
            path(&format!("kinds-{name}.toml")),
            KINDS.replace("TIME", time),
        )?;
        graph(
            &mut cases,
            &path(&format!("kinds-{name}.toml")),
            "1.5",
            &["1", "64", "500"],
        );
    }
    for shape in shapes {
        graph(&mut cases, shape, "0.2", &["64", "256"]);
    }
    for example in [
        "01-beep.ag",
        "02-line-5.ag",
        "03-rake-11.ag",
        "04-diamond-16.ag",
        "06-split.ag",
    ] {
        graph(
            &mut cases,
            &format!("examples/{example}"),
            "0.3",
            &["32", "64"],
        );
    }
    graph(
        &mut cases,
        "examples/05-session-64.toml",
        "1",
        &["64", "333"],
    );
    for (index, options) in CONVOLVERS.iter().enumerate() {
        let file = path(&format!("hall-{index}.toml"));
        std::fs::write(&file, HALL.replace("CONVOLVER", options))?;
        graph(&mut cases, &file, "0.7", &["64"]);
    }
    convolutions(&mut cases, &path("loop.wav"));
    networks(&mut cases, &path("loop.wav"));
    Ok(cases)
}

const CONVOLVERS: &[&str] = &[
    "partition = \"built-in\"",
    "partition = \"built-in\", work = \"threads\"",
    "partition = \"built-in\", work = \"spread\"",
    "partition = \"built-in\", work = \"callback\"",
    "partition = \"built-in\", latency = \"block\"",
    "method = \"uniform\", normalise = \"energy\", predelay = 0.01",
    "method = \"direct\", reverse = true",
    "partition = \"7x64 6x256 540x1024\"",
    "partition = \"64 + 6x64 6x256 540x1024\", half = 1024",
];

/// One graph at several block sizes, by every executor.
fn graph(cases: &mut Vec<Case>, file: &str, seconds: &str, blocks: &[&str]) {
    for block in blocks {
        for executor in EXECUTORS {
            let mut args = words(&["render", file, "--seconds", seconds, "--block", block]);
            args.extend(words(executor));
            // A group for each block: a convolver is partitioned for its block, and so are its bits.
            cases.push(Case {
                group: format!("{file} at {block}"),
                args,
            });
        }
    }
}

fn convolutions(cases: &mut Vec<Case>, sound: &str) {
    let hall = "examples/convolution/hall.wav";
    let ways: &[&[&str]] = &[
        &[hall],
        &[hall, "--block", "128"],
        &[hall, "--method", "uniform", "--block", "256"],
        &[hall, "--method", "direct", "--range", "0..2000"],
        &[hall, "--partition", "64 + 7x64 6x256 64x1024"],
        &[
            hall,
            "--latency",
            "block",
            "--trim",
            "-60",
            "--normalise",
            "energy",
        ],
        &[
            hall,
            "--half",
            "1024",
            "--predelay",
            "13",
            "--fade-in",
            "5",
            "--fade-out",
            "50",
        ],
        &[hall, "--reverse", "--gain", "-6", "--normalise", "peak"],
        &[hall, "--kernels", "scalar"],
        &["examples/convolution/hall.conf"],
        &["examples/convolution/wide.conf"],
    ];
    for way in ways {
        for live in [&[][..], &["--realtime"][..]] {
            let mut args = words(&["convolve", sound]);
            args.extend(words(way));
            args.extend(words(live));
            cases.push(Case {
                group: format!("convolve {}", way.join(" ")),
                args,
            });
        }
    }
}

fn networks(cases: &mut Vec<Case>, sound: &str) {
    let file = "examples/network/spectra.toml";
    for workers in ["1", "2", "3"] {
        let args = words(&["render", file, "--input", sound, "--workers", workers]);
        cases.push(Case {
            group: file.to_string(),
            args,
        });
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}
