//! The thread on a double of the sequencer, libasound's translator, and the real sequencer where there is one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use units::{Frames, Nanos};

use super::client::{Client, Translator};
use super::library::RawEvent;
use super::thread::{Received, Sequencer, SequencerHandle, SequencerTask, task_on};
use super::{SequencerPeriods, open_beside};
use crate::alsa::library::Library;
use crate::alsa::stream::Errno;
use crate::clock::{Clock, SystemClock};
use crate::connections::{OwnPort, PortDirection, PortGraph};
use crate::{
    AudioCallback, CallbackInfo, DriverConfig, MidiEvent, MidiLosses, PortConnections, clock,
};

/// A clock that stands where it is put.
#[derive(Clone, Default)]
struct StandingClock(Arc<Mutex<u64>>);

impl Clock for StandingClock {
    fn now(&mut self) -> Nanos {
        Nanos(*self.0.lock().unwrap())
    }

    fn sleep_until(&mut self, time: Nanos) {
        *self.0.lock().unwrap() = time.0;
    }
}

/// What the sequencer's clock lags behind ours.
const BEHIND: u64 = 1_000_000_000_000;

#[derive(Default)]
struct Script {
    events: VecDeque<(Result<Received, Errno>, Vec<u8>)>,
    sent: Vec<(u16, Nanos, Vec<u8>)>,
    refuse_sends: bool,
    others: Vec<String>,
    connected: Vec<(String, String)>,
}

struct Double {
    script: Arc<Mutex<Script>>,
    clock: StandingClock,
    ports: Vec<OwnPort<i32>>,
}

impl PortGraph<i32> for Double {
    fn has_port(&self, name: &str) -> bool {
        let script = self.script.lock().unwrap();
        script.others.iter().any(|other| other == name)
    }

    fn connect(&self, own: &OwnPort<i32>, other: &str) -> bool {
        let connection = (own.name.clone(), other.to_owned());
        self.script.lock().unwrap().connected.push(connection);
        true
    }

    fn connections_of(&self, own: &OwnPort<i32>) -> Vec<String> {
        let script = self.script.lock().unwrap();
        let ours = script
            .connected
            .iter()
            .filter(|(port, _)| *port == own.name);
        ours.map(|(_, other)| other.clone()).collect()
    }
}

impl Sequencer for Double {
    fn own_ports(&self) -> Vec<OwnPort<i32>> {
        self.ports.clone()
    }

    fn time(&mut self) -> Result<Nanos, Errno> {
        Ok(Nanos(self.clock.now().0 - BEHIND))
    }

    fn wait(&mut self, _: i32) -> Result<(), Errno> {
        Ok(())
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<Received, Errno> {
        let next = self.script.lock().unwrap().events.pop_front();
        let Some((answer, message)) = next else {
            return Ok(Received::Nothing);
        };
        bytes[..message.len()].copy_from_slice(&message);
        answer
    }

    fn send(&mut self, port: u16, at: Nanos, bytes: &[u8]) -> Result<(), Errno> {
        let mut script = self.script.lock().unwrap();
        if script.refuse_sends {
            return Err(Errno::AGAIN);
        }
        script.sent.push((port, at, bytes.to_vec()));
        Ok(())
    }
}

/// A callback that sends back what it gets, ten frames later.
#[derive(Default)]
struct Echo(Vec<(u32, u16, Vec<u8>)>);

impl AudioCallback for Echo {
    fn process(&mut self, _: CallbackInfo, _: &[&[f32]], _: &mut [&mut [f32]]) {}

    fn push_midi(&mut self, event: MidiEvent<'_>) {
        let message = event.message.to_vec();
        self.0.push((event.frame + 10, event.port, message));
    }

    fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        for (frame, port, message) in self.0.extract_if(.., |(frame, ..)| *frame < end) {
            send(MidiEvent {
                port,
                frame,
                message: &message,
            });
        }
    }
}

struct Bench {
    script: Arc<Mutex<Script>>,
    clock: StandingClock,
    task: SequencerTask<Double, StandingClock>,
    periods: SequencerPeriods,
    handle: SequencerHandle,
}

