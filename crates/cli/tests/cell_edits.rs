//! Nodes and edges change while cells play: inside of cells, outside, and across their borders.
#![cfg(target_os = "linux")]

mod common;

use common::playing::{Playing, wait_until};
use common::{Folder, wav};
use divisi::driver::{AudioCallback, CallbackInfo};
use divisi::graph::edits_between;
use divisi::prelude::{Engine, EngineOptions, Frames, SampleRate};
use serde_json::Value;
use std::sync::Arc;

/// A block of 43 ms: the sound is whole on a machine under load too.
const LINE: &str = "cells s.toml --socket s --rate 48000 --block 2048";

const SESSION: &str = r#"
edges = ["tone -> low -> amp -> mix.in1 -> out", "hum -> echo -> mix.in2", "mix -> take"]
[nodes]
tone = { kind = "osc", freq = 330, volume = 0.3 }
low = { kind = "svf", freq = 900 }
amp = { kind = "gain", gain_db = -3 }
hum = { kind = "osc", freq = 120, volume = 0.3 }
echo = { kind = "delay", time = 0.2, max_time = 1 }
mix = { kind = "mixer", in = 2 }
take = { kind = "recorder", file = "take.wav" }
out = { kind = "sink" }
[cell.tone]
nodes = ["low", "amp"]
[cell.hum]
nodes = ["hum", "echo"]
latency = LATENCY
"#;

fn run<'f>(here: &'f Folder, latency: usize) -> Playing<'f> {
    here.write("s.toml", SESSION.replace("LATENCY", &latency.to_string()));
    Playing::begin(here, LINE, |_| {})
}

/// The cell of this name, as `query cells` has it.
fn cell(playing: &Playing<'_>, name: &str) -> Value {
    let answer = playing.send(&["query cells"]).unwrap();
    let cells = answer["data"][0]["cells"].as_array().unwrap().clone();
    cells.into_iter().find(|it| it["cell"] == name).unwrap()
}

fn process(playing: &Playing<'_>, name: &str) -> Option<u64> {
    cell(playing, name)["process"].as_u64()
}

fn interrupt(mut playing: Playing<'_>) -> (Option<i32>, String) {
    let errors = playing.child.stderr.take().unwrap();
    let id = playing.child.id() as i32;
    let id = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let status = playing.child.wait().unwrap();
    (status.code(), std::io::read_to_string(errors).unwrap())
}

