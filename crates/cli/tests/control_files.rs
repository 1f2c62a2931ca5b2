//! The session's file while it plays: what it includes is watched, and saving never loses it.

mod common;

use common::Folder;
use common::playing::{Playing, TONE, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PART: &str = "[part.voice]\noutputs = [\"output\"]\nedges = [\"tone -> output\"]\n[part.voice.nodes.tone]\nkind = \"osc\"\nfreq = 440\n";
const WHOLE: &str = "include = [\"part.toml\"]\nedges = [\"a -> out\"]\n[nodes.a]\nkind = \"voice\"\n[nodes.out]\nkind = \"sink\"\n";

#[test]
fn an_included_file_that_is_saved_plays_and_a_broken_one_changes_nothing() {
    let here = Folder::new();
    here.write("part.toml", PART);
    here.write("tone.toml", WHOLE);
    assert_eq!(
        here.call("check tone.toml").code,
        Some(0),
        "{}",
        here.call("check tone.toml").err
    );
    let mut playing = Playing::start(&here, "--reload");
    let errors = BufReader::new(playing.child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    let freq = |playing: &Playing<'_>| {
        let graph = playing.graph();
        let nodes = graph["nodes"].as_array().unwrap();
        let tone = nodes.iter().find(|node| node["name"] == "a.tone");
        tone.map(|node| node["params"]["freq"].clone()).unwrap()
    };
    here.write("part.toml", PART.replace("440", "220"));
    assert!(lines.any(|line| line.contains("one change plays")));
    assert_eq!(freq(&playing), 220.0);
    here.write("part.toml", PART.replace("osc", "oscc"));
    assert!(lines.any(|line| line.contains("did you mean `osc`?")));
    assert!(lines.any(|line| line.contains("plays on as it was")));
    here.write("part.toml", PART.replace("440", "330"));
    assert!(lines.any(|line| line.contains("one change plays")));
    assert_eq!(freq(&playing), 330.0);
}

#[test]
fn a_saved_tempo_and_saved_controllers_are_played_at_once() {
    let here = Folder::new();
    let slow = format!("{TONE}\n[tempo]\nbpm = 120\n");
    here.write("tone.toml", &slow);
    let mut playing = Playing::start(&here, "--reload");
    let errors = BufReader::new(playing.child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    let bpm = |playing: &Playing<'_>| {
        let asked = playing.send(&["query transport"]).unwrap();
        asked["data"][0]["bpm"].as_f64().unwrap()
    };
    here.write("tone.toml", slow.replace("120", "90"));
    assert!(lines.any(|line| line.contains("one change plays")));
    wait_until(|| (bpm(&playing) - 90.0).abs() < 1e-9);
    playing.send(&["undo"]).unwrap();
    wait_until(|| (bpm(&playing) - 120.0).abs() < 1e-9);
    playing.send(&["redo"]).unwrap();
    wait_until(|| (bpm(&playing) - 90.0).abs() < 1e-9);
    // Back to a tempo that a command had set.
    playing.send(&["undo"]).unwrap();
    playing.send(&["tempo 77"]).unwrap();
    wait_until(|| (bpm(&playing) - 77.0).abs() < 1e-6);
    here.write("tone.toml", slow.replace("120", "91"));
    assert!(lines.any(|line| line.contains("one change plays")));
    wait_until(|| (bpm(&playing) - 91.0).abs() < 1e-9);
    playing.send(&["undo"]).unwrap();
    wait_until(|| (bpm(&playing) - 77.0).abs() < 1e-6);
    here.write("tone.toml", slow.replace("120", "90"));
    assert!(lines.any(|line| line.contains("one change plays")));
    wait_until(|| (bpm(&playing) - 90.0).abs() < 1e-9);
    // What is saved has the tempo that plays.
    playing.send(&["set tone.freq 441", "save"]).unwrap();
    let saved = String::from_utf8(here.read("tone.toml")).unwrap();
    assert!(saved.contains("bpm = 90"), "{saved}");
    here.write(
        "tone.toml",
        slow.replace("bpm = 120", "bpm = 90\nmetre = \"3/4\""),
    );
    assert!(lines.any(|line| line.contains("needs a new start")));

    let fast = slow.replace("120", "90");
    let controller = "\n[[controller]]\ncc = 1\ntarget = \"tone.freq\"\nrange = [100, 200]\n";
    here.write("tone.toml", format!("{fast}{controller}"));
    assert!(lines.any(|line| line.contains("changes play") || line.contains("one change")));
    // Undo takes the controller out of what is saved as well, and redo brings it back.
    let has_controller = |command: &str| {
        playing.send(&[command]).unwrap();
        playing.send(&["save copy.toml"]).unwrap();
        let copy = here.read("copy.toml");
        std::fs::remove_file(here.path("copy.toml")).unwrap();
        String::from_utf8(copy).unwrap().contains("[[controller]]")
    };
    assert!(!has_controller("undo"));
    assert!(has_controller("redo"));
    // A wrong one is shown at its line, and one that could set nothing is refused.
    let wrong = controller.replace("cc = 1", "cc = 128");
    here.write("tone.toml", format!("{fast}{controller}{wrong}"));
    let at = fast.lines().count() + 8;
    let place = format!("tone.toml:{at}:");
    assert!(lines.any(|line| line.contains(&place)), "no {place}");
    here.write(
        "tone.toml",
        format!("{fast}{}", controller.replace("freq", "frq")),
    );
    assert!(lines.any(|line| line.contains("tone.frq")));
}

#[test]
fn comments_that_a_save_loses_are_kept_beside_it() {
    let here = Folder::new();
    let commented = TONE.replace("freq = 440", "freq = 440 # concert pitch");
    here.write("tone.toml", &commented);
    let playing = Playing::start(&here, "");
    playing.send(&["set tone.freq 441"]).unwrap();
    let saved = playing.send(&["save"]).unwrap();
    let warning = saved["data"][0]["warning"].as_str().unwrap();
    assert!(warning.contains("tone.toml~"), "{saved}");
    assert_eq!(here.read("tone.toml~"), commented.as_bytes());
    // Nothing more is lost by the next one.
    let saved = playing.send(&["set tone.freq 442", "save"]).unwrap();
    assert_eq!(saved["data"][0]["warning"], Value::Null);
    assert_eq!(here.read("tone.toml~"), commented.as_bytes());
    playing.send(&["undo"]).unwrap();
    playing.send(&["save"]).unwrap();
    assert!(
        String::from_utf8(here.read("tone.toml"))
            .unwrap()
            .contains("freq = 440\n")
    );
}

#[test]
fn what_somebody_wrote_into_the_file_meanwhile_is_kept_beside_a_save() {
    let here = Folder::new();
    here.write("tone.toml", TONE);
    here.write("tone.toml~", "mine");
    let playing = Playing::start(&here, "");
    let warning = |saved: &Value| saved["data"][0]["warning"].clone();
    for (number, name) in [(2, "tone.toml~2"), (3, "tone.toml~3")] {
        let by_hand = TONE.replace("440", &format!("{number}40"));
        here.write("tone.toml", &by_hand);
        playing.send(&["set tone.freq 441"]).unwrap();
        let saved = playing.send(&["save"]).unwrap();
        let told = warning(&saved).to_string();
        assert!(told.contains("changed") && told.contains(name), "{told}");
        assert_eq!(here.read(name), by_hand.as_bytes());
        assert_eq!(saved_freq(&here), 441);
    }
    assert_eq!(here.read("tone.toml~"), b"mine");
    // What the session itself has written, or has loaded since, is no change of others.
    playing.send(&["set tone.freq 442"]).unwrap();
    let saved = playing.send(&["save"]).unwrap();
    assert_eq!(warning(&saved), Value::Null);
    here.write("tone.toml", TONE.replace("440", "540"));
    playing.send(&["load"]).unwrap();
    playing.send(&["set tone.freq 443"]).unwrap();
    let saved = playing.send(&["save"]).unwrap();
    assert_eq!(warning(&saved), Value::Null);
}

/// The frequency in a session that must be whole.
fn saved_freq(here: &Folder) -> u32 {
    let text = String::from_utf8(here.read("tone.toml")).unwrap();
    assert!(text.contains("[nodes.out]"), "{text}");
    let line = text.lines().find_map(|line| line.strip_prefix("freq = "));
    line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

#[test]
fn killed_in_the_middle_of_saves_the_old_or_the_new_session_is_there() {
    let kills = std::env::var("DIVISI_SAVES").map_or(10, |count| count.parse().unwrap());
    let here = Folder::new();
    let mut random = 1_u64;
    for kill in 0..kills {
        let mut playing = Playing::start(&here, "");
        let mut socket = UnixStream::connect(here.path("s")).unwrap();
        let save = |freq: u32| {
            format!(
                "{{\"commands\":[{{\"do\":\"set\",\"target\":\"tone.freq\",\"value\":{freq}}},{{\"do\":\"save\"}}]}}\n"
            )
        };
        let saves: String = (1..1000).map(|n| save(1000 + n)).collect();
        socket.write_all(saves.as_bytes()).unwrap();
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        std::thread::sleep(Duration::from_micros((random >> 33) % 30_000));
        playing.child.kill().unwrap();
        playing.child.wait().unwrap();
        let freq = saved_freq(&here);
        assert!(
            freq == 440 || (1001..2000).contains(&freq),
            "kill {kill}: {freq}"
        );
        let call = here.call("check tone.toml");
        assert_eq!(call.code, Some(0), "kill {kill}: {}", call.err);
        drop(playing);
    }
    // What was left beside it is removed, once it is old and its program gone; the session of another program stays.
    let left = || {
        let names = std::fs::read_dir(here.path("")).unwrap().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with(".divisi-")).count()
    };
    here.write(".divisi-999999999-0", "x");
    here.write(".divisi-1-0", "x");
    let before = left();
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    for entry in std::fs::read_dir(here.path("")).unwrap().flatten() {
        if entry.file_name().to_str().unwrap().starts_with(".divisi-") {
            let file = std::fs::File::options()
                .write(true)
                .open(entry.path())
                .unwrap();
            file.set_modified(old).unwrap();
        }
    }
    drop(Playing::start(&here, ""));
    assert!(here.has(".divisi-1-0") && !here.has(".divisi-999999999-0"));
    assert_eq!(left(), 1, "{before} were there");
}

#[test]
fn on_a_full_disk_the_old_session_stays_and_the_reply_says_so() {
    let here = Folder::new();
    here.write("tone.toml", TONE);
    let program = env!("CARGO_BIN_EXE_divisi");
    // No file of this program may have a byte.
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec {program} play tone.toml --driver clock --workers 1 --scheduler sequential --socket s"
    );
    let mut child = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(here.path(""))
        .env("XDG_CACHE_HOME", here.path(".cache"))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| here.has("s") && here.call("send --socket s undo").code == Some(2));
    let call = here
        .command("send --socket s")
        .args(["set tone.freq 1", "save"])
        .output()
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(call.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&call.stderr).contains("cannot write tone.toml"),
        "{call:?}"
    );
    assert_eq!(here.read("tone.toml"), TONE.as_bytes());
    let names = std::fs::read_dir(here.path("")).unwrap().flatten();
    assert!(
        names
            .filter_map(|it| it.file_name().into_string().ok())
            .all(|name| !name.starts_with(".divisi-"))
    );
}

#[test]
fn a_session_that_was_cut_off_is_refused_and_what_plays_goes_on() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    here.write("tone.toml", &TONE[..TONE.len() - 4]);
    assert!(playing.send(&["load"]).unwrap_err().contains("tone.toml"));
    assert_eq!(playing.names(), ["tone", "out"]);
    playing.send(&["save"]).unwrap();
    assert_eq!(here.call("check tone.toml").code, Some(0));
}
