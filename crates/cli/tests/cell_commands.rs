//! Nodes inside cells are nodes as all others: commands reach them, with the same bits.
#![cfg(target_os = "linux")]

mod common;

use common::playing::{Playing, wait_until};
use common::{Folder, patch_cell, sound, wav};
use serde_json::json;

/// A block of 85 ms: the sound is whole on a machine under load too.
const LINE: &str = "s.toml --socket s --rate 48000 --block 4096";

const SESSION: &str = r#"
edges = ["tone -> low -> amp -> mix.in1 -> out", "bell -> mix.in2", "hum -> shape.1", "env -> shape.2", "shape -> mix.in3", "mix -> take"]
[nodes]
tone = { kind = "osc", freq = 330 }
low = { kind = "svf", freq = 900 }
amp = { kind = "gain", gain_db = -12 }
keys = { kind = "note" }
hum = { kind = "osc", freq = 120, volume = 0.2 }
bell = { kind = "osc", freq = 0, volume = 0.1 }
env = { kind = "envelope", attack = 0.01, release = 0.05 }
shape = { kind = "multiply" }
mix = { kind = "mixer", in = 3 }
take = { kind = "recorder", file = "take.wav" }
out = { kind = "sink" }
[cell.tone]
nodes = ["low", "amp"]
[cell.notes]
nodes = ["env", "hum", "shape"]
"#;

/// Commands for nodes inside and outside, at frames that are still to come.
const COMMANDS: [&str; 8] = [
    "set low.freq 3000 over 200 at 30000",
    "set amp.gain_db -3 over 100.5 at 33333",
    "set tone.freq 440 at 40000",
    "midi env.notes 0x90 60 100 at 35001",
    "midi env.notes 0x80 60 0 at 44444",
    "set hum.freq 240 at 37000",
    "locate 96000 at 50000",
    "tempo 90 at 51000",
];

fn run<'f>(here: &'f Folder, command: &str) -> Playing<'f> {
    run_session(here, command, SESSION)
}

fn run_session<'f>(here: &'f Folder, command: &str, session: &str) -> Playing<'f> {
    let take = format!("{}.wav", &command[..4]);
    here.write("s.toml", session.replace("take.wav", &take));
    let line = format!("{command} {LINE} --seconds 1.8");
    Playing::begin(here, &line, |_| {})
}

/// Output of a run, at its end.
fn end(mut playing: Playing<'_>) -> (Option<i32>, String) {
    let errors = playing.child.stderr.take().unwrap();
    let status = playing.child.wait().unwrap();
    (status.code(), std::io::read_to_string(errors).unwrap())
}

#[test]
fn commands_for_nodes_inside_cells_have_the_bits_of_one_process() {
    let here = Folder::new();
    let mut seen = String::new();
    // A machine under load may lose a block, and says so.
    for _ in 0..4 {
        let ended = ["play --driver clock", "cells --driver clock"].map(|command| {
            let playing = run(&here, command);
            let reply = playing.send(&COMMANDS).unwrap();
            assert_eq!(reply["frame"], 30000, "{command}: too late");
            let (code, told) = end(playing);
            seen += &told;
            code == Some(0) && !told.contains("missed")
        });
        if ended == [true, true] {
            let [whole, cells] = ["play.wav", "cell.wav"].map(|name| wav(&here.read(name)).1);
            let peak = whole.iter().copied().map(f32::from_bits);
            assert!(peak.fold(0.0, f32::max) > 0.2);
            // They may end some blocks apart.
            let length = whole.len().min(cells.len());
            assert!(
                length > 60_000 && whole[..length] == cells[..length],
                "other bits"
            );
            return;
        }
    }
    panic!("never without a loss: {seen}");
}

