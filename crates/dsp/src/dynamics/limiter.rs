//! `limiter`: keeps the true peak below a ceiling, with a look-ahead of 3 ms; with `detector = "sample-peak"` samples alone
//! ([`samples`]).
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
//! | parameters | `ceiling_db` -24 to 0, `gain_db` ±48 before it, `release` 0 to 2 s; `detector` |
//! | latency | W + 31 frames: 175 at 48 kHz; of samples alone 128 |
//! | tail | the latency |
//! | driven | all at audio rate |

mod common;
mod quiet;
mod reductions;
mod samples;

use self::common::{CEILING, GAIN, RELEASE, within};
use self::reductions::Reductions;
use self::samples::SampleLimiter;
use crate::dynamics::detector::{LookAhead, gain_of, level_db};
use crate::dynamics::points::{Points, TAPS};
use crate::kernel::{
    FRAMES, FrameValues, History, KernelNode, LaneIo, Memory, MemorySize, Samples, UnitKernel,
    decay_factor, line_sample,
};
use crate::param::{ParamSpec, channels};
use crate::sample::{copy_samples, to_sample};
use graph::{Kind, KindPicture, Param};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use std::ops::Range;
use units::Frames;

const WINDOW_S: f64 = 0.003;
/// Share of the ceiling that is aimed at.
const AIM: f64 = 0.97;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Limiter::PARAMS.iter().map(ParamSpec::param).collect();
    let detector = Param::choice("detector", &["true-peak", "sample-peak"]).doc(
        "Sound that stays below the ceiling: also between samples, or samples alone, which is far cheaper and has less latency.",
    );
    params.extend([detector, channels()]);
    Kind {
        params,
        typical_ns: 4000,
        duplicable: false,
        picture: KindPicture::Levels,
        ..Kind::effect("limiter", "Keeps peaks below a ceiling.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    match creation.choice("detector")? {
        0 => KernelNode::make(creation, Limiter::default()),
        _ => KernelNode::make(creation, SampleLimiter::default()),
    }
}

#[derive(Default)]
struct Limiter {
    rate: f64,
    window: usize,
    /// The sound, behind its level.
    sound: LookAhead,
    points: Points,
    /// Bound of a point, as a factor of the largest sample that it lies between.
    overshoot: f64,
    shown: Gauge,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct LimiterValues {
    ceiling: f64,
    gain: f64,
    release: f64,
}

/// A number of each frame.
type Row = [f64; FRAMES];

/// The values of the frames of a run.
struct LimiterRows {
    ceiling: Row,
    gain: Row,
    release: Row,
}

impl LimiterRows {
    #[inline(always)]
    fn new(values: FrameValues<'_, LimiterValues>) -> Self {
        let row = |of: fn(&LimiterValues) -> f64| match values.constant() {
            Some(values) => [of(values); FRAMES],
            None => {
                let mut row = [0.0; FRAMES];
                let frames = row.iter_mut().zip(values.iter());
                frames.for_each(|(to, values)| *to = of(values));
                row
            }
        };
        Self {
            ceiling: row(|it| it.ceiling),
            gain: row(|it| it.gain),
            release: row(|it| it.release),
        }
    }
}

// Parts of the line: the sound, the histories of the points, reductions as detected and as released.
impl Limiter {
    fn history(&self, channel: usize) -> History {
        History {
            first: self.sound.samples() + channel * History::samples(TAPS),
            taps: TAPS,
        }
    }

    fn reductions(&self) -> Reductions {
        Reductions {
            first: self.history(self.sound.channels).first,
            window: self.window,
        }
    }