fn config() -> DriverConfig {
    let connect = |port: &str, other: &str| PortConnections {
        port: port.to_owned(),
        others: vec![other.to_owned()],
    };
    DriverConfig {
        midi_inputs: vec!["keys".to_owned(), "pads".to_owned()],
        midi_outputs: vec!["synth".to_owned()],
        connections: vec![
            connect("keys", "Keyboard:MIDI 1"),
            connect("out_1", "system:playback_1"),
        ],
        ..DriverConfig::new("test", Frames(480))
    }
}

fn bench() -> Bench {
    let (script, clock) = (Arc::<Mutex<Script>>::default(), StandingClock::default());
    *clock.0.lock().unwrap() = BEHIND + 7_000_000_000;
    let port = |name: &str, port, direction| OwnPort {
        name: name.to_owned(),
        port,
        direction,
    };
    let double = Double {
        script: script.clone(),
        clock: clock.clone(),
        ports: vec![
            port("keys", 0, PortDirection::Input),
            port("pads", 1, PortDirection::Input),
            port("synth", 2, PortDirection::Output),
        ],
    };
    let (task, periods, handle) = task_on(double, clock.clone(), &config());
    Bench {
        script,
        clock,
        task,
        periods,
        handle,
    }
}

impl Bench {
    fn event(&self, event: Received, bytes: &[u8]) {
        let mut script = self.script.lock().unwrap();
        script.events.push_back((Ok(event), bytes.to_vec()));
    }

    /// Plays a period of 10 ms that begins at `ms` of the sequencer.
    fn period(&mut self, echo: &mut Echo, ms: u64) {
        *self.clock.0.lock().unwrap() = BEHIND + ms * 1_000_000;
        self.task.step().unwrap();
        let now = self.clock.now();
        self.periods.begin(now, 480);
        self.periods.read(echo, 0, 0, 480);
        self.periods.write(echo, 0, 0, 480);
        self.task.step().unwrap();
    }
}

#[test]
fn a_message_comes_at_its_frame_and_leaves_at_its_time_though_the_clocks_differ() {
    let mut bench = bench();
    let mut echo = Echo::default();
    bench.period(&mut echo, 7_010);
    // 3 ms into the period that ends at 7020 ms: frame 144, and 48 for the slack.
    let at = Nanos(7_013_000_000);
    bench.event(
        Received::Midi {
            port: 1,
            at,
            len: 3,
        },
        &[0x90, 60, 100],
    );
    let sysex: Vec<u8> = [0xf0].into_iter().chain(0..40).chain([0xf7]).collect();
    let len = sysex.len();
    bench.event(Received::Midi { port: 0, at, len }, &sysex);
    bench.period(&mut echo, 7_020);
    let at = Nanos(7_023_000_000);
    bench.event(
        Received::Midi {
            port: 1,
            at,
            len: 3,
        },
        &[0x80, 60, 0],
    );
    bench.period(&mut echo, 7_030);
    let script = bench.script.lock().unwrap();
    // Frame 192, ten more, one period of lead.
    let time = |ms: u64| Nanos((ms + 10) * 1_000_000 + 202 * 1_000_000 / 48);
    let mut sent = script.sent.iter().filter(|(port, ..)| *port == 1);
    for (ms, message) in [(7_020, [0x90, 60, 100]), (7_030, [0x80, 60, 0])] {
        let (_, at, bytes) = sent.next().unwrap();
        assert_eq!(bytes, &message);
        assert!(at.0.abs_diff(time(ms).0) < 1_000, "{at:?}");
    }
    let bytes = script.sent.iter().filter(|(port, ..)| *port == 0);
    let bytes: Vec<u8> = bytes.flat_map(|(_, _, bytes)| bytes.clone()).collect();
    assert_eq!(bytes, sysex);
}

