//! Meters, scopes and messages of nodes inside cells: as of all others.
#![cfg(target_os = "linux")]

mod common;

use common::patch_cell::LEVEL;
use common::playing::{Playing, wait_until};
use common::{Folder, wav};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixStream;

const LINE: &str = "cells s.toml --socket s --driver clock --rate 48000 --no-admission";

/// A tone whose output stays inside its cell.
const SESSION: &str = r#"
edges = ["tone -> amp -> out"]
[nodes]
tone = { kind = "osc", freq = 440, volume = 0.1 }
amp = { kind = "gain", gain_db = -6 }
out = { kind = "sink" }
[cell.a]
nodes = ["tone", "amp"]
"#;

/// A client that has subscribed.
struct Subscriber {
    stream: UnixStream,
    lines: std::io::Lines<BufReader<UnixStream>>,
}

impl Subscriber {
    fn new(here: &Folder) -> Self {
        let stream = UnixStream::connect(here.path("s")).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        Self { stream, lines }
    }

    fn send(&mut self, topics: &[&str], ports: &[String]) {
        let subscribe =
            json!({ "do": "subscribe", "topics": topics, "ports": ports, "every_ms": 20 });
        writeln!(self.stream, "{}", json!({ "commands": [subscribe] })).unwrap();
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// Reads on to a message for which `is_so` of the port's data.
    fn await_port(&mut self, port: &str, mut is_so: impl FnMut(&Value) -> bool) {
        let begin = std::time::Instant::now();
        while !is_so(&self.next()["data"][port]) {
            assert!(begin.elapsed().as_secs() < 60, "it does not come");
        }
    }
}

fn near(value: &Value, level: f64, tolerance: f64) -> bool {
    let found = value.as_f64();
    found.is_some_and(|x| (x - level).abs() < tolerance)
}

fn is_at(level: f64) -> impl Fn(&Value) -> bool {
    move |port| near(&port["peak_db"][0], level, 0.3)
}

fn process(playing: &Playing<'_>) -> Option<i64> {
    let answer = playing.send(&["query cells"]).unwrap();
    answer["data"][0]["cells"][0]["process"].as_i64()
}

#[test]
fn an_output_inside_a_cell_is_measured_through_restarts_and_edits() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let mut playing = Playing::begin(&here, LINE, |_| {});
    let mut client = Subscriber::new(&here);
    let topics = ["meters", "loudness", "spectrum", "scope"];
    client.send(&topics, &["tone".to_owned()]);
    let mut seen = [false; 5];
    client.await_port("tone.out", |port| {
        let wave = &port["channels"][0];
        let now = [
            near(&port["peak_db"][0], -20.0, 0.3),
            near(&port["rms_db"][0], -23.01, 0.3),
            near(&port["momentary_lufs"], -23.7, 1.5),
            // 440 Hz is in the band of 400 Hz.
            near(&port["db"][12], -23.01, 0.3),
            // It begins with a rise through zero, and is at its top a quarter of its 109 frames later.
            near(&wave[27], 0.1, 0.002),
        ];
        (seen.iter_mut().zip(now)).for_each(|(seen, now)| *seen |= now);
        seen == [true; 5]
    });
    assert_eq!(playing.names(), ["tone", "amp", "out"]);
    // The next process measures it too.
    let first = process(&playing).unwrap();
    let id = rustix::process::Pid::from_raw(first as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    wait_until(|| process(&playing).is_some_and(|it| it != first));
    playing.send(&["set tone.volume 0.2"]).unwrap();
    client.await_port("tone.out", is_at(-14.0));
    // An edit by its own engine, and one that brings another process.
    playing
        .send(&["add low svf", "connect tone -> low"])
        .unwrap();
    playing.send(&["set tone.volume 0.4"]).unwrap();
    client.await_port("tone.out", is_at(-7.95));
    playing.send(&["rename amp last"]).unwrap();
    playing.send(&["set tone.volume 0.1"]).unwrap();
    client.await_port("tone.out", is_at(-20.0));
    // A cell that is stopped is silent.
    playing.send(&["stop_cell a"]).unwrap();
    client.await_port("tone.out", |port| {
        port["peak_db"][0] == Value::Null && !port.is_null()
    });
    playing.send(&["start_cell a"]).unwrap();
    client.await_port("tone.out", is_at(-20.0));
    // Outside it is a port of the engine, and in another cell one of that.
    playing.send(&["remove_cell a"]).unwrap();
    playing.send(&["set tone.volume 0.2"]).unwrap();
    client.await_port("tone.out", is_at(-14.0));
    playing.send(&["add_cell b of tone last low"]).unwrap();
    playing.send(&["set tone.volume 0.1"]).unwrap();
    client.await_port("tone.out", is_at(-20.0));
    let errors = playing.child.stderr.take().unwrap();
    drop(playing);
    let told = std::io::read_to_string(errors).unwrap();
    let line = "cell `a`: continues from before the failure";
    assert!(told.contains(line), "{told}");
}

#[test]
fn a_node_that_gets_other_channels_is_measured_on() {
    let here = Folder::new();
    let session = SESSION
        .replace("out\"]", "out\", \"tone -> side\"]")
        .replace("out = {", "side = { kind = \"gain\" }\nout = {")
        .replace("\"amp\"]", "\"amp\", \"side\"]");
    here.write("s.toml", session);
    let playing = Playing::begin(&here, LINE, |_| {});
    let mut client = Subscriber::new(&here);
    client.send(&["meters"], &["side".to_owned()]);
    client.await_port("side.out", is_at(-20.0));
    for (edits, channels, level) in [
        ("replace side gain channels=2", 2, -20.0),
        ("replace side gain gain_db=-12", 1, -32.0),
    ] {
        playing.send(&[edits]).unwrap();
        client.await_port("side.out", |port| {
            let peaks = port["peak_db"].as_array();
            peaks.is_some_and(|it| it.len() == channels) && is_at(level)(port)
        });
    }
}

#[test]
fn a_cell_that_is_tapped_keeps_its_checkpoints_and_its_bits() {
    let here = Folder::new();
    let session = SESSION.replace(
        "out = {",
        "echo = { kind = \"delay\", time = 0.9, max_time = 8 }\ntake = { kind = \"recorder\", file = \"take.wav\" }\nout = {",
    );
    // Delay lines of more than 2 MiB.
    let session = session
        .replace(
            "tone -> amp -> out\"",
            "tone -> echo -> amp -> out\", \"amp -> take\"",
        )
        .replace("\"amp\"]", "\"amp\", \"echo\"]");
    let mut told = String::new();
    for _ in 0..4 {
        let takes = [false, true].map(|is_tapped| {
            let file = format!("{is_tapped}.wav");
            here.write("s.toml", session.replace("take.wav", &file));
            let line = format!("{LINE} --block 4096 --seconds 1.5");
            let mut playing = Playing::begin(&here, &line, |_| {});
            let mut client = Subscriber::new(&here);
            if is_tapped {
                client.send(&["meters"], &["tone".to_owned(), "echo".to_owned()]);
                client.await_port("tone.out", is_at(-20.0));
            }
            let errors = playing.child.stderr.take().unwrap();
            let code = playing.child.wait().unwrap().code();
            told += &std::io::read_to_string(errors).unwrap();
            (code == Some(0)).then(|| wav(&here.read(&file)).1)
        });
        if let [Some(plain), Some(tapped)] = takes {
            let length = plain.len().min(tapped.len());
            assert!(length > 50_000 && plain[..length] == tapped[..length]);
            return;
        }
    }
    panic!("never without a loss: {told}");
}

#[test]
fn too_many_outputs_inside_cells_are_refused_and_a_port_is_shown_by_its_name() {
    let here = Folder::new();
    let (mut nodes, mut edges, mut inside) = (String::new(), String::new(), String::new());
    for number in 0..70 {
        writeln!(nodes, "n{number} = {{ kind = \"gain\" }}").unwrap();
        write!(edges, "\"tone -> n{number} -> amp\", ").unwrap();
        write!(inside, ", \"n{number}\"").unwrap();
    }
    let session = SESSION
        .replace("edges = [", &format!("edges = [{edges}"))
        .replace("[nodes]\n", &format!("[nodes]\n{nodes}"))
        .replace("\"amp\"]", &format!("\"amp\"{inside}]"));
    here.write("s.toml", session);
    let playing = Playing::begin(&here, &format!("{LINE} --see tone --seconds 20"), |_| {});
    let ports = |numbers: std::ops::Range<usize>| -> Vec<String> {
        numbers.map(|number| format!("n{number}")).collect()
    };
    let (mut first, mut second) = (Subscriber::new(&here), Subscriber::new(&here));
    first.send(&["meters"], &ports(0..40));
    first.await_port("n39.out", is_at(-20.0));
    second.send(&["meters"], &ports(30..70));
    let refused = second.next();
    let why = refused["error"].as_str().unwrap();
    assert!(
        why.contains("at most 64 outputs that stay inside cells"),
        "{why}"
    );
    // `--see` has a place too.
    second.send(&["meters"], &ports(30..64));
    let refused = second.next();
    let why = refused["error"].as_str().unwrap();
    assert!(why.contains("for all clients and `--see`"), "{why}");
    second.send(&["meters"], &ports(30..63));
    second.await_port("n62.out", is_at(-20.0));
    // What leaves the cell is measured by the engine, as ever.
    second.send(&["meters"], &["amp".to_owned()]);
    second.await_port("amp.out", |port| port["peak_db"][0].is_number());
    let mut playing = playing;
    let errors = BufReader::new(playing.child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("tone.out -20.0 dB, most around 400 Hz")));
    drop(playing);
    let seen: String = (0..65).map(|number| format!(" --see n{number}")).collect();
    let line = LINE.replace("--socket s ", "");
    let refused = here.call(&format!("{line}{seen} --seconds 1"));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused
            .err
            .contains("at most 64 outputs that stay inside cells"),
        "{}",
        refused.err
    );
}

