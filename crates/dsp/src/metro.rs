//! `metro`: a beat of events.
//!
//! No input, one event output: the value 1 on each beat, the first at the start, and the value 0 half a beat later. A
//! change of `bpm` keeps its place in the beat.

use crate::knob::Knob;
use crate::sine::Phase;
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortCount, PortSpec, Width};
use processor::{Activity, Block, Body, Creation, MakeError, Processor, Setup, StateError, Tail};
use units::SampleRate;

const BPM: Knob = Knob {
    index: 0,
    name: "bpm",
    unit: "1/min",
    least: 0.0,
    most: 6000.0,
    default: 120.0,
    doc: "Beats a minute.",
};

/// An event port.
pub(crate) fn events(name: &'static str) -> PortSpec {
    PortSpec {
        name,
        width: Width::Event,
        count: PortCount::One,
    }
}

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![events("beat")],
        params: vec![BPM.param()],
        typical_ns: 60,
        ..Kind::new("metro", "A beat of events.")
    }
}

pub(crate) fn make(creation: &Creation<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let bpm = BPM.of(creation)?;
    Ok(Box::new(Metro {
        made: bpm,
        bpm,
        rate: None,
        phase: Phase::at(0.0),
    }))
}

#[derive(Clone)]
struct Metro {
    made: f64,
    bpm: f64,
    rate: Option<SampleRate>,
    phase: Phase,
}

impl Metro {
    fn tune(&mut self, bpm: f64) {
        self.bpm = bpm;
        if let Some(rate) = self.rate {
            self.phase.run_at(bpm / 60.0, rate);
        }
    }

    fn frame(&mut self, block: &mut Block<'_>, frame: usize) {
        // The first frame at or after the beat, and the first at or after its half.
        let Phase { at, step } = self.phase;
        if at < step {
            block.send(0, frame as u32, Body::Value(1.0));
        } else if at.wrapping_sub(1 << 63) < step {
            block.send(0, frame as u32, Body::Value(0.0));
        }
        self.phase.next();
    }
}

impl Processor for Metro {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> Activity {
        for step in steps(block) {
            match step {
                Step::Event(event) => {
                    if let Some(bpm) = BPM.turned(&event) {
                        self.tune(bpm);
                    }
                }
                Step::Play(range) => range.for_each(|frame| self.frame(block, frame)),
                Step::Tidy => {}
            }
        }
        Activity::Awake
    }

    fn reset(&mut self) {
        self.phase = Phase::at(0.0);
        self.tune(self.made);
    }

    fn tail(&self) -> Tail {
        Tail::Endless
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(
            bytes,
            [self.made.to_bits(), self.bpm.to_bits(), self.phase.at],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3)?;
        let (made, bpm) = (state::number(words[0])?, state::number(words[1])?);
        self.phase.at = words[2];
        if made == self.made {
            self.tune(bpm.clamp(BPM.least, BPM.most));
        }
        Ok(())
    }

    fn duplicate(&self) -> Option<Box<dyn Processor>> {
        Some(Box::new(self.clone()))
    }
}
