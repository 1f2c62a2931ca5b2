//! `meter`: shows peak and RMS level, and passes its input on.
//!
//! ```text
//! peak = max(|x|, peak × 10^(-1 / rate))                 falls 20 dB per second
//! mean = mean + (x² - mean) (1 - exp(-1 / (0.3 rate)))    rms = √mean, time constant 300 ms
//! slow likewise with 0.13 s                               k = 10 log10 (2 slow) + 20, 14 or 12 dB
//! ```
//!
//! Both are factors of full scale; a full-scale sine has an RMS of 0.707 (-3.01 dB). `hold` is the largest peak of the last two
//! seconds, `clips` the number of samples beyond full scale. `k` is the level on a K scale, in dB: 0 is a sine of -20, -14 or -12 dB,
//! and 99 % of a step are shown after 600 ms (Bob Katz, "How to make better recordings in the 21st century", *J. Audio Eng. Soc.* 48 (2000)).
//! The gauges are `peak`, `rms`, `hold`, `clips` and `k`; with more than one channel `peak1`, `rms1`, … `peak2` and so on.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says; `out` is `in` |
//! | parameters | `scale`: k20, k14 or k12 |
//! | latency, tail | none |

use crate::param::channels;
use crate::sample::channel_count;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, Param};
use processor::{
    Block, Gauge, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
};

const PEAK_DECAY_DB_PER_S: f64 = 20.0;
const RMS_S: f64 = 0.3;
const HOLD_S: f64 = 2.0;
/// Time constant of the K scale: 99 % of a step in power after 600 ms.
const K_S: f64 = 0.13;
/// Lowest level on a K scale, in dB.
const K_FLOOR_DB: f64 = -120.0;
const SCALES: &[&str] = &["k20", "k14", "k12"];
/// What each adds to a level of full scale, in dB.
const SCALE_DB: [f64; 3] = [20.0, 14.0, 12.0];
/// Level that counts as silence: -200 dB.
const SILENT_LEVEL: f64 = 1e-10;

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![
            channels(),
            Param::choice("scale", SCALES).doc("The K scale of the gauge `k`."),
        ],
        duplicable: false,
        typical_ns: 240,
        picture: graph::KindPicture::Gauges(&["peak", "rms", "hold"]),
        ..Kind::effect("meter", "Shows peak and RMS, and passes the sound on.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let levels = vec![ChannelLevels::default(); channel_count(creation.node)];
    Ok(Box::new(Meter {
        levels: levels.into(),
        scale_db: SCALE_DB[creation.choice("scale")?],
        weights: LevelWeights::default(),
        hold_frames: 0,
    }))
}

struct Meter {
    levels: Box<[ChannelLevels]>,
    scale_db: f64,
    weights: LevelWeights,
    /// Duration of the hold.
    hold_frames: u32,
}

/// What a frame changes.
#[derive(Clone, Copy, Default)]
struct LevelWeights {
    /// Factor of the peak.
    peak_decay: f64,
    /// Weight of a frame in the mean square, and in that of the K scale.
    mean: f64,
    slow: f64,
}

#[derive(Clone, Default)]
struct ChannelLevels {
    peak: f64,
    /// Mean squares: of the RMS, and of the K scale.
    mean: f64,
    slow: f64,
    /// Largest recent peak, and the number of frames for which it is still held.
    hold: f64,
    hold_left: u32,
    clips: u64,
    shown: [Gauge; 5],
}

impl ChannelLevels {
    fn measure(&mut self, samples: &[f32], weights: LevelWeights, hold: u32) {
        for x in samples {
            let x = f64::from(*x);
            self.peak = (self.peak * weights.peak_decay).max(x.abs());
            self.mean += (x * x - self.mean) * weights.mean;
            self.slow += (x * x - self.slow) * weights.slow;
            self.clips += u64::from(x.abs() > 1.0);
            if self.peak >= self.hold {
                (self.hold, self.hold_left) = (self.peak, hold);
            } else if self.hold_left > 0 {
                self.hold_left -= 1;
            } else {
                self.hold = self.peak;
            }
        }
    }

