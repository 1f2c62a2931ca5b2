//! The JACK driver against a real PipeWire with a null sink, through PipeWire's own libjack.
#![cfg(unix)]

mod common;

use std::any::Any;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use common::{Counter, Server, is_here, name, skip, wait_for, wait_for_blocks};
use divisi_driver::{
    AudioCallback, CallbackInfo, DriverConfig, DriverError, DriverState, MidiEvent,
    PortConnections, jack,
};
use units::Frames;

fn request() -> DriverConfig {
    DriverConfig::new("divisi-test", Frames(64))
}

fn pipewire(test: &str) -> Option<Server> {
    // The library too: the server's program comes without it.
    let absent = DriverConfig {
        server: Some("/nowhere".to_owned()),
        ..request()
    };
    let library = !matches!(jack::open_pipewire(&absent), Err(DriverError::NoLibrary));
    if is_here("pipewire") && library {
        return Some(Server::pipewire());
    }
    skip(test, "needs the Debian packages pipewire and pipewire-jack");
    None
}

#[test]
fn pipewire_is_found_by_itself_and_asks_for_blocks() {
    let Some(server) = pipewire("pipewire_is_found_by_itself_and_asks_for_blocks") else {
        return;
    };
    let opened = server.open(&request(), jack::open);
    let facts = opened.info();
    assert!(facts.server.starts_with("PipeWire"), "{facts:?}");
    assert_eq!((facts.rate.hz(), facts.buffer_size.0), (48_000, 256));
    let (callback, counts) = Counter::new(Frames(64));
    let running = opened.start(callback).unwrap();
    wait_for_blocks(&counts, 400);
    assert_eq!(running.state(), DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_played_into_the_sink_comes_out_of_its_monitor() {
    let test = "what_is_played_into_the_sink_comes_out_of_its_monitor";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, _) = Counter::new(Frames(64));
    let plays = server.open(&request(), jack::open).start(callback).unwrap();
    let listens = DriverConfig {
        name: "hears".to_owned(),
        inputs: 1,
        outputs: 0,
        ..request()
    };
    let (listener, counts) = Counter::new(Frames(64));
    let hears = server.open(&listens, jack::open).start(listener).unwrap();
    if !server.tool("pw-link", &["null-sink:monitor_FL", "hears:in_1"]) {
        return skip(test, "needs pw-link (Debian: pipewire-bin)");
    }
    wait_for("a tenth of a second unbroken", || {
        counts.ramp.load(Ordering::Relaxed) >= 4_800
    });
    hears.stop();
    plays.stop();
}

/// Messages that came in.
type Received = Arc<Mutex<Vec<Vec<u8>>>>;

/// Sends a note in each block, and keeps what comes in.
struct MidiClient {
    sends: bool,
    is_pending: bool,
    received: Received,
}

impl MidiClient {
    fn new(sends: bool) -> (Box<Self>, Received) {
        let received = Received::default();
        let client = Self {
            sends,
            is_pending: false,
            received: received.clone(),
        };
        (Box::new(client), received)
    }
}

impl AudioCallback for MidiClient {
    fn process(&mut self, _: CallbackInfo, _: &[&[f32]], outputs: &mut [&mut [f32]]) {
        outputs.iter_mut().for_each(|output| output.fill(0.0));
        self.is_pending = self.sends;
    }

    fn push_midi(&mut self, event: MidiEvent<'_>) {
        assert!(event.frame < 64);
        self.received.lock().unwrap().push(event.message.to_vec());
    }

    fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        if end > 17 && std::mem::take(&mut self.is_pending) {
            send(MidiEvent {
                port: 0,
                frame: 17,
                message: &[0x92, 61, 99],
            });
        }
    }
}

fn connected(port: &str, other: &str) -> Vec<PortConnections> {
    vec![PortConnections {
        port: port.to_owned(),
        others: vec![other.to_owned()],
    }]
}

#[test]
fn midi_passes_between_two_clients_of_pipewire_whose_connection_is_found_when_the_other_comes() {
    let test = "midi_passes_between_two_clients_of_pipewire";
    let Some(server) = pipewire(test) else {
        return;
    };
    let listens = DriverConfig {
        name: "hears".to_owned(),
        midi_inputs: vec!["keys".to_owned()],
        connections: connected("keys", "plays:notes"),
        ..request()
    };
    let (client, received) = MidiClient::new(false);
    let hears = server.open(&listens, jack::open).start(client).unwrap();
    let plays = DriverConfig {
        name: "plays".to_owned(),
        midi_outputs: vec!["notes".to_owned()],
        ..request()
    };
    // The one that is listened to comes second.
    let (client, _) = MidiClient::new(true);
    let plays = server.open(&plays, jack::open).start(client).unwrap();
    let mut connections = Vec::new();
    wait_for("a hundred notes", || {
        connections.extend(hears.update_connections().into_iter().flatten());
        received.lock().unwrap().len() >= 100
    });
    assert!(
        received
            .lock()
            .unwrap()
            .iter()
            .all(|it| *it == [0x92, 61, 99])
    );
    assert!(
        connections.contains(&connected("keys", "plays:notes")[0]),
        "{connections:?}"
    );
    hears.stop();
    plays.stop();
}

