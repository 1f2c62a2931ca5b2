//! `limiter` with `detector = "sample-peak"`: a gain that moves on straight lines, from one segment of the sound to the next.
//!
//! ```text
//! S = the power of two at or above the frames of a millisecond (64 at 48 kHz)
//! p[k] = largest |x| / ceiling of segment k, on all channels          n[k] = 1 - 1 / p[k], 0 or more
//! r[k + 1] = largest of n[k], n[k + 1] and r[k] × exp(-S / (release × rate)): the reduction where segment k ends
//! y[n] = x[n - 2 S] × (1 - the line from r[k] to r[k + 1]), held within ±ceiling
//! ```
//!
//! Both ends of a line are low enough for its segment, so all of it is. What comes after a segment is known when its line is drawn:
//! it leaves two segments later than it came. Segments follow each other from the first frame that sounds, and so anew behind a silence
//! in which all reductions have ended: so they are the same whether or not the node has slept.

mod frames;

use self::frames::{enter, leave, pass_segment, peak_of};
use super::common::{CEILING, GAIN, RELEASE};
use crate::dynamics::detector::gain_of;
use crate::kernel::{
    FRAMES, FrameValues, LaneIo, Memory, MemorySize, UnitKernel, decay_factor, line_sample,
};
use crate::param::ParamSpec;
use crate::sample::{copy_samples, larger};
use processor::{Gauge, SetupServices, Tail};
use std::ops::Range;
use units::Frames;

/// A reduction below this is none.
const NO_REDUCTION: f64 = 1e-9;

// Numbers of the memory: peaks over the ceiling of the segment that enters, of the one before and of the one that leaves; what the one
// before needs; the reductions where the one that leaves begins and ends.
const ENTERING: usize = 0;
const BETWEEN: usize = 1;
const LEAVING: usize = 2;
const NEEDED: usize = 3;
const BEGIN: usize = 4;
const END: usize = 5;
/// Number of them.
const NUMBERS: usize = 6;

/// The numbers.
#[inline(always)]
fn numbers(memory: &mut Memory) -> &mut [f64; NUMBERS] {
    let numbers = memory.numbers.first_chunk_mut();
    numbers.expect("the setup asks for as many")
}

#[derive(Default)]
pub(super) struct SampleLimiter {
    rate: f64,
    /// S, a power of two.
    segment: usize,
    /// 1 / S.
    part: f64,
    shown: Gauge,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SegmentValues {
    ceiling: f32,
    /// 1 / ceiling.
    inverse: f64,
    gain: f32,
    /// Share of a reduction that is left after a segment.
    decay: f64,
}

impl SampleLimiter {
    /// Draws the line of the segment that leaves next. Where nothing is left it changes nothing.
    #[inline(always)]
    fn begin_segment(memory: &mut Memory, values: &SegmentValues) {
        let numbers = numbers(memory);
        let [entered, between] = [numbers[ENTERING], numbers[BETWEEN]];
        let mut needed = 0.0;
        if entered > 1.0 {
            needed = 1.0 - 1.0 / entered;
        }
        let released = numbers[END] * values.decay;
        let released = if released < NO_REDUCTION {
            0.0
        } else {
            released
        };
        numbers[BEGIN] = numbers[END];
        numbers[END] = larger(larger(needed, numbers[NEEDED]), released);
        numbers[NEEDED] = needed;
        numbers[LEAVING] = between;
        numbers[BETWEEN] = entered;
        numbers[ENTERING] = 0.0;
    }

    /// The gain where the segment that leaves begins, and what it changes by from frame to frame.
    #[inline(always)]
    fn line(&self, memory: &Memory) -> (f32, f32) {
        let [begin, end] = [memory.numbers[BEGIN], memory.numbers[END]];
        ((1.0 - begin) as f32, ((begin - end) * self.part) as f32)
    }

    /// Processes as many frames of one segment as a step has, from `place` in it on, with values that stand still, in one pass: with the
    /// bits of [`process_run`](Self::process_run).
    #[inline(always)]
    fn process_whole(
        &self,
        values: &SegmentValues,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
        place: usize,
    ) {
        let line = self.line(memory);
        let length = 2 * self.segment;
        let at = memory.counts[0] as usize & (length - 1);
        let mut bits = 0;
        for c in 0..io.output(0).len() {
            let (input, output) = io.both((0, c), (0, c));
            memory.exchange(c * length + at, |ring| {
                let loudest = pass_segment(values, (line, place), (input, output), ring);
                bits = loudest.max(bits);
                loudest != 0
            });
        }
        let peak = f64::from(f32::from_bits(bits)) * values.inverse;
        let numbers = numbers(memory);
        numbers[ENTERING] = larger(peak, numbers[ENTERING]);
        memory.counts[0] = ((at + FRAMES) & (length - 1)) as u64;
    }

