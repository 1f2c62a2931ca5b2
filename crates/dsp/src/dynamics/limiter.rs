//! `limiter`: keeps the true peak below a ceiling, with a look-ahead of 3 ms.
//!
//! ```text
//! p[n] = largest of |x| and of seven points between it and the next frame (64 taps of a Kaiser sinc each), on all channels
//! d = 1 - ceiling × 0.97 / p, 0 or more        m = largest d of the last W + 1 frames, W = 3 ms
//! r = m while it grows, else m + (r - m) × exp(-1 / (release × rate))        s = mean of the last W values of r
//! y[n] = x[n - W - 31] × (1 - s), held within ±ceiling
//! ```
//!
//! The mean over W frames of a maximum over as many has arrived when the peak comes out, on a smooth way (a look-ahead limiter
//! as in Zölzer (ed.), *DAFX*, 2nd ed. (2011), section 4.2.3). Points between frames are at eight times the
//! rate, twice that of ITU-R BS.1770, annex 2; 0.26 dB of the ceiling are left for what a moving gain adds between them. No sample is ever above the ceiling. The
//! gauge `reduction` shows dB.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `ceiling_db` -24 to 0, `gain_db` ±48 before it, `release` 0.005 to 2 s |
//! | latency | W + 31 frames: 175 at 48 kHz |
//! | tail | the latency |
//! | driven | all at audio rate |

