//! `sampler`: plays notes with the samples of an SFZ file, or with one sound file.
//!
//! ```text
//! y += level × gain × sample[place], on the cubic through four frames
//! place += 2^((keytrack (pitch - root) / 100 + tune + bend) / 12)          gain = volume × (1 - veltrack (1 - v²))
//! level: linear up within attack, hold, then towards sustain and down to silence by 60 dB in decay and release
//! ```
//!
//! The level of a velocity is that of the recommended practice RP-021 of the MIDI Manufacturers Association. Notes are events
//! of any origin, with fractions of pitch and a bend of their own, or MIDI messages: keys, the pitch wheel (`bend_range`),
//! the sustain pedal (controller 64), all notes off (123) and all sound off (120).
//!
//! Of SFZ these are read: zones of keys and velocities and the crossfades between them, root, tuning, volume, pan, offset and
//! end, loops with a crossfade (`cycle.rs`), the envelope of the level, a filter (`filter.rs`), round robin (`seq_length`), groups that end each other
//! (`off_by`), samples for the ends of notes (`trigger=release`, `release_key`, `rt_decay`), `#define` and `#include`
//! (`source.rs`). A WAV may state its loop and its root. What a file has beside these is counted in a note to the user,
//! modulation among it.
//!
//! Notes far above a root are read from copies of the sample with less band (`octaves.rs`): at 48 kHz no harmonic that folds
//! lies below 16 kHz, and nothing below 13.9 kHz is missing. Copies are made for the keys of a zone and `bend_range`; for bends beyond
//! that there may be none. They take twice the memory of the sample at most, and a gigabyte together.
//!
//! Samples are converted to the rate of the graph and held in memory. When `voices` sound, the oldest ends within milliseconds;
//! those that are released go first.
//!
//! | | |
//! |---|---|
//! | ports | `notes`, events; `out`, two channels |
//! | parameters | `gain_db` -120 to 24; `file`, `voices` 1 to 256, `bend_range` 0 to 48 semitones; of a sound file: `root`, `loop`, `release` |
//! | latency | none |
//! | tail | until the voices have ended; endless while a note is held that repeats, or whose end has a sample |

mod crossfade;
mod cycle;
mod filter;
mod held;
mod instrument;
mod loaded_zone;
mod loading;
mod notes;
mod octaves;
mod opcodes;
mod saved_voice;
mod sfz;
mod source;
mod voice;
mod zone;

use crate::param::ParamSpec;
use crate::sample::{db_to_gain, to_sample};
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, Param, PortCount, PortSignal, PortSpec};
use held::HeldNotes;
use instrument::{Instrument, PlainSound};
use loaded_zone::LoadedZone;
use processor::{
    Block, Event, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
    Tail,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use units::Channels;
use voice::SampleVoice;

const GAIN: ParamSpec = ParamSpec::new(0, "gain_db", (-120.0, 24.0), 0.0)
    .unit("dB")
    .doc("Gain of the output.");
/// Index of the event input.
const NOTES: u16 = 0;
/// Places for voices that are about to end, beside those that may sound.
const SPARE: usize = 16;
/// Frames that are computed at once at most.
const FRAMES: usize = 64;
/// MIDI channels.
const CHANNELS: usize = 16;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("notes")],
        outputs: vec![PortSpec {
            name: "out",
            signal: PortSignal::Fixed(Channels(2)),
            count: PortCount::One,
        }],
        params: vec![
            GAIN.param(),
            Param::file("file", true)
                .doc("An SFZ file, or a WAV, AIFF or FLAC file, from the session's folder."),
            Param::number("voices", (1.0, 256.0), 32.0).doc("Samples that sound at once."),
            Param::number("bend_range", (0.0, 48.0), 2.0)
                .unit("semitones")
                .doc("Shift of the pitch by MIDI's pitch wheel at its end."),
            Param::number("root", (0.0, 127.0), 60.0).doc("Key that plays a sound file as it is."),
            Param::flag("loop")
                .doc("Repeats a sound file until the note ends: its loop, if the WAV states one, or all of it."),
            Param::number("release", (0.0, 60.0), 0.05)
                .unit("s")
                .doc("Time of 60 dB after a note of a sound file ends."),
        ],
        typical_ns: 2000,
        picture: graph::KindPicture::Note,
        duplicable: false,
        ..Kind::new(
            "sampler",
            "Plays notes with samples: an SFZ file or a sound file.",
        )
    }
}

pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(kind(), make);
}

/// Files that a `sampler` reads for the SFZ file at `path`: its samples and what it includes. Empty if it is no SFZ file or
/// cannot be read.
///
/// Real-time: waits, on the disk.
pub fn samples_of(path: &Path) -> Vec<PathBuf> {
    Instrument::named_files(path)
}

fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`sampler` needs `file`"));
    };
    let plain = PlainSound {
        root: creation.number("root")?,
        is_looped: creation.node.flag("loop"),
        release: creation.number("release")?,
    };
    let opened = Instrument::open(&creation.folder.join(file), plain);
    let instrument = opened.map_err(|message| MakeError::param("file", message))?;
    let gain_db = GAIN.read(creation)?;
    let voices = creation.number("voices")? as usize;
    Ok(Box::new(Sampler {
        instrument,
        limit: voices,
        bend_range: creation.number("bend_range")?,
        gain: Smoother::new(db_to_gain(gain_db) as f32),
        zones: Vec::new(),
        of_key: Vec::new(),
        turns: Vec::new(),
        voices: vec![SampleVoice::default(); voices + SPARE].into(),
        keys: KeyState::default(),
        held: HeldNotes::default(),
        rate: 0.0,
        sums: [[0.0; 2]; FRAMES],
    }))
}

