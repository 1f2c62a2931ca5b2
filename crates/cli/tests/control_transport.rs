//! The transport of a session that plays, commanded from outside.
#![cfg(target_os = "linux")]

mod common;

use common::Folder;
use common::jackd::Jackd;
use common::playing::{Playing, TONE, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

fn transport(playing: &Playing<'_>) -> Value {
    playing.send(&["query transport"]).unwrap()["data"][0].clone()
}

#[test]
fn the_transport_is_commanded_and_asked() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let transport = || playing.send(&["query transport"]).unwrap()["data"][0].clone();
    playing.send(&["stop", "locate 8 beats"]).unwrap();
    wait_until(|| transport()["is_rolling"] == false && transport()["beat"] == 8.0);
    playing.send(&["tempo 90", "start"]).unwrap();
    wait_until(|| transport()["is_rolling"] == true && transport()["beat"].as_f64() > Some(8.0));
    assert!((transport()["bpm"].as_f64().unwrap() - 90.0).abs() < 1e-6);
    for wrong in ["locate -1", "tempo 0", "locate 1e300 beats"] {
        assert!(playing.send(&[wrong]).is_err(), "{wrong}");
    }
}

#[test]
fn a_range_is_repeated_until_it_is_ended() {
    let here = Folder::new();
    let playing = Playing::start(&here, "--stopped");
    playing
        .send(&["loop 2.1 3.1 bars", "locate 2.4 bars", "start"])
        .unwrap();
    let position = |playing: &Playing<'_>| transport(playing)["frame"].as_u64().unwrap();
    assert_eq!(transport(&playing)["loop"], json!([96_000, 192_000]));
    assert!((96_000..192_000).contains(&position(&playing)));
    // It has gone round: the position is before the one at which it began.
    wait_until(|| (96_000..168_000).contains(&position(&playing)));
    playing.send(&["loop off", "locate 190000 frames"]).unwrap();
    assert_eq!(transport(&playing)["loop"], Value::Null);
    wait_until(|| position(&playing) > 200_000);
    for (wrong, expected) in [
        ("loop 4 4 beats", "too short"),
        ("loop 4 2 beats", "too short"),
        ("loop -1 2", "no position"),
        ("locate 0.1 bars", "locate POSITION"),
        ("loop 1", "loop BEGIN END"),
    ] {
        let error = playing.send(&[wrong]).unwrap_err();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[test]
fn a_bar_and_beat_is_a_position_in_words_and_in_json() {
    let here = Folder::new();
    let tempo = "[tempo]\nbpm = 60\nmetre = \"3/4\"\n";
    here.write("tone.toml", format!("{TONE}{tempo}"));
    let playing = Playing::start(&here, "--stopped");
    for words in [
        "locate 5.2 bars",
        "locate 13 beats",
        "locate 13s",
        "locate 13",
    ] {
        playing.send(&["locate 0", words]).unwrap();
        wait_until(|| transport(&playing)["frame"] == 13 * 48_000);
        let now = transport(&playing);
        assert_eq!((&now["bar"], &now["bar_beat"]), (&json!(5), &json!(2.0)));
    }
    let stream = UnixStream::connect(here.path("s")).unwrap();
    let mut replies = BufReader::new(&stream).lines();
    let line = r#"{"commands": [{"do": "locate", "to": "5.3"}]}"#;
    writeln!(&stream, "{line}").unwrap();
    let reply: Value = serde_json::from_str(&replies.next().unwrap().unwrap()).unwrap();
    assert_eq!(reply["ok"], true, "{reply}");
    wait_until(|| transport(&playing)["frame"] == 14 * 48_000);
}

#[test]
fn the_transport_is_a_topic() {
    let here = Folder::new();
    let _playing = Playing::start(&here, "");
    let stream = UnixStream::connect(here.path("s")).unwrap();
    let line = r#"{"commands": [{"do": "subscribe", "topics": ["transport"], "every_ms": 10}]}"#;
    writeln!(&stream, "{line}").unwrap();
    let lines = BufReader::new(&stream).lines();
    let messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut messages = messages.filter(|it| it["topic"] == "transport");
    let mut frame = || messages.next().unwrap()["data"]["frame"].as_u64().unwrap();
    let first = frame();
    assert!((0..100).any(|_| frame() > first));
}

#[test]
fn jackd_is_told_to_start_stop_and_locate_and_other_clients_see_it() {
    let Some(jackd) = Jackd::start("transport", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    let play = "play tone.toml --driver jack --transport jack --workers 1 --socket s";
    let playing = Playing::begin(&here, play, |command| {
        command.env("JACK_DEFAULT_SERVER", &jackd.name);
    });
    // A second session follows the same server.
    let other = Folder::new();
    let other = Playing::begin(&other, play, |command| {
        command.env("JACK_DEFAULT_SERVER", &jackd.name);
    });
    playing.send(&["locate 100 seconds"]).unwrap();
    wait_until(|| transport(&other)["frame"] == 4_800_000);
    assert_eq!(transport(&other)["is_rolling"], false);
    playing.send(&["start"]).unwrap();
    wait_until(|| transport(&other)["is_rolling"] == true);
    other.send(&["stop"]).unwrap();
    wait_until(|| transport(&playing)["is_rolling"] == false);
    assert!(transport(&playing)["frame"].as_u64() >= Some(4_800_000));
    for wrong in ["tempo 90", "loop 1 2", "start at 99999999", "locate 1e9"] {
        let error = playing.send(&[wrong]).unwrap_err();
        assert!(error.contains("the server's"), "{wrong}: {error}");
    }
}
