//! `envelope`: attack, decay, sustain and release.
//!
//! ```text
//!  1 ┤    ╱╲               attack:  linear, level += 1 / (attack rate)
//!    │   ╱  ╲___           decay:   level = sustain + (level - sustain) d
//!  s ┤  ╱       ‾‾‾‾╲      release: level = level r, until -100 dB
//!    │ ╱             ╲__   d, r = exp(-6.908 / (time rate)): 60 dB in `time`, as a capacitor discharges
//!    └─┬────────────┬───▶
//!   gate opens   gate closes
//! ```
//!
//! The gate is open while the audio input `gate` is above 0.5, or while an event at `notes` holds it open: a value above 0.5
//! until one that is not, or a note (a MIDI message too) until its end. Opening begins the attack at the present level; a
//! second note begins it again. A note that is choked ends at once.
//!
//! The peak is 1, or for a note `1 - amount (1 - v)`, where `v` is its velocity and `amount` the parameter `velocity`; the
//! whole envelope is multiplied by it.
//!
//! | | |
//! |---|---|
//! | ports | `gate`, one channel; `notes`, events; `out`, one channel from 0 to 1, to be multiplied with a sound |
//! | parameters | `attack`, `decay`, `release` 0 to 60 s; `sustain` and `velocity` 0 to 1 |
//! | latency | none |
//! | tail | 5/3 of `release` (100 dB), endless while a note is held |

use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, PortSpec};
use processor::{
    Block, Event, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Tail,
};

/// Index of the event input among all inputs.
const NOTES: u16 = 1;
/// Level at which a release ends: -100 dB.
const SILENCE: f32 = 1e-5;

const ATTACK: ParamSpec = ParamSpec::new(0, "attack", (0.0, 60.0), 0.005)
    .unit("s")
    .doc("Time from silence to the peak.");
const DECAY: ParamSpec = ParamSpec {
    index: 1,
    name: "decay",
    default: 0.1,
    doc: "Time of 60 dB from the peak towards the sustain level.",
    ..ATTACK
};
const SUSTAIN: ParamSpec = ParamSpec {
    index: 2,
    name: "sustain",
    unit: "",
    max: 1.0,
    default: 0.7,
    doc: "Level while the gate stays open, as a factor.",
    ..ATTACK
};
const RELEASE: ParamSpec = ParamSpec {
    index: 3,
    name: "release",
    default: 0.2,
    doc: "Time of 60 dB after the gate closes.",
    ..ATTACK
};
const VELOCITY: ParamSpec = ParamSpec {
    index: 4,
    name: "velocity",
    unit: "",
    max: 1.0,
    default: 0.0,
    doc: "Share of a note's velocity in its level: 0 none, 1 all.",
    ..ATTACK
};
const PARAMS: [ParamSpec; 5] = [ATTACK, DECAY, SUSTAIN, RELEASE, VELOCITY];

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("gate"), PortSpec::events("notes")],
        outputs: vec![PortSpec::mono("out")],
        params: PARAMS.iter().map(ParamSpec::param).collect(),
        typical_ns: 180,
        ..Kind::new("envelope", "Attack, decay, sustain, release.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let mut initial = [0.0; 5];
    for (value, param) in initial.iter_mut().zip(&PARAMS) {
        *value = param.read(creation)?;
    }
    Ok(Box::new(Envelope {
        initial,
        params: initial,
        rate: 1.0,
        rates: SegmentRates::default(),
        state: EnvelopeState::default(),
    }))
}

#[derive(Clone)]
struct Envelope {
    initial: [f64; 5],
    params: [f64; 5],
    rate: f64,
    rates: SegmentRates,
    state: EnvelopeState,
}

/// Change of the level per frame, in each segment.
#[derive(Clone, Copy, Default)]
struct SegmentRates {
    rise: f32,
    decay_factor: f32,
    sustain: f32,
    release_factor: f32,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum EnvelopeSegment {
    #[default]
    Idle,
    Attack,
    Decay,
    Release,
}

/// Event that holds the gate open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Held {
    #[default]
    Nothing,
    Value,
    /// A key of a MIDI message.
    Key(u8),
    /// The note with this id.
    Note(u32),
}

