//! `divisi cells` as a player: input, recording, devices and live MIDI are those of `divisi play`.
#![cfg(target_os = "linux")]

mod common;

use common::guarded::Guarded;
use common::jackd::{Jackd, skip};
use common::playing::wait_until;
use common::{Folder, controller_file, sound, wav};
use rustix::process::Signal;
use serde_json::Value;

/// An input through a cell, and a tone beside it through another one.
const SESSION: &str = r#"
edges = ["ear -> low -> mix.in1 -> out", "tone -> mix.in2"]
[nodes]
ear = { kind = "input" }
tone = { kind = "osc", freq = 220, volume = 0.2 }
low = { kind = "svf", freq = 900 }
mix = { kind = "mixer", in = 2 }
out = { kind = "sink" }
[cell.filter]
nodes = ["low"]
[cell.source]
nodes = ["tone"]
"#;

/// Half a second of a sound without a period.
fn noise() -> Vec<u8> {
    let mut state = 7u32;
    let samples = (0..24_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    });
    sound(48_000, &[&samples.collect::<Vec<f32>>()])
}

/// Calls `cells` until it loses no block: a machine under load may lose one, and says so by its exit code.
fn whole(here: &Folder, line: &str, jackd: Option<&Jackd>) -> String {
    let mut told = String::new();
    for _ in 0..6 {
        let mut command = here.command(line);
        if let Some(jackd) = jackd {
            command.env("JACK_DEFAULT_SERVER", &jackd.name);
        }
        let gave = common::CallResult::from(command.output().unwrap());
        let is_lost = gave.err.contains("the sound is not whole");
        assert_eq!(gave.code, Some(i32::from(is_lost)), "{line}\n{}", gave.err);
        told = gave.err;
        if !is_lost {
            return told;
        }
    }
    panic!("never whole: {told}");
}

#[test]
fn an_input_file_and_a_recording_have_the_bits_of_one_process() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.write("in.wav", noise());
    // Until the input has ended.
    let live = "s.toml --driver clock --input in.wav --block 4096 --rate 48000";
    here.well(&format!("play {live} --record one.wav"));
    whole(&here, &format!("cells {live} --record many.wav"), None);
    let one = here.read("one.wav");
    assert!(wav(&one).1.len() >= 24_000);
    assert!(one == here.read("many.wav"));
    let render = "s.toml --input in.wav --seconds 0.6 --block 100";
    here.well(&format!("render {render} -o one.wav"));
    here.well(&format!("cells {render} --render many.wav"));
    assert!(here.read("one.wav") == here.read("many.wav"));
}

#[test]
fn options_without_a_meaning_are_refused() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    for (line, part) in [
        ("--render-ahead 4", "--render-ahead: a cell"),
        ("--render o.wav --seconds 1 --record r.wav", "--record"),
        ("--render o.wav --seconds 1 --driver clock", "--driver"),
        ("--device hw:0", "--device needs"),
        ("--record in.toml", "in.toml"),
    ] {
        let gave = here.call(&format!("cells s.toml {line}"));
        assert_eq!(gave.code, Some(2), "{line}: {}", gave.err);
        assert!(gave.err.contains(part), "{line}: {}", gave.err);
    }
}

#[test]
fn alsa_plays_cells() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.write("in.wav", noise());
    let line = "s.toml --driver alsa --device null --input in.wav --block 4096 --rate 48000";
    let one = here.call(&format!("play {line} --record one.wav"));
    if one.err.contains("ALSA's library") {
        return skip("alsa_plays_cells", "needs libasound2");
    }
    assert_eq!(one.code, Some(0), "{}", one.err);
    let told = whole(&here, &format!("cells {line} --record many.wav"), None);
    assert!(told.contains("ALSA"), "{told}");
    assert!(here.read("one.wav") == here.read("many.wav"));
}

/// A cell with a block of latency.
const LATE: &str = r#"
edges = ["tone -> low -> out"]
[nodes]
tone = { kind = "osc", freq = 220, wave = "saw", volume = 0.2 }
low = { kind = "svf", freq = 900 }
out = { kind = "sink" }
[cell.filter]
nodes = ["low"]
latency = 1
"#;

