//! A session that plays is controlled from outside: by a socket, and by saving its file.

mod common;

use common::osc::osc;
use common::playing::{Playing, TONE, wait_until};
use common::{Folder, wav};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

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
fn a_soloed_strip_cuts_the_others_until_solo_ends() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    playing
        .send(&["add a strip", "add b strip", "add c strip cut=0"])
        .unwrap();
    let cut = || -> Vec<String> {
        let graph = playing.graph();
        let nodes = graph["nodes"].as_array().unwrap().iter();
        let is_cut = nodes.filter(|node| node["params"]["cut"] == 1.0);
        is_cut
            .map(|node| node["name"].as_str().unwrap().to_owned())
            .collect()
    };
    playing.send(&["solo b"]).unwrap();
    assert_eq!(cut(), ["a", "c"]);
    playing.send(&["solo c on"]).unwrap();
    assert_eq!(cut(), ["a"]);
    playing.send(&["solo b off"]).unwrap();
    assert_eq!(cut(), ["a", "b"]);
    playing.send(&["undo"]).unwrap();
    assert_eq!(cut(), ["a"]);
    playing.send(&["solo off"]).unwrap();
    assert!(cut().is_empty());
    let error = playing.send(&["solo tone"]).unwrap_err();
    assert!(error.contains("`tone` is no channel strip"), "{error}");
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

