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
//! end, loops, the envelope of the level, a filter (`filter.rs`), round robin (`seq_length`), groups that end each other
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
mod filter;
mod held;
mod instrument;
mod octaves;
mod opcodes;
mod sfz;
mod source;
mod voice;
mod zone;

use crate::param::ParamSpec;
use crate::sample::{db_to_gain, to_sample};
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, Param, PortCount, PortSignal, PortSpec, error_chain};
use held::{HeldNote, HeldNotes};
use instrument::{Instrument, MAX_SAMPLES, PlainSound};
use media::Sound;
use octaves::{Octaves, samples_of_copies};
use processor::{
    Block, Event, EventBody, EventTarget, FileProblem, MakeContext, MakeError, ProcessStatus,
    Processor, Setup, StateError, Tail,
};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use units::Channels;
use voice::{LoadedZone, SampleVoice};
use zone::Trigger;

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
/// Bit of the note of a MIDI key, which no other note has.
const KEY: u64 = 1 << 40;
/// Bit of the voices that the end of a note began: they belong to no note any more.
const ENDED: u64 = 1 << 41;

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

/// What MIDI's controllers say, for all channels, and the number of notes so far.
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

/// The note of a MIDI key.
fn key_note(channel: u8, key: u8) -> u64 {
    KEY | u64::from(channel) << 8 | u64::from(key)
}

/// The MIDI channel of a note, if it is that of a key.
fn channel_of(note: u64) -> Option<u8> {
    (note & KEY != 0).then_some((note >> 8) as u8 & 0x0f)
}

impl Sampler {
    /// Loads the samples. What cannot be read any more is reported and silent.
    fn load_zones(&mut self, setup: &mut Setup<'_>) {
        let log = setup.services.file_log();
        // The old ones are kept until the new ones are there, so that they share their memory.
        let _old = std::mem::take(&mut self.zones);
        for zone in &self.instrument.zones {
            let rate_of_file = media::open(&zone.sample).map(|file| file.rate());
            // A file at a lower rate has more samples here. One that has grown since it was looked at is not taken.
            let sound = Sound::load(&zone.sample, setup.rate, 8 * MAX_SAMPLES);
            match (rate_of_file, sound) {
                (Ok(rate_of_file), Ok(Some(sound))) => {
                    if let Some(damage) = sound.damage() {
                        let message = format!("{}: {damage}", zone.sample.display());
                        log.report(FileProblem::Damaged(message));
                    }
                    let rate = f64::from(setup.rate.hz());
                    let scale = rate / f64::from(rate_of_file.hz());
                    self.zones
                        .push(LoadedZone::new(zone.clone(), sound, scale, rate));
                }
                (Err(error), _) | (_, Err(error)) => {
                    log.report(FileProblem::Damaged(error_chain(&error)));
                }
                (Ok(_), Ok(None)) => {
                    let message = format!("{} is too long to be held", zone.sample.display());
                    log.report(FileProblem::Damaged(message));
                }
            }
        }
        self.make_octaves(setup);
        let takes = |key: usize| {
            let zones = (0u32..).zip(&self.zones);
            let of_key = zones.filter(|(_, loaded)| {
                let (low, high) = loaded.zone.keys;
                (usize::from(low)..=usize::from(high)).contains(&key)
            });
            of_key.map(|(index, _)| index).collect()
        };
        self.of_key = (0..128).map(takes).collect();
        self.turns = vec![0; self.zones.len()];
        let has_releases = |loaded: &LoadedZone| loaded.zone.trigger != Trigger::Attack;
        self.held = HeldNotes::new(self.zones.iter().any(has_releases));
    }