#[test]
fn an_output_inside_a_cell_is_measured_under_every_policy() {
    let windows =
        "time-triggered\"\ncores = [0]\nwindows = [{ period_us = 5000, length_us = 4000 }]";
    let server = "event-triggered\"\nbudget_us = 4000\nperiod_us = 5000";
    for policy in [windows, server] {
        let here = Folder::new();
        let keys = format!("latency = 1\npolicy = \"{policy}\n");
        here.write("s.toml", format!("{SESSION}{keys}"));
        let line = format!("{LINE} --block 512 --see tone");
        let mut playing = Playing::begin(&here, &line, |_| {});
        let mut client = Subscriber::new(&here);
        client.send(&["meters"], &["tone".to_owned(), "amp".to_owned()]);
        client.await_port("tone.out", is_at(-20.0));
        client.await_port("amp.out", |port| port["peak_db"][0].is_number());
        let first = process(&playing);
        playing
            .send(&["add low svf", "connect tone -> low"])
            .unwrap();
        assert_ne!(process(&playing), first, "edits start a process");
        playing.send(&["set tone.volume 0.2"]).unwrap();
        client.await_port("tone.out", is_at(-14.0));
        let errors = BufReader::new(playing.child.stderr.take().unwrap());
        let mut lines = errors.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("tone.out -14.0 dB, most around 400 Hz")));
    }
}

