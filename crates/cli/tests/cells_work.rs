//! Deferred work of nodes in the process of a cell: the bits of one process, also over kills and nonsense.
#![cfg(target_os = "linux")]

mod common;

use common::guarded::{Guarded, kill};
use common::playing::wait_until;
use common::{Folder, sound, wav};
use rustix::process::Signal;
use serde_json::Value;

/// A session in which the events of trackers become sound: each rings a bell.
const SESSION: &str = r#"
edges = [
    "tune -> note.notes", "tune -> swell.notes", "note.freq -> voice.freq", "voice -> sung.1", "swell -> sung.2",
    "sung -> pitch", "sung -> strokes", "sung -> beat", "pitch.freq -> low.freq: 0.5",
    "sung -> mix.in1", "low -> mix.in2", "strokes.flux -> mix.in3", "beat.clarity -> mix.in4", "beat.bpm -> slow -> mix.in5", "mix -> out",
]
[nodes]
tune = { kind = "score", events = "0 A3 0.9 0.4; 0.5 C4 0.8 0.4; 1 E4 0.9 0.4; 1.5 G3 0.7 0.4", loop = 2 }
note = { kind = "note", release = 0.3 }
voice = { kind = "osc", freq = 0, wave = "saw" }
swell = { kind = "envelope", attack = 0.004, decay = 0.3, sustain = 0.4, release = 0.2 }
sung = { kind = "multiply" }
pitch = { kind = "pitch_tracker" }
strokes = { kind = "onset_tracker" }
beat = { kind = "tempo_tracker" }
low = { kind = "osc", freq = 55 }
slow = { kind = "gain", gain_db = -60 }
mix = { kind = "mixer", in = 5 }
out = { kind = "sink" }
[cell.analysis]
work = ["pitch", "strokes", "beat"]
cores = [0, 1]
"#;

/// Results of the work, of which none is missing.
fn all_in_time(printed: &str) -> u32 {
    let line = printed
        .lines()
        .find(|it| it.contains("results of its work in time"));
    let line = line.unwrap_or_else(|| panic!("{printed}"));
    assert!(line.ends_with("0 late, 0 lost"), "{printed}");
    let number = line.split(": ").nth(1).and_then(|it| it.split(' ').next());
    number.unwrap().parse().unwrap()
}

#[test]
fn work_in_another_process_has_the_bits_of_one_process_also_over_failures() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.well("render s.toml -o one.wav --seconds 6 --block 64");
    assert!(wav(&here.read("one.wav")).1.iter().any(|it| *it != 0));
    let cells = "cells s.toml --render many.wav --seconds 6";
    for (block, drills) in [
        (64, ""),
        (480, ""),
        (64, "--drill analysis:kill@1 --drill analysis:kill@2.013"),
        (
            64,
            "--drill analysis:garbage@1 --drill analysis:segv@1.5 --drill analysis:stop@3",
        ),
    ] {
        let gave = here.well(&format!("{cells} --block {block} {drills}"));
        let is_same = here.read("one.wav") == here.read("many.wav");
        assert!(is_same, "{block} {drills}\n{}", gave.err);
        // 100 a second of each of three trackers.
        assert_eq!(all_in_time(&gave.err), 3 * 598, "{drills}\n{}", gave.err);
        let starts = gave.err.matches(": process ").count();
        assert_eq!(
            starts,
            1 + drills.matches("--drill").count(),
            "{}",
            gave.err
        );
    }
}

/// Strokes into a long room, whose long levels another process does.
const ROOM: &str = r#"
edges = ["tune -> swell.notes", "voice -> sung.1", "swell -> sung.2", "sung -> room -> out"]
[nodes]
tune = { kind = "score", events = "0 A3 0.9 0.2; 0.7 C4 0.8 0.1", loop = 1.3 }
voice = { kind = "osc", freq = 331, wave = "saw" }
swell = { kind = "envelope", attack = 0.004, decay = 0.1, sustain = 0.4, release = 0.05 }
sung = { kind = "multiply" }
room = { kind = "convolver", file = "room.wav" }
out = { kind = "sink" }
[cell.tail]
work = ["room"]
cores = [0, 1]
"#;

