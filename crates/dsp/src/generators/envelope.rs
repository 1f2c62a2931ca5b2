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
//! The gate is open while the audio input `gate` is above 0.5, or while an event at `notes` holds it open ([`NoteGate`]). Opening
//! begins the attack at the present level; a second note begins it again. A note that is choked ends at once.
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

use crate::generators::note_gate::{GateChange, NoteGate};
use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, KindPicture, PortSpec};
use processor::{
    Block, Event, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Tail,
};

/// Index of the event input among all inputs.
const NOTES: u16 = 1;
/// Frames of a decay between two looks whether it has come to rest.
const DECAY_RUN: usize = 32;
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
        picture: KindPicture::Step,
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

/// State that changes from frame to frame.
#[derive(Clone, Copy, Default)]
struct EnvelopeState {
    segment: EnvelopeSegment,
    level: f32,
    gate: NoteGate,
}

impl EnvelopeState {
    #[inline(always)]
    fn next(&mut self, gate: f32, rates: &SegmentRates) -> f32 {
        match self.gate.next(gate) {
            Some(GateChange::Opens) => self.segment = EnvelopeSegment::Attack,
            Some(GateChange::Shuts) => self.segment = EnvelopeSegment::Release,
            None => {}
        }
        let peak = self.gate.peak;
        match self.segment {
            EnvelopeSegment::Idle => {}
            EnvelopeSegment::Attack => {
                self.level += rates.rise * peak;
                if self.level >= peak {
                    (self.level, self.segment) = (peak, EnvelopeSegment::Decay);
                }
            }
            EnvelopeSegment::Decay => {
                let sustain = rates.sustain * peak;
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

    /// Writes the levels of frames with these gates: frame by frame where the gate changes, and runs between.
    fn write(&mut self, gates: &[f32], rates: &SegmentRates, out: &mut [f32]) {
        let mut at = 0;
        while let (Some(y), Some(gate)) = (out.get_mut(at), gates.get(at)) {
            *y = self.next(*gate, rates);
            at += 1;
            let (rest, is_open) = (&gates[at..], self.gate.is_open);
            let same = match self.gate.is_held() {
                true => rest.len(),
                false => count_equal(rest, is_open),
            };
            self.write_run(rates, &mut out[at..at + same]);
            at += same;
        }
    }

    /// Writes the levels of frames in which the gate does not change.
    fn write_run(&mut self, rates: &SegmentRates, mut out: &mut [f32]) {
        while !out.is_empty() {
            let written = match self.segment {
                EnvelopeSegment::Idle => {
                    out.fill(self.level);
                    out.len()
                }
                EnvelopeSegment::Attack | EnvelopeSegment::Release => self.write_way(rates, out),
                EnvelopeSegment::Decay => {
                    let some = out.len().min(DECAY_RUN);
                    self.write_decay(rates, &mut out[..some]);
                    some
                }
            };
            out = &mut out[written..];
        }
    }

    /// Writes the levels up to the end of an attack or a release. Returns their number.
    fn write_way(&mut self, rates: &SegmentRates, out: &mut [f32]) -> usize {
        let (peak, is_attack) = (self.gate.peak, self.segment == EnvelopeSegment::Attack);
        let mut level = self.level;
        for (i, y) in out.iter_mut().enumerate() {
            let end = if is_attack {
                level += rates.rise * peak;
                (level >= peak).then_some((peak, EnvelopeSegment::Decay))
            } else {
                level *= rates.release_factor;
                (level < SILENCE).then_some((0.0, EnvelopeSegment::Idle))
            };
            if let Some(end) = end {
                (self.level, self.segment) = end;
                *y = self.level;
                return i + 1;
            }
            *y = level;
        }
        self.level = level;
        out.len()
    }

    /// Writes levels of a decay, all at once if it has come to rest: a level depends on the one before only.
    fn write_decay(&mut self, rates: &SegmentRates, out: &mut [f32]) {
        let sustain = rates.sustain * self.gate.peak;
        let next = |level: f32| sustain + (level - sustain) * rates.decay_factor;
        let mut level = self.level;
        if next(level).to_bits() == level.to_bits() {
            return out.fill(level);
        }
        for y in out {
            level = next(level);
            *y = level;
        }
        self.level = level;
    }

    /// Opens or shuts the gate as a value or a note says. `amount` is the share of the velocity in the level.
    fn handle_gate(&mut self, body: EventBody, amount: f32) {
        if self.gate.handle(body, amount) {
            (self.level, self.segment) = (0.0, EnvelopeSegment::Idle);
        }
    }
}

/// Number of gates that are open, or that are shut, before the first other one. Whole rows are compared in vectors.
fn count_equal(gates: &[f32], is_open: bool) -> usize {
    let differs = |gate: &f32| (*gate > 0.5) != is_open;
    let rows = gates.as_chunks::<16>().0.iter();
    let equal = rows.take_while(|row| !row.iter().fold(false, |any, gate| any | differs(gate)));
    let first = 16 * equal.count();
    let rest = gates[first..].iter().position(differs);
    first + rest.unwrap_or(gates.len() - first)
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
            && (next.segment, next.gate) == (self.state.segment, self.state.gate)
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
                    let out = &mut output.channel(0)[range];
                    self.state.write(gate, &self.rates, out);
                }
                BlockStep::Cleanup => {}
            }
        }
        let EnvelopeState { segment, gate, .. } = self.state;
        if !silent || segment != EnvelopeSegment::Idle || gate.is_held() || gate.is_open {
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
        if self.state.gate.is_held() {
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
            gate,
        } = self.state;
        let params = self.initial.into_iter().chain(self.params);
        state::put(bytes, params.map(f64::to_bits));
        state::put(bytes, [segment as u64, u64::from(level.to_bits())]);
        state::put(bytes, gate.state_words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 15)?;
        let [initial, params] = [words.numbers::<5>(0)?, words.numbers(5)?];
        let level = f32::from_bits(words.at(11) as u32);
        let gate = NoteGate::from_words([12, 13, 14].map(|word| words.at(word)));
        let Some(gate) = gate.filter(|_| (0.0..=1.0).contains(&level)) else {
            return Err(StateError("a saved level is not from 0 to 1".into()));
        };
        self.state = EnvelopeState {
            segment: match words.at(10) {
                1 => EnvelopeSegment::Attack,
                2 => EnvelopeSegment::Decay,
                3 => EnvelopeSegment::Release,
                _ => EnvelopeSegment::Idle,
            },
            level,
            gate,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_bits_of_frame_after_frame() {
        let rates = SegmentRates {
            rise: 0.013,
            decay_factor: 0.97,
            sustain: 0.4,
            release_factor: 0.95,
        };
        // Short and long times of the gate, and a note that holds it.
        for length in [1, 2, 30, 100, 700] {
            let gates: Vec<f32> = (0..4000)
                .map(|i| f32::from(u8::from(i / length % 2 == 1)))
                .collect();
            let (mut runs, mut frames) = (EnvelopeState::default(), EnvelopeState::default());
            for (part, gates) in gates.chunks(77).enumerate() {
                if part % 20 == 10 {
                    let on = part == 10;
                    let body = EventBody::Midi([if on { 0x90 } else { 0x80 }, 60, 90]);
                    runs.handle_gate(body, 0.5);
                    frames.handle_gate(body, 0.5);
                }
                let mut out = vec![0.0; gates.len()];
                runs.write(gates, &rates, &mut out);
                for (y, gate) in out.iter().zip(gates) {
                    assert_eq!(y.to_bits(), frames.next(*gate, &rates).to_bits());
                }
            }
            assert!(runs.segment == frames.segment && runs.gate == frames.gate);
        }
    }
}