#[test]
fn a_message_to_a_patch_in_a_cell_tells_its_frame_and_that_nothing_receives_it() {
    let here = Folder::new();
    here.write("level.pd", LEVEL);
    let session = r#"
edges = ["tone -> patch.in1", "patch.out1 -> out", "patch.out1 -> take"]
[nodes]
tone = { kind = "osc", freq = 3000 }
patch = { kind = "pd", file = "level.pd", in = 1, out = 1 }
take = { kind = "recorder", file = "take.wav" }
out = { kind = "sink" }
[cell.patch]
nodes = ["patch"]
"#;
    here.write("s.toml", session);
    let line = format!("{LINE} --block 2048 --seconds 2.5");
    let mut playing = Playing::begin(&here, &line, |_| {});
    let heard = playing.send(&["message patch level 0.25"]).unwrap();
    let frame = heard["frame"].as_u64().expect("the frame is told") as usize;
    assert!(frame > 0 && frame.is_multiple_of(2048), "{heard}");
    let unheard = playing.send(&["message patch levle 0.25", "set tone.freq 3000"]);
    let why = unheard.unwrap_err();
    assert!(why.contains("nothing receives `levle` in `patch`"), "{why}");
    let again = playing.send(&["message patch level 0.25"]).unwrap();
    assert!(again["frame"].as_u64().unwrap() as usize > frame, "{again}");
    // Where its cell does not play, nobody waits for it.
    playing.send(&["stop_cell patch"]).unwrap();
    let waits = playing.send(&["message patch level 0.5"]).unwrap();
    assert_eq!(waits["frame"], Value::Null);
    let errors = playing.child.stderr.take().unwrap();
    playing.child.wait().unwrap();
    let told = std::io::read_to_string(errors).unwrap();
    let sound: Vec<f32> = (wav(&here.read("take.wav")).1.into_iter())
        .map(f32::from_bits)
        .collect();
    let peak = |range: std::ops::Range<usize>| sound[range].iter().copied().fold(0.0, f32::max);
    assert!(peak(frame - 2048..frame) > 0.9, "before it: {told}");
    let after = peak(frame..frame + 2048);
    assert!((0.2..0.251).contains(&after), "{after}: from it on: {told}");
}