const TOOLS: [&str; 3] = ["jack_lsp", "jack_connect", "jack_disconnect"];

#[test]
fn jack_asks_cells_for_several_blocks_at_once() {
    let Some(jackd) = Jackd::start_wide("cells", 8192) else {
        return;
    };
    let here = Folder::new();
    here.write("s.toml", LATE);
    here.well("render s.toml -o one.wav --seconds 1 --block 2048 --rate 48000");
    let line = "cells s.toml --driver jack --seconds 1 --block 2048 --record many.wav";
    whole(&here, line, Some(&jackd));
    let (one, many) = (wav(&here.read("one.wav")).1, wav(&here.read("many.wav")).1);
    assert_eq!(many.len(), 48_000);
    assert!(many[..2048].iter().all(|bits| *bits == 0));
    assert!(many[2048..] == one[..48_000 - 2048]);
    // Where nobody says it, a block is what the device asks for.
    let line = "cells s.toml --driver jack --seconds 0.2 --json report.json";
    whole(&here, line, Some(&jackd));
    let report = here.json("report.json");
    assert_eq!(report["block"], 8192);
    assert!(report["cells"][0]["blocks"].as_u64() > Some(0), "{report}");
}

/// Ports to which the port `s:out_1` is connected.
fn connections(jackd: &Jackd) -> Vec<String> {
    let lines = jackd.lines("jack_lsp", &["-c", "s:out_1"]);
    lines
        .iter()
        .skip(1)
        .map(|it| it.trim().to_owned())
        .collect()
}