/// State that changes from frame to frame.
#[derive(Clone, Copy)]
struct EnvelopeState {
    segment: EnvelopeSegment,
    level: f32,
    held: Held,
    /// Level of the peak.
    peak: f32,
    /// True if the gate was open in the last frame.
    is_open: bool,
}

impl Default for EnvelopeState {
    fn default() -> Self {
        Self {
            segment: EnvelopeSegment::Idle,
            level: 0.0,
            held: Held::Nothing,
            peak: 1.0,
            is_open: false,
        }
    }
}

impl EnvelopeState {
    #[inline(always)]
    fn next(&mut self, gate: f32, rates: &SegmentRates) -> f32 {
        let is_open = gate > 0.5 || self.held != Held::Nothing;
        if is_open != self.is_open {
            self.is_open = is_open;
            self.segment = if is_open {
                EnvelopeSegment::Attack
            } else {
                EnvelopeSegment::Release
            };
        }
        match self.segment {
            EnvelopeSegment::Idle => {}
            EnvelopeSegment::Attack => {
                self.level += rates.rise * self.peak;
                if self.level >= self.peak {
                    (self.level, self.segment) = (self.peak, EnvelopeSegment::Decay);
                }
            }
            EnvelopeSegment::Decay => {
                let sustain = rates.sustain * self.peak;
                self.level = sustain + (self.level - sustain) * rates.decay_factor;
            }
            EnvelopeSegment::Release => {
                self.level *= rates.release_factor;
                if self.level < SILENCE {
                    (self.level, self.segment) = (0.0, EnvelopeSegment::Idle);
                }
            }
        }
        self.level
    }

    /// Opens or closes the gate as a value or a note says. `amount` is the share of the velocity in the level.
    fn handle_gate(&mut self, body: EventBody, amount: f32) {
        match body {
            EventBody::Value(value) if value > 0.5 => self.open(Held::Value, 1.0),
            EventBody::Value(_) => self.held = Held::Nothing,
            EventBody::Midi([status, key, velocity]) => match status & 0xf0 {
                0x90 if velocity > 0 => {
                    let velocity = f32::from(velocity.min(127)) / 127.0;
                    self.open(Held::Key(key), 1.0 - amount * (1.0 - velocity));
                }
                0x80 | 0x90 => self.close(Held::Key(key)),
                _ => {}
            },
            EventBody::NoteOn { id, velocity, .. } => {
                let velocity = if velocity.is_nan() {
                    0.0
                } else {
                    velocity.clamp(0.0, 1.0)
                };
                self.open(Held::Note(id), 1.0 - amount * (1.0 - velocity));
            }
            EventBody::NoteOff { id, .. } => self.close(Held::Note(id)),
            EventBody::NoteChoke { id }
                if self.held == Held::Note(id) || self.held == Held::Nothing =>
            {
                self.held = Held::Nothing;
                (self.level, self.segment) = (0.0, EnvelopeSegment::Idle);
            }
            _ => {}
        }
    }

    fn open(&mut self, held: Held, peak: f32) {
        (self.held, self.peak) = (held, peak);
        // The attack begins again, even if the gate is open.
        self.is_open = false;
    }

    fn close(&mut self, held: Held) {
        if self.held == held {
            self.held = Held::Nothing;
        }
    }
}

impl Envelope {
    fn update_rates(&mut self) {
        let [attack, decay, sustain, release, _] = self.params;
        // 60 dB are ln(1000) = 6.908 nepers.
        let factor = |time: f64| libm::exp(-6.907_755 / (time * self.rate).max(1e-3)) as f32;
        self.rates = SegmentRates {
            rise: (1.0 / (attack * self.rate).max(1.0)) as f32,
            decay_factor: factor(decay),
            sustain: sustain as f32,
            release_factor: factor(release),
        };
    }

