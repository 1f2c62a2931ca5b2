//! What commands have changed is kept for the supervisor that comes after a loss.
#![cfg(target_os = "linux")]

mod common;

use common::Folder;
use common::asked::{cells, param, parts, process, query, send, shape};
use common::guarded::{Guarded, kill};
use common::playing::wait_until;
use common::two_cells::SESSION;
use rustix::process::Signal;
use serde_json::Value;

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
    // Not saved.
    send(
        &here,
        &["snapshot loud", "snapshot soft", "remove_snapshot soft"],
    );
    send(&here, &["stop", "locate 2", "loop 0 5"]);
    // Heard, not only sent.
    wait_until(|| query(&here, "transport")["frame"] == 96_000);
    let before = cells(&here);
    assert_eq!(before.len(), 3);
    let snapshots = query(&here, "snapshots");
    let names: Vec<&Value> = snapshots
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["loud"]);
    for lost in 1..3 {
        playing.signal_supervisor(Signal::KILL);
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
        // Added cells play on as they are, stopped ones stay so.
        assert_eq!(cells(&here), before, "{}", playing.printed);
        assert_eq!(param(&here, "tone", "freq"), Some(550.0));
        assert_eq!(param(&here, "low", "freq"), Some(1000.0));
        assert_eq!(param(&here, "wide", "gain_db"), Some(-9.0));
        assert_eq!(query(&here, "snapshots"), snapshots);
        let transport = query(&here, "transport");
        assert_eq!(transport["is_rolling"], false, "{transport}");
        assert_eq!(transport["frame"], 96_000, "{transport}");
    }
    // The process of a cell that comes later is told too: it has read the file.
    send(&here, &["start_cell hum"]);
    send(&here, &["remove_cell bells"]);
    send(&here, &["set tone.freq 600"]);
    send(&here, &["recall loud"]);
    wait_until(|| param(&here, "tone", "freq") == Some(550.0));
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

#[test]
fn nodes_and_edges_that_commands_have_changed_play_on_when_a_supervisor_is_lost() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let line = "cells s.toml --driver clock --socket s --block 480 --rate 48000 --no-admission";
    let mut playing = Guarded::start(&here, line);
    playing.line("playing by the clock");
    // Values before the edit and the new cell, whose processes read them in their session.
    send(
        &here,
        &[
            "set tone.freq 500",
            "set bell.freq 900",
            "set low.freq 1000",
        ],
    );
    send(&here, &["set hum.freq 120"]);
    // Inside of a cell, by its own engine; then with another border, by a new process; then outside.
    let inside = [
        "add soft gain gain_db=-6",
        "disconnect low -> mix.in1",
        "connect low -> soft",
        "connect soft -> mix.in1",
    ];
    send(&here, &inside);
    send(&here, &["rename wide thin"]);
    send(&here, &["remove bell"]);
    send(&here, &["add bell osc freq=330", "connect bell -> mix.in3"]);
    send(&here, &["add_cell bells of bell with latency=1"]);
    send(&here, &["set soft.gain_db -7", "set thin.gain_db -5"]);
    let (before, graph) = (parts(&here), shape(&here));
    for lost in 1..3usize {
        playing.signal_supervisor(Signal::KILL);
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
        assert_eq!(parts(&here), before, "{}", playing.printed);
        assert_eq!(shape(&here), graph);
        // On a busy machine a process may hang later; none is started anew for its edits.
        let taken = playing.printed.matches("plays on as process").count();
        assert_eq!(taken, 3 * lost, "{}", playing.printed);
        assert!(
            !playing.printed.contains("not taken over"),
            "{}",
            playing.printed
        );
        let values = [
            ("tone", "freq", 500.0),
            ("bell", "freq", 330.0),
            ("low", "freq", 1000.0),
            ("soft", "gain_db", -7.0),
            ("thin", "gain_db", -5.0),
            ("hum", "freq", 120.0),
        ];
        for (node, name, value) in values {
            assert_eq!(param(&here, node, name), Some(value), "{node}.{name}");
        }
    }
    assert!(
        !playing.printed.contains("lost with the supervisor"),
        "{}",
        playing.printed
    );
    // The next process of a cell has the edit too, and a next edit finds it.
    for cell in ["filter", "hum", "bells"] {
        let old = process(&here, cell).unwrap();
        kill(old as u32, Signal::KILL);
        wait_until(|| process(&here, cell).is_some_and(|it| it != old));
    }
    send(&here, &["set soft.gain_db -8"]);
    send(
        &here,
        &[
            "disconnect soft -> mix.in1",
            "remove soft",
            "connect low -> mix.in1",
        ],
    );
    // What is saved is the session's.
    send(&here, &["save"]);
    let (before, graph) = (parts(&here), shape(&here));
    let saved = here.read("s.toml");
    playing.signal_supervisor(Signal::KILL);
    playing.line("the supervisor: plays on; 3 lost");
    assert!(
        !playing.printed.contains("has changed since"),
        "{}",
        playing.printed
    );
    assert_eq!(
        (parts(&here), shape(&here)),
        (before, graph),
        "{}",
        playing.printed
    );
    send(&here, &["save"]);
    assert_eq!(here.read("s.toml"), saved);
    let (code, printed) = playing.end();
    assert_eq!(code, Some(1), "{printed}");
}

#[test]
fn an_included_file_is_read_once_whoever_is_lost() {
    let here = Folder::new();
    let part = "edges = [\"osc -> out\"]\noutputs = [\"out\"]\nnodes = { osc = { kind = \"osc\", freq = 330 } }\n";
    here.write("part.toml", format!("[part.bell]\n{part}"));
    let session = "edges = [\"high -> out\"]\n[nodes]\nhigh = { kind = \"bell\" }\nout = { kind = \"sink\" }\n[cell.high]\nnodes = [\"high.osc\"]\n";
    here.write("s.toml", format!("include = [\"part.toml\"]\n{session}"));
    let line = "cells s.toml --driver clock --socket s --block 480 --rate 48000 --no-admission";
    let mut playing = Guarded::start(&here, line);
    let first = playing.number("`high`: process ");
    playing.line("playing by the clock");
    here.write(
        "part.toml",
        format!("[part.bell]\n{}", part.replace("330", "550")),
    );
    kill(first, Signal::KILL);
    let second = playing.number("`high`: process ");
    playing.signal_supervisor(Signal::KILL);
    playing.line("plays on; 1 lost");
    kill(second, Signal::KILL);
    playing.line("`high`: process ");
    assert_eq!(param(&here, "high.osc", "freq"), Some(330.0));
    playing.end();
}
