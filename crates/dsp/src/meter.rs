//! `meter`: shows how loud it is, and passes the sound on untouched.
//!
//! One input, one output, as wide as `channels` says. Shows, as factors of full scale, `peak` (falls 20 dB a second)
//! and `rms` (over 300 ms, exponentially; a full-scale sine is 0.707, -3.01 dB); with more channels `peak1`, `rms1`,
//! `peak2` and so on.

use crate::knob::channels;
use crate::sample::channels_of;
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortSpec};
use processor::{
    Block, Gauge, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
};

const PEAK_FALLS_DB_A_S: f64 = 20.0;
const RMS_S: f64 = 0.3;
/// Below this the needles rest: -200 dB.
const REST: f64 = 1e-10;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![channels()],
        duplicable: false,
        typical_ns: 240,
        ..Kind::new("meter", "Shows peak and RMS, and passes the sound on.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let needles = vec![Needles::default(); channels_of(creation.node)];
    Ok(Box::new(Meter {
        needles: needles.into(),
        peak_keeps: 0.0,
        mean_moves: 0.0,
    }))
}

struct Meter {
    needles: Box<[Needles]>,
    /// What a frame leaves of the peak.
    peak_keeps: f64,
    /// How far a frame moves the mean square.
    mean_moves: f64,
}

#[derive(Clone, Default)]
struct Needles {
    peak: f64,
    /// The mean square.
    mean: f64,
    shown: [Gauge; 2],
}

impl Needles {
    fn hear(&mut self, samples: &[f32], peak_keeps: f64, mean_moves: f64) {
        for x in samples {
            let x = f64::from(*x);
            self.peak = (self.peak * peak_keeps).max(x.abs());
            self.mean += (x * x - self.mean) * mean_moves;
        }
    }

    fn tidy(&mut self) {
        let rests = self.peak < REST && self.mean < REST * REST;
        if rests || !(self.peak + self.mean).is_finite() {
            (self.peak, self.mean) = (0.0, 0.0);
        }
    }

    fn show(&self) {
        self.shown[0].set(self.peak as f32);
        self.shown[1].set(self.mean.sqrt() as f32);
    }
}

impl Processor for Meter {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let rate = f64::from(setup.rate.hz());
        self.peak_keeps = libm::exp10(-PEAK_FALLS_DB_A_S / 20.0 / rate);
        self.mean_moves = 1.0 - libm::exp(-1.0 / (RMS_S * rate));
        let one = self.needles.len() == 1;
        for (c, needles) in self.needles.iter_mut().enumerate() {
            let number = if one {
                String::new()
            } else {
                (c + 1).to_string()
            };
            needles.shown =
                ["peak", "rms"].map(|name| setup.services.gauge(&format!("{name}{number}")));
        }
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        let input = block.input(0);
        for c in 0..self.needles.len() {
            block.output(0).channel(c).copy_from_slice(input.channel(c));
        }
        for step in steps(block) {
            match step {
                Step::Play(range) => {
                    for (c, needles) in self.needles.iter_mut().enumerate() {
                        let heard = &input.channel(c)[range.clone()];
                        needles.hear(heard, self.peak_keeps, self.mean_moves);
                    }
                }
                Step::Tidy => self.needles.iter_mut().for_each(Needles::tidy),
                Step::Event(_) => {}
            }
        }
        self.needles.iter().for_each(Needles::show);
        if silent {
            block.silence_outputs();
        }
        if silent && self.needles.iter().all(|n| n.peak == 0.0 && n.mean == 0.0) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn reset(&mut self) {
        for needles in &mut self.needles {
            (needles.peak, needles.mean) = (0.0, 0.0);
            needles.show();
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = self.needles.iter().flat_map(|n| [n.peak, n.mean]);
        state::put(bytes, numbers.map(f64::to_bits));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2 * self.needles.len())?;
        let pair = |c| words.numbers::<2>(2 * c);
        for c in 0..self.needles.len() {
            pair(c)?;
        }
        for (c, needles) in self.needles.iter_mut().enumerate() {
            [needles.peak, needles.mean] = pair(c)?.map(f64::abs);
        }
        Ok(())
    }
}