    /// Makes the copies for notes above their roots, each once for all zones with the same sample and loop.
    fn make_octaves(&mut self, setup: &mut Setup<'_>) {
        let key = |zone: &LoadedZone| {
            let cycle = zone.endless_cycle();
            let bits = cycle.map(|(from, length)| (from.to_bits(), length.to_bits()));
            (zone.zone.sample.clone(), bits)
        };
        let mut needed = HashMap::new();
        for zone in &self.zones {
            let count: &mut usize = needed.entry(key(zone)).or_default();
            *count = zone.octaves_needed(self.bend_range).max(*count);
        }
        let (mut made, mut samples) = (HashMap::new(), 0);
        let mut is_missing = false;
        for zone in &mut self.zones {
            let key = key(zone);
            let count = needed[&key];
            let octaves = made.entry(key).or_insert_with(|| {
                let cycle = zone.endless_cycle();
                samples += samples_of_copies(&zone.sound, cycle, count);
                let has_room = samples <= MAX_SAMPLES;
                is_missing |= !has_room;
                let count = if has_room { count } else { 0 };
                Octaves::shared(&zone.sound, cycle, count)
            });
            zone.octaves = octaves.clone();
        }
        if is_missing {
            let message =
                "its samples are too large for copies: notes far above a root have aliases";
            setup.services.notify_user(message.into());
        }
    }

    fn handle_event(&mut self, event: &Event) {
        if event.target == EventTarget::Input(NOTES) {
            return self.handle_note(event.body);
        }
        if let Some(gain_db) = GAIN.value_of(event) {
            self.gain.follow(event, db_to_gain(gain_db) as f32);
        }
    }

