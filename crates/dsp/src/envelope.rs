//! `envelope`: attack, decay, sustain, release.
//!
//! One output of one channel, from 0 to 1, to be multiplied with a sound. The gate is open while the audio input `gate`
//! is above 0.5, or while the event input `notes` says so: by a value above 0.5 until one that is not, or by a MIDI
//! note until its end. Opening begins the attack at the present level; a second note begins it again.
//!
//! The attack is a straight line; decay and release fall 60 dB in their time, as a capacitor does. The release ends at
//! -100 dB.

use crate::knob::Knob;
use crate::metro::events;
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortSpec};
use processor::{
    Block, Event, EventBody, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Tail,
};

/// The number of the event input among all inputs.
const NOTES: u16 = 1;
const END: f32 = 1e-5;

const ATTACK: Knob = Knob {
    index: 0,
    name: "attack",
    unit: "s",
    least: 0.0,
    most: 60.0,
    default: 0.005,
    doc: "From silence to the top.",
};
const DECAY: Knob = Knob {
    index: 1,
    name: "decay",
    default: 0.1,
    doc: "From the top 60 dB towards the sustained level.",
    ..ATTACK
};
const SUSTAIN: Knob = Knob {
    index: 2,
    name: "sustain",
    unit: "",
    most: 1.0,
    default: 0.7,
    doc: "The level while the gate stays open, as a factor.",
    ..ATTACK
};
const RELEASE: Knob = Knob {
    index: 3,
    name: "release",
    default: 0.2,
    doc: "60 dB down when the gate closes.",
    ..ATTACK
};
const KNOBS: [Knob; 4] = [ATTACK, DECAY, SUSTAIN, RELEASE];

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("gate"), events("notes")],
        outputs: vec![PortSpec::mono("out")],
        params: KNOBS.iter().map(Knob::param).collect(),
        typical_ns: 180,
        ..Kind::new("envelope", "Attack, decay, sustain, release.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let mut made = [0.0; 4];
    for (value, knob) in made.iter_mut().zip(&KNOBS) {
        *value = knob.of(creation)?;
    }
    Ok(Box::new(Envelope {
        made,
        knobs: made,
        rate: 1.0,
        slopes: Slopes::default(),
        run: Run::default(),
    }))
}

#[derive(Clone)]
struct Envelope {
    made: [f64; 4],
    knobs: [f64; 4],
    rate: f64,
    slopes: Slopes,
    run: Run,
}

/// What a frame does to the level.
#[derive(Clone, Copy, Default)]
struct Slopes {
    rise: f32,
    decay_keeps: f32,
    sustain: f32,
    release_keeps: f32,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Stage {
    #[default]
    Idle,
    Attack,
    Decay,
    Release,
}

/// What changes from frame to frame.
#[derive(Clone, Copy, Default)]
struct Run {
    stage: Stage,
    level: f32,
    /// What holds the gate by event: 0 nothing, 1 a value, 2 + n note n.
    held: u32,
    /// Whether the gate was open in the last frame.
    open: bool,
}

impl Run {
    #[inline(always)]
    fn next(&mut self, gate: f32, slopes: &Slopes) -> f32 {
        let open = gate > 0.5 || self.held > 0;
        if open != self.open {
            self.open = open;
            self.stage = if open { Stage::Attack } else { Stage::Release };
        }
        match self.stage {
            Stage::Idle => {}
            Stage::Attack => {
                self.level += slopes.rise;
                if self.level >= 1.0 {
                    (self.level, self.stage) = (1.0, Stage::Decay);
                }
            }
            Stage::Decay => {
                self.level = slopes.sustain + (self.level - slopes.sustain) * slopes.decay_keeps;
            }
            Stage::Release => {
                self.level *= slopes.release_keeps;
                if self.level < END {
                    (self.level, self.stage) = (0.0, Stage::Idle);
                }
            }
        }
        self.level
    }

    /// Takes up what a note or a value says.
    fn hear(&mut self, body: EventBody) {
        let held = match body {
            EventBody::Value(value) => u32::from(value > 0.5),
            EventBody::Midi([status, note, velocity]) => {
                let note = 2 + u32::from(note);
                match status & 0xf0 {
                    0x90 if velocity > 0 => note,
                    0x80 | 0x90 if self.held == note => 0,
                    _ => return,
                }
            }
            _ => return,
        };
        self.held = held;
        if held > 0 {
            // The attack begins again, even if the gate is open.
            self.open = false;
        }
    }
}

impl Envelope {
    fn tune(&mut self) {
        let [attack, decay, sustain, release] = self.knobs;
        // 60 dB are 6.9 nepers.
        let keeps = |time: f64| libm::exp(-6.907_755 / (time * self.rate).max(1e-3)) as f32;
        self.slopes = Slopes {
            rise: (1.0 / (attack * self.rate).max(1.0)) as f32,
            decay_keeps: keeps(decay),
            sustain: sustain as f32,
            release_keeps: keeps(release),
        };
    }

    fn take_up(&mut self, event: &Event) {
        if event.target == EventTarget::Input(NOTES) {
            self.run.hear(event.body);
            return;
        }
        for (value, knob) in self.knobs.iter_mut().zip(&KNOBS) {
            *value = knob.turned(event).unwrap_or(*value);
        }
        self.tune();
    }
}

impl Processor for Envelope {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = f64::from(setup.rate.hz());
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.input(0).is_silent();
        for step in steps(block) {
            match step {
                Step::Event(event) => self.take_up(&event),
                Step::Play(range) => {
                    let gate = &block.input(0).channel(0)[range.clone()];
                    let mut output = block.output(0);
                    for (y, x) in output.channel(0)[range].iter_mut().zip(gate) {
                        *y = self.run.next(*x, &self.slopes);
                    }
                }
                Step::Tidy => {}
            }
        }
        let Run {
            stage, held, open, ..
        } = self.run;
        if !silent || stage != Stage::Idle || held > 0 || open {
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
        self.knobs = self.made;
        self.run = Run::default();
        self.tune();
    }

    fn tail(&self) -> Tail {
        if self.run.held > 0 {
            return Tail::Infinite;
        }
        // 100 dB, where the release time is for 60.
        let release = self.knobs[3] * self.rate * 5.0 / 3.0;
        Tail::Frames(release as u64 + 2)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let Run {
            stage,
            level,
            held,
            open,
        } = self.run;
        let knobs = self.made.into_iter().chain(self.knobs);
        state::put(bytes, knobs.map(f64::to_bits));
        let level = u64::from(level.to_bits());
        state::put(
            bytes,
            [stage as u64, level, u64::from(held), u64::from(open)],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 12)?;
        let [made, knobs] = [words.numbers::<4>(0)?, words.numbers(4)?];
        let level = f32::from_bits(words.at(9) as u32);
        if !(0.0..=1.0).contains(&level) {
            return Err(StateError(format!("a saved level is {level}")));
        }
        self.run = Run {
            stage: match words.at(8) {
                1 => Stage::Attack,
                2 => Stage::Decay,
                3 => Stage::Release,
                _ => Stage::Idle,
            },
            level,
            held: words.at(10).min(129) as u32,
            open: words.at(11) != 0,
        };
        if made == self.made {
            for ((value, saved), knob) in self.knobs.iter_mut().zip(knobs).zip(&KNOBS) {
                *value = saved.clamp(knob.least, knob.most);
            }
            self.tune();
        }
        Ok(())
    }
}
