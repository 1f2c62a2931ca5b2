//! Makes `invention.mid`: the two-part invention in C, BWV 772, by Johann Sebastian Bach (1723, in the public domain).
//!
//! `cargo run -p divisi-midi --example make_invention -- examples/media/invention.mid`. The same bytes on every machine. Format 1
//! with three tracks: the tempo, the right hand on channel 1, the left hand on channel 2. The notes below are written as in
//! LilyPond: letters relative to the note before (`'` and `,` are an octave up and down), then the length as a fraction of a
//! whole note, which holds until the next one; `r` is a rest, `~` a tie.

use divisi_midi::{FileEvent, FileEventBody, MidiFile, MidiTrack, TickUnit};

/// Ticks of a beat, and of a whole note.
const BEAT: u64 = 480;
const WHOLE: u64 = 4 * BEAT;

/// Microseconds a beat: 84 beats a minute, and slower in the last two bars.
const TEMPOS: [(u64, u32); 4] = [
    (0, 714_286),
    (20 * WHOLE + 2 * BEAT, 789_474),
    (20 * WHOLE + 3 * BEAT, 882_353),
    (21 * WHOLE, 1_000_000),
];

const RIGHT: [&str; 22] = [
    "r16 c d e f d e c g'8 c b c",
    "d16 g, a b c a b g d'8 g f g",
    "e16 a g f e g f a g f e d c e d f",
    "e d c b a c b d c b a g fis a g b",
    "a8 d, c'8. d16 b a g fis e g fis a",
    "g b a c b d c e d b32 c d16 g b,8 a16 g",
    "g8 r r4 r16 g a b c a b g",
    "fis8 r r4 r16 a b c d b c a",
    "b8 r r4 r16 d c b a c b d",
    "c8 r r4 r16 e d c b d cis e",
    "d8 cis d e f a, b cis",
    "d fis, gis a b c d4 ~",
    "d16 e, fis gis a fis gis e e' d c e d c b d",
    "c a' gis b a e f d gis f' e d c8 b16 a",
    "a a' g f e g f a g2 ~",
    "g16 e f g a f g e f2 ~",
    "f16 g f e d f e g f2 ~",
    "f16 d e f g e f d e2 ~",
    "e16 c d e f d e c d e f g a f g e",
    "f g a b c a b g c8 g e d16 c",
    "c bes a g f a g bes a b c e, d c' f, b",
    "c1",
];

const LEFT: [&str; 22] = [
    "r2 r16 c d e f d e c",
    "g'8 g, r4 r16 g' a b c a b g",
    "c8 b c d e g, a b",
    "c e, fis g a b c4 ~",
    "c16 d, e fis g e fis d g8 b, c d",
    "e fis g e b8. c16 d8 d,",
    "r16 g a b c a b g d'8 g fis g",
    "a16 d, e fis g e fis d a'8 d c d",
    "g,16 g' f e d f e g f8 e f d",
    "e16 a g f e g f a g8 f g e",
    "f16 bes a g f a g bes a g f e d f e g",
    "f e d c b d c e d c b a gis b a c",
    "b8 e d8. e16 c b a g fis a gis b",
    "a c b d c e d f e8 a, e' e,",
    "a a, r4 r16 e'' d c b d cis e",
    "d2 ~ d16 a b c d b c a",
    "b2 ~ b16 d c b a c b d",
    "c2 ~ c16 g a bes c a bes g",
    "a8 bes a g f d' c bes",
    "a f' e d e16 d, e f g e f d",
    "e8 c d e f16 d e f g8 g,",
    "c,1",
];

fn main() {
    let path = std::env::args().nth(1).expect("the file to write");
    let tempos = TEMPOS.map(|(tick, tempo)| FileEvent {
        tick,
        body: FileEventBody::Tempo(tempo),
    });
    let file = MidiFile {
        is_sequence: false,
        unit: TickUnit::Beat(BEAT as u16),
        tracks: vec![
            MidiTrack {
                name: "Invention in C, BWV 772".into(),
                events: tempos.to_vec(),
                ticks: 22 * WHOLE,
            },
            // Middle C, and the C below.
            hand("right hand", 0, 60, &RIGHT),
            hand("left hand", 1, 48, &LEFT),
        ],
        damage: None,
        not_played: Vec::new(),
    };
    let bytes = file.write().expect("a small file");
    std::fs::write(&path, bytes).expect("room on the disk");
    println!("{path}: {} bars", RIGHT.len());
}