/// A room of so many frames.
fn noise(frames: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let room = (0..frames).map(|at| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = (state >> 8) as f32 / (1 << 24) as f32 - 0.5;
        0.2 * noise * (-(at as f32) / 30_000.0).exp()
    });
    sound(48_000, &[&room.collect::<Vec<f32>>()])
}

#[test]
fn a_convolver_that_fades_between_two_responses_in_another_process_has_the_same_bits() {
    let here = Folder::new();
    here.write("room.wav", noise(72_000, 7));
    here.write("hall.wav", noise(40_000, 9));
    // It begins with either of the two, and goes to and fro: within a fade, in the middle of one, and long after one.
    for first in [0, 1] {
        let switched = format!(
            r#"file = "room.wav", other = "hall.wav", fade = 0.4, which = {first} }}
flip = {{ kind = "osc", freq = 0.9, wave = "square" }}"#
        );
        let session = ROOM.replace("file = \"room.wav\" }", &switched);
        let edges = "\"flip -> room.which\", \"sung -> room";
        here.write("s.toml", session.replace("\"sung -> room", edges));
        for (block, drills) in [
            (64, ""),
            (256, "--drill tail:kill@0.7 --drill tail:kill@1.9"),
            (64, "--drill tail:garbage@1.4 --drill tail:stop@2.51"),
        ] {
            let line = format!("--seconds 4 --block {block}");
            here.well(&format!("render s.toml -o one.wav {line}"));
            let gave = here.well(&format!("cells s.toml --render many.wav {line} {drills}"));
            let is_same = here.read("one.wav") == here.read("many.wav");
            assert!(is_same, "{first} {block} {drills}\n{}", gave.err);
            assert!(all_in_time(&gave.err) > 20, "{}", gave.err);
        }
        // What it fades to is heard.
        let alone = session.replace(", other = \"hall.wav\", fade = 0.4", "");
        here.write(
            "s.toml",
            alone.replace(&format!("which = {first} "), "which = 0 "),
        );
        here.well("render s.toml -o alone.wav --seconds 4");
        assert!(here.read("one.wav") != here.read("alone.wav"));
    }
}

#[test]
fn long_levels_of_a_convolver_in_another_process_have_the_same_bits_also_over_failures() {
    let here = Folder::new();
    here.write("s.toml", ROOM);
    here.write("room.wav", noise(72_000, 7));
    for (block, drills) in [
        (64, ""),
        (256, ""),
        // The process has answered, and nobody looks at its nonsense: the graph waits for the reply.
        (256, "--drill tail:garbage@1.4"),
        (64, "--drill tail:kill@1 --drill tail:kill@2.513"),
        (64, "--drill tail:garbage@1.5 --drill tail:stop@2.5"),
    ] {
        let line = format!("--seconds 4 --block {block}");
        here.well(&format!("render s.toml -o one.wav {line}"));
        let gave = here.well(&format!("cells s.toml --render many.wav {line} {drills}"));
        let is_same = here.read("one.wav") == here.read("many.wav");
        assert!(is_same, "{block} {drills}\n{}", gave.err);
        assert!(all_in_time(&gave.err) > 20, "{}", gave.err);
    }
}

#[test]
fn a_killed_process_of_work_comes_back_while_the_rest_plays() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let line = "cells s.toml --driver clock --block 256 --rate 48000 --socket s --no-admission";
    let mut playing = Guarded::start(&here, line);
    let first = playing.number("cell `analysis`: process ");
    let query = || -> Value {
        let output = here.command("send --socket s").arg("query cells").output();
        let reply: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap_or_default();
        reply["data"][0]["cells"][0].clone()
    };
    let done = || query()["work"]["done"].as_u64().unwrap_or(0);
    wait_until(|| done() > 100);
    let mut process = first;
    for _ in 0..3 {
        let before = done();
        kill(process, Signal::KILL);
        process = playing.number("cell `analysis`: process ");
        wait_until(|| done() > before + 50);
    }
    let last = query();
    assert_eq!(last["work"]["nodes"][0], "pitch");
    assert_eq!(
        (&last["restarts"], &last["work"]["nonsense"]),
        (&3.into(), &0.into())
    );
    let (_, printed) = playing.end();
    assert!(printed.contains("results of its work in time"), "{printed}");
    assert!(!printed.contains("panic"), "{printed}");
}

