//! A session that plays is controlled from outside: by a socket, and by saving its file.

mod common;

use common::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
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