    /// Returns true if no frame of a block without a change changes the state: the level has come to rest at the sustain.
    fn is_settled(&self, block: &Block<'_>) -> bool {
        let Some(gate) = block.input(0).constant(0) else {
            return false;
        };
        let mut next = self.state;
        let level = next.next(gate, &self.rates);
        level.to_bits() == self.state.level.to_bits()
            && (next.segment, next.is_open) == (self.state.segment, self.state.is_open)
    }

    fn handle_event(&mut self, event: &Event) {
        if event.target == EventTarget::Input(NOTES) {
            self.state.handle_gate(event.body, self.params[4] as f32);
            return;
        }
        for (value, param) in self.params.iter_mut().zip(&PARAMS) {
            *value = param.value_of(event).unwrap_or(*value);
        }
        self.update_rates();
    }
}

impl Processor for Envelope {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = f64::from(setup.rate.hz());
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if self.state.segment == EnvelopeSegment::Decay
            && block.is_constant()
            && self.is_settled(block)
        {
            block.output(0).channel(0)[0] = self.state.level;
            block.hold_first_frame();
            return ProcessStatus::Continue;
        }
        let silent = block.input(0).is_silent();
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => {
                    let gate = &block.input(0).channel(0)[range.clone()];
                    let mut output = block.output(0);
                    for (y, x) in output.channel(0)[range].iter_mut().zip(gate) {
                        *y = self.state.next(*x, &self.rates);
                    }
                }
                BlockStep::Cleanup => {}
            }
        }
        let EnvelopeState {
            segment,
            held,
            is_open,
            ..
        } = self.state;
        if !silent || segment != EnvelopeSegment::Idle || held != Held::Nothing || is_open {
            return ProcessStatus::Continue;
        }
        let mut output = block.output(0);
        if output.channel(0).iter().any(|y| *y != 0.0) {
            // The release has ended within this block.
            return ProcessStatus::Continue;
        }
        output.silence();
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {
        self.params = self.initial;
        self.state = EnvelopeState::default();
        self.update_rates();
    }

    fn tail(&self) -> Tail {
        if self.state.held != Held::Nothing {
            return Tail::Infinite;
        }
        // 100 dB, where the release time is for 60.
        let release = self.params[3] * self.rate * 5.0 / 3.0;
        Tail::Frames(release as u64 + 2)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let EnvelopeState {
            segment,
            level,
            held,
            peak,
            is_open,
        } = self.state;
        let held = match held {
            Held::Nothing => 0,
            Held::Value => 1,
            Held::Key(key) => 2 | u64::from(key) << 32,
            Held::Note(id) => 3 | u64::from(id) << 32,
        };
        let params = self.initial.into_iter().chain(self.params);
        state::put(bytes, params.map(f64::to_bits));
        let [level, peak] = [level, peak].map(|x| u64::from(x.to_bits()));
        state::put(
            bytes,
            [segment as u64, level, held, peak, u64::from(is_open)],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 15)?;
        let [initial, params] = [words.numbers::<5>(0)?, words.numbers(5)?];
        let [level, peak] = [11, 13].map(|word| f32::from_bits(words.at(word) as u32));
        if ![level, peak].iter().all(|x| (0.0..=1.0).contains(x)) {
            return Err(StateError("a saved level is not from 0 to 1".into()));
        }
        self.state = EnvelopeState {
            segment: match words.at(10) {
                1 => EnvelopeSegment::Attack,
                2 => EnvelopeSegment::Decay,
                3 => EnvelopeSegment::Release,
                _ => EnvelopeSegment::Idle,
            },
            level,
            held: match (words.at(12) as u32, (words.at(12) >> 32) as u32) {
                (1, _) => Held::Value,
                (2, key) => Held::Key(key as u8),
                (3, id) => Held::Note(id),
                _ => Held::Nothing,
            },
            peak,
            is_open: words.at(14) != 0,
        };
        if initial == self.initial {
            for ((value, saved), param) in self.params.iter_mut().zip(params).zip(&PARAMS) {
                *value = saved.clamp(param.min, param.max);
            }
            self.update_rates();
        }
        Ok(())
    }
}
