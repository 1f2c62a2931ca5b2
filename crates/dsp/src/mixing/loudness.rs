//! `loudness`: loudness after EBU R 128, true peak and correlation, and passes its input on.
//!
//! ```text
//! x ─ high shelf (+4 dB from 1.7 kHz) ─ high-pass (38 Hz) ─▶ k        e = mean of k² over 0.1 s, summed over the channels
//! momentary: -0.691 + 10 log10 of the mean of 4 e        short: of 30 e
//! integrated: blocks of 0.4 s, 0.1 s apart, above -70 LUFS and then above their own loudness - 10 LU
//! range: 10th to 95th percentile of the short-term values above -70 LUFS and above their own loudness - 20 LU
//! true_peak: largest |x| at four times the rate (64 taps), in dB        correlation = Σ l r / √(Σ l² Σ r²), 0.3 s
//! ```
//!
//! ITU-R BS.1770-5, EBU R 128, EBU Tech 3341 and 3342. All channels weigh alike: right for mono and stereo. Loudness of blocks
//! is counted in steps of 0.1 LU. `integrated` is -70 before the first 0.4 s. The gauges are `momentary`, `short`, `integrated` (LUFS), `range` (LU), `true_peak` (dBTP) and
//! `correlation` (of the first two channels; 0 with one).
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says; `out` is `in` |
//! | parameters | none |
//! | latency, tail | none |