    /// Processes frames of one segment.
    #[inline(always)]
    fn process_run(
        &self,
        values: FrameValues<'_, SegmentValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
        frames: Range<usize>,
    ) {
        let (at, count) = (memory.counts[0] as usize, frames.len());
        let (first, slope) = self.line(memory);
        let place = at & (self.segment - 1);
        let mut gains = [0f32; FRAMES];
        for (gain, at) in gains.iter_mut().zip(place as i32..) {
            *gain = first + slope * at as f32;
        }
        let length = 2 * self.segment;
        let mut peak = memory.numbers[ENTERING];
        for c in 0..io.output(0).len() {
            let (input, output) = io.both((0, c), (0, c));
            let entering = enter(values, &input[frames.clone()]);
            peak = peak.max(peak_of(values, &entering));
            let first = c * length + (at & (length - 1));
            let mut late = [0f32; FRAMES];
            copy_samples(memory.samples(first..first + count), &mut late[..count]);
            memory.write_samples(first, &entering[..count]);
            leave(values, &gains, &mut late);
            copy_samples(&late[..count], &mut output[frames.clone()]);
        }
        memory.numbers[ENTERING] = peak;
        memory.counts[0] = (at.wrapping_add(count) & (length - 1)) as u64;
    }

    /// Processes frames of any number, segment by segment.
    #[inline(always)]
    fn process_runs(
        &self,
        values: FrameValues<'_, SegmentValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let mut first = 0;
        while first < values.len() {
            let rest = values.part(first..values.len());
            let mut place = memory.counts[0] as usize & (self.segment - 1);
            if let (0, Some(values)) = (place, rest.iter().next()) {
                Self::begin_segment(memory, values);
            }
            // Asked where segments begin: there the last reduction ends, wherever steps do.
            if is_at_rest(memory) {
                let silent = Self::pass_silence(rest, io, first..values.len());
                (memory.counts[0], place) = (0, 0);
                if silent > 0 {
                    first += silent;
                    continue;
                }
            }
            let end = values.len().min(first + self.segment - place);
            self.process_run(values.part(first..end), io, memory, first..end);
            first = end;
        }
    }

    /// Passes the silent frames at the begin of some, where nothing is left of what came before. Returns their number.
    #[inline(never)]
    fn pass_silence(
        values: FrameValues<'_, SegmentValues>,
        io: &mut LaneIo<'_>,
        frames: Range<usize>,
    ) -> usize {
        let sounds = |frame: usize, gain: f32| {
            let channels = io.input(0).iter();
            let mut samples = channels.map(|x| line_sample(f64::from(x[frame] * gain)));
            samples.any(|x| x != 0.0)
        };
        let mut pairs = frames.clone().zip(values.iter());
        let first = pairs.find(|(frame, values)| sounds(*frame, values.gain));
        let end = first.map_or(frames.end, |(frame, _)| frame);
        for c in 0..io.output(0).len() {
            io.output(0)[c][frames.start..end].fill(0.0);
        }
        end - frames.start
    }
}

/// The largest narrow number that is not above `ceiling`.
fn at_most(ceiling: f64) -> f32 {
    let narrow = ceiling as f32;
    match f64::from(narrow) > ceiling {
        true => narrow.next_down(),
        false => narrow,
    }
}

/// Returns true if nothing is left of what came before.
#[inline(always)]
fn is_at_rest(memory: &Memory) -> bool {
    memory.numbers.iter().all(|x| *x == 0.0)
}

/// Loss by a gain of at most 1, in dB, within 0.001: for the gauge. The exponent, and a polynomial for the logarithm of the rest.
#[inline(always)]
fn lost_db(gain: f32) -> f32 {
    let bits = gain.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let x = f32::from_bits(bits & 0x7f_ffff | 1f32.to_bits()) - 1.0;
    let log2 = x * (1.438_725_7 + x * (-0.677_784 + x * (0.321_188_9 - x * 0.082_130_68)));
    (0.0 - 6.020_6 * (exponent as f32 + log2)).min(200.0)
}

impl UnitKernel for SampleLimiter {
    type Values = SegmentValues;
    const PARAMS: &'static [ParamSpec] = &[CEILING, GAIN, RELEASE];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.rate = rate;
        self.segment = ((rate / 1000.0) as usize).next_power_of_two();
        self.part = 1.0 / self.segment as f64;
        MemorySize {
            numbers: NUMBERS,
            // The place in the lines of the channels.
            counts: 1,
            line: 2 * self.segment * channels,
        }
    }

    fn values(&self, params: &[f64]) -> SegmentValues {
        let ceiling = gain_of(params[0]);
        SegmentValues {
            ceiling: at_most(ceiling),
            inverse: 1.0 / ceiling,
            gain: gain_of(params[1]) as f32,
            decay: decay_factor(params[2], self.rate / self.segment as f64),
        }
    }