#[test]
fn what_was_set_is_told_to_the_next_process_and_taken_along_by_undo_save_and_snapshots() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let playing = Playing::begin(&here, &format!("cells --driver clock {LINE}"), |_| {});
    let value = |name: &str, param: &str| {
        let graph = playing.graph();
        let mut nodes = graph["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|it| it["name"] == name).unwrap();
        node["params"][param].clone()
    };
    assert_eq!(value("low", "freq"), 900.0);
    playing
        .send(&["set low.freq 1500", "set tone.freq 220"])
        .unwrap();
    playing.send(&["snapshot mine"]).unwrap();
    playing.send(&["set low.freq 500"]).unwrap();
    assert_eq!(value("low", "freq"), 500.0);
    playing.send(&["undo"]).unwrap();
    assert_eq!(value("low", "freq"), 1500.0);
    playing.send(&["redo"]).unwrap();
    playing.send(&["recall mine"]).unwrap();
    assert_eq!(
        (value("low", "freq"), value("tone", "freq")),
        (json!(1500.0), json!(220.0))
    );
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(
        kept.contains("1500") && kept.contains("[cell.tone]"),
        "{kept}"
    );
    here.well("check kept.toml");
    // Nodes that leave the cell have what was set.
    playing.send(&["remove_cell tone"]).unwrap();
    assert_eq!(value("low", "freq"), 1500.0);
    for (wrong, why) in [
        (&["set low.nothing 3"][..], "nothing"),
        (&["set hum.freq 1e9"], "freq"),
        (&["midi env.notes 0x10 1 1"], "MIDI"),
        (&["value env.nothing 1"], "nothing"),
        (
            &["remove env", "remove hum", "remove shape"],
            "would have no node",
        ),
        (&["message hum words"], "messages"),
        (&["subscribe loudness of hum.nothing"], "no output of audio"),
    ] {
        let error = playing.send(wrong).unwrap_err();
        assert!(error.contains(why), "{wrong:?}: {error}");
    }
}

#[test]
fn a_process_that_comes_after_a_failure_has_the_values_that_were_set() {
    let here = Folder::new();
    let session = r#"
edges = ["one -> amp -> out", "amp -> take"]
[nodes]
one = { kind = "osc", freq = 400 }
amp = { kind = "gain", gain_db = 0 }
out = { kind = "sink" }
take = { kind = "recorder", file = "r.wav" }
[cell.only]
nodes = ["amp"]
"#;
    here.write("s.toml", session);
    let line = format!("cells --driver clock {LINE} --seconds 3 --drill only:kill@1.5");
    let playing = Playing::begin(&here, &line, |_| {});
    playing.send(&["set amp.gain_db -20 at 24000"]).unwrap();
    // Struck by nothing but its first value it would be 0 dB again.
    let (_, told) = end(playing);
    let (channels, samples) = wav(&here.read("r.wav"));
    let samples: Vec<f32> = samples
        .into_iter()
        .step_by(channels.into())
        .map(f32::from_bits)
        .collect();
    let peak = |samples: &[f32]| samples.iter().copied().fold(0.0, f32::max);
    assert!((peak(&samples[10_000..20_000]) - 1.0).abs() < 0.01);
    let last = peak(&samples[samples.len() - 5000..]);
    assert!((last - 0.1).abs() < 0.01, "{last}: {told}");
    assert!(told.contains("silent for"), "{told}");
}

#[test]
fn deferred_work_in_cells_has_the_bits_of_one_process() {
    let here = Folder::new();
    let impulse: Vec<f32> = (0..30_000)
        .map(|k| ((k * 7919 % 1000) as f32 / 1000.0 - 0.5) * 0.01)
        .collect();
    here.write("ir.wav", sound(48_000, &[&impulse]));
    let session = r#"
edges = ["tone -> room -> mix.in1 -> out", "tone -> pitch", "pitch.freq -> follow.freq", "follow -> mix.in2"]
[nodes]
tone = { kind = "osc", freq = 220 }
room = { kind = "convolver", file = "ir.wav" }
pitch = { kind = "pitch_tracker" }
follow = { kind = "osc", freq = 0, volume = 0.2 }
mix = { kind = "mixer", in = 2 }
out = { kind = "sink" }
[cell.work]
nodes = ["room", "pitch"]
"#;
    for keys in ["", "cores = [0, 1]", "latency = 1\ncores = [0, 1]"] {
        here.write("s.toml", format!("{session}{keys}\n"));
        for block in [64, 256] {
            let line = format!("--seconds 0.7 --block {block}");
            here.well(&format!("render s.toml -o whole.wav {line}"));
            here.well(&format!("cells s.toml --render cells.wav {line}"));
            let same = here.read("whole.wav") == here.read("cells.wav");
            assert!(same, "{keys}, blocks of {block}");
        }
    }
}