    fn clean_up(&mut self) {
        let square = self.mean.max(self.slow);
        let is_silent = self.peak < SILENT_LEVEL && square < SILENT_LEVEL * SILENT_LEVEL;
        if is_silent || !(self.peak + self.mean + self.slow).is_finite() {
            (self.peak, self.mean, self.slow, self.hold) = (0.0, 0.0, 0.0, 0.0);
        }
    }

    fn show(&self, scale_db: f64) {
        self.shown[0].set(self.peak as f32);
        self.shown[1].set(self.mean.sqrt() as f32);
        self.shown[2].set(self.hold as f32);
        self.shown[3].set(self.clips as f32);
        let level_db = 10.0 * libm::log10(2.0 * self.slow) + scale_db;
        self.shown[4].set(level_db.max(K_FLOOR_DB) as f32);
    }
}

impl Processor for Meter {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let rate = f64::from(setup.rate.hz());
        let weight = |seconds: f64| 1.0 - libm::exp(-1.0 / (seconds * rate));
        self.weights = LevelWeights {
            peak_decay: libm::exp10(-PEAK_DECAY_DB_PER_S / 20.0 / rate),
            mean: weight(RMS_S),
            slow: weight(K_S),
        };
        self.hold_frames = (HOLD_S * rate) as u32;
        let one = self.levels.len() == 1;
        for (c, levels) in self.levels.iter_mut().enumerate() {
            let number = if one {
                String::new()
            } else {
                (c + 1).to_string()
            };
            levels.shown = ["peak", "rms", "hold", "clips", "k"]
                .map(|name| setup.services.gauge(&format!("{name}{number}")));
        }
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        let input = block.input(0);
        for c in 0..self.levels.len() {
            block.output(0).channel(c).copy_from_slice(input.channel(c));
        }
        for step in block_steps(block) {
            match step {
                BlockStep::Process(range) => {
                    let weights = self.weights;
                    for (c, levels) in self.levels.iter_mut().enumerate() {
                        let samples = &input.channel(c)[range.clone()];
                        levels.measure(samples, weights, self.hold_frames);
                    }
                }
                BlockStep::Cleanup => self.levels.iter_mut().for_each(ChannelLevels::clean_up),
                BlockStep::Event(_) => {}
            }
        }
        let scale_db = self.scale_db;
        self.levels.iter().for_each(|levels| levels.show(scale_db));
        if silent {
            block.silence_outputs();
        }
        if silent && self.levels.iter().all(|n| n.peak + n.mean + n.slow == 0.0) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn reset(&mut self) {
        for levels in &mut self.levels {
            (levels.peak, levels.mean, levels.slow) = (0.0, 0.0, 0.0);
            (levels.hold, levels.hold_left, levels.clips) = (0.0, 0, 0);
            levels.show(self.scale_db);
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = self.levels.iter().flat_map(|n| [n.peak, n.mean, n.slow]);
        state::put(bytes, numbers.map(f64::to_bits));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3 * self.levels.len())?;
        let saved = |c| words.numbers::<3>(3 * c);
        for c in 0..self.levels.len() {
            saved(c)?;
        }
        for (c, levels) in self.levels.iter_mut().enumerate() {
            [levels.peak, levels.mean, levels.slow] = saved(c)?.map(f64::abs);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_held_and_every_clipped_sample_is_counted() {
        let mut levels = ChannelLevels::default();
        let mut measure = |samples: &[f32]| {
            let weights = LevelWeights {
                peak_decay: 0.5,
                mean: 0.1,
                slow: 0.1,
            };
            levels.measure(samples, weights, 3);
            (levels.hold, levels.clips)
        };
        assert_eq!(measure(&[0.25, -1.5, 1.0, 1.25]), (1.5, 2));
        // It holds for three samples, then falls to the peak of now.
        assert_eq!(measure(&[0.0]), (1.5, 2));
        assert_eq!(measure(&[0.0]), (0.3125, 2));
        assert_eq!(measure(&[f32::NAN, 2.0]), (2.0, 3));
    }
}