    fn next_values(
        &self,
        params: &[f64],
        (before, values): (&[f64], &SegmentValues),
    ) -> SegmentValues {
        let mut next = *values;
        if params[0] != before[0] {
            let ceiling = gain_of(params[0]);
            (next.ceiling, next.inverse) = (at_most(ceiling), 1.0 / ceiling);
        }
        if params[1] != before[1] {
            next.gain = gain_of(params[1]) as f32;
        }
        if params[2] != before[2] {
            next.decay = decay_factor(params[2], self.rate / self.segment as f64);
        }
        next
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, SegmentValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let is_whole = values.len() == FRAMES;
        let place = memory.counts[0] as usize & (self.segment - 1);
        if let Some(values) = values.constant()
            && is_whole
            && place + FRAMES <= self.segment
        {
            if place == 0 {
                Self::begin_segment(memory, values);
            }
            if !is_at_rest(memory) {
                return self.process_whole(values, io, memory, place);
            }
        }
        self.process_runs(values, io, memory);
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(2 * self.segment as u64)
    }

    fn latency(&self) -> Frames {
        Frames(2 * self.segment as u32)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = services.gauge("reduction");
    }

    fn show(&self, memory: &Memory) {
        self.shown.set(lost_db((1.0 - memory.numbers[END]) as f32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::process_linked;

    #[test]
    fn what_has_not_moved_is_taken_from_the_frame_before() {
        let mut limiter = SampleLimiter::default();
        limiter.setup(48_000.0, 1);
        crate::kernel::check_next_values(&limiter);
    }

    /// Bits of two channels of noise at 96 kHz behind the limiter, in steps of so many frames; `bursts` gives the gain of each frame.
    fn bits_in_steps(step: usize, bursts: &dyn Fn(usize) -> f32) -> Vec<u32> {
        let mut limiter = SampleLimiter::default();
        let size = limiter.setup(96_000.0, 2);
        let mut memory = Memory::new(0, size);
        let values = [limiter.values(&[-3.0, 2.0, 0.01])];
        let mut numbers = units::SplitMix64(4);
        let noise: Vec<f32> = (0..6400).map(|_| numbers.sample()).collect();
        let mut bits = Vec::new();
        for first in (0..noise.len() - 200).step_by(step) {
            let count = step.min(noise.len() - 200 - first);
            let mut inputs = [[0f32; FRAMES]; 2];
            for (input, from) in inputs.iter_mut().zip([first, first + 200]) {
                for (i, x) in input[..count].iter_mut().enumerate() {
                    *x = noise[from + i] * bursts(first + i);
                }
            }
            let mut outputs = [[0f32; FRAMES]; 2];
            let frames = FrameValues::new(&values, count);
            process_linked(&limiter, frames, (&inputs, &mut outputs), &mut memory);
            bits.extend((0..count).flat_map(|i| outputs.map(|output| output[i].to_bits())));
        }
        bits
    }

    #[test]
    fn whole_steps_have_the_bits_of_shorter_ones() {
        // Bursts whose reductions outlast the silence between them.
        let loud = |at: usize| f32::from(u8::from((at / 900).is_multiple_of(2)));
        let check = |bursts: &dyn Fn(usize) -> f32| {
            let whole = bits_in_steps(FRAMES, bursts);
            assert!(whole.iter().filter(|bits| **bits != 0).count() > 1000);
            for step in [1, 16, 32, 37, 50] {
                assert!(bits_in_steps(step, bursts) == whole, "{step}");
            }
        };
        check(&loud);
        // Gaps in which all of a quiet sound leaves, before a loud one.
        for gap in (200..700).step_by(20) {
            check(&|at| match at {
                0..100 => 0.1,
                _ if at < 100 + gap || at > 2000 => 0.0,
                _ => 1.0,
            });
        }
    }

    #[test]
    fn the_gauge_shows_decibels() {
        assert_eq!(lost_db(1.0).to_bits(), 0);
        assert_eq!(lost_db(0.0), 200.0);
        for i in 1..10_000u16 {
            let gain = f32::from(i) / 10_000.0;
            let wanted = -20.0 * f64::from(gain).log10();
            assert!((f64::from(lost_db(gain)) - wanted).abs() < 1e-3, "{gain}");
        }
    }

    #[test]
    fn segments_are_about_a_millisecond_at_every_rate() {
        for (rate, frames) in [
            (8000, 8),
            (44_100, 64),
            (48_000, 64),
            (96_000, 128),
            (192_000, 256),
        ] {
            let mut limiter = SampleLimiter::default();
            limiter.setup(f64::from(rate), 1);
            assert_eq!(limiter.latency().0, 2 * frames, "{rate}");
        }
    }
}