#[test]
fn a_system_exclusive_message_passes_whole_in_both_directions() {
    let mut bench = bench();
    let mut echo = Echo::default();
    let sysex: Vec<u8> = [0xf0].into_iter().chain(0..100).chain([0xf7]).collect();
    bench.period(&mut echo, 7_010);
    // In two pieces, as some clients send it.
    for piece in [&sysex[..50], &sysex[50..]] {
        let (at, len) = (Nanos(7_012_000_000), piece.len());
        bench.event(Received::Midi { port: 0, at, len }, piece);
    }
    bench.period(&mut echo, 7_020);
    let script = bench.script.lock().unwrap();
    let sent: Vec<u8> = script
        .sent
        .iter()
        .flat_map(|(_, _, bytes)| bytes.clone())
        .collect();
    assert_eq!(sent, sysex);
}

#[test]
fn connections_are_made_when_a_port_appears_and_given_with_those_of_other_ports() {
    let mut bench = bench();
    let connections = |bench: &Bench| {
        let all = bench.handle.take_connections()?;
        let pair = |it: PortConnections| (it.port, it.others.join(","));
        Some(all.into_iter().map(pair).collect::<Vec<_>>())
    };
    let sound = ("out_1".to_owned(), "system:playback_1".to_owned());
    bench.task.step().unwrap();
    assert_eq!(connections(&bench), Some(vec![sound.clone()]));
    assert_eq!(connections(&bench), None);
    bench
        .script
        .lock()
        .unwrap()
        .others
        .push("Keyboard:MIDI 1".to_owned());
    bench.event(Received::PortsChanged, &[]);
    bench.task.step().unwrap();
    let keys = ("keys".to_owned(), "Keyboard:MIDI 1".to_owned());
    assert_eq!(connections(&bench), Some(vec![keys, sound.clone()]));
    // What the user disconnects stays so.
    bench.script.lock().unwrap().connected.clear();
    bench.event(Received::PortsChanged, &[]);
    bench.task.step().unwrap();
    assert_eq!(connections(&bench), Some(vec![sound]));
}

#[test]
fn what_is_lost_is_counted_and_a_sequencer_that_is_gone_ends_the_thread() {
    let mut bench = bench();
    let mut echo = Echo::default();
    bench.period(&mut echo, 7_010);
    bench.event(Received::TooLong, &[]);
    bench.event(Received::Overrun, &[]);
    bench.event(Received::Other, &[]);
    bench.script.lock().unwrap().refuse_sends = true;
    let at = Nanos(7_012_000_000);
    bench.event(
        Received::Midi {
            port: 0,
            at,
            len: 1,
        },
        &[0xf8],
    );
    bench.period(&mut echo, 7_020);
    let losses = MidiLosses {
        too_long: 1,
        no_room: 2,
    };
    assert_eq!(bench.handle.losses(), losses);
    let gone = Errno(libc::ENODEV);
    let mut script = bench.script.lock().unwrap();
    script.events.push_back((Err(gone), Vec::new()));
    drop(script);
    assert_eq!(bench.task.step(), Err(gone));
}

fn skip(test: &str, why: &str) {
    let message = format!("SKIPPED {test}: {why}");
    eprintln!("{message}");
    if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
        use std::io::Write;
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).append(true).open(path).unwrap();
        writeln!(file, "{message}").unwrap();
    }
}

