//! Live MIDI through real servers: `jackd` with its dummy driver, and JACK's own MIDI clients.
#![cfg(target_os = "linux")]

mod common;

use common::jackd::Jackd;
use common::{Folder, controller_file, repository, wav};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that is ended when dropped.
struct Program(Child);

impl Drop for Program {
    /// Lets it close its client: a server waits seconds for one that was killed.
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let id = rustix::process::Pid::from_child(&self.0);
            let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const TOOLS: [&str; 4] = ["jack_lsp", "jack_connect", "jack_midiseq", "jack_midi_dump"];

#[test]
fn a_voice_that_a_jack_client_plays_sounds_and_its_messages_leave_by_another_port() {
    let Some(jackd) = Jackd::start("voice", &TOOLS) else {
        return;
    };
    let here = Folder::new();
    let session = std::fs::read(repository("examples/10-keys.toml")).unwrap();
    here.write("organ.toml", session);
    // A note of 0.1 s every half second.
    let arguments = ["seq", "24000", "0", "69", "4800"];
    let _seq = Program(
        jackd
            .command("jack_midiseq", &arguments)
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut dump = jackd.command("jack_midi_dump", &["dump"]);
    let mut dump = Program(dump.stdout(Stdio::piped()).spawn().unwrap());
    let line = "play organ.toml --driver jack --block 96 --workers 1 --seconds 4 --record o.wav";
    let mut play = here.command(line);
    play.env("JACK_DEFAULT_SERVER", &jackd.name);
    let mut play = Program(
        play.stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    jackd.wait_for_clients(&["seq", "dump", "organ"]);
    jackd.connect("seq:out", "organ:keys");
    jackd.connect("organ:through", "dump:input");
    let mut err = String::new();
    play.0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert!(play.0.wait().unwrap().success(), "{err}");
    let (_, samples) = wav(&here.read("o.wav"));
    let peak = samples
        .iter()
        .map(|bits| f32::from_bits(*bits).abs())
        .fold(0.0, f32::max);
    assert!(peak > 0.05, "{peak}\n{err}");
    dump.0.kill().unwrap();
    let mut text = String::new();
    dump.0
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(
        text.contains("90 45 40") && text.contains("80 45 40"),
        "{text}"
    );
}

/// A note that is never released.
const ENDLESS: &str = "
edges = [\"song -> out\"]
[nodes]
song = { kind = \"score\", events = \"0 61 0.5 100000\" }
out = { kind = \"midi_output\" }
";

#[test]
fn a_key_that_is_down_at_the_end_of_a_run_is_released() {
    let Some(jackd) = Jackd::start("release", &TOOLS) else {
        return;
    };
    let here = Folder::new();
    here.write("endless.toml", ENDLESS);
    let mut dump = jackd.command("jack_midi_dump", &["dump"]);
    let mut dump = Program(dump.stdout(Stdio::piped()).spawn().unwrap());
    let output = dump.0.stdout.take().unwrap();
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    // Stopped until the connection is there.
    let mut playing = play(&jackd, &here, "endless.toml --stopped --socket s");
    common::playing::wait_until(|| transport(&here, "s") != serde_json::Value::Null);
    jackd.wait_for_clients(&["endless", "dump"]);
    jackd.connect("endless:out", "dump:input");
    here.well("send --socket s start");
    assert!(lines.any(|line| line.contains("90 3d")));
    let id = rustix::process::Pid::from_child(&playing.0);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(playing.0.wait().unwrap().success());
    assert!(lines.any(|line| line.contains("80 3d")), "not released");
}

#[test]
fn a_controller_that_is_saved_into_the_file_sets_its_parameter_at_once() {
    let Some(jackd) = Jackd::start("reload", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    here.write("cc.mid", controller_file());
    here.write("sender.toml", SENDER);
    here.write("receiver.toml", RECEIVER);
    let receiver = play(&jackd, &here, "receiver.toml --reload --socket s");
    jackd.wait_for_clients(&["receiver"]);
    jackd.wait_for_port("receiver:keys");
    let sender = play(&jackd, &here, "sender.toml");
    let volume = || {
        let mut ask = here.command("send --socket s");
        let answer = ask.arg("query graph").output().unwrap();
        let answer = serde_json::from_slice::<serde_json::Value>(&answer.stdout);
        let graph = answer.unwrap_or_default()["data"][0].clone();
        let nodes = graph["nodes"].as_array().cloned().unwrap_or_default();
        let tone = nodes.into_iter().find(|node| node["name"] == "tone");
        tone.and_then(|tone| tone["params"]["volume"].as_f64())
    };
    common::playing::wait_until(|| volume() == Some(0.0));
    let bound = |high: f64| {
        format!(
            "{RECEIVER}[[controller]]\ncc = 74\ntarget = \"tone.volume\"\nrange = [0.0, {high}]\n"
        )
    };
    for high in [0.25, 0.5] {
        here.write("receiver.toml", bound(high));
        common::playing::wait_until(|| volume() == Some(high));
    }
    drop((sender, receiver));
}

/// Plays a MIDI file, in which controller 74 goes up every quarter second, to a port.
const SENDER: &str = "
edges = [\"song -> out\"]
[nodes]
song = { kind = \"midi_file\", file = \"cc.mid\", loop = true }
out = { kind = \"midi_output\" }
";

/// A tone that is silent until a controller turns it up.
const RECEIVER: &str = "edges = [\"tone -> out\"] # my edges

# My connections.
[connections]
keys = [\"sender:out\"]

[nodes]
keys = { kind = \"midi_input\" }
tone = { kind = \"osc\", freq = 440, volume = 0 } # my tone
out = { kind = \"sink\" }
";

fn play(jackd: &Jackd, here: &Folder, line: &str) -> Program {
    let mut play = here.command(&format!("play {line} --driver jack --scheduler sequential"));
    play.env("JACK_DEFAULT_SERVER", &jackd.name);
    let play = play.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    Program(play.unwrap())
}

#[test]
fn a_controller_is_learned_over_a_connection_that_is_found_again_and_both_are_saved() {
    let Some(jackd) = Jackd::start("learn", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    here.write("cc.mid", controller_file());
    here.write("sender.toml", SENDER);
    here.write("receiver.toml", RECEIVER);
    let line = "receiver.toml --socket s --learn tone.volume=0..0.5 --record r.wav";
    let mut receiver = play(&jackd, &here, line);
    jackd.wait_for_clients(&["receiver"]);
    jackd.wait_for_port("receiver:keys");
    // The other end comes later.
    let sender = play(&jackd, &here, "sender.toml");
    let text = || String::from_utf8(here.read("receiver.toml")).unwrap();
    let start = Instant::now();
    while !text().contains("[[controller]]") {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", text());
        std::thread::sleep(Duration::from_millis(50));
    }
    let learned = text();
    assert!(learned.starts_with(RECEIVER), "{learned}");
    let entry =
        "port = \"keys\"\nchannel = 3\ncc = 74\ntarget = \"tone.volume\"\nrange = [0.0, 0.5]";
    assert!(learned.contains(entry), "{learned}");
    // Another parameter, while it plays.
    here.well("learn --socket s tone.freq=440..880");
    let other = "cc = 74\ntarget = \"tone.freq\"\nrange = [440.0, 880.0]\ncurve = \"exponential\"";
    common::playing::wait_until(|| text().contains(other));
    for (wrong, message) in [
        ("tone.frequency", "frequency"),
        ("tone.wave", "tone.wave"),
        ("tone.freq=1..", "two numbers"),
    ] {
        let gave = here.call(&format!("learn --socket s {wrong}"));
        assert!(
            gave.code == Some(2) && gave.err.contains(message),
            "{}",
            gave.err
        );
    }
    std::thread::sleep(Duration::from_millis(700));
    let mut save = here.command("send --socket s save");
    let saved = save.output().unwrap();
    assert!(saved.status.success(), "{saved:?}");
    let saved = text();
    assert!(
        saved.contains(entry) && saved.contains("sender:out"),
        "{saved}"
    );
    assert!(
        saved.contains("system:playback_1") && saved.contains("volume = 0.5"),
        "{saved}"
    );
    let id = receiver.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let mut err = String::new();
    receiver
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    receiver.0.wait().unwrap();
    let (_, samples) = wav(&here.read("r.wav"));
    let peak = samples
        .iter()
        .map(|bits| f32::from_bits(*bits).abs())
        .fold(0.0, f32::max);
    assert!(peak > 0.45 && peak < 0.55, "{peak}\n{err}");
    drop(sender);
}

#[test]
fn a_render_with_live_ports_says_that_they_are_silent_and_mistakes_have_their_places() {
    let here = Folder::new();
    here.write("receiver.toml", RECEIVER);
    let gave = here.well("render receiver.toml -o r.wav --seconds 0.1");
    assert!(
        gave.err.contains("no live MIDI port `keys` here"),
        "{}",
        gave.err
    );
    here.write("wrong.toml", format!("{RECEIVER}[[controller]]\ncc = 1\n"));
    let gave = here.call("check wrong.toml");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    assert!(gave.err.contains("controller 1: `target`"), "{}", gave.err);
}

/// The transport of the session that listens at `socket`.
fn transport(here: &Folder, socket: &str) -> serde_json::Value {
    let mut ask = here.command(&format!("send --socket {socket}"));
    let answer = ask.arg("query transport").output().unwrap();
    match answer.status.success() {
        true => {
            serde_json::from_slice::<serde_json::Value>(&answer.stdout).unwrap()["data"][0].clone()
        }
        false => serde_json::Value::Null,
    }
}

#[test]
fn midi_clock_passes_through_a_real_port_and_its_follower_starts_keeps_time_and_stops() {
    let Some(jackd) = Jackd::start("clock", &["jack_lsp"]) else {
        return;
    };
    let here = Folder::new();
    let session = RECEIVER.replace(
        "keys = [\"sender:out\"]",
        "clock_in = [\"giver:clock_out\"]",
    );
    here.write("follower.toml", session);
    here.write("giver.toml", RECEIVER);
    let follower = play(
        &jackd,
        &here,
        "follower.toml --midi-clock follow --socket f",
    );
    let giver = play(
        &jackd,
        &here,
        "giver.toml --midi-clock give --stopped --socket g",
    );
    let send = |words: &str| {
        let mut send = here.command("send --socket g");
        assert!(
            send.arg(words).output().unwrap().status.success(),
            "{words}"
        );
    };
    for socket in ["f", "g"] {
        common::playing::wait_until(|| transport(&here, socket) != serde_json::Value::Null);
    }
    jackd.wait_for_clients(&["follower", "giver"]);
    jackd.wait_for_port("giver:clock_out");
    let is_connected = || {
        let lines = jackd.lines("jack_lsp", &["-c", "giver:clock_out"]);
        lines.iter().any(|line| line.contains("follower:clock_in"))
    };
    common::playing::wait_until(is_connected);
    assert_eq!(transport(&here, "f")["is_rolling"], false);
    send("tempo 90");
    send("start");
    let mut asked = Instant::now();
    common::playing::wait_until(|| {
        let now = transport(&here, "f");
        // A server that misses a cycle drops its messages, a start among them.
        if now["is_rolling"] != true && asked.elapsed() > Duration::from_secs(5) {
            eprintln!("it does not roll, so it is started again: {now}");
            send("stop");
            send("start");
            asked = Instant::now();
        }
        let bpm = now["bpm"].as_f64().unwrap_or(0.0);
        now["beat"].as_f64() > Some(2.0) && (bpm - 90.0).abs() < 1.0
    });
    send("stop");
    common::playing::wait_until(|| transport(&here, "f")["is_rolling"] == false);
    drop((giver, follower));
}

#[test]
fn a_midi_file_plays_a_live_port_offline_each_message_at_its_frame() {
    let here = Folder::new();
    let mut file = controller_file();
    // The first message after a quarter: half a second.
    let first = file
        .windows(4)
        .position(|it| it == [0, 0xb2, 74, 127])
        .unwrap();
    file[first] = 96;
    here.write("cc.mid", file);
    let bound = "[[controller]]\ncc = 74\ntarget = \"tone.volume\"\nrange = [0.0, 0.5]\n";
    here.write("receiver.toml", format!("{RECEIVER}{bound}"));
    let render = |name: &str, options: &str| {
        here.well(&format!(
            "render receiver.toml -o {name} --seconds 1 {options}"
        ));
        wav(&here.read(name)).1
    };
    let once = render("a.wav", "--midi-in cc.mid --block 64");
    let named = render("b.wav", "--midi-in cc.mid=keys --block 100 --workers 2");
    assert!(once == named);
    let heard = once.iter().position(|bits| f32::from_bits(*bits) != 0.0);
    assert!(matches!(heard, Some(24_000..=24_002)), "{heard:?}");
    let wrong = |options: &str, message: &str| {
        let gave = here.call(&format!(
            "render receiver.toml -o c.wav --seconds 1 {options}"
        ));
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains(message), "{}", gave.err);
    };
    wrong(
        "--midi-in cc.mid=pads",
        "there is no port `pads`; the session has the ports keys",
    );
    wrong("--midi-in none.mid", "none.mid");
    wrong("--midi-in cc.mid=", "a port has a name");
    assert!(!here.has("c.wav"));
    // A file that is read is never written.
    let gave = here.call("render receiver.toml -o cc.mid --seconds 1 --midi-in cc.mid");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    here.write("none.toml", common::playing::TONE);
    let gave = here.call("render none.toml -o c.wav --seconds 1 --midi-in cc.mid");
    assert!(
        gave.err.contains("the session has no `midi_input`"),
        "{}",
        gave.err
    );
}