#[test]
fn midi_passes_to_and_from_real_midi_clients_through_pipewire() {
    let test = "midi_passes_to_and_from_real_midi_clients_through_pipewire";
    let Some(server) = pipewire(test) else {
        return;
    };
    let tools = ["pw-jack", "jack_midiseq", "jack_midi_dump"];
    if let Some(missing) = tools.into_iter().find(|tool| !is_here(tool)) {
        return skip(
            test,
            &format!("needs {missing} (Debian: pipewire-jack, jackd2)"),
        );
    }
    let config = DriverConfig {
        name: "middle".to_owned(),
        midi_inputs: vec!["keys".to_owned()],
        midi_outputs: vec!["notes".to_owned()],
        connections: [
            connected("keys", "seq:out"),
            connected("notes", "dump:input"),
        ]
        .concat(),
        ..request()
    };
    let (client, received) = MidiClient::new(true);
    let middle = server.open(&config, jack::open).start(client).unwrap();
    let start = |words: &[&str]| {
        let mut command = Command::new("pw-jack");
        server.surround(&mut command).args(words);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    // A note of 0.1 s, four times a second.
    let mut seq = start(&["jack_midiseq", "seq", "12000", "0", "69", "4800"]);
    let mut dump = start(&["jack_midi_dump", "dump"]);
    let (sender, lines) = std::sync::mpsc::channel();
    let output = BufReader::new(dump.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut all = output.lines().map_while(Result::ok);
        all.try_for_each(|line| sender.send(line)).ok();
    });
    let mut is_dumped = false;
    wait_for("notes both ways", || {
        middle.update_connections();
        is_dumped |= lines.try_iter().any(|line| line.contains("92 3d 63"));
        is_dumped && received.lock().unwrap().len() >= 4
    });
    for tool in [&mut seq, &mut dump] {
        let _ = tool.kill();
        let _ = tool.wait();
    }
    drop(lines);
    reader.join().unwrap();
    middle.stop();
    let received = received.lock().unwrap();
    let is_note = |it: &Vec<u8>| matches!(it[..], [0x90 | 0x80, 69, _]);
    assert!(received.iter().all(is_note), "{received:?}");
}

#[test]
fn a_socket_that_nobody_answers_is_a_clear_message() {
    let test = "a_socket_that_nobody_answers_is_a_clear_message";
    let Some(server) = pipewire(test) else {
        return;
    };
    drop(server);
    let absent = DriverConfig {
        server: Some(format!("/tmp/{}", name())),
        ..request()
    };
    let Err(refused) = jack::open_pipewire(&absent) else {
        panic!("nobody is there");
    };
    assert!(matches!(refused, DriverError::NoServer), "{refused:?}");
}

#[test]
fn pipewire_that_goes_away_ends_the_sound_and_gives_the_callback_back() {
    let test = "pipewire_that_goes_away_ends_the_sound_and_gives_the_callback_back";
    let Some(mut server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    server.kill();
    wait_for("the end", || running.state() != DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
}

#[test]
fn pipewire_that_changes_its_buffer_plays_on() {
    let test = "pipewire_that_changes_its_buffer_plays_on";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    for (buffer, latency) in [("128", 0), ("32", 32), ("1024", 32)] {
        let to = ["-n", "settings", "0", "clock.force-quantum", buffer];
        if !server.tool("pw-metadata", &to) {
            return skip(test, "needs pw-metadata (Debian: pipewire-bin)");
        }
        wait_for("the new latency", || {
            running.adapter_latency() == Frames(latency)
        });
        wait_for_blocks(&counts, 100);
        assert_eq!(running.state(), DriverState::Playing);
    }
    running.stop();
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn another_sample_rate_ends_the_sound_and_says_so() {
    let test = "another_sample_rate_ends_the_sound_and_says_so";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    let to = ["-n", "settings", "0", "clock.force-rate", "44100"];
    if !server.tool("pw-metadata", &to) {
        return skip(test, "needs pw-metadata (Debian: pipewire-bin)");
    }
    wait_for("the end", || running.state() != DriverState::Playing);
    let DriverState::Ended { reason } = running.state() else {
        unreachable!();
    };
    assert!(
        reason.contains("48000") && reason.contains("44100"),
        "{reason}"
    );
    running.stop();
}