    /// Takes the frames of a channel into its history, and raises `peaks` to the largest points of each frame.
    #[inline(always)]
    fn take(
        &self,
        memory: &mut Memory,
        (at, channel): (u64, usize),
        entering: &Samples,
        peaks: Option<&mut Samples>,
        count: usize,
    ) {
        let history = self.history(channel);
        if let Some(peaks) = peaks {
            let mut recent = [0f32; TAPS + FRAMES];
            let (before, new) = recent.split_at_mut(TAPS);
            copy_samples(history.recent(memory, at.wrapping_sub(1)), before);
            copy_samples(entering, new);
            self.points.raise(&recent, peaks, count);
        }
        history.push_run(memory, at, &entering[..count]);
    }
}

impl Limiter {
    /// Processes frames that are no more than the window has.
    #[inline(always)]
    fn process_run(
        &self,
        values: FrameValues<'_, LimiterValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
        frames: Range<usize>,
    ) {
        let (at, count) = (memory.counts[0], frames.len());
        let is_far_below = self.is_far_below(values, io, memory, frames.clone());
        let at_rest = is_far_below && self.reductions().is_at_rest(memory);
        if let (true, Some(values)) = (at_rest, values.constant()) {
            self.pass(values, io, memory, frames);
            return;
        }
        let rows = LimiterRows::new(values);
        let mut peaks = [0f32; FRAMES];
        for c in 0..io.output(0).len() {
            let (input, output) = io.both((0, c), (0, c));
            // As many frames as there can be, for vectors of a known number; those that are not there are zeros and stay behind.
            let mut entering = [0f32; FRAMES];
            copy_samples(&input[frames.clone()], &mut entering[..count]);
            for (x, gain) in entering.iter_mut().zip(&rows.gain) {
                *x = line_sample(f64::from(*x) * gain);
            }
            let peaks = (!is_far_below).then_some(&mut peaks);
            self.take(memory, (at, c), &entering, peaks, count);
            let late = &mut output[frames.clone()];
            self.sound
                .pass_run(memory, (at, c), &entering[..count], late);
        }
        memory.counts[0] = at.wrapping_add(count as u64);
        // Where nothing is reduced and the rings are zeros, only the ceiling may have come down.
        let mut reductions = [0.0; FRAMES];
        if !at_rest {
            self.reduce(memory, at, (&peaks, count), &rows, &mut reductions);
        }
        for c in 0..io.output(0).len() {
            let output = &mut io.output(0)[c][frames.clone()];
            let mut samples = [0f32; FRAMES];
            copy_samples(output, &mut samples[..count]);
            let values = reductions.iter().zip(&rows.ceiling);
            for (y, (reduction, ceiling)) in samples.iter_mut().zip(values) {
                let left = 1.0 - reduction.clamp(0.0, 1.0);
                *y = to_sample(within(f64::from(*y) * left, *ceiling));
            }
            copy_samples(&samples[..count], output);
        }
    }

    /// The reductions of the first `count` frames, which have these peaks.
    #[inline(always)]
    fn reduce(
        &self,
        memory: &mut Memory,
        at: u64,
        (peaks, count): (&Samples, usize),
        rows: &LimiterRows,
        reductions: &mut Row,
    ) {
        let ceilings = peaks.iter().zip(&rows.ceiling);
        for (reduction, (peak, ceiling)) in reductions.iter_mut().zip(ceilings) {
            let (aim, peak) = (ceiling * AIM, f64::from(*peak));
            *reduction = if peak > aim { 1.0 - aim / peak } else { 0.0 };
        }
        let (rings, reductions) = (self.reductions(), &mut reductions[..count]);
        rings.hold_largest(memory, at, reductions);
        rings.smooth(memory, at, reductions, &rows.release);
    }
}

impl UnitKernel for Limiter {
    type Values = LimiterValues;
    const PARAMS: &'static [ParamSpec] = &[CEILING, GAIN, RELEASE];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.rate = rate;
        self.window = ((WINDOW_S * rate + 0.5) as usize).max(1);
        self.sound = LookAhead {
            frames: self.window + TAPS / 2 - 1,
            channels,
        };
        self.points = Points::new();
        self.overshoot = self.points.overshoot();
        MemorySize {
            // The largest reduction of this round, the released one, and the sum of W of these.
            numbers: 3,
            // The frame.
            counts: 1,
            line: self.reductions().end(),
        }
    }

    fn values(&self, params: &[f64]) -> LimiterValues {
        LimiterValues {
            ceiling: gain_of(params[0]),
            gain: gain_of(params[1]),
            release: decay_factor(params[2], self.rate),
        }
    }

    fn next_values(
        &self,
        params: &[f64],
        (before, values): (&[f64], &LimiterValues),
    ) -> LimiterValues {
        let mut next = *values;
        if params[0] != before[0] {
            next.ceiling = gain_of(params[0]);
        }
        if params[1] != before[1] {
            next.gain = gain_of(params[1]);
        }
        if params[2] != before[2] {
            next.release = decay_factor(params[2], self.rate);
        }
        next
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, LimiterValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        if values.len() <= self.window {
            self.process_run(values, io, memory, 0..values.len());
            return;
        }
        // Not in one piece where the window is shorter: at a low rate.
        let run = self.window.clamp(1, FRAMES);
        for first in (0..values.len()).step_by(run) {
            let frames = first..values.len().min(first + run);
            self.process_run(values.part(frames.clone()), io, memory, frames);
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
        let mean = self.reductions().mean(memory);
        self.shown.set(match mean > 0.0 {
            true => -level_db(1.0 - mean.clamp(0.0, 1.0)) as f32,
            false => 0.0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_moved_is_taken_from_the_frame_before() {
        crate::kernel::check_next_values(&Limiter {
            rate: 48_000.0,
            ..Limiter::default()
        });
    }
}