/// Gives each node of the costs file these costs in µs: its own, and each request of its work.
fn state_costs(here: &Folder, own: u64, work: u64) {
    let mut costs = here.json(".cache/divisi/costs.json");
    let machines = costs["machines"].as_object_mut().unwrap();
    let of_kinds = machines.values_mut().filter_map(|it| it.get_mut("kinds"));
    of_kinds.for_each(|it| *it = serde_json::json!({}));
    let patches = machines
        .values_mut()
        .flat_map(|it| it["patches"].as_object_mut().unwrap().values_mut());
    for cost in patches.flat_map(|it| it.as_object_mut().unwrap().values_mut()) {
        (cost[0]["ns"], cost[0]["worst_ns"]) = ((1000 * own).into(), (1000 * own).into());
        for job in cost[0]["work"].as_array_mut().unwrap() {
            (job["ns"], job["worst_ns"]) = ((1000 * work).into(), (1000 * work).into());
        }
    }
    here.write(".cache/divisi/costs.json", costs.to_string());
}

#[test]
fn measured_work_is_admitted_once_and_over_the_blocks_that_it_has() {
    let here = Folder::new();
    let on = |work: &str| {
        let cell = format!("[cell.analysis]\nwork = [{work}]\ncores = [0]\n");
        SESSION.split("[cell").next().unwrap().to_owned() + &cell
    };
    let all = "\"pitch\", \"strokes\", \"beat\"";
    here.write("s.toml", on(all));
    let told = here.well("measure s.toml --repeats 2 --seconds 0.2 --block 64 --json m.json");
    assert!(told.out.contains("deferred work of"), "{}", told.out);
    let measured = here.json("m.json");
    let nodes = measured["nodes"].as_array().unwrap().iter();
    let with_work = nodes.filter(|it| !it["work"].as_array().unwrap().is_empty());
    let names: Vec<&str> = with_work.map(|it| it["node"].as_str().unwrap()).collect();
    assert_eq!(names, ["pitch", "strokes", "beat"]);
    let line = "cells s.toml --driver clock --block 64 --rate 48000 --seconds 0.2";
    // Seven blocks lie within 10 ms: 9.3 ms, of which 8.4 are not in reserve.
    state_costs(&here, 10, 2700);
    let fits = here.call(line);
    assert!(fits.code != Some(2), "{}", fits.err);
    state_costs(&here, 10, 2900);
    let refused = here.call(line);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused.err.contains(
            "cell `analysis` does not fit: with deferred work it needs 8.7 ms of 7 blocks"
        ),
        "{}",
        refused.err
    );
    // What the cell does is not done by the graph's nodes, which have some work left then.
    here.write("s.toml", on("\"beat\""));
    let fits = here.call(line);
    assert!(fits.code != Some(2), "{}", fits.err);
    // And nodes are heard in each block.
    state_costs(&here, 200, 10);
    let refused = here.call(line);
    assert!(
        refused.err.contains("the rest of the session does not fit"),
        "{}",
        refused.err
    );
}

#[test]
fn names_of_work_that_cannot_be_meant_are_refused_with_the_place_of_the_cell() {
    let here = Folder::new();
    let cells = |text: &str| SESSION.split("[cell").next().unwrap().to_owned() + text;
    for (text, part) in [
        (
            "[cell.a]\nwork = [\"pich\"]\n",
            "does the work of `pich`, which is no node",
        ),
        (
            "[cell.a]\nwork = [\"low\"]\n",
            "`osc` has none that another process can do",
        ),
        (
            "[cell.a]\nwork = [\"pitch\", \"pitch\"]\n",
            "by the cells `a` and `a`",
        ),
        (
            "[cell.a]\nwork = [\"pitch\"]\n[cell.b]\nnodes = [\"pitch\"]\n",
            "`work` names nodes in no cell",
        ),
        ("[cell.a]\nwork = []\n", "needs `nodes`"),
    ] {
        here.write("s.toml", cells(text));
        for line in ["check s.toml", "cells s.toml --render o.wav --seconds 1"] {
            let gave = here.call(line);
            assert_eq!(gave.code, Some(2), "{line} {text}\n{}", gave.err);
            assert!(
                gave.err.contains(part) || gave.out.contains(part),
                "{text}\n{}{}",
                gave.err,
                gave.out
            );
        }
    }
}