use crate::kernel::{
    FrameValues, History, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_factor, dot,
    kaiser_sinc,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use std::f64::consts::PI;

/// Blocks of 0.1 s in the longest window.
const BLOCKS: usize = 30;
/// Blocks of a gated block.
const MOMENTARY: usize = 4;
/// Steps of 0.1 LU from the absolute gate up.
const STEPS: usize = 1000;
const GATE_LUFS: f64 = -70.0;
const TAPS: usize = 64;
const CORRELATION_S: f64 = 0.3;

/// Numbers in front of the filters' states: energy of the block so far, those of the last blocks, and sums of l r, l², r².
const FIRST_STATE: usize = 1 + BLOCKS + 3;
/// Counts: frame of the block, number of the block, largest point; integrated and range (as bits); then both histograms.
const FIRST_STEP: usize = 5;

const NAMES: [&str; 6] = [
    "momentary",
    "short",
    "integrated",
    "range",
    "true_peak",
    "correlation",
];

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![channels()],
        duplicable: false,
        typical_ns: 2500,
        picture: graph::KindPicture::Gauges(&["momentary", "short", "integrated", "true_peak"]),
        ..Kind::effect(
            "loudness",
            "Shows loudness (EBU R 128), true peak and correlation.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Loudness::default())
}

/// A biquad filter in direct form: b0, b1, b2, a1, a2.
type Biquad = [f64; 5];

#[derive(Default)]
struct Loudness {
    filters: [Biquad; 2],
    /// Frames of a block.
    block: u64,
    channels: usize,
    points: [Box<[f32]>; 3],
    /// Energy in the middle of each step.
    step_energy: Box<[f64]>,
    /// Share of a sum of correlation that is left after a frame.
    left: f64,
    shown: [Gauge; 6],
}

/// The filters of BS.1770 at any rate, from their analog prototypes. At rates below 3.4 kHz the shelf lies below half the rate.
fn weighting(rate: f64) -> [Biquad; 2] {
    let (k, q) = (
        libm::tan(PI * (1_681.974_450_955_533 / rate).min(0.49)),
        0.707_175_236_955_419_6,
    );
    let high = libm::exp10(3.999_843_853_973_347 / 20.0);
    let middle = libm::pow(high, 0.499_666_774_154_541_6);
    let a0 = 1.0 + k / q + k * k;
    let shelf = [
        (high + middle * k / q + k * k) / a0,
        2.0 * (k * k - high) / a0,
        (high - middle * k / q + k * k) / a0,
        2.0 * (k * k - 1.0) / a0,
        (1.0 - k / q + k * k) / a0,
    ];
    let (k, q) = (
        libm::tan(PI * 38.135_470_876_024_44 / rate),
        0.500_327_037_323_877_3,
    );
    let a0 = 1.0 + k / q + k * k;
    let pass = [
        1.0,
        -2.0,
        1.0,
        2.0 * (k * k - 1.0) / a0,
        (1.0 - k / q + k * k) / a0,
    ];
    [shelf, pass]
}

/// One step of a biquad in transposed direct form.
#[inline(always)]
fn tick([b0, b1, b2, a1, a2]: Biquad, state: &mut [f64], x: f64) -> f64 {
    let y = b0 * x + state[0];
    state[0] = b1 * x - a1 * y + state[1];
    state[1] = b2 * x - a2 * y;
    y
}

fn lufs(energy: f64) -> f64 {
    10.0 * libm::log10(energy.max(1e-20)) - 0.691
}

fn energy_of(lufs: f64) -> f64 {
    libm::exp10((lufs + 0.691) / 10.0)
}

/// Loudness in the middle of a step.
fn step_lufs(step: usize) -> f64 {
    GATE_LUFS + (step as f64 + 0.5) * 0.1
}

/// Counts a loudness in its step, if it is above the absolute gate.
fn count(steps: &mut [u64], lufs: f64) {
    let step = (lufs - GATE_LUFS) * 10.0;
    if step >= 0.0 {
        let step = &mut steps[(step as usize).min(STEPS - 1)];
        *step = step.saturating_add(1);
    }
}

/// Distance of the 10th and the 95th percentile of the steps from `from` on.
fn loudness_range(steps: &[u64], from: usize) -> f64 {
    let total: f64 = steps[from..].iter().map(|count| *count as f64).sum();
    let percentile = |share: f64| -> usize {
        let mut passed = 0.0;
        let reaches = |count: &u64| {
            passed += *count as f64;
            passed >= share * total
        };
        steps[from..].iter().position(reaches).unwrap_or(0)
    };
    if total > 0.0 {
        percentile(0.95).abs_diff(percentile(0.1)) as f64 * 0.1
    } else {
        0.0
    }
}

impl Loudness {
    /// Mean loudness of the steps from `from` on; the absolute gate where there are none.
    fn mean_lufs(&self, steps: &[u64], from: usize) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (count, energy) in steps.iter().zip(&self.step_energy).skip(from) {
            sum += *count as f64 * energy;
            weight += *count as f64;
        }
        match weight > 0.0 {
            true => lufs(sum / weight),
            false => GATE_LUFS,
        }
    }

    /// First step above the mean of all less `below` LU.
    fn relative_gate(&self, steps: &[u64], below: f64) -> usize {
        let gate = self.mean_lufs(steps, 0) - below;
        (((gate - GATE_LUFS) * 10.0).max(0.0) as usize).min(STEPS)
    }

    fn history(channel: usize) -> History {
        History {
            first: channel * History::samples(TAPS),
            taps: TAPS,
        }
    }

    /// Largest point around the middle of a channel's history.
    #[inline(always)]
    fn peak(&self, memory: &mut Memory, at: u64, channel: usize, x: f64) -> f64 {
        let history = Self::history(channel);
        history.push(memory, at, x);
        let recent = history.recent(memory, at);
        let points = self.points.iter().map(|point| dot(point, recent).abs());
        f64::from(points.fold(recent[TAPS / 2 - 1].abs(), f32::max))
    }

    /// Ends a block of 0.1 s: it goes into the windows, and these into the histograms.
    fn end_block(&self, memory: &mut Memory) {
        let number = memory.counts[1];
        let energy = memory.numbers[0] / self.block as f64;
        memory.numbers[0] = 0.0;
        memory.numbers[1 + (number % BLOCKS as u64) as usize] = energy;
        memory.counts[1] = number.wrapping_add(1);
        let [momentary, short] = self.windows(memory);
        let (_, steps) = memory.counts.split_at_mut(FIRST_STEP);
        let (blocks, shorts) = steps.split_at_mut(STEPS);
        if number + 1 >= MOMENTARY as u64 {
            count(blocks, momentary);
        }
        if number + 1 >= BLOCKS as u64 {
            count(shorts, short);
        }
        let integrated = self.mean_lufs(blocks, self.relative_gate(blocks, 10.0));
        let range = loudness_range(shorts, self.relative_gate(shorts, 20.0));
        memory.counts[3] = integrated.to_bits();
        memory.counts[4] = range.to_bits();
    }

    /// Loudness of the last 0.4 s and of the last 3 s.
    fn windows(&self, memory: &Memory) -> [f64; 2] {
        let last = memory.counts[1];
        let mean = |blocks: usize| {
            let block = |back| (last.wrapping_sub(1 + back as u64) % BLOCKS as u64) as usize;
            let sum: f64 = (0..blocks)
                .map(|back| memory.numbers[1 + block(back)])
                .sum();
            lufs(sum / blocks as f64)
        };
        [mean(MOMENTARY), mean(BLOCKS)]
    }

    /// Measures frame `i`.
    #[inline(always)]
    fn measure(&self, io: &LaneIo<'_>, memory: &mut Memory, i: usize) {
        let at = memory.counts[0];
        let mut largest = f64::from_bits(memory.counts[2]);
        for c in 0..self.channels {
            let x = f64::from(io.input(0)[c][i]);
            largest = largest.max(self.peak(memory, at, c, x));
            let state = &mut memory.numbers[FIRST_STATE + 4 * c..];
            let shelved = tick(self.filters[0], &mut state[..2], x);
            let k = tick(self.filters[1], &mut state[2..4], shelved);
            memory.numbers[0] += k * k;
        }
        memory.counts[2] = largest.to_bits();
        if self.channels > 1 {
            let [l, r] = [0, 1].map(|c| f64::from(io.input(0)[c][i]));
            let sums = &mut memory.numbers[1 + BLOCKS..FIRST_STATE];
            for (sum, product) in sums.iter_mut().zip([l * r, l * l, r * r]) {
                *sum = product + (*sum - product) * self.left;
            }
        }
        memory.counts[0] = at.wrapping_add(1);
        if memory.counts[0].is_multiple_of(self.block) {
            self.end_block(memory);
        }
    }
}