#[test]
fn the_meter_of_a_node_in_a_cell_is_shown() {
    let here = Folder::new();
    let session = r#"
edges = ["tone -> follow -> out"]
[nodes]
tone = { kind = "osc", freq = 330 }
follow = { kind = "gate", threshold_db = -60 }
out = { kind = "sink" }
[cell.only]
nodes = ["follow"]
"#;
    here.write("s.toml", session);
    let playing = Playing::begin(&here, &format!("cells --driver clock {LINE}"), |_| {});
    wait_until(|| {
        let reply = playing.send(&["query meters"]).unwrap();
        reply["data"][0]["follow.open"]
            .as_f64()
            .is_some_and(|it| it > 0.5)
    });
}

#[test]
fn a_cell_that_was_resized_is_saved_so_and_what_cannot_be_is_said() {
    let here = Folder::new();
    let session = r#"
edges = ["tone -> out"]
[nodes]
tone = { kind = "osc", freq = 330, volume = 0.1 }
out = { kind = "sink" }
[cell.a]
nodes = ["tone"]
"#;
    here.write("s.toml", session);
    let mut playing = Playing::begin(
        &here,
        "cells s.toml --driver clock --socket s --drill a:kill@900 --json report.json",
        |_| {},
    );
    playing.send(&["resize_cell a 0"]).unwrap();
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("cores = [0]"), "{kept}");
    here.well("check kept.toml");
    let errors = playing.child.stderr.take().unwrap();
    let id = rustix::process::Pid::from_raw(playing.child.id() as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    playing.child.wait().unwrap();
    let told = std::io::read_to_string(errors).unwrap();
    assert!(
        told.contains("the failure of `a` at 900 s did not happen"),
        "{told}"
    );
    let report = here.json("report.json");
    assert_eq!(report["cells"][0]["cell"], "a", "{report}");
    assert_eq!(report["cells"][0]["cores"], serde_json::json!([0]));
    for (wrong, place) in [
        ("cores = [999]", "s.toml:8:1"),
        ("memory_mib = 0", "s.toml:8:1"),
    ] {
        here.write("s.toml", format!("{session}{wrong}\n"));
        let refused = here.call("cells s.toml --driver clock --seconds 0.1");
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(place), "{}", refused.err);
    }
}

const PATCH_SESSION: &str = r#"
edges = ["tone -> patch.in1", "patch.out1 -> out", "patch.out1 -> take"]
[nodes]
tone = { kind = "osc", freq = 330 }
patch = { kind = "pd", file = "level.pd", in = 1, out = 1 }
take = { kind = "recorder", file = "take.wav" }
out = { kind = "sink" }
[cell.patch]
nodes = ["patch"]
"#;

#[test]
fn what_a_patch_in_a_cell_receives_by_name_is_set() {
    let here = Folder::new();
    // With a slider beside it.
    let slider = "#X obj 200 50 hsl 128 15 0 1 0 0 empty part empty -2 -8 0 10 -1 -1 -1 0 1;\n#X connect 0 0 2 0;";
    let patch = patch_cell::LEVEL.replace("#X connect 0 0 2 0;", slider);
    here.write("level.pd", patch);
    let playing = run_session(&here, "cells --driver clock", PATCH_SESSION);
    let graph = playing.graph();
    let mut nodes = graph["nodes"].as_array().unwrap().iter();
    let node = nodes.find(|it| it["name"] == "patch").unwrap();
    assert_eq!(node["own_params"], json!(["level", "part"]));
    assert_eq!(node["boxes"][0]["class"], "hsl");
    playing.send(&["set patch.level 0.25"]).unwrap();
    assert!(playing.send(&["set patch.nothing 1"]).is_err());
    let heard = playing.send(&["set patch.part 0.5 over 10"]).unwrap();
    assert!(heard["frame"].as_u64().is_some(), "{heard}");
    let shown = playing.graph();
    let mut nodes = shown["nodes"].as_array().unwrap().iter();
    let node = nodes.find(|it| it["name"] == "patch").unwrap();
    assert_eq!(
        (&node["params"]["level"], &node["boxes"][0]["value"]),
        (&json!(0.25), &json!(0.5))
    );
    // Blocks may be lost on a machine under load: what is heard is never louder than what was set.
    let (_, told) = end(playing);
    let sound = wav(&here.read("cell.wav")).1;
    let late = sound[sound.len() * 3 / 4..]
        .iter()
        .map(|it| f32::from_bits(*it));
    let peak = late.fold(0.0, f32::max);
    assert!((0.1..0.26).contains(&peak), "{peak}: {told}");
}