#[test]
fn events_of_libasound_have_the_bytes_of_their_messages() {
    let Some(functions) = Library::load().ok().and_then(|it| it.sequencer.as_ref()) else {
        let test = "events_of_libasound_have_the_bytes_of_their_messages";
        return skip(test, "needs the Debian package libasound2");
    };
    let mut encoder = Translator::new(functions).unwrap();
    let mut decoder = Translator::new(functions).unwrap();
    let sysex: Vec<u8> = [0xf0].into_iter().chain(0..127).chain([0xf7]).collect();
    // Each with its number among the kinds of events.
    let messages: [(&[u8], u8); 9] = [
        (&[0x91, 60, 100], 6),
        (&[0x81, 60, 0], 7),
        (&[0xa2, 60, 5], 8),
        (&[0xb3, 74, 127], 10),
        (&[0xc4, 5], 11),
        (&[0xd5, 9], 12),
        (&[0xe6, 1, 65], 13),
        (&[0xf8], 36),
        (&sysex, 130),
    ];
    for (message, kind) in messages {
        // In parts, as they come from the ring.
        let (mut bytes, mut decoded) = (message, Vec::new());
        let mut kinds = Vec::new();
        while !bytes.is_empty() {
            let part = &bytes[..bytes.len().min(super::period::PART_BYTES)];
            let (taken, event) = encoder.encode(part).unwrap();
            bytes = &bytes[taken..];
            if event.kind == RawEvent::NONE.kind {
                continue;
            }
            kinds.push(event.kind);
            let mut room = [0; 256];
            // SAFETY: the event is the encoder's, whose memory stays until its next call.
            let len = unsafe { decoder.decode(&event, &mut room) }.unwrap();
            decoded.extend_from_slice(&room[..len]);
        }
        assert_eq!((kinds.as_slice(), &decoded[..]), (&[kind][..], message));
        // The note's channel and key lie where the header says.
        if kind == 6 {
            let (_, event) = encoder.encode(message).unwrap();
            assert_eq!(event.data[0].to_ne_bytes()[..3], [1, 60, 100]);
        }
    }
    // A buffer that is too small is an error, not a write beyond it.
    let (_, event) = encoder.encode(&sysex).unwrap();
    // SAFETY: as above.
    let refused = unsafe { decoder.decode(&event, &mut [0; 16]) };
    assert_eq!(refused, Err(Errno(libc::ENOMEM)));
}

#[test]
fn without_a_sequencer_the_clock_plays_on_and_says_what_to_do() {
    let driver = clock::open(&config()).unwrap();
    let info = driver.info();
    let refused = info.refused.iter().find(|it| it.starts_with("MIDI ports"));
    match (info.has_midi, refused) {
        (true, None) => {}
        (false, Some(reason)) => {
            let advises = ["modprobe snd-seq", "libasound2", "group `audio`"];
            assert!(advises.iter().any(|it| reason.contains(it)), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

/// Two clients on the real sequencer: what one sends at a time, the other gets with that stamp.
#[test]
fn the_real_sequencer_connects_and_delivers_at_the_time_that_is_asked_for() {
    let test = "the_real_sequencer_connects_and_delivers_at_the_time_that_is_asked_for";
    let opened = |name: &str| {
        let names = [format!("{name}-port")];
        let mut config = DriverConfig::new(name, Frames(480));
        (config.midi_inputs, config.midi_outputs) = (names.to_vec(), names.to_vec());
        Client::open(&config)
    };
    let (mut from, mut to) = match (opened("divisi-a"), opened("divisi-b")) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(reason), _) | (_, Err(reason)) => return skip(test, &reason),
    };
    let input = to.own_ports().remove(0);
    to.connect(&input, "divisi-a:divisi-a-port");
    assert_eq!(to.connections_of(&input), ["divisi-a:divisi-a-port"]);
    let mut both = [from.time().unwrap(), to.time().unwrap()];
    both[0].0 += 20_000_000;
    from.send(0, both[0], &[0x90, 60, 100]).unwrap();
    let begun = SystemClock.now();
    let (mut bytes, mut got) = ([0; 16], Received::Nothing);
    while !matches!(got, Received::Midi { .. }) {
        assert!(
            SystemClock.now().0 - begun.0 < 5_000_000_000,
            "it does not come"
        );
        to.wait(10).unwrap();
        got = to.receive(&mut bytes).unwrap();
    }
    let Received::Midi { at, len: 3, .. } = got else {
        panic!("{got:?}");
    };
    assert_eq!(bytes[..3], [0x90, 60, 100]);
    // Both queues began at about the same time; the kernel's timer may be one millisecond late, and a machine under load
    // later.
    assert!(at.0 > both[1].0, "{at:?} {both:?}");
}

#[test]
fn a_driver_without_midi_ports_opens_no_sequencer() {
    let config = DriverConfig::new("test", Frames(64));
    let driver = clock::open(&config).unwrap();
    let mut info = driver.info().clone();
    let (handle, periods) = open_beside(&config, &mut info);
    assert!(handle.is_none() && periods.is_none() && info.refused.is_empty());
}