    fn handle_note(&mut self, body: EventBody) {
        match body {
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } => self.begin(u64::from(id), f64::from(pitch), f64::from(velocity), 0.0),
            EventBody::NoteOff { id, .. } => self.release(u64::from(id)),
            EventBody::NoteChoke { id } => self.cut(|note| note == u64::from(id)),
            EventBody::NoteBend { id, semitones } => {
                self.bend(|note| note == u64::from(id), f64::from(semitones));
            }
            EventBody::Midi([status, first, second]) => {
                self.handle_midi(status, first & 0x7f, second & 0x7f);
            }
            _ => {}
        }
    }

    fn handle_midi(&mut self, status: u8, first: u8, second: u8) {
        let channel = status & 0x0f;
        let is_here = move |note: u64| channel_of(note) == Some(channel);
        let mask = 1u16 << channel;
        match (status & 0xf0, first, second) {
            (0x90, key, 1..) => {
                let bend = self.keys.bends[usize::from(channel)];
                let velocity = f64::from(second) / 127.0;
                self.begin(key_note(channel, key), f64::from(key), velocity, bend);
            }
            (0x80 | 0x90, key, _) => self.release(key_note(channel, key)),
            (0xb0, 64, 64..) => self.keys.pedals |= mask,
            (0xb0, 64, _) => {
                self.keys.pedals &= !mask;
                for voice in &mut self.voices {
                    if voice.is_released && is_here(voice.note) {
                        voice.release(&self.zones[voice.zone]);
                    }
                }
                let is_over = |held: &HeldNote| held.is_released && is_here(held.note);
                while let Some(held) = self.held.take(is_over) {
                    self.end_note(held, Trigger::Release);
                }
            }
            (0xb0, 120, _) => self.cut(is_here),
            (0xb0, 123, _) => {
                for key in 0..128 {
                    self.release(key_note(channel, key));
                }
            }
            (0xe0, low, high) => {
                let value = f64::from(u16::from(high) << 7 | u16::from(low));
                let bend = (value - 8192.0) / 8192.0 * self.bend_range;
                self.keys.bends[usize::from(channel)] = bend;
                self.bend(is_here, bend);
            }
            _ => {}
        }
    }

    /// Begins all zones that take a note.
    fn begin(&mut self, note: u64, pitch: f64, velocity: f64, bend: f64) {
        let key = libm::floor(pitch + 0.5);
        if !(0.0..128.0).contains(&key) || velocity.is_nan() {
            return;
        }
        let velocity = velocity.clamp(0.0, 1.0);
        // A key that is pressed again ends its first note.
        if note & KEY != 0 {
            self.release_now(note);
        }
        let held = HeldNote {
            note,
            pitch,
            velocity,
            bend,
            since: self.keys.frames,
            is_released: false,
        };
        self.held.push(held);
        self.begin_zones(held, Trigger::Attack);
    }

    /// Begins the samples for the end of a note.
    fn end_note(&mut self, held: HeldNote, trigger: Trigger) {
        let note = held.note | ENDED;
        self.begin_zones(HeldNote { note, ..held }, trigger);
    }

    fn begin_zones(&mut self, held: HeldNote, trigger: Trigger) {
        let HeldNote {
            note,
            pitch,
            velocity,
            bend,
            since,
            ..
        } = held;
        let key = libm::floor(pitch + 0.5) as usize;
        let number = self.keys.notes;
        self.keys.notes = number.wrapping_add(1);
        let seconds = self.keys.frames.wrapping_sub(since) as f64 / self.rate;
        for at in 0..self.of_key[key].len() {
            let index = self.of_key[key][at] as usize;
            let zone = &self.zones[index].zone;
            if zone.trigger != trigger || !zone.takes(pitch, velocity) || !self.is_turn(index) {
                continue;
            }
            let zone = &self.zones[index].zone;
            let (group, lost_db) = (zone.group, zone.decay_db * seconds);
            if let Some(group) = group {
                self.end_group(group, number);
            }
            let place = self.place();
            let order = (note, number);
            let mut voice =
                SampleVoice::new(index, &self.zones[index], order, (pitch, bend), velocity);
            if trigger != Trigger::Attack {
                voice.lower(lost_db);
            }
            self.voices[place] = voice;
        }
    }

    /// Counts a note of a zone, and returns true if it is one that it plays.
    fn is_turn(&mut self, index: usize) -> bool {
        let zone = &self.zones[index].zone;
        let count = self.turns[index];
        self.turns[index] = (count + 1) % zone.turns;
        count % zone.turns + 1 == zone.turn
    }

    /// Ends the voices that a note of `group` ends, but those of the note itself.
    fn end_group(&mut self, group: i64, number: u64) {
        for voice in &mut self.voices {
            if voice.number != number && self.zones[voice.zone].zone.off_by == Some(group) {
                voice.cut();
            }
        }
    }

    /// The place for one more voice. Where too many sound another begins to end.
    fn place(&mut self) -> usize {
        let sounding = self.voices.iter().filter(|voice| !voice.is_cut()).count();
        if sounding >= self.limit {
            let all = self.voices.iter_mut().filter(|voice| !voice.is_cut());
            if let Some(oldest) = all.min_by_key(|voice| (!voice.is_ending(), voice.number)) {
                oldest.cut();
            }
        }
        let idle = self.voices.iter().position(SampleVoice::is_idle);
        idle.unwrap_or_else(|| {
            let all = self.voices.iter().enumerate();
            let oldest = all.min_by_key(|(_, voice)| (!voice.is_cut(), voice.number));
            oldest.map_or(0, |(place, _)| place)
        })
    }

    /// Releases a note, or lets the pedal hold it.
    fn release(&mut self, note: u64) {
        let is_pressed = |held: &HeldNote| held.note == note && !held.is_released;
        if let Some(held) = self.held.find(is_pressed) {
            held.is_released = true;
            let held = *held;
            self.end_note(held, Trigger::ReleaseKey);
        }
        let is_held = channel_of(note).is_some_and(|it| self.keys.pedals & (1 << it) != 0);
        if !is_held {
            return self.release_now(note);
        }
        for voice in self.voices.iter_mut().filter(|voice| voice.note == note) {
            voice.is_released = true;
        }
    }

    fn release_now(&mut self, note: u64) {
        for voice in self.voices.iter_mut().filter(|voice| !voice.is_idle()) {
            if voice.note == note {
                voice.is_released = true;
                voice.release(&self.zones[voice.zone]);
            }
        }
        if let Some(held) = self.held.take(|held| held.note == note) {
            self.end_note(held, Trigger::Release);
        }
    }

    fn cut(&mut self, is_meant: impl Fn(u64) -> bool) {
        for voice in self.voices.iter_mut().filter(|voice| is_meant(voice.note)) {
            voice.cut();
        }
        while self.held.take(|held| is_meant(held.note)).is_some() {}
    }

    fn bend(&mut self, is_meant: impl Fn(u64) -> bool, semitones: f64) {
        if semitones.is_nan() {
            return;
        }
        let semitones = semitones.clamp(-192.0, 192.0);
        for voice in self.voices.iter_mut().filter(|voice| !voice.is_idle()) {
            if is_meant(voice.note) {
                voice.bend(&self.zones[voice.zone], semitones);
            }
        }
        for held in self.held.iter_mut().filter(|held| is_meant(held.note)) {
            held.bend = semitones;
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
