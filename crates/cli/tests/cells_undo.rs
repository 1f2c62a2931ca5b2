//! Steps of undo and redo outlive a supervisor, and an edit that was under way is made or is none.
#![cfg(target_os = "linux")]

mod common;

use common::asked::{param, parts, query, send, shape};
use common::guarded::Guarded;
use common::patch_cell::LEVEL;
use common::two_cells::SESSION;
use common::{CallResult, Folder};
use rustix::process::Signal;
use serde_json::Value;

const LINE: &str = "cells s.toml --driver clock --socket s --block 480 --rate 48000 --no-admission";

/// All that a step may change.
#[derive(Debug, PartialEq)]
struct State {
    shape: (Vec<String>, Vec<String>),
    parts: Vec<(String, Value)>,
    values: [Option<f64>; 3],
    snapshots: Value,
}

fn state(here: &Folder) -> State {
    let value = |node, name| param(here, node, name);
    State {
        shape: shape(here),
        parts: parts(here),
        values: [
            value("tone", "freq"),
            value("low", "freq"),
            value("hum", "freq"),
        ],
        snapshots: query(here, "snapshots"),
    }
}

/// The command, which may be refused or lost.
fn try_send(here: &Folder, words: &[&str]) -> CallResult {
    let mut command = here.command("send --socket s");
    CallResult::from(command.args(words).output().unwrap())
}

#[test]
fn steps_of_undo_and_redo_go_on_with_the_next_supervisor() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let mut playing = Guarded::start(&here, LINE);
    playing.line("playing by the clock");
    let mut states = vec![state(&here)];
    let requests: [&[&str]; 6] = [
        &["set tone.freq 500", "set low.freq 1000"],
        // Within a cell, which the next undo of it takes out again.
        &[
            "add soft gain gain_db=-6",
            "disconnect low -> mix.in1",
            "connect low -> soft",
            "connect soft -> mix.in1",
        ],
        &["snapshot loud"],
        // A node of a cell leaves: undo puts it there again.
        &[
            "disconnect wide -> mix.in2",
            "remove wide",
            "connect hum -> mix.in2",
        ],
        &["rename bell gong"],
        &["set hum.freq 130"],
    ];
    for request in requests {
        send(&here, request);
        states.push(state(&here));
    }
    let lose = |playing: &mut Guarded, lost: usize| {
        playing.signal_supervisor(Signal::KILL);
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
    };
    lose(&mut playing, 1);
    assert_eq!(state(&here), states[6], "{}", playing.printed);
    for at in (3..6).rev() {
        send(&here, &["undo"]);
        assert_eq!(state(&here), states[at], "{at}: {}", playing.printed);
    }
    // Steps of both lists, of which the supervisor has made some and has got others.
    lose(&mut playing, 2);
    send(&here, &["redo"]);
    assert_eq!(state(&here), states[4], "{}", playing.printed);
    lose(&mut playing, 3);
    for at in (0..4).rev() {
        send(&here, &["undo"]);
        assert_eq!(state(&here), states[at], "{at}: {}", playing.printed);
    }
    let none = try_send(&here, &["undo"]);
    assert!(
        none.code != Some(0) && none.err.contains("nothing to undo"),
        "{none:?}"
    );
    for after in &states[1..] {
        send(&here, &["redo"]);
        assert_eq!(state(&here), *after, "{}", playing.printed);
    }
    let (code, printed) = playing.end();
    assert_eq!(code, Some(1), "{printed}");
    assert!(!printed.contains("lost with the supervisor"), "{printed}");
    assert!(!printed.contains("not have all changes"), "{printed}");
}