/// Values of MIDI's controllers, for all channels, and the number of notes so far.
#[derive(Clone, Copy, Debug, Default)]
struct KeyState {
    /// A bit for each channel whose pedal is down.
    pedals: u16,
    bends: [f64; CHANNELS],
    notes: u64,
    /// Frames so far.
    frames: u64,
}

struct Sampler {
    instrument: Instrument,
    /// Voices that may sound at once.
    limit: usize,
    bend_range: f64,
    gain: Smoother,
    zones: Vec<LoadedZone>,
    /// Zones of each key.
    of_key: Vec<Vec<u32>>,
    /// Notes that each zone has taken.
    turns: Vec<u32>,
    voices: Box<[SampleVoice]>,
    keys: KeyState,
    /// Notes whose ends play samples.
    held: HeldNotes,
    rate: f64,
    /// Both sides of the frames that are computed.
    sums: [[f64; 2]; FRAMES],
}

impl Sampler {
    fn handle_event(&mut self, event: &Event) {
        if event.target == EventTarget::Input(NOTES) {
            return self.handle_note(event.body);
        }
        if let Some(gain_db) = GAIN.value_of(event) {
            self.gain.follow(event, db_to_gain(gain_db) as f32);
        }
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let sums = &mut self.sums[..range.len()];
        sums.fill([0.0; 2]);
        for voice in self.voices.iter_mut().filter(|voice| !voice.is_idle()) {
            let zone = &self.zones[voice.zone];
            for sides in sums.iter_mut() {
                voice.add(zone, sides);
                if voice.is_idle() {
                    break;
                }
            }
        }
        let mut output = block.output(0);
        for side in 0..2 {
            let out = &mut output.channel(side)[range.clone()];
            for (y, sides) in out.iter_mut().zip(&*sums) {
                *y = to_sample(sides[side]);
            }
            let mut gain = self.gain;
            gain.apply(out);
        }
        self.gain.skip(range.len());
        self.keys.frames = self.keys.frames.wrapping_add(range.len() as u64);
    }

    fn is_silent(&self) -> bool {
        // While a note is held the frames are counted.
        self.voices.iter().all(SampleVoice::is_idle)
            && self.held.is_empty()
            && self.gain.is_settled()
    }
}

impl Processor for Sampler {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.gain.setup(setup.rate);
        self.rate = f64::from(setup.rate.hz());
        if let Some(note) = &self.instrument.note {
            setup.services.notify_user(note.clone());
        }
        self.load_zones(setup);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.events().is_empty() && self.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => self.process_range(block, range),
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.gain.reset();
        self.voices.fill(SampleVoice::default());
        self.turns.fill(0);
        self.keys = KeyState::default();
        self.held.clear();
    }

    fn tail(&self) -> Tail {
        if !self.held.is_empty() {
            return Tail::Infinite;
        }
        let sounding = self.voices.iter().filter(|voice| !voice.is_idle());
        let mut left = sounding.map(|voice| voice.frames_left(&self.zones[voice.zone]));
        let longest = left.try_fold(0, |longest, left| Some(left?.max(longest)));
        longest.map_or(Tail::Infinite, Tail::Frames)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.gain.state_words());
        state::put(
            bytes,
            [
                u64::from(self.keys.pedals),
                self.keys.notes,
                self.keys.frames,
            ],
        );
        state::put(bytes, self.keys.bends.map(f64::to_bits));
        state::put(bytes, self.voices.iter().flat_map(SampleVoice::words));
        state::put(bytes, self.turns.iter().map(|turn| u64::from(*turn)));
        state::put(bytes, self.held.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let first = Smoother::STATE_WORDS + 3 + CHANNELS;
        let of_voices = SampleVoice::STATE_WORDS * self.voices.len();
        let of_notes = first + of_voices + self.turns.len();
        let words = state::words(bytes, of_notes + self.held.word_count())?;
        // All is checked before anything is loaded: a state that is refused changes nothing.
        let mut gain = self.gain;
        gain.load(words)?;
        let keys = KeyState {
            pedals: words.at(Smoother::STATE_WORDS) as u16,
            notes: words.at(Smoother::STATE_WORDS + 1),
            frames: words.at(Smoother::STATE_WORDS + 2),
            bends: words.numbers(Smoother::STATE_WORDS + 3)?,
        };
        let voice = |at: usize| {
            SampleVoice::from_words(
                words.from(first + SampleVoice::STATE_WORDS * at),
                &self.zones,
            )
        };
        for at in 0..self.voices.len() {
            voice(at)?;
        }
        self.held.check(words.from(of_notes))?;
        for at in 0..self.voices.len() {
            let voice = SampleVoice::from_words(
                words.from(first + SampleVoice::STATE_WORDS * at),
                &self.zones,
            );
            self.voices[at] = voice?;
        }
        for (at, turn) in self.turns.iter_mut().enumerate() {
            *turn = words.at(first + of_voices + at) as u32 % self.zones[at].zone.turns;
        }
        self.held.load(words.from(of_notes))?;
        (self.gain, self.keys) = (gain, keys);
        Ok(())
    }
}