#[test]
fn after_the_loss_of_a_supervisor_the_device_is_opened_again_as_it_was() {
    let Some(jackd) = Jackd::start_free("again", &TOOLS) else {
        return;
    };
    let here = Folder::new();
    here.write("s.toml", LATE);
    here.well("render s.toml -o one.wav --seconds 20 --block 256 --rate 48000");
    let line = "cells s.toml --block 256 --record take.wav --seconds 20";
    let mut playing = Guarded::start_with(&here, line, |command| {
        command.env("JACK_DEFAULT_SERVER", &jackd.name);
    });
    playing.line("`filter`: process ");
    jackd.wait_for_clients(&["s"]);
    jackd.wait_for_port("s:out_1");
    wait_until(|| connections(&jackd) == ["system:playback_1"]);
    // By hand, to another port than the usual one.
    for (tool, port) in [("jack_connect", "2"), ("jack_disconnect", "1")] {
        let port = format!("system:playback_{port}");
        let done = jackd.command(tool, &["s:out_1", &port]).status().unwrap();
        assert!(done.success(), "{tool}");
    }
    wait_until(|| connections(&jackd) == ["system:playback_2"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    playing.signal_supervisor(Signal::KILL);
    playing.line("the recording goes on in take-2.wav; take.wav holds what came before");
    playing.line("playing through jackd");
    playing.line("the supervisor: plays on; 1 lost");
    // The server has closed the client of the one that was killed.
    jackd.wait_for_clients(&["s"]);
    wait_until(|| connections(&jackd) == ["system:playback_2"]);
    let (code, printed) = playing.end();
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("the supervisor was lost once"),
        "{printed}"
    );
    // Nothing that was written is lost, and nothing is overwritten.
    let (one, take) = (wav(&here.read("one.wav")).1, wav(&here.read("take.wav")).1);
    assert!(take.len() > 256 * 20, "{}", take.len());
    let silent = |bits: &&[u32]| bits.iter().all(|it| f32::from_bits(*it) == 0.0);
    let lost = take.chunks(256).skip(1).filter(silent).count();
    if lost == 0 {
        assert!(take[256..] == one[..take.len() - 256]);
    }
    let again = wav(&here.read("take-2.wav")).1;
    assert!(again.iter().any(|it| f32::from_bits(*it).abs() > 0.05));
}

/// Plays a MIDI file, in which controller 74 goes up every quarter second, to a port.
const SENDER: &str = r#"
edges = ["song -> out"]
[nodes]
song = { kind = "midi_file", file = "cc.mid", loop = true }
out = { kind = "midi_output" }
"#;

/// A tone in a cell that is silent until a controller turns it up.
const RECEIVER: &str = r#"
edges = ["tone -> out"]
[connections]
keys = ["sender:out"]
[[controller]]
cc = 74
target = "tone.volume"
range = [0.0, 0.5]
[nodes]
keys = { kind = "midi_input" }
tone = { kind = "osc", freq = 440, volume = 0 }
out = { kind = "sink" }
[cell.sound]
nodes = ["tone"]
"#;

/// The volume of a node in the graph that plays.
fn volume(here: &Folder, name: &str) -> Option<f64> {
    let mut ask = here.command("send --socket s");
    let answer = ask.arg("query graph").output().unwrap();
    let answer = serde_json::from_slice::<Value>(&answer.stdout).unwrap_or_default();
    let nodes = answer["data"][0]["nodes"].as_array().cloned();
    let mut nodes = nodes.unwrap_or_default().into_iter();
    let node = nodes.find(|node| node["name"] == name)?;
    node["params"]["volume"].as_f64()
}

#[test]
fn a_live_controller_reaches_a_node_in_a_cell() {
    let Some(jackd) = Jackd::start("knob", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    here.write("cc.mid", controller_file());
    here.write("sender.toml", SENDER);
    here.write("receiver.toml", RECEIVER);
    let with_server = |command: &mut std::process::Command| {
        command.env("JACK_DEFAULT_SERVER", &jackd.name);
    };
    let line = "cells receiver.toml --driver jack --socket s --record r.wav";
    let mut receiver = Guarded::start_with(&here, line, with_server);
    receiver.line("playing through jackd");
    jackd.wait_for_clients(&["receiver"]);
    jackd.wait_for_port("receiver:keys");
    let line = "play sender.toml --driver jack --scheduler sequential";
    let sender = Guarded::start_with(&here, line, with_server);
    // The values of the graph are those that sound.
    wait_until(|| volume(&here, "tone") == Some(0.5));
    std::thread::sleep(std::time::Duration::from_millis(200));
    let _ = sender.end();
    let (_, printed) = receiver.end();
    let samples = wav(&here.read("r.wav")).1.into_iter();
    let peak = samples.map(|bits| f32::from_bits(bits).abs());
    let peak = peak.fold(0.0, f32::max);
    assert!(peak > 0.45 && peak < 0.55, "{peak}\n{printed}");
}

#[test]
fn a_value_of_a_live_controller_stays_when_a_supervisor_is_lost() {
    let Some(jackd) = Jackd::start("keep", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    here.write("cc.mid", controller_file());
    here.write("sender.toml", SENDER);
    here.write("receiver.toml", RECEIVER);
    let with_server = |command: &mut std::process::Command| {
        command.env("JACK_DEFAULT_SERVER", &jackd.name);
    };
    let line = "cells receiver.toml --driver jack --socket s";
    let mut receiver = Guarded::start_with(&here, line, with_server);
    receiver.line("playing through jackd");
    jackd.wait_for_clients(&["receiver"]);
    jackd.wait_for_port("receiver:keys");
    // The controller comes after a command.
    let mut set = here.command("send --socket s");
    let set = set.arg("set tone.volume 0.1").output().unwrap();
    assert!(set.status.success());
    let line = "play sender.toml --driver jack --scheduler sequential";
    let sender = Guarded::start_with(&here, line, with_server);
    wait_until(|| volume(&here, "tone") == Some(0.5));
    let _ = sender.end();
    receiver.signal_supervisor(Signal::KILL);
    receiver.line("the supervisor: plays on; 1 lost");
    wait_until(|| volume(&here, "tone") == Some(0.5));
    let (_, printed) = receiver.end();
    assert!(printed.contains("1 lost"), "{printed}");
}
