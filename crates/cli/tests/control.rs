//! A session that plays is controlled from outside: by a socket, and by saving its file.

mod common;

use common::{Folder, wav};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const TONE: &str = "
edges = [\"tone -> out\"]
[nodes.tone]
kind = \"osc\"
freq = 440
volume = 0.1
[nodes.out]
kind = \"sink\"
";

/// A program that plays `tone.toml` and listens at `s`.
struct Playing<'f> {
    here: &'f Folder,
    child: Child,
}

impl<'f> Playing<'f> {
    fn start(here: &'f Folder, options: &str) -> Self {
        here.write("tone.toml", TONE);
        let line = format!("play tone.toml --driver clock --workers 1 --socket s {options}");
        let mut command = here.command(&line);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let playing = Self { here, child };
        let start = Instant::now();
        while !here.has("s") || here.call("send --socket s undo").code == Some(1) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        playing
    }

    fn send(&self, commands: &[&str]) -> Result<Value, String> {
        let mut command = self.here.command("send --socket s");
        let output = command.args(commands).output().unwrap();
        match output.status.code() {
            Some(0) => Ok(serde_json::from_slice(&output.stdout).unwrap()),
            Some(2) => Err(String::from_utf8(output.stderr).unwrap()),
            _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    fn graph(&self) -> Value {
        self.send(&["query graph"]).unwrap()["data"][0].clone()
    }

    fn names(&self) -> Vec<String> {
        let nodes = self.graph()["nodes"].as_array().unwrap().clone();
        nodes
            .iter()
            .map(|node| node["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_shell_edits_a_session_that_plays_and_takes_it_back() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let first = playing.send(&["set tone.freq 800"]).unwrap();
    assert_eq!(first["ok"], true);
    let added = playing
        .send(&[
            "add low gain gain=0.5",
            "disconnect tone -> out",
            "connect tone -> low",
            "connect low -> out",
        ])
        .unwrap();
    assert!(added["frame"].as_u64() >= first["frame"].as_u64());
    assert_eq!(playing.names(), ["tone", "out", "low"]);
    assert_eq!(playing.graph()["edges"].as_array().unwrap().len(), 2);
    playing.send(&["undo"]).unwrap();
    assert_eq!(playing.names(), ["tone", "out"]);
    assert_eq!(playing.graph()["nodes"][0]["params"]["freq"], 800.0);
    playing.send(&["undo"]).unwrap();
    assert_eq!(playing.graph()["nodes"][0]["params"]["freq"], 440.0);
    assert!(
        playing
            .send(&["undo"])
            .unwrap_err()
            .contains("nothing to undo")
    );
    playing.send(&["redo"]).unwrap();
    playing.send(&["redo"]).unwrap();
    assert_eq!(playing.names(), ["tone", "out", "low"]);
    // A parameter that cannot change while it plays makes the node anew, with its edges.
    playing.send(&["set tone.wave saw"]).unwrap();
    assert_eq!(playing.graph()["edges"].as_array().unwrap().len(), 2);
    let dropouts = &playing.send(&["query dropouts"]).unwrap()["data"][0];
    assert_eq!(dropouts["faults"], 0);
}

#[test]
fn a_wrong_command_names_its_mistake_and_changes_nothing() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let before = playing.graph();
    for (commands, expected) in [
        (
            &["set tona.freq 800"][..],
            "there is no node `tona`; did you mean `tone`?",
        ),
        (&["set tone.frq 800"], "did you mean `freq`?"),
        (&["set tone.freq -1"], "it must be from 0 to 384000 Hz"),
        (
            &["add x gain", "connect x.left -> out"],
            "command 2: `x` has no output `left`",
        ),
        (&["add x gain", "connect x -> x"], "x"),
        (&["value tone.in 1"], "in"),
        (&["undo", "set tone.freq 1"], "stands alone"),
        (&["load other.toml"], "other.toml"),
        (&["sett a 1"], "did you mean `set`?"),
    ] {
        let error = playing.send(commands).unwrap_err();
        assert!(error.contains(expected), "{commands:?}: {error}");
        assert_eq!(playing.graph(), before, "{commands:?}");
    }
}

#[test]
fn a_saved_session_plays_at_once_and_a_broken_one_changes_nothing() {
    let here = Folder::new();
    let mut playing = Playing::start(&here, "--reload");
    let errors = BufReader::new(playing.child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    here.write("tone.toml", TONE.replace("440", "220"));
    assert!(lines.any(|line| line.contains("one change plays")));
    assert_eq!(playing.graph()["nodes"][0]["params"]["freq"], 220.0);
    here.write("tone.toml", TONE.replace("osc", "oscc"));
    assert!(lines.any(|line| line.contains("did you mean `osc`?")));
    assert!(lines.any(|line| line.contains("plays on as it was")));
    assert_eq!(playing.graph()["nodes"][0]["kind"], "osc");
    // What plays is saved, over the broken file.
    playing.send(&["save"]).unwrap();
    assert!(
        here.well("check tone.toml").out.contains("osc")
            || here.call("check tone.toml").code == Some(0)
    );
    here.write("mine.toml", "mine");
    assert!(
        playing
            .send(&["save mine.toml"])
            .unwrap_err()
            .contains("there already")
    );
    assert_eq!(here.read("mine.toml"), b"mine");
}

/// A message in OSC: address, type tags without the comma, arguments.
fn osc(address: &str, tags: &str, arguments: &[u8]) -> Vec<u8> {
    let padded = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((bytes.len() / 4 + 1) * 4, 0);
        bytes
    };
    [
        padded(address),
        padded(&format!(",{tags}")),
        arguments.to_vec(),
    ]
    .concat()
}

#[test]
fn a_fader_sets_parameters_by_osc_over_udp_and_tcp() {
    let here = Folder::new();
    let mut playing = Playing::start(&here, "--osc 0");
    let errors = BufReader::new(playing.child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    let address = lines
        .find_map(|line| Some(line.strip_prefix("OSC at ")?.to_owned()))
        .unwrap();
    let freq = |playing: &Playing<'_>| playing.graph()["nodes"][0]["params"]["freq"].clone();

    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let answer = |packet: &[u8]| {
        udp.send_to(packet, &address).unwrap();
        let mut buffer = [0; 1024];
        let (length, _) = udp.recv_from(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let said = answer(&osc("/node/t*/freq", "f", &330f32.to_be_bytes()));
    assert!(
        said.starts_with("/reply") && said.contains("\"ok\":true"),
        "{said}"
    );
    assert_eq!(freq(&playing), 330.0);
    let said = answer(&osc("/node/tona/freq", "f", &1f32.to_be_bytes()));
    assert!(
        said.contains("tona") && said.contains("\"ok\":false"),
        "{said}"
    );
    assert!(answer(b"nonsense").contains("\"ok\":false"));

    let mut tcp = TcpStream::connect(&address).unwrap();
    tcp.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let packet = osc("/do", "s", b"set tone.freq 550\0\0\0");
    tcp.write_all(&(packet.len() as u32).to_be_bytes()).unwrap();
    tcp.write_all(&packet).unwrap();
    let mut length = [0; 4];
    tcp.read_exact(&mut length).unwrap();
    let mut said = vec![0; u32::from_be_bytes(length) as usize];
    tcp.read_exact(&mut said).unwrap();
    assert!(said.starts_with(b"/reply"));
    assert_eq!(freq(&playing), 550.0);
}

#[test]
fn a_socket_that_nobody_serves_is_replaced_and_a_file_is_not() {
    let here = Folder::new();
    drop(Playing::start(&here, ""));
    assert!(here.has("s"), "a killed program leaves its socket");
    drop(Playing::start(&here, ""));
    here.write("tone.toml", TONE);
    here.write("file", "mine");
    let call = here.call("play tone.toml --driver clock --workers 1 --seconds 1 --socket file");
    assert_eq!(call.code, Some(1), "{}", call.err);
    assert_eq!(here.read("file"), b"mine");
}

/// Waits until `is_so`, as long as a machine under load may take.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_snapshot_is_kept_recalled_renamed_saved_and_played_from_the_file() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let freq = |playing: &Playing<'_>| playing.graph()["nodes"][0]["params"]["freq"].clone();
    playing.send(&["snapshot verse"]).unwrap();
    playing
        .send(&[
            "set tone.freq 880",
            "disable tone",
            "snapshot chorus of tone",
        ])
        .unwrap();
    let names = playing.send(&["query snapshots"]).unwrap()["data"][0].clone();
    assert_eq!(names[0]["name"], "chorus");
    assert_eq!(
        (&names[0]["nodes"], &names[1]["nodes"]),
        (&1.into(), &2.into())
    );
    let recalled = playing.send(&["recall verse"]).unwrap();
    assert_eq!(recalled["data"][0]["left_out"], serde_json::json!([]));
    assert_eq!(freq(&playing), 440.0);
    assert_eq!(playing.graph()["nodes"][0]["enabled"], true);
    playing.send(&["undo"]).unwrap();
    assert_eq!(freq(&playing), 880.0);
    assert_eq!(playing.graph()["nodes"][0]["enabled"], false);
    // A morph ends at the value; what it does on the way is tested in the engine.
    let over = playing.send(&["recall verse over 50"]).unwrap();
    assert!(over["frame"].as_u64() > Some(0));
    assert_eq!(freq(&playing), 440.0);
    let near = playing.send(&["recall vers"]).unwrap_err();
    assert!(near.contains("did you mean `verse`?"), "{near}");
    playing.send(&["rename_snapshot verse refrain"]).unwrap();
    assert!(playing.send(&["rename_snapshot refrain chorus"]).is_err());
    playing.send(&["remove_snapshot refrain"]).unwrap();
    playing.send(&["undo"]).unwrap();
    playing.send(&["save_preset tone bright", "save"]).unwrap();
    assert_eq!(
        playing.send(&["query presets"]).unwrap()["data"][0][0],
        "bright"
    );
    playing
        .send(&["set tone.freq 1", "load_preset tone bright"])
        .unwrap();
    assert_eq!(freq(&playing), 440.0);
    assert!(playing.send(&["save_preset tone ../bright"]).is_err());
    drop(playing);
    let text = String::from_utf8(here.read("tone.toml")).unwrap();
    assert!(text.contains("[snapshot.refrain]"), "{text}");
    assert_eq!(here.call("check tone.toml").code, Some(0));
    here.well("render tone.toml -o plain.wav --seconds 0.1 --snapshot refrain");
    here.well("render tone.toml -o chorus.wav --seconds 0.1 --snapshot chorus");
    let (plain, chorus) = (
        wav(&here.read("plain.wav")).1,
        wav(&here.read("chorus.wav")).1,
    );
    assert!(plain.iter().any(|bits| *bits << 1 != 0));
    assert!(
        chorus.iter().all(|bits| *bits << 1 == 0),
        "the tone is disabled there"
    );
    let call = here.call("render tone.toml -o a.wav --seconds 0.1 --snapshot refrai");
    assert!(call.code == Some(2) && call.err.contains("did you mean `refrain`?"));
    // A mistake in a snapshot is shown with its place.
    here.write("tone.toml", text.replace("freq = 440, ", "freqq = 440, "));
    let call = here.call("check tone.toml");
    assert!(
        call.code != Some(0) && call.err.contains("freqq"),
        "{}",
        call.err
    );
}

#[test]
fn every_reply_to_a_change_names_its_frame_in_order() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let mut socket = UnixStream::connect(here.path("s")).unwrap();
    let set = |i: u32| {
        format!(
            "{{\"id\":{i},\"commands\":[{{\"do\":\"set\",\"target\":\"tone.freq\",\"value\":{}}}]}}\n",
            100 + i
        )
    };
    let all: String = (0..500).map(set).collect();
    socket.write_all(all.as_bytes()).unwrap();
    let at = "{\"id\":500,\"commands\":[{\"do\":\"set\",\"target\":\"tone.freq\",\"value\":1,\"at\":4000000000}]}\n";
    socket.write_all(at.as_bytes()).unwrap();
    let mut lines = BufReader::new(socket).lines();
    let mut last = 0;
    for id in 0..=500 {
        let reply: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(
            (&reply["id"], &reply["ok"]),
            (&id.into(), &true.into()),
            "{reply}"
        );
        let frame = reply["frame"].as_u64().unwrap();
        assert!(
            frame >= last && (id == 500 || frame % 64 == 0),
            "{reply} after {last}"
        );
        last = frame;
    }
    assert_eq!(last, 4_000_000_000);
    drop(playing);
}

#[test]
fn a_request_that_never_finds_room_is_refused_and_keeps_nobody_waiting() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    playing.send(&["add door envelope"]).unwrap();
    let mut stream = UnixStream::connect(here.path("s")).unwrap();
    let mut replies = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut ask = |count: usize, command: &str| {
        let commands = vec![command; count].join(",");
        writeln!(stream, "{{\"commands\": [{commands}]}}").unwrap();
        let reply = replies.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&reply).unwrap()
    };
    let refused = |reply: Value, says: &str| {
        let error = reply["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(says), "{reply}");
    };
    let note =
        |at: u64| format!(r#"{{"do": "value", "to": "door.notes", "value": 1, "at": {at}}}"#);
    refused(ask(5000, &note(0)), "at most 4096");
    refused(
        ask(5000, r#"{"do": "query", "what": "kinds"}"#),
        "at most 16",
    );
    // Those for a later frame leave room for those of now.
    let later = note(1 << 60);
    assert_eq!(ask(2000, &later)["ok"], true);
    refused(ask(2000, &later), "wait for their frames");
    for _ in 0..4 {
        assert_eq!(ask(2000, &note(0))["ok"], true);
    }
}