/// One hand's track.
fn hand(name: &str, channel: u8, first: i32, bars: &[&str]) -> MidiTrack {
    let mut events = Vec::new();
    let (mut before, mut length, mut now) = (first, WHOLE / 4, 0);
    // Key and begin of a note that is tied to the next one.
    let mut tied: Option<(i32, u64)> = None;
    for (bar, text) in bars.iter().enumerate() {
        let mut words = text.split(' ').peekable();
        while let Some(word) = words.next() {
            let end = word.find(|c: char| c.is_ascii_digit());
            let (pitch, digits) = word.split_at(end.unwrap_or(word.len()));
            if !digits.is_empty() {
                length = ticks(digits);
            }
            let begin = now;
            now += length;
            if pitch == "r" {
                continue;
            }
            before = relative(before, pitch);
            let begin = match tied.take() {
                Some((key, begin)) if key == before => begin,
                Some(_) => panic!("bar {}: a tie to another note", bar + 1),
                None => begin,
            };
            if words.next_if_eq(&"~").is_some() {
                tied = Some((before, begin));
                continue;
            }
            // A little space between the notes.
            let held = (now - begin) * 15 / 16;
            let strong = if begin % BEAT == 0 { 92 } else { 78 };
            events.push(message(begin, [0x90 | channel, before as u8, strong]));
            events.push(message(begin + held, [0x80 | channel, before as u8, 64]));
        }
        assert_eq!(
            now,
            (bar as u64 + 1) * WHOLE,
            "{name}: length of bar {}",
            bar + 1
        );
    }
    assert!(tied.is_none(), "{name}: a tie to nothing");
    events.sort_by_key(|event| event.tick);
    MidiTrack {
        name: name.into(),
        events,
        ticks: now,
    }
}

fn message(tick: u64, bytes: [u8; 3]) -> FileEvent {
    let body = FileEventBody::Message(bytes);
    FileEvent { tick, body }
}

/// Ticks of `16`, `8.` and so on.
fn ticks(digits: &str) -> u64 {
    let (number, dots) = match digits.strip_suffix('.') {
        Some(number) => (number, 1),
        None => (digits, 0),
    };
    let plain = WHOLE / number.parse::<u64>().expect("a length");
    plain + dots * plain / 2
}

/// Key of `pitch`: of all with its letter the nearest to the letter of `before`, then moved by octaves.
fn relative(before: i32, pitch: &str) -> i32 {
    /// Semitones of the letters from C on.
    const STEPS: [i32; 7] = [0, 2, 4, 5, 7, 9, 11];
    let letter = "cdefgab".find(&pitch[..1]).expect("a letter") as i32;
    let rest = &pitch[1..];
    let (sign, octaves) = match rest {
        _ if rest.starts_with("is") => (1, &rest[2..]),
        _ if rest.starts_with("es") => (-1, &rest[2..]),
        _ => (0, rest),
    };
    // Steps of the white keys, from C of octave 0: sharps and flats do not count.
    let key = before.rem_euclid(12);
    let white = STEPS.iter().rposition(|step| *step <= key).expect("a step") as i32;
    // In this piece the key between A and B is always a B flat.
    let white = if key == 10 { 6 } else { white };
    let mut steps = letter - white;
    if steps > 3 {
        steps -= 7;
    } else if steps < -3 {
        steps += 7;
    }
    let to = before.div_euclid(12) * 7 + white + steps;
    let up = octaves.matches('\'').count() as i32 - octaves.matches(',').count() as i32;
    (to.div_euclid(7) + up) * 12 + STEPS[to.rem_euclid(7) as usize] + sign
}