#[test]
fn a_sum_has_its_terms_in_the_order_of_the_session_when_cells_come_and_go() {
    let here = Folder::new();
    let session = r#"
edges = ["one -> first -> mix", "two -> mix", "three -> mix", "mix -> last", "four -> last", "five -> last", "last -> out", "last -> take"]
[nodes]
first = { kind = "gain", gain_db = -1 }
mix = { kind = "gain", gain_db = -2 }
one = { kind = "osc", freq = 311, volume = 0.31 }
two = { kind = "osc", freq = 433, volume = 0.17 }
three = { kind = "osc", freq = 557, volume = 0.13 }
four = { kind = "osc", freq = 701, volume = 0.11 }
five = { kind = "osc", freq = 877, volume = 0.07 }
last = { kind = "gain", gain_db = -3 }
take = { kind = "recorder", file = "take.wav" }
out = { kind = "sink" }
"#;
    let cell = "[cell.other]\nnodes = [\"four\"]\n";
    // The sound of one process.
    let rendered = |name: &str, text: &str| {
        here.write("s.toml", text.replace("take.wav", name));
        here.well("render s.toml -o o.wav --rate 48000 --block 4096 --seconds 6");
        wav(&here.read(name)).1
    };
    // A node that replaces another is the last one, also of its sums.
    let moved = |node: &str, text: &str| {
        let is_node = |line: &&str| line.starts_with(node);
        let line = text.lines().find(is_node).unwrap();
        let others: Vec<&str> = text.lines().filter(|it| !is_node(it)).collect();
        others
            .join("\n")
            .replace("[cell", &format!("{line}\n[cell"))
    };
    let text = format!("{session}{cell}");
    let mix_last = moved("mix =", &text);
    let both_last = moved("first =", &mix_last);
    let texts = [&text, &text, &text, &mix_last, &both_last];
    let names = ["1.wav", "2.wav", "3.wav", "4.wav", "5.wav"];
    let expected = [0, 1, 2, 3, 4].map(|at: usize| rendered(names[at], texts[at]));
    assert!((2..4).all(|at| expected[at] != expected[at + 1]));
    let mut told = String::new();
    for _ in 0..4 {
        here.write("s.toml", &text);
        let line = format!("{LINE} --block 4096 --seconds 6");
        let mut playing = Playing::begin(&here, &line, |_| {});
        let frames = [
            "add_cell some of first mix",
            "remove_cell some",
            "add_cell some of first",
            "replace mix gain gain_db=-2",
            "replace first gain gain_db=-1",
        ]
        .map(|command| {
            let reply = playing.send(&[command]).unwrap();
            // So much of it is compared.
            std::thread::sleep(std::time::Duration::from_millis(600));
            reply["frame"].as_u64().unwrap() as usize
        });
        let errors = playing.child.stderr.take().unwrap();
        let code = playing.child.wait().unwrap().code();
        told += &std::io::read_to_string(errors).unwrap();
        if code != Some(0) {
            continue;
        }
        let sound = wav(&here.read("take.wav")).1;
        let ends = [frames[1], frames[2], frames[3], frames[4], sound.len()];
        for ((begin, end), expected) in frames.into_iter().zip(ends).zip(&expected) {
            // Behind the fade, which takes some blocks.
            let range = begin + 3 * 4096..end.min(expected.len());
            assert!(range.len() > 4096, "{frames:?}");
            assert!(
                sound[range.clone()] == expected[range],
                "{begin}: other bits"
            );
        }
        return;
    }
    panic!("never without a loss: {told}");
}

#[test]
fn the_next_supervisor_measures_the_same_process_and_tells_frames_of_its_own() {
    let here = Folder::new();
    here.write("level.pd", LEVEL);
    let session = r#"
edges = ["tone -> patch.in1", "patch.out1 -> out"]
[nodes]
tone = { kind = "osc", freq = 440, volume = 0.1 }
patch = { kind = "pd", file = "level.pd", in = 1, out = 1 }
out = { kind = "sink" }
[cell.patch]
nodes = ["tone", "patch"]
"#;
    here.write("s.toml", session);
    let line = format!("{LINE} --block 1024 --drill supervisor:kill@3");
    let playing = Playing::begin(&here, &line, |_| {});
    let mut client = Subscriber::new(&here);
    client.send(&["meters"], &["tone".to_owned()]);
    client.await_port("tone.out", is_at(-20.0));
    for _ in 0..20 {
        playing.send(&["message patch level 0.5"]).unwrap();
    }
    let first = process(&playing);
    while client.lines.next().is_some_and(|line| line.is_ok()) {}
    wait_until(|| here.call("send --socket s undo").code != Some(1));
    assert_eq!(process(&playing), first, "it plays on");
    let set = playing.send(&["set tone.volume 0.2"]).unwrap();
    let said = playing.send(&["message patch level 0.25"]).unwrap();
    let frames = [set, said].map(|it| it["frame"].as_u64().unwrap());
    assert!(
        frames[0] <= frames[1] && frames[1] < frames[0] + 96_000,
        "{frames:?}"
    );
    let why = playing.send(&["message patch levle 1"]).unwrap_err();
    assert!(why.contains("nothing receives `levle`"), "{why}");
    let mut client = Subscriber::new(&here);
    client.send(&["meters"], &["tone".to_owned()]);
    client.await_port("tone.out", is_at(-14.0));
}