use crate::dynamics::detector::{LookAhead, decibels, gain_of, level_db, seconds};
use crate::kernel::{
    FrameValues, History, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_factor, dot,
    kaiser_sinc,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use units::Frames;

const CEILING: ParamSpec = decibels(
    0,
    "ceiling_db",
    (-24.0, 0.0),
    -1.0,
    "Largest true peak of the output.",
);
const GAIN: ParamSpec = decibels(1, "gain_db", (-48.0, 48.0), 0.0, "Gain before it.");
const RELEASE: ParamSpec = seconds(2, "release", 2.0, 0.05, "Time of 63 % of the way back.");

const WINDOW_S: f64 = 0.003;
/// Taps of an interpolated point; the point lies behind the middle one.
const TAPS: usize = 64;
/// Share of the ceiling that is aimed at.
const AIM: f64 = 0.97;
/// Reductions are whole numbers of this size: so their sum is exact.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// A reduction below this is none.
const NO_REDUCTION: f64 = 1e-9;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Limiter::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 4000,
        duplicable: false,
        picture: KindPicture::Levels,
        ..Kind::effect("limiter", "Keeps the true peak below a ceiling.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Limiter::default())
}

#[derive(Default)]
struct Limiter {
    rate: f64,
    window: usize,
    /// The sound, behind its level.
    sound: LookAhead,
    /// Points between two frames: one to seven eighths behind the first.
    points: [Box<[f32]>; 7],
    /// Bound of a point, as a factor of the largest sample that it lies between.
    overshoot: f64,
    shown: Gauge,
}

#[derive(Clone, Copy)]
struct LimiterValues {
    ceiling: f64,
    gain: f64,
    release: f64,
}

// Parts of the line: the sound, the histories of the points, reductions as detected and as released.
impl Limiter {
    fn history(&self, channel: usize) -> History {
        History {
            first: self.sound.samples() + channel * History::samples(TAPS),
            taps: TAPS,
        }
    }

    fn detected(&self) -> usize {
        self.history(self.sound.channels).first
    }

    fn released(&self) -> usize {
        self.detected() + self.window + 1
    }

    /// Largest point behind frame `at` - 32 of a channel.
    #[inline(always)]
    fn peak(&self, memory: &Memory, at: u64, channel: usize) -> f64 {
        let history = self.history(channel);
        let recent = history.recent(memory, at);
        let points = self.points.iter().map(|point| dot(point, recent).abs());
        let peak = points.fold(recent[TAPS / 2 - 1].abs(), f32::max);
        f64::from(peak.max(recent[TAPS / 2].abs()))
    }

    /// Returns true if no sample and no point of these frames reaches what is aimed at: no point is computed then.
    #[inline(always)]
    fn is_far_below(
        &self,
        values: FrameValues<'_, LimiterValues>,
        io: &LaneIo<'_>,
        memory: &Memory,
    ) -> bool {
        let before = memory.counts[0].wrapping_sub(1);
        let aim = (values.iter()).fold(f64::MAX, |aim, it| aim.min(it.ceiling * AIM));
        let gain = values.iter().fold(0.0, |gain: f64, it| gain.max(it.gain));
        let loudest = |samples: &[f32]| samples.iter().fold(0f32, |peak, x| peak.max(x.abs()));
        io.input(0).iter().enumerate().all(|(c, samples)| {
            let old = f64::from(loudest(self.history(c).recent(memory, before)));
            // Not a number is not far below: it is left to what follows.
            let is_sound = samples[..values.len()].iter().all(|x| x.is_finite());
            let new = f64::from(loudest(&samples[..values.len()])) * gain;
            is_sound && old.max(new) * self.overshoot <= aim
        })
    }

    /// Largest reduction of the last W + 1 frames, in the time of a few comparisons (M. van Herk, *Pattern Recognition
    /// Letters* 13 (1992)). The ring is as long as the window. Behind its place it has what came in this round, and
    /// `numbers[0]` the largest of that; from its place on it has for each frame of the last round the largest from there to the round's end.
    #[inline(always)]
    fn largest(&self, memory: &mut Memory, at: u64, reduction: f64) -> f64 {
        let first = self.detected();
        let length = self.window + 1;
        let place = (at % length as u64) as usize;
        if place == 0 {
            memory.numbers[0] = 0.0;
            for index in (first..first + self.window).rev() {
                let largest = memory.read(index).max(memory.read(index + 1));
                memory.write(index, largest);
            }
        }
        memory.write(first + place, reduction);
        memory.numbers[0] = memory.read(first + place).max(memory.numbers[0]);
        match place < self.window {
            true => memory.numbers[0].max(memory.read(first + place + 1)),
            false => memory.numbers[0],
        }
    }

    /// Mean of the last W released reductions.
    #[inline(always)]
    fn smooth(&self, memory: &mut Memory, at: u64, largest: f64, release: f64) -> f64 {
        let last = memory.numbers[1];
        let released = largest.max(largest + (last - largest) * release);
        let released = if released < NO_REDUCTION {
            0.0
        } else {
            released
        };
        memory.numbers[1] = released;
        let whole = libm::ceil(released.min(1.0) / UNIT);
        let slot = self.released() + (at % self.window as u64) as usize;
        memory.numbers[2] += whole - memory.read(slot);
        memory.write(slot, whole);
        memory.numbers[2] * UNIT / self.window as f64
    }
}

/// Bound of a point as a factor of the largest sample: the sum of the magnitudes of its taps. A sum of 64 products in narrow
/// numbers is less than 64 × 2^-23 of that off, for which ten times as much is added.
fn overshoot(points: &[Box<[f32]>]) -> f64 {
    let magnitude = |point: &[f32]| point.iter().map(|tap| f64::from(tap.abs())).sum::<f64>();
    let largest = points
        .iter()
        .map(|point| magnitude(point))
        .fold(1.0, f64::max);
    largest * (1.0 + 1e-4)
}

impl UnitKernel for Limiter {
    type Values = LimiterValues;
    const PARAMS: &'static [ParamSpec] = &[CEILING, GAIN, RELEASE];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.rate = rate;
        self.window = (WINDOW_S * rate + 0.5) as usize;
        self.sound = LookAhead {
            frames: self.window + TAPS / 2 - 1,
            channels,
        };
        let point = |part: f64| -> Box<[f32]> {
            let tap = |k: usize| {
                let x = k as f64 - (TAPS / 2 - 1) as f64 - part;
                kaiser_sinc(x, TAPS as f64 / 2.0, 1.0, 4.0) as f32
            };
            (0..TAPS).map(tap).collect()
        };
        self.points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|eighth| point(eighth / 8.0));
        self.overshoot = overshoot(&self.points);
        MemorySize {
            // The largest reduction of this round, the released one, and the sum of W of these.
            numbers: 3,
            // The frame.
            counts: 1,
            line: self.released() + self.window,
        }
    }

    fn values(&self, params: &[f64]) -> LimiterValues {
        LimiterValues {
            ceiling: gain_of(params[0]),
            gain: gain_of(params[1]),
            release: decay_factor(params[2], self.rate),
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, LimiterValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let is_far_below = self.is_far_below(values, io, memory);
        for (i, values) in values.iter().enumerate() {
            let LimiterValues {
                ceiling,
                gain,
                release,
            } = *values;
            let at = memory.counts[0];
            let mut peak = 0.0;
            for c in 0..io.output(0).len() {
                let x = f64::from(io.input(0)[c][i]) * gain;
                self.history(c).push(memory, at, x);
                if !is_far_below {
                    peak = self.peak(memory, at, c).max(peak);
                }
                let x = self.sound.delay(memory, at, c, x);
                io.output(0)[c][i] = to_sample(x);
            }
            let aim = ceiling * AIM;
            let reduction = if peak > aim { 1.0 - aim / peak } else { 0.0 };
            let largest = self.largest(memory, at, reduction);
            let left = 1.0 - self.smooth(memory, at, largest, release).clamp(0.0, 1.0);
            for c in 0..io.output(0).len() {
                let y = &mut io.output(0)[c][i];
                *y = to_sample((f64::from(*y) * left).clamp(-ceiling, ceiling));
            }
            memory.counts[0] = at.wrapping_add(1);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(self.sound.frames as u64)
    }

    fn latency(&self) -> Frames {
        Frames(self.sound.frames as u32)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = services.gauge("reduction");
    }

    fn show(&self, memory: &Memory) {
        let mean = memory.numbers[2] * UNIT / self.window.max(1) as f64;
        self.shown.set(-level_db(1.0 - mean.clamp(0.0, 1.0)) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_is_above_its_bound_and_the_worst_samples_reach_it() {
        let mut limiter = Limiter::default();
        limiter.setup(48_000.0, 1);
        let mut largest = 0f64;
        for (i, point) in limiter.points.iter().enumerate() {
            // Samples with the signs of the taps of a point are the worst ones for it.
            for worst in &limiter.points {
                let samples: Vec<f32> = worst.iter().map(|tap| tap.signum()).collect();
                let found = f64::from(dot(point, &samples).abs());
                assert!(found <= limiter.overshoot, "{i}: {found}");
                largest = largest.max(found);
            }
        }
        assert!(largest * 1.001 > limiter.overshoot, "{largest}");
    }
}
