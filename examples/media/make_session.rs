//! Writes `05-session-64.toml`: 64 tracks, four groups, two effects, one piece of music.
//!
//! `cargo run -p divisi-media --example make_session -- examples/05-session-64.toml`. Change the piece here and
//! not in the file, which is too long to edit by hand.

use std::fmt::Write;

/// Seconds of one sixteenth at 128 beats per minute; a bar has 16, the chord progression 64.
const SIXTEENTH: f64 = 15.0 / 128.0;
const BAR: u32 = 16;
const ROUND: u32 = 64;

/// One track.
struct Track {
    name: String,
    group: &'static str,
    source: String,
    filter: Filter,
    /// From -1 (left) to 1 (right).
    pan: f64,
    /// Send levels to echo and hall, in dB.
    sends: [Option<f64>; 2],
}

/// Entries of a filter node, and the output that is connected.
#[derive(Clone)]
struct Filter(String, &'static str);

/// A part of `loop.wav`: first beat, number of beats.
struct Part(f64, f64);

/// Start and period of playback, in sixteenths.
struct When(u32, u32);

fn main() {
    let path = std::env::args().nth(1).expect("the file to write");
    let tracks = tracks();
    assert_eq!(tracks.len(), 64);
    std::fs::write(&path, session(&tracks)).expect("room on the disk");
}

fn player(part: Part, when: When, gain_db: f64) -> String {
    format!(
        "kind = \"player\", file = \"media/loop.wav\", loop = true, start = {}, length = {}, at = {}, period = {}, \
         fade_out = 0.01, gain_db = {gain_db:?}",
        seconds(part.0 * 4.0),
        seconds(part.1 * 4.0),
        seconds(when.0.into()),
        seconds(when.1.into()),
    )
}

fn seconds(sixteenths: f64) -> String {
    format!("{:?}", sixteenths * SIXTEENTH)
}

/// `port` is `low`, `band` or `high`.
fn svf(port: &'static str, freq: f64, q: f64) -> Filter {
    Filter(format!("kind = \"svf\", freq = {freq:?}, q = {q:?}"), port)
}

fn biquad(mode: &str, freq: f64, gain_db: f64) -> Filter {
    Filter(
        format!("kind = \"biquad\", mode = \"{mode}\", freq = {freq:?}, gain_db = {gain_db:?}"),
        "out",
    )
}

fn tracks() -> Vec<Track> {
    let mut tracks = drums();
    tracks.extend(bass());
    tracks.extend(chords());
    tracks.extend(plucks());
    tracks.extend(air());
    tracks
}

#[rustfmt::skip] // A table.
fn drums() -> Vec<Track> {
    // Drums come in with the second round; name, part, when, gain, filter, pan, echo, hall.
    let (low, all) = (svf("low", 9000.0, 0.7), biquad("highshelf", 6000.0, -2.0));
    let high = || svf("high", 500.0, 0.7);
    let hit = |name: &str, part, when: When, gain, filter, pan, sends| Track {
        name: name.into(),
        group: "drums",
        source: player(part, When(ROUND + when.0, when.1), gain),
        filter,
        pan,
        sends,
    };
    let dry = [None, None];
    let hall = |db| [None, Some(db)];
    vec![
        hit("kick", Part(0.0, 1.0), When(0, 4), -4.0, low, 0.0, dry),
        hit("snare", Part(1.0, 1.0), When(4, 8), -9.0, all, 0.05, hall(-14.0)),
        hit("snare-ghost", Part(1.0, 0.5), When(15, 32), -20.0, svf("low", 3500.0, 0.8), -0.15, hall(-10.0)),
        hit("clap", Part(18.0, 1.0), When(4, 8), -14.0, high(), -0.2, hall(-9.0)),
        hit("clap-echo", Part(18.0, 1.0), When(62, ROUND), -15.0, high(), 0.3, [Some(-6.0), None]),
        hit("hat-closed", Part(2.0, 0.5), When(0, 4), -17.0, high(), 0.25, dry),
        hit("hat-open", Part(2.5, 0.5), When(2, 4), -18.0, high(), 0.3, hall(-20.0)),
        hit("hat-soft", Part(2.0, 0.25), When(1, 4), -24.0, svf("band", 7000.0, 0.9), 0.2, dry),
        hit("hat-last", Part(2.0, 0.25), When(3, 4), -21.0, svf("band", 9000.0, 0.9), 0.35, dry),
        hit("shaker-left", Part(19.0, 0.5), When(0, 2), -18.0, high(), -0.7, dry),
        hit("shaker-right", Part(19.0, 0.5), When(1, 2), -20.0, high(), 0.7, dry),
        hit("rim", Part(19.5, 0.5), When(3, BAR), -20.0, high(), -0.5, [Some(-14.0), Some(-12.0)]),
        hit("rim-answer", Part(19.5, 0.5), When(10, BAR), -22.0, high(), 0.5, [Some(-14.0), Some(-12.0)]),
        hit("tom", Part(3.0, 0.5), When(60, ROUND), -12.0, svf("low", 2500.0, 0.7), 0.4, hall(-12.0)),
        hit("tom-low", Part(3.0, 1.0), When(62, ROUND), -11.0, svf("low", 900.0, 1.2), -0.4, hall(-12.0)),
        hit("crash", Part(16.0, 2.0), When(0, 2 * ROUND), -15.0, high(), -0.3, hall(-10.0)),
    ]
}

/// Notes of bar `bar` of each round, `at` sixteenths after its beginning.
fn in_bar(first_round: u32, bar: usize, at: u32) -> When {
    When(first_round * ROUND + bar as u32 * BAR + at, ROUND)
}

const ROOTS: [&str; 4] = ["a", "f", "c", "g"];

fn bass() -> Vec<Track> {
    let mut tracks = Vec::new();
    for (bar, root) in ROOTS.iter().enumerate() {
        for (step, (at, beats, gain)) in [(0, 1.0, -8.0), (6, 0.5, -10.0), (10, 0.75, -9.0)]
            .into_iter()
            .enumerate()
        {
            tracks.push(Track {
                name: format!("bass-{root}{}", step + 1),
                group: "low",
                source: player(Part(4.0 + bar as f64, beats), in_bar(1, bar, at), gain),
                filter: svf("low", 380.0 + 260.0 * step as f64, 1.3),
                pan: 0.0,
                sends: [None, None],
            });
        }
    }
    tracks
}

fn chords() -> Vec<Track> {
    let hits = [
        (3, 0.5, -13.0),
        (6, 0.75, -11.0),
        (11, 0.5, -14.0),
        (14, 0.5, -16.0),
    ];
    let mut tracks = Vec::new();
    for (bar, root) in ROOTS.iter().enumerate() {
        for (step, (at, beats, gain)) in hits.into_iter().enumerate() {
            let side = if step % 2 == 0 { -1.0 } else { 1.0 };
            tracks.push(Track {
                name: format!("chord-{root}{}", step + 1),
                group: "chords",
                source: player(Part(8.0 + bar as f64, beats), in_bar(2, bar, at), gain),
                filter: svf("low", 1400.0 + 900.0 * step as f64, 1.6),
                pan: side * (0.2 + 0.1 * step as f64),
                sends: [(step == 3).then_some(-8.0), Some(-13.0)],
            });
        }
    }
    tracks
}

fn plucks() -> Vec<Track> {
    // Which of the eight strings, eighth by eighth.
    let melody = [0, 3, 5, 3, 1, 4, 7, 4, 0, 3, 6, 3, 1, 4, 5, 2];
    let track = |(step, string): (usize, i32)| Track {
        name: format!("pluck-{}", step + 1),
        group: "high",
        source: player(
            Part(12.0 + 0.5 * f64::from(string), 0.5),
            When(2 * step as u32, 32),
            if step % 4 == 0 { -9.0 } else { -12.0 },
        ),
        filter: biquad("peak", 900.0 + 150.0 * step as f64, 4.0),
        pan: libm::sin(step as f64 * 0.9) * 0.7,
        sends: [Some(-11.0), Some(-14.0)],
    };
    melody.into_iter().enumerate().map(track).collect()
}

/// The background: a pad on both sides, a pedal tone and a shimmer from oscillators.
#[rustfmt::skip] // A table.
fn air() -> Vec<Track> {
    let track = |name: &str, source, filter, pan, sends| Track {
        name: name.into(),
        group: "high",
        source,
        filter,
        pan,
        sends,
    };
    let pad = |at, gain| player(Part(20.0, 4.0), When(at, BAR), gain);
    let osc = |wave: &str, freq: f64, volume: f64| {
        format!("kind = \"osc\", wave = \"{wave}\", freq = {freq:?}, volume = {volume:?}")
    };
    let slow = |bars: f64| {
        let hz = 1.0 / (bars * 16.0 * SIXTEENTH);
        Filter(format!("kind = \"mod\", freq = {hz:?}"), "out")
    };
    vec![
        track("pad-left", pad(0, -17.0), svf("low", 2200.0, 0.8), -0.8, [None, Some(-12.0)]),
        track("pad-right", pad(8, -17.0), svf("low", 1600.0, 0.8), 0.8, [None, Some(-12.0)]),
        track("pedal", osc("triangle", 110.0, 0.035), slow(4.0), 0.0, [None, None]),
        track("glimmer", osc("sine", 880.0, 0.02), slow(1.0), 0.4, [Some(-6.0), Some(-6.0)]),
    ]
}

const GROUPS: [(&str, &str, f64); 4] = [
    ("drums", "the drums", -3.0),
    ("low", "the bass", 4.5),
    ("chords", "the chords", 6.0),
    ("high", "plucked strings and pads", 5.0),
];

/// The two effects.
const EFFECTS: [&str; 2] = ["echo", "hall"];

/// Builder of the session text: nodes and edges.
#[derive(Default)]
struct Text {
    nodes: String,
    edges: String,
}

impl Text {
    fn note(&mut self, note: &str) {
        writeln!(self.nodes, "\n# {note}").expect("writing to a String does not fail");
        writeln!(self.edges, "    # {note}").expect("writing to a String does not fail");
    }

    fn node(&mut self, name: &str, entries: &str) {
        writeln!(self.nodes, "{name} = {{ {entries} }}")
            .expect("writing to a String does not fail");
    }

    fn edge(&mut self, chain: &str) {
        writeln!(self.edges, "    \"{chain}\",").expect("writing to a String does not fail");
    }
}

fn session(tracks: &[Track]) -> String {
    let mut text = Text::default();
    let mut sends = [0, 0];
    for (group, what, _) in GROUPS {
        let members = tracks.iter().filter(|t| t.group == group);
        text.note(&format!("Tracks: {what}."));
        for (i, track) in members.enumerate() {
            add_track(&mut text, track, i + 1, &mut sends);
        }
    }
    add_groups(&mut text, tracks);
    add_echo(&mut text, sends[0]);
    add_hall(&mut text, sends[1]);
    add_master(&mut text);
    let head = "\
# A mixing session of 64 tracks: each is a player (or an oscillator), a filter and a pan; some send to an echo and to a
# hall; four groups with meters go to one master.
#
# It is an example for many cores: the tracks do not depend on each other, the groups wait for their tracks. Each effect is a
# feedback cycle through delays, and the engine cuts the cycle at the delay.
#
# Written by examples/media/make_session.rs; every sound is a part of media/loop.wav.
";
    format!(
        "{head}\nedges = [\n{}]\n\n[settings]\nrate = 48000\nblock = 64\n\n[nodes]{}",
        text.edges, text.nodes
    )
}

fn add_track(text: &mut Text, track: &Track, place: usize, sends: &mut [u32; 2]) {
    let (name, group) = (&track.name, track.group);
    text.node(name, &track.source);
    text.node(&format!("{name}-tone"), &track.filter.0);
    text.node(
        &format!("{name}-pan"),
        &format!("kind = \"pan\", pan = {:.2}", track.pan),
    );
    let port = track.filter.1;
    text.edge(&format!("{name} -> {name}-tone"));
    text.edge(&format!("{name}-tone.{port} -> {name}-pan"));
    text.edge(&format!("{name}-pan.left -> {group}-left.{place}"));
    text.edge(&format!("{name}-pan.right -> {group}-right.{place}"));
    for ((effect, db), count) in EFFECTS.iter().zip(track.sends).zip(sends) {
        if let Some(db) = db {
            *count += 1;
            text.node(
                &format!("{name}-{effect}"),
                &format!("kind = \"gain\", gain_db = {db:?}"),
            );
            text.edge(&format!(
                "{name}-tone.{port} -> {name}-{effect} -> {effect}-sum.{count}"
            ));
        }
    }
}

fn add_groups(text: &mut Text, tracks: &[Track]) {
    text.note("Groups: a sum, a level and a meter on each side.");
    for (i, (group, _, db)) in GROUPS.into_iter().enumerate() {
        let n = tracks.iter().filter(|t| t.group == group).count();
        for side in ["left", "right"] {
            text.node(
                &format!("{group}-{side}"),
                &format!("kind = \"mix\", in = {n}, out = 1"),
            );
            text.node(
                &format!("{group}-{side}-level"),
                &format!("kind = \"gain\", gain_db = {db:?}"),
            );
            text.node(&format!("{group}-{side}-meter"), "kind = \"meter\"");
            text.edge(&format!(
                "{group}-{side} -> {group}-{side}-level -> {group}-{side}-meter -> master-{side}.{}",
                i + 1
            ));
        }
    }
}

fn add_echo(text: &mut Text, sends: u32) {
    text.note("The echo: from left to right and back; each repeat is quieter and has less treble.");
    let time = seconds(3.0);
    text.node(
        "echo-sum",
        &format!("kind = \"mix\", in = {}, out = 1", sends + 1),
    );
    text.node("echo-left", &format!("kind = \"delay\", time = {time}"));
    text.node("echo-right", &format!("kind = \"delay\", time = {time}"));
    text.node("echo-tone", "kind = \"onepole\", freq = 3200.0");
    text.node("echo-again", "kind = \"gain\", gain_db = -6.0");
    text.edge("echo-sum -> echo-left -> echo-right -> echo-tone -> echo-again");
    text.edge(&format!("echo-again -> echo-sum.{}", sends + 1));
    text.edge("echo-left -> master-left.5");
    text.edge("echo-right -> master-right.5");
}

fn add_hall(text: &mut Text, sends: u32) {
    text.note("The hall: six delay lines of different lengths, each with feedback; three go to each side.");
    text.node(
        "hall-sum",
        &format!("kind = \"mix\", in = {sends}, out = 1"),
    );
    text.node("hall-first", "kind = \"delay\", time = 0.019");
    text.edge("hall-sum -> hall-first");
    for (i, time) in [0.0297, 0.0343, 0.0371, 0.0411, 0.0437, 0.0493]
        .into_iter()
        .enumerate()
    {
        let n = i + 1;
        text.node(&format!("hall-in{n}"), "kind = \"mix\", in = 2, out = 1");
        text.node(
            &format!("hall-line{n}"),
            &format!("kind = \"delay\", time = {time:?}"),
        );
        text.node(
            &format!("hall-tone{n}"),
            "kind = \"onepole\", freq = 4500.0",
        );
        text.node(&format!("hall-again{n}"), "kind = \"gain\", gain = 0.8");
        text.edge(&format!("hall-first -> hall-in{n}.1"));
        text.edge(&format!(
            "hall-in{n} -> hall-line{n} -> hall-tone{n} -> hall-again{n} -> hall-in{n}.2"
        ));
        let side = if i % 2 == 0 { "left" } else { "right" };
        text.edge(&format!("hall-tone{n} -> hall-{side}.{}", i / 2 + 1));
    }
    for side in ["left", "right"] {
        text.node(&format!("hall-{side}"), "kind = \"mix\", in = 3, out = 1");
        text.node(
            &format!("hall-{side}-level"),
            "kind = \"gain\", gain_db = -12.0",
        );
        text.edge(&format!(
            "hall-{side} -> hall-{side}-level -> master-{side}.6"
        ));
    }
}

fn add_master(text: &mut Text) {
    text.note("The master.");
    for side in ["left", "right"] {
        text.node(&format!("master-{side}"), "kind = \"mix\", in = 6, out = 1");
        text.node(
            &format!("master-{side}-tone"),
            &biquad("lowshelf", 90.0, 1.5).0,
        );
        text.node(
            &format!("master-{side}-level"),
            "kind = \"gain\", gain_db = 0.0",
        );
        text.node(&format!("master-{side}-meter"), "kind = \"meter\"");
        text.node(&format!("out-{side}"), "kind = \"sink\"");
        text.edge(&format!(
            "master-{side} -> master-{side}-tone -> master-{side}-level -> master-{side}-meter -> out-{side}"
        ));
    }
}