/// The sound that a session records while `change` changes no sound, if no block was lost.
fn changed_take(
    here: &Folder,
    latency: usize,
    seen: &mut String,
    change: impl Fn(&Playing<'_>),
) -> Option<Vec<u32>> {
    let playing = run(here, latency);
    change(&playing);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (code, told) = interrupt(playing);
    *seen += &told;
    let is_whole = code == Some(0) && !told.contains("came late");
    is_whole.then(|| wav(&here.read("take.wav")).1)
}

/// An edit that the engine of a cell makes, and one that takes a new process.
fn edit_twice(playing: &Playing<'_>) {
    let before = ["tone", "hum"].map(|name| process(playing, name).unwrap());
    let insert = [
        "add unit gain gain_db=0",
        "disconnect low -> amp",
        "connect low -> unit",
        "connect unit -> amp",
    ];
    playing.send(&insert).unwrap();
    let nodes = cell(playing, "tone")["nodes"].clone();
    assert_eq!(nodes.as_array().unwrap().len(), 3, "{nodes}");
    assert_eq!(process(playing, "hum"), Some(before[1]), "not its part");
    assert_eq!(process(playing, "tone"), Some(before[0]), "its own engine");
    // The supervisor's graph has the name too.
    playing.send(&["rename echo late"]).unwrap();
    assert_ne!(process(playing, "hum"), Some(before[1]));
}

/// Other cores: a process that has as many workers takes the place of the present one.
fn grow_and_shrink(playing: &Playing<'_>) {
    for cores in ["0 1", "0"] {
        let before = process(playing, "hum");
        let answer = playing
            .send(&[&format!("resize_cell hum {cores}")])
            .unwrap();
        assert_eq!(answer["data"][0]["note"], Value::Null, "{answer}");
        let after = cell(playing, "hum");
        assert_eq!(
            after["workers"].as_u64(),
            Some(cores.split(' ').count() as u64)
        );
        assert_ne!(after["process"].as_u64(), before);
    }
    // Its number of workers stays, and so does its process.
    let before = process(playing, "hum");
    playing.send(&["resize_cell hum 1"]).unwrap();
    assert_eq!(process(playing, "hum"), before);
}

/// Checks that `change` is not heard, with results in the same block and some later.
fn assert_unheard(change: impl Fn(&Playing<'_>)) {
    let here = Folder::new();
    let mut seen = String::new();
    for latency in [0, 3] {
        // A machine under load may lose a block, and says so.
        let taken = (0..4).find_map(|_| changed_take(&here, latency, &mut seen, &change));
        let taken = taken.unwrap_or_else(|| panic!("never without a loss: {seen}"));
        let shift = latency * 2048;
        let seconds = taken.len() / 48_000 + 1;
        here.well(&format!(
            "render s.toml -o whole.wav --seconds {seconds} --rate 48000 --block 2048"
        ));
        let whole = wav(&here.read("whole.wav")).1;
        let pairs = taken[shift..].iter().zip(&whole);
        let far = pairs.map(|(a, b)| (f32::from_bits(*a) - f32::from_bits(*b)).abs());
        // The fade adds two equal sounds, whose gains are rounded.
        let far = far.fold(0.0, f32::max);
        assert!(
            taken.len() > 8 * 2048 + shift && far < 1e-6,
            "{far}, {} frames, latency {latency}",
            taken.len()
        );
    }
}

#[test]
fn a_new_process_goes_on_where_the_one_before_is() {
    assert_unheard(edit_twice);
}

#[test]
fn a_cell_that_grows_or_shrinks_computes_on_as_many_workers_as_cores_and_nothing_is_heard_of_it() {
    if std::thread::available_parallelism().is_ok_and(|it| it.get() < 2) {
        println!("SKIPPED a_cell_that_grows_or_shrinks: one core");
        return;
    }
    assert_unheard(grow_and_shrink);
}

#[test]
fn a_process_takes_the_place_of_another_after_a_cell_before_it_has_gone() {
    let here = Folder::new();
    let playing = run(&here, 0);
    // Each gets another process, for the supervisor's graph has the name too.
    playing.send(&["rename amp loud"]).unwrap();
    playing.send(&["remove_cell hum"]).unwrap();
    let before = process(&playing, "tone");
    playing.send(&["rename loud louder"]).unwrap();
    assert_ne!(process(&playing, "tone"), before);
    interrupt(playing);
}

/// The sound of one process that makes the edit from `before` to `after` at `frame`.
fn in_one_process((before, after): (&str, &str), frame: u64, blocks: usize) -> Vec<u32> {
    let registry = Arc::new(divisi::registry());
    let read = |text: &str| {
        divisi::text::toml::read(text, registry.catalogue())
            .session
            .graph
    };
    let rate = SampleRate::new(48_000).unwrap();
    let options = EngineOptions::new(Frames(2048), rate);
    let made = Engine::new(read(before), registry.clone(), options);
    let (mut engine, mut callback) = made.unwrap();
    let mut sound = Vec::new();
    for block in 0..blocks {
        if 2048 * block as u64 == frame {
            let edits = edits_between(engine.graph(), &read(after), registry.catalogue());
            engine.edit(edits).unwrap();
        }
        let mut output = vec![0.0f32; 2048];
        callback.process(CallbackInfo::default(), &[], &mut [&mut output]);
        engine.update();
        sound.extend(output.into_iter().map(f32::to_bits));
    }
    sound
}

#[test]
fn the_engine_of_a_cell_makes_an_edit_inside_with_the_bits_of_one_process() {
    let here = Folder::new();
    let run_once = || {
        let playing = run(&here, 0);
        let before = process(&playing, "tone").unwrap();
        let insert = [
            "add unit gain gain_db=-6",
            "disconnect low -> amp",
            "connect low -> unit",
            "connect unit -> amp",
        ];
        let answer = playing.send(&insert).unwrap();
        assert_eq!(answer["data"][0]["note"], Value::Null);
        assert_eq!(process(&playing, "tone"), Some(before), "no other process");
        std::thread::sleep(std::time::Duration::from_millis(300));
        let (code, told) = interrupt(playing);
        let is_whole = code == Some(0) && !told.contains("came late");
        let frame = answer["frame"].as_u64().unwrap();
        is_whole.then(|| (frame, wav(&here.read("take.wav")).1))
    };
    // A machine under load may lose a block, and says so.
    let (frame, taken) = (0..6)
        .find_map(|_| run_once())
        .expect("never without a loss");
    let before = SESSION
        .replace("LATENCY", "0")
        .replace(", \"mix -> take\"", "");
    let before: String = before
        .lines()
        .filter(|it| !it.starts_with("take"))
        .collect::<Vec<_>>()
        .join("\n");
    let after = before.replace("low -> amp", "low -> unit -> amp");
    let after = after.replace(
        "[cell.tone]",
        "unit = { kind = \"gain\", gain_db = -6 }\n[cell.tone]",
    );
    let whole = in_one_process((&before, &after), frame, taken.len() / 2048);
    assert!(
        taken.len() as u64 > frame + 4096,
        "{} frames, edited at {frame}",
        taken.len()
    );
    let different = taken.iter().zip(&whole).position(|(a, b)| a != b);
    assert_eq!(different, None, "edited at {frame}");
    let other = in_one_process((&before, &after), frame + 2048, taken.len() / 2048);
    assert!(
        taken.iter().zip(&other).any(|(a, b)| a != b),
        "the edit is heard"
    );
}

#[test]
fn a_cell_that_was_edited_by_its_own_engine_is_set_restarted_refused_and_saved() {
    let here = Folder::new();
    let playing = run(&here, 1);
    let first = process(&playing, "tone").unwrap();
    let insert = [
        "add unit gain gain_db=-6",
        "disconnect low -> amp",
        "connect low -> unit",
        "connect unit -> amp",
    ];
    playing.send(&insert).unwrap();
    playing.send(&["set unit.gain_db -20"]).unwrap();
    playing
        .send(&["add meter meter", "connect unit -> meter"])
        .unwrap();
    playing.send(&["rename unit trim"]).unwrap();
    playing.send(&["undo"]).unwrap();
    assert!(playing.names().contains(&"unit".to_owned()));
    playing.send(&["redo"]).unwrap();
    // Keys in whatever order, and the node as it was.
    for keys in ["gain channels=1 gain_db=-6", "gain gain_db=-20 channels=1"] {
        let replace = format!("replace trim {keys}");
        let replaced = playing.send(&[&replace]).unwrap();
        assert_eq!(replaced["data"][0]["note"], Value::Null, "{replaced}");
    }
    playing.send(&["bypass amp"]).unwrap();
    assert_eq!(
        process(&playing, "tone"),
        Some(first),
        "one process for all"
    );
    // Meters of new nodes, and values that reach them.
    let level = |name: &str| {
        let meters = playing.send(&["query meters"]).unwrap();
        meters["data"][0][name].as_f64()
    };
    wait_until(|| level("meter.rms").is_some_and(|it| it > 0.0));
    // It keeps its edits when its process is lost, and continues.
    let id = rustix::process::Pid::from_raw(first as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    wait_until(|| process(&playing, "tone").is_some_and(|it| it != first));
    let second = process(&playing, "tone").unwrap();
    assert_eq!(cell(&playing, "tone")["nodes"].as_array().unwrap().len(), 4);
    wait_until(|| level("meter.rms").is_some_and(|it| it > 0.0));
    // The next one reaches the numbers by which the supervisor knows its targets.
    playing.send(&["set trim.gain_db -120"]).unwrap();
    wait_until(|| level("meter.rms").is_some_and(|it| it < 0.001));
    playing.send(&["set trim.gain_db 0"]).unwrap();
    wait_until(|| level("meter.rms").is_some_and(|it| it > 0.001));
    // What does not fit changes nothing.
    let refused = playing.send(&["connect trim -> trim"]).unwrap_err();
    assert!(refused.contains("a cycle without a delay"), "{refused}");
    assert_eq!(process(&playing, "tone"), Some(second));
    // What the process cannot do itself is done by another one: an edge across the border.
    playing.send(&["connect trim -> mix.in1"]).unwrap();
    assert_ne!(process(&playing, "tone"), Some(second));
    playing.send(&["undo"]).unwrap();
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("trim") && kept.contains("bypass"), "{kept}");
    here.well("check kept.toml");
}

#[test]
fn an_edit_that_does_not_fit_beside_the_other_cells_changes_nothing() {
    let here = Folder::new();
    let session = r#"
edges = ["tone -> low -> heavy -> mix.in1 -> out", "hum -> mix.in2", "third -> mix.in3"]
[nodes]
tone = { kind = "osc", freq = 330, volume = 0.3 }
low = { kind = "svf", freq = 900 }
heavy = { kind = "gain", cost_us = 15000 }
hum = { kind = "osc", freq = 120, cost_us = 15000 }
third = { kind = "osc", freq = 99, cost_us = 15000 }
mix = { kind = "mixer", in = 3 }
out = { kind = "sink" }
[cell.tone]
nodes = ["tone", "low", "heavy"]
cores = [0]
[cell.hum]
nodes = ["hum"]
cores = [0]
"#;
    here.write("s.toml", session);
    let playing = Playing::begin(&here, &format!("{LINE} --reserve 10"), |_| {});
    let first = process(&playing, "tone").unwrap();
    playing
        .send(&[
            "disconnect low -> heavy",
            "remove heavy",
            "add calm gain",
            "connect low -> calm",
            "connect calm -> mix.in1",
        ])
        .unwrap();
    playing
        .send(&["add_cell third of third with cores=0"])
        .unwrap();
    let before = playing.graph();
    let first = process(&playing, "tone").unwrap_or(first);
    let refused = playing.send(&["undo"]).unwrap_err();
    assert!(refused.contains("does not fit"), "{refused}");
    assert_eq!(
        (playing.graph(), process(&playing, "tone")),
        (before, Some(first))
    );
}

#[test]
fn edges_between_cells_come_and_go_and_are_undone_and_saved() {
    let here = Folder::new();
    let playing = run(&here, 1);
    // A new border of both cells: the filter of one goes into the delay of the other.
    playing.send(&["connect low -> echo"]).unwrap();
    // Nodes outside: no process is new.
    let before = ["tone", "hum"].map(|name| process(&playing, name).unwrap());
    playing
        .send(&["add more osc freq=660 volume=0.1", "connect more -> out"])
        .unwrap();
    let after = ["tone", "hum"].map(|name| process(&playing, name).unwrap());
    assert_eq!(before, after);
    // What is set is known to a process that comes later.
    playing.send(&["set low.freq 1500"]).unwrap();
    playing.send(&["bypass amp"]).unwrap();
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    for part in ["1500", "[cell.hum]", "more", "bypass"] {
        assert!(kept.contains(part), "{part}: {kept}");
    }
    here.well("check kept.toml");
    playing.send(&["undo"]).unwrap();
    playing.send(&["undo"]).unwrap();
    playing.send(&["undo"]).unwrap();
    playing.send(&["undo"]).unwrap();
    assert!(!playing.names().contains(&"more".to_owned()));
    let edges = playing.graph()["edges"].as_array().unwrap().len();
    assert_eq!(edges, 7, "as in the file");
    // The new process is watched as the old one was.
    let killed = process(&playing, "tone").unwrap();
    let id = rustix::process::Pid::from_raw(killed as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    wait_until(|| process(&playing, "tone").is_some_and(|it| it != killed));
    for (wrong, why) in [
        (&["remove low", "remove amp"][..], "would have no node"),
        (&["connect mix -> low"], "comes back"),
        (&["remove nothing"], "nothing"),
        (&["load s.toml"], "no `load`"),
    ] {
        let error = playing.send(wrong).unwrap_err();
        assert!(error.contains(why), "{wrong:?}: {error}");
    }
    playing.send(&["stop_cell tone"]).unwrap();
    let error = playing.send(&["bypass low"]).unwrap_err();
    assert!(error.contains("is stopped"), "{error}");
    playing.send(&["start_cell tone"]).unwrap();
    wait_until(|| process(&playing, "tone").is_some());
    // Cells that were added are edited as others, and saved.
    playing.send(&["remove_cell hum"]).unwrap();
    playing.send(&["add_cell noise of hum"]).unwrap();
    playing.send(&["replace hum osc freq=99"]).unwrap();
    playing.send(&["save more.toml"]).unwrap();
    let kept = String::from_utf8(here.read("more.toml")).unwrap();
    assert!(
        kept.contains("[cell.noise]") && !kept.contains("[cell.hum]"),
        "{kept}"
    );
    here.well("check more.toml");
}

#[test]
fn edges_that_drive_parameters_in_a_cell_are_removed() {
    let here = Folder::new();
    let session = r#"
edges = ["tone -> f -> out", "lfo -> f.freq: 1 octaves", "slow -> f.freq: 0.5 octaves"]
[nodes]
tone = { kind = "osc", freq = 330, volume = 0.3 }
lfo = { kind = "lfo", freq = 3 }
slow = { kind = "lfo", freq = 0.2 }
f = { kind = "svf", freq = 900 }
out = { kind = "sink" }
[cell.p]
nodes = ["f"]
"#;
    here.write("s.toml", session);
    let playing = Playing::begin(&here, LINE, |_| {});
    let first = process(&playing, "p");
    // The other one moves to the place of the first.
    playing.send(&["disconnect lfo -> f.freq"]).unwrap();
    assert_ne!(process(&playing, "p"), first);
    playing.send(&["remove slow"]).unwrap();
    playing.send(&["connect lfo -> f.freq"]).unwrap();
    playing.send(&["undo"]).unwrap();
    playing.send(&["undo"]).unwrap();
    playing.send(&["remove lfo"]).unwrap();
    let edges = playing.graph()["edges"].as_array().unwrap().len();
    assert_eq!(edges, 3, "without that of `lfo`");
}
