//! MIDI files, in and out: each event at its frame, whatever the block; a damaged file says so.

use divisi_check::conformance::node;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::rng::Rng;
use graph::{Node, ParamValue};
use midi::{FileEvent, FileEventBody, MidiFile, MidiTrack, TickUnit};
use processor::{Event, EventBody, EventTarget, Registry, TextId};
use std::path::{Path, PathBuf};
use units::SampleRate;

const RATE_HZ: u32 = 48_000;

fn registry() -> Registry {
    let mut registry = Registry::default();
    midi::register(&mut registry);
    registry
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("divisi-midi-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn message(tick: u64, bytes: [u8; 3]) -> FileEvent {
    let body = FileEventBody::Message(bytes);
    FileEvent { tick, body }
}

fn tempo(tick: u64, tempo: u32) -> FileEvent {
    let body = FileEventBody::Tempo(tempo);
    FileEvent { tick, body }
}

fn track(events: Vec<FileEvent>, ticks: u64) -> MidiTrack {
    MidiTrack {
        name: String::new(),
        events,
        ticks,
    }
}

fn file(unit: TickUnit, tracks: Vec<MidiTrack>) -> MidiFile {
    MidiFile {
        is_sequence: false,
        unit,
        tracks,
        damage: None,
        not_played: Vec::new(),
    }
}

/// Writes `file` under `name` and gives a node that plays it.
fn player(file: &MidiFile, name: &str, params: &[(&str, ParamValue)]) -> Node {
    let path = folder().join(name);
    std::fs::write(&path, file.write().unwrap()).unwrap();
    let mut player = node("midi_file", params);
    player.set("file", ParamValue::Text(path.display().to_string()));
    player
}

/// What the node sends in `frames` frames.
fn sent(node: &Node, frames: usize, block: usize) -> Vec<(u32, EventBody)> {
    let rate = SampleRate::new(RATE_HZ).unwrap();
    let mut bench = ProcessorBench::new(&registry(), node, rate);
    let input = TestInput {
        frames,
        ..TestInput::default()
    };
    let output = bench.process(&input, BlockSplit::Even(block));
    let sent = output.sent.into_iter();
    sent.map(|(_, event)| (event.frame, event.body)).collect()
}

fn midi(frame: u32, bytes: [u8; 3]) -> (u32, EventBody) {
    (frame, EventBody::Midi(bytes))
}

const ON: [u8; 3] = [0x90, 60, 100];
const OFF: [u8; 3] = [0x80, 60, 64];

#[test]
fn an_event_comes_at_the_frame_of_its_tempo_in_blocks_of_any_size() {
    // Two beats at 120, one at 60, the rest at 240 beats a minute.
    let tempos = vec![
        tempo(0, 500_000),
        tempo(192, 1_000_000),
        tempo(288, 250_000),
    ];
    let notes = vec![
        message(0, ON),
        message(96, OFF),
        message(240, ON),
        message(384, OFF),
    ];
    let file = file(
        TickUnit::Beat(96),
        vec![track(tempos, 384), track(notes, 384)],
    );
    let node = player(&file, "tempos.mid", &[]);
    let expected = [
        midi(0, ON),
        midi(24_000, OFF),
        midi(72_000, ON),
        midi(108_000, OFF),
    ];
    for block in [1, 64, 100, 4096] {
        assert_eq!(sent(&node, 110_000, block), expected, "blocks of {block}");
    }
}

#[test]
fn at_the_tempo_of_the_session_a_beat_is_a_beat_of_the_session() {
    let notes = vec![tempo(0, 9_999), message(96, ON), message(192, OFF)];
    let file = file(TickUnit::Beat(96), vec![track(notes, 192)]);
    let session = ("tempo", ParamValue::Text("session".into()));
    // The bench has the default tempo, 120 beats a minute.
    let node = player(&file, "session.mid", &[session]);
    let expected = [midi(24_000, ON), midi(48_000, OFF)];
    assert_eq!(sent(&node, 60_000, 64), expected);
}

#[test]
fn times_in_seconds_know_no_tempo() {
    // 29.97 frames a second of 100 ticks each: a tick is 1001/3,000,000 s.
    let unit = TickUnit::Second(1001, 3_000_000);
    let events = vec![tempo(0, 1), message(3000, ON), message(6000, OFF)];
    let node = player(&file(unit, vec![track(events, 6000)]), "seconds.mid", &[]);
    let expected = [midi(48_048, ON), midi(96_096, OFF)];
    assert_eq!(sent(&node, 100_000, 512), expected);
}

#[test]
fn tracks_of_a_sequence_follow_each_other() {
    let mut sequence = file(
        TickUnit::Beat(100),
        vec![
            track(
                vec![tempo(0, 250_000), message(0, ON), message(50, OFF)],
                100,
            ),
            track(vec![message(0, ON), message(100, OFF)], 100),
        ],
    );
    sequence.is_sequence = true;
    let all = player(&sequence, "sequence.mid", &[]);
    let expected = [
        midi(0, ON),
        midi(6000, OFF),
        midi(12_000, ON),
        midi(36_000, OFF),
    ];
    assert_eq!(sent(&all, 40_000, 64), expected);
    let second = player(
        &sequence,
        "second.mid",
        &[("track", ParamValue::Number(2.0))],
    );
    assert_eq!(sent(&second, 40_000, 64), [midi(0, ON), midi(24_000, OFF)]);
}

#[test]
fn a_loop_begins_again_at_its_exact_time_and_releases_what_is_down() {
    // A round is 7 ticks of 1/120 s: 2800 frames.
    let events = vec![message(0, ON), message(0, [0xb0, 64, 127])];
    let file = file(TickUnit::Beat(60), vec![track(events, 7)]);
    let node = player(&file, "loop.mid", &[("loop", ParamValue::Flag(true))]);
    let round = |begin| {
        [
            midi(begin, ON),
            midi(begin, [0xb0, 64, 127]),
            midi(begin + 2800, [0x80, 60, 0]),
            midi(begin + 2800, [0xb0, 64, 0]),
        ]
    };
    let expected: Vec<_> = (0..3).flat_map(|n| round(n * 2800)).collect();
    for block in [1, 4096] {
        assert_eq!(sent(&node, 8401, block)[..12], expected);
    }
}

#[test]
fn a_start_in_the_middle_brings_the_controllers_but_no_old_note() {
    let events = vec![
        message(0, [0xc0, 5, 0]),
        message(0, [0xb0, 7, 10]),
        message(10, [0xb0, 7, 20]),
        message(20, ON),
        message(96, [0x90, 72, 9]),
        message(192, [0x80, 72, 0]),
    ];
    let file = file(TickUnit::Beat(96), vec![track(events, 192)]);
    let node = player(&file, "start.mid", &[("start", ParamValue::Number(0.25))]);
    let expected = [
        midi(0, [0xc0, 5, 0]),
        midi(0, [0xb0, 7, 20]),
        midi(12_000, [0x90, 72, 9]),
        midi(36_000, [0x80, 72, 0]),
    ];
    assert_eq!(sent(&node, 40_000, 64), expected);
}

#[test]
fn a_crowd_of_events_is_spread_the_same_way_at_every_block() {
    let crowd: Vec<_> = (0..200)
        .map(|n| message(0, [0xb0 | (n % 16), 1, n % 128]))
        .collect();
    let count = crowd.len();
    let file = file(TickUnit::Beat(96), vec![track(crowd, 96)]);
    let node = player(&file, "crowd.mid", &[]);
    let small = sent(&node, 1000, 1);
    assert_eq!(small.len(), count, "nothing is lost");
    assert_eq!(small[63].0, 0);
    assert_eq!(small[64].0, 128);
    for block in [64, 100, 1000] {
        assert_eq!(sent(&node, 1000, block), small, "blocks of {block}");
    }
}

#[test]
fn a_file_is_the_same_when_written_and_read_again() {
    let bytes = std::fs::read(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/media/invention.mid"),
    )
    .unwrap();
    let file = MidiFile::read(&bytes).unwrap();
    assert_eq!(file.tracks.len(), 3);
    assert_eq!(file.damage, None);
    assert_eq!(file.write().unwrap(), bytes);
}

#[test]
fn a_file_that_was_cut_off_plays_as_far_as_it_goes_and_says_so() {
    let events = (0..40)
        .map(|n| message(n, [0x90, 60, n as u8 + 1]))
        .collect();
    let whole = file(TickUnit::Beat(96), vec![track(events, 40)]);
    let bytes = whole.write().unwrap();
    for length in 0..bytes.len() {
        match MidiFile::read(&bytes[..length]) {
            Ok(read) => {
                assert!(read.damage.is_some(), "{length} bytes");
                let notes = &read.tracks[0].events;
                assert_eq!(notes[..], whole.tracks[0].events[..notes.len()]);
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}

#[test]
fn a_header_at_which_the_parser_panics_is_an_error() {
    let bytes = b"MThd\0\0\0\x06\0\0\0\x01\x80\0MTrk\0\0\0\x04\0\xff\x2f\0";
    assert!(MidiFile::read(bytes).is_err());
}

/// Lets a `midi_writer` write these events into a file called `name`, and returns the file's path.
fn write(events: &[(u32, EventBody)], name: &str, params: &[(&str, ParamValue)]) -> PathBuf {
    let path = folder().join(name);
    let mut writer = node("midi_writer", params);
    writer.set("file", ParamValue::Text(path.display().to_string()));
    let rate = SampleRate::new(RATE_HZ).unwrap();
    let mut bench = ProcessorBench::new(&registry(), &writer, rate);
    let events = events.iter().map(|(frame, body)| Event {
        frame: *frame,
        target: EventTarget::Input(0),
        body: *body,
    });
    let input = TestInput {
        frames: 60_000,
        events: events.collect(),
        ..TestInput::default()
    };
    let passed = bench.process(&input, BlockSplit::Even(100));
    assert_eq!(passed.sent.len(), input.events.len(), "it passes events on");
    bench.end_background();
    path
}

/// What a `midi_file` makes of the file `path`.
fn read(path: &Path) -> Vec<(u32, EventBody)> {
    let mut player = node("midi_file", &[]);
    player.set("file", ParamValue::Text(path.display().to_string()));
    sent(&player, 60_000, 64)
}

#[test]
fn what_a_writer_writes_a_player_plays_at_the_same_frames() {
    let mut events = Vec::new();
    for n in 0..2000_u32 {
        let frame = n * 7919 % 59_000;
        let key = (n % 128) as u8;
        events.push(midi(
            frame,
            [0x90 | (n % 16) as u8, key, 1 + (n % 127) as u8],
        ));
        events.push(midi(frame + 500, [0x80 | (n % 16) as u8, key, 3]));
    }
    events.push((777, EventBody::Text(TextId::new("verse").unwrap())));
    events.push(midi(40_000, [0xc3, 17, 0]));
    events.push(midi(40_000, [0xe3, 1, 2]));
    events.sort_by_key(|(frame, _)| *frame);
    let path = write(&events, "round.mid", &[]);
    assert_eq!(read(&path), events);
    let file = MidiFile::open(&path).unwrap();
    assert_eq!(file.damage, None);
    assert_eq!(file.tracks.len(), 1);
}

#[test]
fn notes_become_channel_messages() {
    let id = 0xabc_def;
    let (pitch, velocity) = (61.0, 1.0);
    let on = EventBody::NoteOn {
        id,
        pitch,
        velocity,
    };
    let off = EventBody::NoteOff { id, velocity: 0.0 };
    let path = write(&[(10, on), (20_000, off)], "notes.mid", &[]);
    let expected = [midi(10, [0x90, 61, 127]), midi(20_000, [0x80, 61, 0])];
    assert_eq!(read(&path), expected);
}

#[test]
fn an_earlier_file_stays_until_the_first_block() {
    let path = folder().join("earlier.mid");
    std::fs::write(&path, "an earlier take").unwrap();
    let mut writer = node("midi_writer", &[]);
    writer.set("file", ParamValue::Text(path.display().to_string()));
    let rate = SampleRate::new(RATE_HZ).unwrap();
    let mut bench = ProcessorBench::new(&registry(), &writer, rate);
    bench.end_background();
    assert_eq!(std::fs::read(&path).unwrap(), b"an earlier take");
}

#[test]
fn any_bytes_are_read_and_written_alike_or_refused() {
    let whole = std::fs::read(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/media/invention.mid"),
    )
    .unwrap();
    let mut rng = Rng(5);
    for _ in 0..3000 {
        let mut bytes = whole[..rng.below(whole.len())].to_vec();
        for _ in 0..rng.below(6) {
            if !bytes.is_empty() {
                // Near the begin, where the headers are.
                let near = 1 + rng.below(bytes.len());
                let at = rng.below(near);
                bytes[at] = rng.bits() as u8;
            }
        }
        let Ok(mut file) = MidiFile::read(&bytes) else {
            continue;
        };
        let again = MidiFile::read(&file.write().unwrap()).unwrap();
        assert_eq!(again.damage, None);
        file.damage = None;
        file.not_played.clear();
        assert_eq!(again, file);
    }
}
