//! `note`: the notes of one voice as signals.
//!
//! ```text
//! freq = 440 × 2^((pitch + bend - 69) / 12)
//! ```
//!
//! A note begins at once, even while another sounds: the last one wins. Between two notes of which the first has ended, the
//! gate is closed for one frame, so that an envelope begins again. After its end a note keeps its signals for `release`
//! seconds, because what it drives sounds on; then, or when it is choked (as `voices` does with a voice that it frees), all
//! outputs are silent and the node sleeps.
//!
//! | | |
//! |---|---|
//! | ports | `notes`, events; all outputs one channel: `freq` in Hz, bend and glide included; `gate` 1 while the note is held, else 0; `velocity`, `pressure`, `timbre` 0 to 1; `bend` in octaves; `pan` -1 to 1 |
//! | parameters | `glide`: seconds from the pitch of the voice's note before to the new one, in a straight line over the pitch; `release` |
//! | changes | pressure, timbre, bend and pan move in lines of 5 ms, the rest jumps |
//! | latency | none |
//! | tail | `release`; endless while a note is held |

use super::ramp::Ramp;
use graph::{Kind, Param, PortSpec};
use processor::state;
use processor::steps::{BlockSpan, block_spans};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use std::ops::Range;
use units::{Frames, SampleRate};

/// The outputs, in order.
const OUTPUTS: [&str; 7] = [
    "freq", "gate", "velocity", "pressure", "bend", "timbre", "pan",
];
const GATE: usize = 1;
/// Timbre of a note that states none.
const TIMBRE: f32 = 0.5;
/// Length of a line of pressure, timbre, bend or pan, in seconds.
const LINE_S: f64 = 0.005;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("notes")],
        outputs: OUTPUTS.map(PortSpec::mono).to_vec(),
        params: vec![
            Param::number("glide", (0.0, 60.0), 0.0)
                .unit("s")
                .doc("Time in which the pitch moves from the note before."),
            Param::number("release", (0.0, 3600.0), 10.0)
                .unit("s")
                .doc("Time after a note's end at which all outputs become silent."),
        ],
        typical_ns: 120,
        ..Kind::new(
            "note",
            "The notes of one voice as signals: frequency, gate, velocity and more.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(NoteSignals {
        glide_s: creation.number("glide")?,
        release_s: creation.number("release")?,
        timing: Timing::default(),
        voice: VoiceState::default(),
    }))
}

struct NoteSignals {
    glide_s: f64,
    release_s: f64,
    timing: Timing,
    voice: VoiceState,
}

/// Times in frames.
#[derive(Clone, Copy, Default)]
struct Timing {
    glide: u32,
    release: u32,
    line: u32,
}

/// State of the voice.
#[derive(Clone, Copy, Default)]
struct VoiceState {
    /// The last note that began.
    id: u32,
    /// True from its begin to its end.
    is_held: bool,
    /// Frames after its end in which the signals stay.
    frames_left: u32,
    /// True for one frame between two notes.
    is_gap: bool,
    /// The gate of the last frame.
    gate: bool,
    /// True once there was a note to glide from.
    has_pitch: bool,
    pitch: Ramp,
    velocity: f32,
    /// In semitones.
    bend: Ramp,
    pressure: Ramp,
    timbre: Ramp,
    pan: Ramp,
}

impl VoiceState {
    fn is_idle(&self) -> bool {
        !self.is_held && self.frames_left == 0
    }

    fn handle_event(&mut self, body: EventBody, timing: Timing) {
        let is_own = |id| id == self.id && !self.is_idle();
        let line = timing.line;
        match body {
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } if pitch.is_finite() && velocity.is_finite() => {
                self.begin((id, pitch, velocity), timing);
            }
            EventBody::NoteOff { id, .. } if is_own(id) && self.is_held => {
                (self.is_held, self.frames_left) = (false, timing.release);
            }
            EventBody::NoteChoke { id } if is_own(id) => {
                (self.is_held, self.frames_left) = (false, 0);
            }
            EventBody::NotePressure { id, value } if is_own(id) => {
                self.pressure.reach(unit(value, 0.0), line);
            }
            EventBody::NoteTimbre { id, value } if is_own(id) => {
                self.timbre.reach(unit(value, 0.0), line);
            }
            EventBody::NotePan { id, value } if is_own(id) => {
                self.pan.reach(unit(value, -1.0), line);
            }
            EventBody::NoteBend { id, semitones } if is_own(id) && semitones.is_finite() => {
                self.bend.reach(semitones.clamp(-128.0, 128.0), line);
            }
            _ => {}
        }
    }

    fn begin(&mut self, (id, pitch, velocity): (u32, f32, f32), timing: Timing) {
        self.is_gap = self.gate && !self.is_held;
        let glide = if self.has_pitch { timing.glide } else { 0 };
        self.pitch.reach(pitch.clamp(-128.0, 256.0), glide);
        self.velocity = unit(velocity, 0.0);
        self.bend.jump(0.0);
        self.pressure.jump(0.0);
        self.timbre.jump(TIMBRE);
        self.pan.jump(0.0);
        (self.id, self.is_held, self.has_pitch) = (id, true, true);
    }

    /// Frames up to `frames` in which the gate does not change and the voice does not end.
    fn steady_frames(&self, frames: usize) -> usize {
        match (self.is_gap, self.is_held, self.frames_left) {
            (true, ..) => 1,
            (_, true, _) | (_, false, 0) => frames,
            (_, false, left) => frames.min(left as usize),
        }
    }
}

