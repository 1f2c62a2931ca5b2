//! What commands have changed is kept for the supervisor that comes after a loss.
#![cfg(target_os = "linux")]

mod common;

use common::guarded::Guarded;
use common::playing::wait_until;
use common::{CallResult, Folder};
use rustix::process::Signal;
use serde_json::Value;

const SESSION: &str = r#"
edges = ["tone -> low -> mix.in1 -> out", "hum -> wide -> mix.in2", "bell -> mix.in3"]
[nodes]
tone = { kind = "osc", freq = 440 }
hum = { kind = "osc", freq = 110 }
bell = { kind = "osc", freq = 880 }
low = { kind = "svf", freq = 900 }
wide = { kind = "gain", gain_db = -3 }
mix = { kind = "mixer", in = 3 }
out = { kind = "sink" }
[cell.filter]
nodes = ["low"]
[cell.hum]
nodes = ["hum", "wide"]
latency = 1
"#;

fn send(here: &Folder, words: &[&str]) -> Value {
    let mut command = here.command("send --socket s");
    let gave = CallResult::from(command.args(words).output().unwrap());
    assert_eq!(gave.code, Some(0), "{words:?}: {}", gave.err);
    serde_json::from_str(&gave.out).unwrap()
}

fn query(here: &Folder, what: &str) -> Value {
    send(here, &[&format!("query {what}")])["data"][0].clone()
}

fn param(here: &Folder, node: &str, param: &str) -> Option<f64> {
    let graph = query(here, "graph");
    let mut nodes = graph["nodes"].as_array().unwrap().iter();
    let node = nodes.find(|it| it["name"] == node)?;
    node["params"][param].as_f64()
}

/// Name, state and cores of each cell, and its process.
fn cells(here: &Folder) -> Vec<(String, Value)> {
    let cells = query(here, "cells");
    let cells = cells["cells"].as_array().unwrap().iter();
    let facts = cells.map(|it| {
        let name = it["cell"].as_str().unwrap().to_owned();
        let facts = serde_json::json!([it["state"], it["cores"], it["nodes"], it["process"]]);
        (name, facts)
    });
    facts.collect()
}

#[test]
fn what_commands_have_changed_stays_when_a_supervisor_is_lost() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let line = "cells s.toml --driver clock --socket s --block 480 --rate 48000 --no-admission";
    let mut playing = Guarded::start(&here, line);
    playing.line("playing by the clock");
    // A node of the supervisor, and two in cells; the last value counts.
    send(
        &here,
        &[
            "set tone.freq 500",
            "set low.freq 1000",
            "set wide.gain_db -9",
        ],
    );
    send(&here, &["set tone.freq 550"]);
    send(&here, &["add_cell bells of bell with latency=1"]);
    send(&here, &["stop_cell hum"]);
    send(&here, &["resize_cell filter 0"]);
    send(&here, &["stop", "locate 2", "loop 0 5"]);
    // Heard, not only sent.
    wait_until(|| query(&here, "transport")["frame"] == 96_000);
    let before = cells(&here);
    assert_eq!(before.len(), 3);
    for lost in 1..3 {
        playing.signal_supervisor(Signal::KILL);
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
        // Added cells play on as they are, stopped ones stay so.
        assert_eq!(cells(&here), before, "{}", playing.printed);
        assert_eq!(param(&here, "tone", "freq"), Some(550.0));
        assert_eq!(param(&here, "low", "freq"), Some(1000.0));
        assert_eq!(param(&here, "wide", "gain_db"), Some(-9.0));
        let transport = query(&here, "transport");
        assert_eq!(transport["is_rolling"], false, "{transport}");
        assert_eq!(transport["frame"], 96_000, "{transport}");
    }
    // The process of a cell that comes later is told too: it has read the file.
    send(&here, &["start_cell hum"]);
    send(&here, &["remove_cell bells"]);
    send(&here, &["set tone.freq 600"]);
    playing.signal_supervisor(Signal::KILL);
    playing.line("the supervisor: plays on; 3 lost");
    let after = cells(&here);
    let names: Vec<&str> = after.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["filter", "hum"]);
    assert_eq!(after[0], before[0]);
    wait_until(|| cells(&here)[1].1[0] == "playing");
    assert_eq!(param(&here, "tone", "freq"), Some(600.0));
    let (code, printed) = playing.end();
    assert_eq!(code, Some(1), "{printed}");
}