impl UnitKernel for Loudness {
    type Values = ();
    const PARAMS: &'static [ParamSpec] = &[];
    const LINKED: bool = true;
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.filters = weighting(rate);
        self.block = ((rate * 0.1 + 0.5) as u64).max(1);
        self.channels = channels;
        self.left = decay_factor(CORRELATION_S, rate);
        let point = |part: f64| -> Box<[f32]> {
            let tap = |k: usize| {
                let x = k as f64 - (TAPS / 2 - 1) as f64 - part;
                kaiser_sinc(x, TAPS as f64 / 2.0, 1.0, 5.0) as f32
            };
            (0..TAPS).map(tap).collect()
        };
        self.points = [0.25, 0.5, 0.75].map(point);
        self.step_energy = (0..STEPS).map(|step| energy_of(step_lufs(step))).collect();
        MemorySize {
            numbers: FIRST_STATE + 4 * channels,
            counts: FIRST_STEP + 2 * STEPS,
            line: channels * History::samples(TAPS),
        }
    }

    fn values(&self, _: &[f64]) {}

    fn process(&self, values: FrameValues<'_, ()>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for i in 0..values.len() {
            self.measure(io, memory, i);
            for c in 0..self.channels {
                io.output(0)[c][i] = to_sample(f64::from(io.input(0)[c][i]));
            }
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = NAMES.map(|name| services.gauge(name));
    }

    fn show(&self, memory: &Memory) {
        let [momentary, short] = self.windows(memory);
        let [product, left, right] = [0, 1, 2].map(|sum| memory.numbers[1 + BLOCKS + sum]);
        let power = (left * right).sqrt();
        let integrated = match memory.counts[1] < MOMENTARY as u64 {
            true => GATE_LUFS,
            false => f64::from_bits(memory.counts[3]),
        };
        let values = [
            momentary,
            short,
            integrated,
            f64::from_bits(memory.counts[4]),
            20.0 * libm::log10(f64::from_bits(memory.counts[2]).max(1e-10)),
            if power > 0.0 { product / power } else { 0.0 },
        ];
        for (shown, value) in self.shown.iter().zip(values) {
            shown.set(value as f32);
        }
    }
}