/// `value` held between `min` and 1; 0 for NaN.
fn unit(value: f32, min: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(min, 1.0)
    }
}

/// Frequency of a key number, at most half of the largest sample rate.
fn hz(key: f32) -> f32 {
    (440.0 * libm::exp2((f64::from(key) - 69.0) / 12.0)).min(384_000.0) as f32
}

impl NoteSignals {
    /// Processes some frames.
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let frames = self.voice.steady_frames(range.end - at);
            self.write(block, at..at + frames);
            at += frames;
        }
    }

    /// Writes frames in which the gate does not change and the voice does not end.
    fn write(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let voice = &mut self.voice;
        let is_whole = range.len() == block.frames();
        let fill =
            |output: &mut processor::OutputBuffer<'_>, value: f32| match (is_whole, value == 0.0) {
                (true, true) => output.silence(),
                (true, false) => output.fill_constant(0, value),
                (false, _) => output.channel(0)[range.clone()].fill(value),
            };
        let ramp =
            |output: &mut processor::OutputBuffer<'_>, ramp: &mut Ramp, factor: f32| match ramp
                .settled()
            {
                Some(value) => fill(output, value * factor),
                None => output.channel(0)[range.clone()].fill_with(|| ramp.next_value() * factor),
            };
        if voice.is_idle() {
            block
                .outputs()
                .for_each(|mut output| fill(&mut output, 0.0));
            voice.gate = false;
            return;
        }
        voice.gate = voice.is_held && !voice.is_gap;
        let mut bend = voice.bend;
        for (i, mut output) in block.outputs().enumerate() {
            match i {
                0 => match (voice.pitch.settled(), bend.settled()) {
                    (Some(pitch), Some(bend)) => fill(&mut output, hz(pitch + bend)),
                    _ => output.channel(0)[range.clone()]
                        .fill_with(|| hz(voice.pitch.next_value() + bend.next_value())),
                },
                GATE => fill(&mut output, if voice.gate { 1.0 } else { 0.0 }),
                2 => fill(&mut output, voice.velocity),
                3 => ramp(&mut output, &mut voice.pressure, 1.0),
                4 => ramp(&mut output, &mut voice.bend, 1.0 / 12.0),
                5 => ramp(&mut output, &mut voice.timbre, 1.0),
                _ => ramp(&mut output, &mut voice.pan, 1.0),
            }
        }
        voice.is_gap = false;
        if !voice.is_held {
            voice.frames_left -= range.len() as u32;
        }
    }
}

impl Processor for NoteSignals {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let frames = |seconds: f64| frames(seconds, setup.rate);
        self.timing = Timing {
            glide: frames(self.glide_s),
            release: frames(self.release_s),
            line: frames(LINE_S),
        };
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if self.voice.is_idle() && !self.voice.gate && block.events().is_empty() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => self.voice.handle_event(event.body, self.timing),
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.voice = VoiceState::default();
    }

    fn tail(&self) -> Tail {
        match self.voice.is_held {
            true => Tail::Infinite,
            false => Tail::Frames(u64::from(self.timing.release) + 1),
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let voice = &self.voice;
        let flags = [voice.is_held, voice.is_gap, voice.gate, voice.has_pitch];
        let flags = (flags.iter().rev()).fold(0, |bits, flag| bits << 1 | u64::from(*flag));
        let numbers = u64::from(voice.id) << 32 | u64::from(voice.frames_left);
        let velocity = u64::from(voice.velocity.to_bits());
        state::put(bytes, [flags, numbers, velocity]);
        for ramp in [
            voice.pitch,
            voice.bend,
            voice.pressure,
            voice.timbre,
            voice.pan,
        ] {
            ramp.save(bytes);
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3 + 5 * Ramp::STATE_WORDS)?;
        let flag = |bit: u32| words.at(0) >> bit & 1 == 1;
        let ramp = |i: usize| Ramp::load(words.from(3 + i * Ramp::STATE_WORDS));
        self.voice = VoiceState {
            is_held: flag(0),
            is_gap: flag(1),
            gate: flag(2),
            has_pitch: flag(3),
            id: (words.at(1) >> 32) as u32,
            frames_left: (words.at(1) as u32).min(self.timing.release),
            velocity: unit(f32::from_bits(words.at(2) as u32), 0.0),
            pitch: ramp(0)?,
            bend: ramp(1)?,
            pressure: ramp(2)?,
            timbre: ramp(3)?,
            pan: ramp(4)?,
        };
        Ok(())
    }
}

/// Seconds in frames, rounded up.
fn frames(seconds: f64, rate: SampleRate) -> u32 {
    Frames::from_seconds_ceil(seconds, rate).0
}
