//! `metro`: a metronome that sends events.
//!
//! Sends the value 1 on each beat, the first at the start, and the value 0 half a beat later; each at the first frame that is
//! not before its time. The position within the beat is a fraction in 64 bits; a change of `bpm` keeps it.
//!
//! | | |
//! |---|---|
//! | ports | no input; `beat`, events |
//! | parameters | `bpm` 0 to 6000 beats per minute |
//! | latency | none |
//! | tail | endless |

use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, PortSpec};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use units::SampleRate;

const BPM: ParamSpec = ParamSpec::new(0, "bpm", (0.0, 6000.0), 120.0)
    .unit("1/min")
    .doc("Beats per minute.");

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::events("beat")],
        params: vec![BPM.param()],
        typical_ns: 60,
        ..Kind::new("metro", "A metronome that sends events.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let bpm = BPM.read(creation)?;
    Ok(Box::new(Metro {
        initial: bpm,
        bpm,
        rate: None,
        at: 0,
        step: 0,
        due: Some(true),
    }))
}

#[derive(Clone)]
struct Metro {
    initial: f64,
    bpm: f64,
    rate: Option<SampleRate>,
    /// Position within the beat, in units of 2^-64.
    at: u64,
    /// Fraction of a beat per frame, in units of 2^-64.
    step: u64,
    /// Event that the next frame sends: true for 1, false for 0.
    due: Option<bool>,
}

impl Metro {
    fn set_tempo(&mut self, bpm: f64) {
        self.bpm = bpm;
        let Some(rate) = self.rate else { return };
        // In whole millionths, and rounded up: a beat that is a whole number of frames has exactly that number.
        let millionths = (bpm * 1e6 + 0.5) as u128;
        let minute = 60_000_000 * u128::from(rate.hz());
        self.step = (millionths << 64).div_ceil(minute) as u64;
    }

    fn process_frame(&mut self, block: &mut Block<'_>, frame: usize) {
        if let Some(on) = self.due.take() {
            let value = if on { 1.0 } else { 0.0 };
            block.send_event(0, frame as u32, EventBody::Value(value));
        }
        let before = self.at;
        self.at = before.wrapping_add(self.step);
        let is_second_half = |at: u64| at >> 63 == 1;
        if is_second_half(self.at) != is_second_half(before) {
            self.due = Some(!is_second_half(self.at));
        }
    }
}

impl Processor for Metro {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => {
                    if let Some(bpm) = BPM.value_of(&event) {
                        self.set_tempo(bpm);
                    }
                }
                BlockStep::Process(range) => {
                    range.for_each(|frame| self.process_frame(block, frame))
                }
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        (self.at, self.due) = (0, Some(true));
        self.set_tempo(self.initial);
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let due = self.due.map_or(2, u64::from);
        state::put(
            bytes,
            [self.initial.to_bits(), self.bpm.to_bits(), self.at, due],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 4)?;
        let (initial, bpm) = (words.number(0)?, words.number(1)?);
        self.at = words.at(2);
        self.due = (words.at(3) < 2).then_some(words.at(3) == 1);
        if initial == self.initial {
            self.set_tempo(bpm.clamp(BPM.min, BPM.max));
        }
        Ok(())
    }
}
