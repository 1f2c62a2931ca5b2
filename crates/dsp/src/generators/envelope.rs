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
//! The gate is open while the audio input `gate` is above 0.5, or while an event at `notes` holds it open
//! ([`NoteGate`](crate::generators::note_gate::NoteGate)). Opening begins the attack at the present level; a second note begins it again. A note that is choked ends at once.
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

mod levels;

use self::levels::{EnvelopeSegment, EnvelopeState, SegmentRates};
use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, KindPicture, PortSpec};
use processor::{
    Block, Event, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
    Tail,
};

/// Index of the event input among all inputs.
const NOTES: u16 = 1;

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

impl Envelope {
    fn update_rates(&mut self) {
        let [attack, decay, sustain, release, _] = self.params;
        self.rates = SegmentRates::new([attack, decay, sustain, release], self.rate);
    }

    /// Returns true if no frame of a block without a change changes the state: the level has come to rest at the sustain.
    fn is_settled(&self, block: &Block<'_>) -> bool {
        let gate = block.input(0).constant(0);
        gate.is_some_and(|gate| self.state.is_settled(gate))
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
        self.state.begin(self.state.segment, &self.rates);
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
        let params = self.initial.into_iter().chain(self.params);
        state::put(bytes, params.map(f64::to_bits));
        state::put(bytes, self.state.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 10 + EnvelopeState::WORDS)?;
        let [initial, params] = [words.numbers::<5>(0)?, words.numbers(5)?];
        self.state = EnvelopeState::from_words(std::array::from_fn(|k| words.at(10 + k)))?;
        if initial != self.initial {
            // Other times than those of the row that is under way.
            self.state.begin(self.state.segment, &self.rates);
            return Ok(());
        }
        for ((value, saved), param) in self.params.iter_mut().zip(params).zip(&PARAMS) {
            *value = saved.clamp(param.min, param.max);
        }
        self.update_rates();
        Ok(())
    }
}