#[test]
fn a_step_whose_files_have_mistakes_after_a_loss_is_made_once_they_are_mended() {
    let here = Folder::new();
    let session = SESSION.replace(
        "bell = { kind = \"osc\", freq = 880 }",
        "bell = { kind = \"pd\", file = \"level.pd\", in = 1, out = 1 }",
    );
    here.write("s.toml", session.replace("\"bell ->", "\"bell.out1 ->"));
    here.write("level.pd", LEVEL);
    let mut playing = Guarded::start(&here, LINE);
    playing.line("playing by the clock");
    let before = shape(&here);
    send(&here, &["rename tone voice"]);
    let after = shape(&here);
    send(&here, &["set hum.freq 130"]);
    playing.signal_supervisor(Signal::KILL);
    playing.line("the supervisor: plays on; 1 lost");
    here.write("level.pd", "no patch");
    send(&here, &["undo"]);
    assert_eq!(param(&here, "hum", "freq"), Some(110.0));
    let refused = try_send(&here, &["undo"]);
    assert!(refused.code != Some(0), "{refused:?}");
    let why = "have mistakes by now, mend them and try again: ";
    assert!(refused.err.contains(why), "{refused:?}");
    playing.line("this is not a patch: no `#N canvas`");
    assert_eq!(shape(&here), after);
    here.write("level.pd", LEVEL);
    send(&here, &["undo"]);
    assert_eq!(shape(&here), before);
    playing.end();
}

#[test]
fn an_edit_under_way_is_made_or_is_none_when_a_supervisor_is_lost() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let mut playing = Guarded::start(&here, LINE);
    playing.line("playing by the clock");
    send(&here, &["set tone.freq 500"]);
    let before = state(&here);
    let (mut made, mut lost) = (0, 0);
    // Another border of a cell takes a new process, so a tenth of a second.
    for wait_ms in [5, 30, 60, 90] {
        let gave = std::thread::scope(|scope| {
            let edit = scope.spawn(|| try_send(&here, &["connect tone -> wide"]));
            std::thread::sleep(std::time::Duration::from_millis(wait_ms));
            playing.signal_supervisor(Signal::KILL);
            edit.join().unwrap()
        });
        lost += 1;
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
        let is_made = state(&here) != before;
        // What was answered is kept.
        assert!(is_made || gave.code != Some(0), "{gave:?}");
        if is_made {
            made += 1;
            send(&here, &["undo"]);
            assert_eq!(state(&here), before, "{}", playing.printed);
        }
        // Both cells play, by one process each.
        let cells = query(&here, "cells");
        for cell in cells["cells"].as_array().unwrap() {
            assert!(
                cell["state"] == "playing" || cell["state"] == "starting",
                "{cell}"
            );
        }
    }
    assert!(made < 4, "none was under way");
    send(&here, &["undo"]);
    assert_eq!(param(&here, "tone", "freq"), Some(440.0));
    let (_, printed) = playing.end();
    assert!(!printed.contains("panic"), "{printed}");
}

#[test]
fn a_save_keeps_parts_and_includes_also_with_the_next_supervisor() {
    let here = Folder::new();
    let part = "edges = [\"osc -> out\"]\noutputs = [\"out\"]\nnodes = { osc = { kind = \"osc\", freq = 330 } }\n";
    here.write("part.toml", format!("[part.bell]\n{part}"));
    let session = "include = [\"part.toml\"]\nedges = [\"high -> amp -> out\", \"deep -> out\"]\n[nodes]\nhigh = { kind = \"bell\" }\ndeep = { kind = \"drone\" }\namp = { kind = \"gain\" }\nout = { kind = \"sink\" }\n[cell.high]\nnodes = [\"high.osc\"]\n";
    let own = part.replace("330", "55");
    here.write("s.toml", format!("{session}[part.drone]\n{own}"));
    let mut playing = Guarded::start(&here, LINE);
    playing.line("playing by the clock");
    send(&here, &["save"]);
    let saved = String::from_utf8(here.read("s.toml")).unwrap();
    let is_written = |text: &str| text.contains("include = [") && text.contains("[part.drone]");
    assert!(is_written(&saved), "{saved}");
    // An edit that is taken back, so that nodes and edges are kept in another way than the file.
    send(&here, &["add spare gain"]);
    for lost in 1..3 {
        playing.signal_supervisor(Signal::KILL);
        playing.line(&format!("the supervisor: plays on; {lost} lost"));
        if lost == 1 {
            send(&here, &["undo"]);
        }
        send(&here, &["save"]);
        let again = String::from_utf8(here.read("s.toml")).unwrap();
        assert_eq!(again, saved, "{}", playing.printed);
    }
    playing.end();
}
