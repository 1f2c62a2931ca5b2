//! Parts of Pure Data patches through the program: signal classes as kinds, signals that messages make, sockets between programs.

mod common;

use common::Folder;
use std::net::TcpListener;
use std::process::Stdio;

/// Samples of the first channel that a line renders.
fn sound(here: &Folder, line: &str) -> Vec<u32> {
    here.well(&format!("{line} -o out.wav --seconds 0.3 --json r.json"));
    let (channels, bits) = common::wav(&here.read("out.wav"));
    bits.into_iter().step_by(usize::from(channels)).collect()
}

/// A class: its line in a session, the port that is heard, the box in a patch, and where that is connected. In both there are noise
/// (box 0) and a slow wave (box 1, with 900 added to it in box 2).
type ClassCase = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const NOISE: &str = "0 0 4 0";

const CLASSES: &[ClassCase] = &[
    ("\"osc~\", freq = 440", "out", "osc~ 440", &[]),
    ("\"phasor~\", freq = 0.3", "out", "phasor~ 0.3", &[]),
    ("\"lop~\", freq = 300", "out", "lop~ 300", &[NOISE]),
    ("\"bp~\", freq = 300, q = 4", "out", "bp~ 300 4", &[NOISE]),
    (
        "\"clip~\", low = -0.1, high = 0.2",
        "out",
        "clip~ -0.1 0.2",
        &[NOISE],
    ),
    (
        "\"biquad~\", fb1 = 1.4, fb2 = -0.7, ff1 = 0.2, ff3 = -0.1",
        "out",
        "biquad~ 1.4 -0.7 0.2 0 -0.1",
        &[NOISE],
    ),
    ("\"log~\", base = 2", "out", "log~ 2", &[NOISE]),
    ("\"lrshift~\", shift = -3", "out", "lrshift~ -3", &[NOISE]),
    (
        "\"cpole~\", coef_re = 0.5, coef_im = 0.4",
        "re",
        "cpole~ 0.5 0.4",
        &[NOISE],
    ),
    (
        "\"vcf~\", freq = 900, q = 3",
        "bp",
        "vcf~ 3",
        &[NOISE, "2 0 4 1"],
    ),
];

#[test]
fn classes_as_kinds_have_the_bits_of_the_object_in_a_patch() {
    let here = Folder::new();
    for (kind, port, boxed, wires) in CLASSES {
        let mut patch = format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 noise~;\n#X obj 0 0 osc~ 3;\n#X obj 0 0 +~ 900;\n#X obj 0 0 dac~ 1;\n\
             #X obj 0 0 {boxed};\n#X connect 1 0 2 0;\n#X connect 4 0 3 0;\n"
        );
        let mut edges = vec![format!("\"unit.{port} -> out\"")];
        let mut nodes = format!("unit = {{ kind = {kind} }}\nout = {{ kind = \"sink\" }}\n");
        for wire in *wires {
            patch += &format!("#X connect {wire};\n");
            let (edge, node) = match *wire == NOISE {
                true => ("\"noise -> unit.1\"", "noise = { kind = \"noise~\" }\n"),
                false => (
                    "\"slow -> unit.freq\"",
                    "slow = { kind = \"osc~\", freq = 3 }\n",
                ),
            };
            edges.push(edge.to_owned());
            nodes += node;
        }
        here.write("p.pd", patch);
        let edges = edges.join(", ");
        here.write(
            "s.toml",
            format!("edges = [{edges}]\n[settings]\nrate = 44100\n[nodes]\n{nodes}"),
        );
        let expected = sound(&here, "render p.pd");
        let is_loud = |bits: &u32| f32::from_bits(*bits).abs() > 0.01;
        assert!(expected.iter().any(is_loud), "{kind}");
        for block in [64, 256, 48] {
            let found = sound(&here, &format!("render s.toml --block {block}"));
            let count = found.len().min(expected.len());
            assert!(count > 13_000, "{kind}: {count} frames");
            assert!(
                found[..count] == expected[..count],
                "{kind}, blocks of {block}"
            );
        }
    }
}

#[test]
fn signals_that_messages_make_are_heard_on_any_number_of_workers() {
    let here = Folder::new();
    let still = "#N canvas 0 0 9 9 12;\n#X obj 0 0 dac~;\n#X obj 0 0 osc~ 440;\n#X obj 0 0 *~ 0.5;\n\
                 #X connect 1 0 2 0;\n#X connect 2 0 0 0;\n";
    let made = "#N canvas 0 0 9 9 12;\n#X obj 0 0 dac~;\n#X obj 0 0 loadbang;\n\
                #X msg 0 0 \\; pd-made.pd obj 0 0 osc~ 440 \\, obj 0 0 *~ 0.5 \\, connect 3 0 4 0 \\, connect 4 0 0 0;\n#X connect 1 0 2 0;\n";
    here.write("still.pd", still);
    here.write("made.pd", made);
    let expected = sound(&here, "render still.pd");
    assert!(expected.iter().any(|bits| *bits != 0));
    let render = "render made.pd -o m.wav --seconds 0.3 --json r.json --workers";
    for workers in [1, 2] {
        here.well(&format!("{render} {workers}"));
        let (channels, bits) = common::wav(&here.read("m.wav"));
        let first = bits.into_iter().step_by(usize::from(channels));
        assert!(first.eq(expected.iter().copied()), "{workers}");
    }
}

#[test]
fn two_programs_talk_to_each_other_while_they_play() {
    let here = Folder::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    here.write(
        "answers.pd",
        format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 netreceive {port};\n#X obj 0 0 + 1;\n#X obj 0 0 print heard;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 0 0;\n#X connect 0 0 2 0;\n"
        ),
    );
    here.write(
        "asks.pd",
        format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro 100;\n#X msg 0 0 connect localhost {port} \\, 41;\n\
             #X obj 0 0 netsend;\n#X obj 0 0 print answer;\n#X obj 0 0 r far;\n#X msg 0 0 disconnect \\, connect 192.0.2.1 80;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 1 4 0;\n#X connect 5 0 6 0;\n#X connect 6 0 3 0;\n"
        ),
    );
    let mut answers = here.command("play answers.pd --driver clock --workers 1 --seconds 4");
    answers.stdout(Stdio::null()).stderr(Stdio::piped());
    let answers = answers.spawn().unwrap();
    let asked = here
        .command("play asks.pd --driver clock --workers 1 --seconds 3 --send")
        .arg("2500 far bang")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(said.contains("answer: 42"), "{said}");
    assert!(
        said.contains("192.0.2.1: a patch reaches other machines only with --allow-net"),
        "{said}"
    );
    let heard = answers.wait_with_output().unwrap();
    let heard = String::from_utf8_lossy(&heard.stderr).into_owned();
    assert!(heard.contains("heard: 41"), "{heard}");
}