#[test]
fn a_session_of_cells_that_was_saved_is_played_anew() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let line = format!("cells --driver clock --no-admission --reload {LINE}");
    let mut playing = Playing::begin(&here, &line, |_| {});
    let cell = |playing: &Playing<'_>| {
        let answer = playing.send(&["query cells"]).unwrap();
        let mut cells = answer["data"][0]["cells"].as_array().unwrap().iter();
        cells.find(|it| it["cell"] == "tone").unwrap().clone()
    };
    let freq = |playing: &Playing<'_>| {
        let graph = playing.graph();
        let mut nodes = graph["nodes"].as_array().unwrap().iter();
        nodes.find(|it| it["name"] == "low").unwrap()["params"]["freq"].clone()
    };
    let process = cell(&playing)["process"].clone();
    // A value that may change while it plays, then a node inside of a cell, which the file names.
    let valued = SESSION.replace("freq = 900", "freq = 1200");
    here.write("s.toml", &valued);
    wait_until(|| freq(&playing) == 1200.0);
    let grown = valued
        .replace("low -> amp", "low -> unit -> amp")
        .replace(
            "[nodes]",
            "[nodes]\nunit = { kind = \"gain\", gain_db = -1 }",
        )
        .replace("[\"low\", \"amp\"]", "[\"low\", \"amp\", \"unit\"]");
    here.write("s.toml", &grown);
    wait_until(|| cell(&playing)["nodes"].as_array().unwrap().len() == 3);
    assert_eq!(cell(&playing)["process"], process, "its own engine");
    // Mistakes and other keys of a cell change nothing.
    let mut told = Lines::of(&mut playing);
    here.write(
        "s.toml",
        grown.replace("kind = \"mixer\"", "kind = \"mxer\""),
    );
    told.line("the session plays on as it was");
    here.write(
        "s.toml",
        grown.replace("[cell.notes]", "[cell.notes]\nlatency = 1"),
    );
    told.line("the keys of the cell `notes` have changed");
    playing.send(&["undo"]).unwrap();
    assert_eq!(cell(&playing)["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(freq(&playing), 1200.0);
}

/// The lines that a program prints.
struct Lines(std::io::Lines<std::io::BufReader<std::process::ChildStderr>>);

impl Lines {
    fn of(playing: &mut Playing<'_>) -> Self {
        let errors = playing.child.stderr.take().unwrap();
        Self(std::io::BufRead::lines(std::io::BufReader::new(errors)))
    }

    /// Reads on to a line with this in it.
    fn line(&mut self, part: &str) {
        let mut lines = self.0.by_ref().map(|it| it.unwrap());
        assert!(lines.any(|it| it.contains(part)), "no `{part}`");
    }
}

#[test]
fn a_new_process_is_told_what_messages_have_set() {
    let here = Folder::new();
    // Silent until a message says its level.
    here.write("level.pd", patch_cell::LEVEL.replace("*~ 1", "*~ 0"));
    let session = PATCH_SESSION
        .replace("patch.out1 -> out", "patch.out1 -> follow -> out")
        .replace(
            "[nodes]",
            "[nodes]\nfollow = { kind = \"gate\", threshold_db = -40 }",
        );
    here.write("s.toml", session);
    let line = format!("cells --driver clock --no-admission {LINE}");
    let playing = Playing::begin(&here, &line, |_| {});
    let is_open = || {
        let reply = playing.send(&["query meters"]).unwrap();
        reply["data"][0]["follow.open"]
            .as_f64()
            .is_some_and(|it| it > 0.5)
    };
    let process = || {
        let answer = playing.send(&["query cells"]).unwrap();
        answer["data"][0]["cells"][0]["process"].as_i64()
    };
    assert!(!is_open());
    for message in ["message patch level 0.1", "message patch level 0.5"] {
        playing.send(&[message]).unwrap();
    }
    wait_until(is_open);
    let old = process().unwrap();
    let id = rustix::process::Pid::from_raw(old as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    wait_until(|| process().is_some_and(|it| it != old));
    // Long enough for the gate to close over a patch that has been told nothing.
    std::thread::sleep(std::time::Duration::from_secs(1));
    wait_until(is_open);
}

/// A patch that prints how many times it got `bump`.
const COUNTER: &str = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r bump;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n#X obj 0 0 print count;\n\
    #X obj 0 0 osc~ 440;\n#X obj 0 0 dac~ 1;\n#X msg 0 0 bang;\n#X connect 0 0 6 0;\n#X connect 6 0 1 0;\n#X connect 1 0 2 0;\n\
    #X connect 2 0 1 1;\n#X connect 2 0 3 0;\n#X connect 4 0 5 0;\n";

#[test]
fn messages_to_a_cell_come_once_and_hold_nothing_back_where_it_is_stopped() {
    let here = Folder::new();
    here.write("patch.pd", COUNTER);
    here.write("s.toml", patch_cell::session("patch"));
    let line = "cells s.toml --driver clock --socket s --rate 48000 --block 256 --seconds 5 --no-admission";
    let playing = Playing::begin(&here, line, |_| {});
    let bumps = |count: usize| playing.send(&vec!["message patch bump 1"; count]);
    let refused = bumps(257).unwrap_err();
    assert!(refused.contains("at most 256 messages"), "{refused}");
    let long = format!("message patch bump {}", "x".repeat(600));
    let refused = playing.send(&[&long]).unwrap_err();
    assert!(refused.contains("at most 508 bytes"), "{refused}");
    // A cell takes one in each block: the second request waits until it has room.
    std::thread::scope(|scope| {
        let second = scope.spawn(|| bumps(150).unwrap());
        assert!(bumps(150).unwrap()["frame"].is_u64());
        second.join().unwrap();
    });
    // Replies wait for a second at most.
    std::thread::sleep(std::time::Duration::from_secs(1));
    playing.send(&["stop_cell a"]).unwrap();
    assert_eq!(bumps(200).unwrap()["frame"], json!(null));
    let refused = bumps(200).unwrap_err();
    assert!(refused.contains("the node takes none"), "{refused}");
    // What comes later is heard.
    let answer = playing.send(&["query cells"]).unwrap();
    assert_eq!(answer["data"][0]["cells"][0]["state"], "stopped");
    let (_, told) = end(playing);
    let counts = told
        .lines()
        .filter_map(|it| it.strip_prefix("patch: count: "));
    let counts: Vec<u32> = counts.map(|it| it.parse().unwrap()).collect();
    let expected: Vec<u32> = (1..=counts.len() as u32).collect();
    assert_eq!(counts.len(), 300);
    assert_eq!(counts, expected);
}

#[test]
fn messages_that_wait_for_a_process_are_not_lost_when_another_takes_its_place() {
    let here = Folder::new();
    here.write("patch.pd", COUNTER);
    here.write("s.toml", patch_cell::session("patch"));
    let line = "cells s.toml --driver clock --socket s --rate 48000 --block 256 --seconds 9 --no-admission";
    let playing = Playing::begin(&here, line, |_| {});
    playing.send(&["message patch bump"; 200]).unwrap();
    // The supervisor's graph has the name too: the cell gets another process.
    playing.send(&["rename patch second"]).unwrap();
    playing.send(&["message second bump"]).unwrap();
    let (_, told) = end(playing);
    let counts = told.lines().filter_map(|it| it.split_once(": count: "));
    let last = counts.map(|(_, it)| it).next_back();
    assert_eq!(last, Some("201"), "{told}");
}