#[test]
fn a_fader_sets_parameters_by_osc_over_udp_and_tcp() {
    let here = Folder::new();
    let (playing, address) = Playing::start_osc(&here);
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
    here.write("file", "mine");
    let call = here.call("play tone.toml --driver clock --workers 1 --seconds 1 --socket file");
    assert_eq!(call.code, Some(1), "{}", call.err);
    assert_eq!(here.read("file"), b"mine");
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

/// A constant through a gain. A session ends with its last point.
const LEVEL: &str = "
edges = [\"one -> level\", \"level -> out\"]
[nodes]
one = { kind = \"curve\", points = \"0 1; 100000 1\" }
level = { kind = \"gain\", gain = 0.01 }
out = { kind = \"sink\" }
";

#[test]
fn a_recalled_bypass_and_a_gain_that_morphs_in_decibels_are_heard() {
    let here = Folder::new();
    here.write("tone.toml", LEVEL);
    let line = "play tone.toml --driver clock --workers 1 --socket s --record r.wav";
    let mut playing = Playing::begin(&here, line, |_| {});
    let frame = |answer: Value| answer["frame"].as_u64().unwrap() as usize;
    let is_bypassed = |playing: &Playing<'_>| playing.graph()["nodes"][1]["bypassed"].clone();
    playing.send(&["snapshot low"]).unwrap();
    playing
        .send(&["set level.gain 1", "snapshot high"])
        .unwrap();
    playing
        .send(&["set level.gain 0.01", "bypass level", "snapshot dry"])
        .unwrap();
    playing.send(&["recall low"]).unwrap();
    assert_eq!(is_bypassed(&playing), false);
    let dry = frame(playing.send(&["recall dry"]).unwrap());
    assert_eq!(is_bypassed(&playing), true);
    let position = |playing: &Playing<'_>| {
        let load = playing.send(&["query load"]).unwrap();
        load["data"][0]["frame"].as_u64().unwrap() as usize
    };
    let second = 48_000;
    wait_until(|| position(&playing) > dry + second / 10);
    playing.send(&["recall low"]).unwrap();
    let now = position(&playing);
    wait_until(|| position(&playing) > now + second / 10);
    let morph = frame(playing.send(&["recall high over 400"]).unwrap());
    wait_until(|| position(&playing) > morph + second);
    let id = rustix::process::Pid::from_child(&playing.child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(playing.child.wait().unwrap().success());
    let (_, samples) = wav(&here.read("r.wav"));
    let heard = |at: usize| f64::from(f32::from_bits(samples[at]));
    assert_eq!(heard(dry + second / 20), 1.0);
    for (part, decibels) in [(0.0, -40.0), (0.25, -30.0), (0.5, -20.0), (1.0, 0.0)] {
        let at = morph + (part * 0.4 * second as f64) as usize + second / 100;
        let level = 20.0 * heard(at).log10();
        // The gain follows in 5 ms: 10 ms later it is at most a decibel further.
        assert!((level - decibels).abs() < 1.5, "{level} dB at {part}");
    }
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
            frame >= last && (id == 500 || frame.is_multiple_of(64)),
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

/// The lines that a client of the socket reads.
fn messages(stream: &UnixStream) -> impl Iterator<Item = Value> {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

#[test]
fn a_subscribed_port_is_measured_and_the_graph_has_no_node_more() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let mut socket = UnixStream::connect(here.path("s")).unwrap();
    let subscribe = r#"{"commands":[{"do":"subscribe","topics":["meters","loudness","spectrum","scope"],"ports":["tone"],"every_ms":20}]}"#;
    socket
        .write_all(format!("{subscribe}\n").as_bytes())
        .unwrap();
    let (mut peak, mut rms, mut loudness, mut band, mut wave) = (false, false, false, false, false);
    // One reader: a second one would begin within a line.
    let mut all = messages(&socket);
    for message in all.by_ref() {
        let port = &message["data"]["tone.out"];
        let near =
            |value: &Value, level: f64| value.as_f64().is_some_and(|x| (x - level).abs() < 0.3);
        peak |= near(&port["peak_db"][0], -20.0);
        rms |= near(&port["rms_db"][0], -23.01);
        loudness |= port["momentary_lufs"]
            .as_f64()
            .is_some_and(|x| (x + 23.7).abs() < 1.5);
        // 440 Hz is in the band of 400 Hz.
        band |= near(&port["db"][12], -23.01);
        // It begins with a rise through zero; a quarter of its 109 frames later it is at its top.
        wave |= port["channels"][0][27]
            .as_f64()
            .is_some_and(|x| (x - 0.1).abs() < 0.002);
        if peak && rms && loudness && band && wave {
            break;
        }
    }
    assert_eq!(playing.names(), ["tone", "out"]);
    // It survives an edit, an undo and the end of its node.
    playing
        .send(&["add low gain", "connect tone -> low", "connect low -> out"])
        .unwrap();
    playing.send(&["undo"]).unwrap();
    playing
        .send(&["replace tone noise", "set tone.volume 0.5"])
        .unwrap();
    let is_louder =
        |message: Value| message["data"]["tone.out"]["rms_db"][0].as_f64() > Some(-20.0);
    assert!(all.any(is_louder));
    playing.send(&["remove tone"]).unwrap();
    drop(all);
    drop(socket);
    for (commands, expected) in [
        ("subscribe loudness", "name the ports"),
        ("subscribe scope", "name the ports"),
        ("subscribe meters of out", "no output of audio"),
        ("subscribe meters of tona.out", "there is no node"),
    ] {
        let error = playing.send(&[commands]).unwrap_err();
        assert!(error.contains(expected), "{commands}: {error}");
    }
    assert_eq!(
        playing.send(&["query dropouts"]).unwrap()["data"][0]["faults"],
        0
    );
}

#[test]
fn hostile_clients_cost_only_themselves() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let facts = here.path("s").symlink_metadata().unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    assert_eq!(facts.uid(), rustix::process::geteuid().as_raw());
    let mut garbage = UnixStream::connect(here.path("s")).unwrap();
    // Half a line, and silence.
    let mut half = UnixStream::connect(here.path("s")).unwrap();
    half.write_all(b"{\"commands\":[").unwrap();
    // A line without an end.
    let mut long = UnixStream::connect(here.path("s")).unwrap();
    let _ = long.write_all(&vec![b'x'; 4 << 20]);
    // One that asks and never reads.
    let mut deaf = UnixStream::connect(here.path("s")).unwrap();
    deaf.set_nonblocking(true).unwrap();
    let ask = b"{\"commands\":[{\"do\":\"query\",\"what\":\"kinds\"}]}\n".repeat(5000);
    let _ = deaf.write(&ask);
    // More connections than clients may be.
    for _ in 0..2000 {
        drop(UnixStream::connect(here.path("s")));
    }
    let crowd: Vec<_> = (0..200)
        .map(|_| UnixStream::connect(here.path("s")))
        .collect();
    drop(crowd);
    // Bytes that mean nothing.
    garbage.write_all(b"\xff\xfe\n[]\n{\"id\":3}\n").unwrap();
    let replies: Vec<Value> = messages(&garbage).take(3).collect();
    assert!(replies.iter().all(|reply| reply["ok"] == false));
    assert_eq!(replies[2]["id"], 3);
    // It plays on and answers, and its memory is bounded.
    wait_until(|| here.call("send --socket s undo").code == Some(2));
    playing.send(&["set tone.freq 500"]).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", playing.child.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 300_000, "{line}");
    assert_eq!(
        playing.send(&["query dropouts"]).unwrap()["data"][0]["faults"],
        0
    );
}

#[test]
fn oscsend_sets_a_parameter_and_slip_frames_packets() {
    let here = Folder::new();
    let (playing, address) = Playing::start_osc(&here);
    let freq = || playing.graph()["nodes"][0]["params"]["freq"].clone();
    let port = address.rsplit_once(':').unwrap().1;
    let oscsend = std::process::Command::new("oscsend")
        .args(["127.0.0.1", port, "/node/tone/freq", "i", "660"])
        .status();
    match oscsend {
        Ok(status) => {
            assert!(status.success());
            wait_until(|| freq() == 660.0);
        }
        Err(error) => eprintln!("skipped: oscsend: {error}"),
    }
    let mut tcp = TcpStream::connect(&address).unwrap();
    tcp.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let packet = osc("/do", "s", b"set tone.freq 550\0\0\0");
    tcp.write_all(&[&[0xc0], &packet[..], &[0xc0]].concat())
        .unwrap();
    let mut reply = Vec::new();
    let mut byte = [0];
    while reply.len() < 2 || byte[0] != 0xc0 {
        tcp.read_exact(&mut byte).unwrap();
        reply.push(byte[0]);
    }
    assert!(reply.starts_with(b"\xc0/reply"));
    assert_eq!(freq(), 550.0);
}

#[test]
fn a_socket_without_a_path_is_the_one_that_send_finds() {
    let here = Folder::new();
    here.write("tone.toml", TONE);
    for (command, query) in [
        (
            "play tone.toml --driver clock --workers 1",
            "query dropouts",
        ),
        (
            "cells cells.toml --driver clock --no-admission",
            "query cells",
        ),
    ] {
        here.write(
            "cells.toml",
            format!("{TONE}\n[cell.one]\nnodes = [\"tone\"]\n"),
        );
        // Other options may follow it.
        let mut playing = here.command(&format!("{command} --socket --seconds 60"));
        let playing = playing.env("XDG_RUNTIME_DIR", here.path(""));
        let mut playing = playing
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| here.has("divisi.sock"));
        let mut send = here.command("send");
        let send = send.arg(query).env("XDG_RUNTIME_DIR", here.path(""));
        let mut answers = || send.output().unwrap().status.success();
        wait_until(&mut answers);
        playing.kill().unwrap();
        playing.wait().unwrap();
        std::fs::remove_file(here.path("divisi.sock")).unwrap();
    }
}

#[test]
fn a_fixed_parameter_leaves_the_edges_that_drive_its_node_and_a_rename_is_taken_back() {
    let here = Folder::new();
    let session = r#"
edges = ["lfo -> tone.freq: 1 octaves", "slow -> tone.volume: 0.2", "tone -> out"]
[nodes]
lfo = { kind = "lfo", freq = 3 }
slow = { kind = "lfo", freq = 0.2 }
tone = { kind = "osc", freq = 330, volume = 0.3 }
out = { kind = "sink" }
"#;
    here.write("tone.toml", session);
    let playing = Playing::start(&here, "");
    let edges = || playing.graph()["edges"].as_array().unwrap().clone();
    let before = edges();
    playing.send(&["set tone.wave saw"]).unwrap();
    assert_eq!(edges().len(), 3, "{before:?}, then {:?}", edges());
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("saw") && kept.contains("octaves"), "{kept}");
    here.well("check kept.toml");
    playing.send(&["rename lfo wobble"]).unwrap();
    playing.send(&["undo"]).unwrap();
    assert!(
        playing.names().contains(&"lfo".to_owned()),
        "{:?}",
        playing.names()
    );
    playing.send(&["redo"]).unwrap();
    assert!(playing.names().contains(&"wobble".to_owned()));
    assert_eq!(edges().len(), 3);
}
