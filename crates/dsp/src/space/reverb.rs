//! `reverb`: a room as a feedback delay network of sixteen lines.
//!
//! ```text
//! x_c ─ predelay ─▶ Σ_c ±x_c ─▶ (+) ─▶ line i, L_i frames ─▶ g_i (1 - p_i) / (1 - p_i z⁻¹) ─┬─▶ Σ_i ±  ─▶ wet_c
//!                                ▲                                                       │
//!                                └───────────── Hadamard matrix / 4 ◀────────────────────┘
//! p_i = (1 - r) / (1 + r), r = 10^(-3 L_i / (decay × rate) × (1 / high - 1))    g_i = 10^(-3 (L_i + p_i / (1 - p_i)) / (decay × rate))
//!    signs: rows of the Hadamard matrix
//! y_c = (1 - mix) x_c + mix × wet_c
//! ```
//!
//! Jean-Marc Jot and Antoine Chaigne, "Digital delay networks for designing artificial reverberators" (AES 90, 1991): each line
//! loses 60 dB in `decay` at low frequencies and in `decay` × `high` at half the rate, whatever its length. The matrix keeps
//! energy and the low-passes are never above g_i, so it is stable on every path. Lengths are primes from 23 to 97 ms, times `size`.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says; each output channel has a mixture of its own |
//! | parameters | `decay` 0.05 to 60 s, `high` 0.05 to 1, `predelay` 0 to 0.25 s, `mix` 0 to 1; `size` 0.1 to 2 |
//! | latency | none |
//! | tail | 9.5 times `decay` (570 dB), predelay and lines; endless while a parameter is driven |
//! | driven | all live ones at audio rate |

mod low_passes;
mod matrix;

use self::low_passes::LowPasses;
use self::matrix::mix_lines;
use crate::filters::lanes::LANES;
use crate::kernel::{
    DelayRing, FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, Samples, UnitKernel,
    line_sample,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, Tail};
use std::ops::Range;

const DECAY: ParamSpec = ParamSpec::new(0, "decay", (0.05, 60.0), 2.0)
    .unit("s")
    .doc("Time in which low frequencies lose 60 dB.")
    .audio_rate();
const HIGH: ParamSpec = ParamSpec::new(1, "high", (0.05, 1.0), 0.4)
    .doc("Share of that time in which the highest frequencies lose as much.")
    .audio_rate();
const PREDELAY: ParamSpec = ParamSpec::new(2, "predelay", (0.0, MAX_PREDELAY_S), 0.01)
    .unit("s")
    .doc("Time before the first echo, beside that of the lines.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(3, "mix", (0.0, 1.0), 0.3)
    .doc("Share of the room in the output.")
    .audio_rate();

const MAX_PREDELAY_S: f64 = 0.25;
/// Number of lines.
const LINES: usize = 16;
/// Shortest and longest line, in seconds.
const SHORTEST_S: f64 = 0.023;
const LONGEST_S: f64 = 0.097;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Reverb::PARAMS.iter().map(ParamSpec::param).collect();
    let size = Param::number("size", (0.1, 2.0), 1.0).doc("Factor of the lengths of all lines.");
    params.extend([size, channels()]);
    Kind {
        params,
        typical_ns: 12_000,
        duplicable: false,
        picture: graph::KindPicture::Response,
        ..Kind::effect(
            "reverb",
            "A room: a feedback delay network of sixteen lines.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let kernel = Reverb {
        size: creation.number("size")?,
        rate: 0.0,
        lines: [DelayRing::default(); LINES],
        lengths: [1; LINES],
        predelay: Vec::new(),
    };
    KernelNode::make(creation, kernel)
}

struct Reverb {
    size: f64,
    rate: f64,
    lines: [DelayRing; LINES],
    /// In frames.
    lengths: [usize; LINES],
    /// One for each channel.
    predelay: Vec<DelayRing>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ReverbValues {
    /// g (1 - p) and p of each line.
    losses: [[f64; 2]; LINES],
    /// In frames.
    predelay: f64,
    mix: f64,
}

/// The smallest prime from `from` on.
fn prime(from: usize) -> usize {
    let is_prime = |n: usize| {
        n > 1
            && (2..)
                .take_while(|d| d * d <= n)
                .all(|d| !n.is_multiple_of(d))
    };
    (from.max(2)..).find(|n| is_prime(*n)).unwrap_or(from)
}

/// Row of the matrix with which the lines are mixed for a channel: another one for each of sixteen.
const fn mixture(channel: usize) -> usize {
    match channel {
        0..8 => 2 * channel + 5,
        _ => 2 * channel + 6,
    }
}

/// The channel whose mixture is that of `channel`: itself up to the sixteenth.
fn heard_as(channel: usize) -> usize {
    match channel {
        0..LINES => channel,
        _ => 8 + channel % 8,
    }
}

/// A number of each frame.
type Row = [f64; FRAMES];

impl Reverb {
    /// g (1 - p) and p of each line.
    fn losses(&self, decay: f64, high: f64) -> [[f64; 2]; LINES] {
        self.lengths.map(|length| {
            let per_frame = -3.0 / (decay * self.rate);
            // (1 - p) / (1 + p), the low-pass at half the rate.
            let at_half = libm::exp10(per_frame * length as f64 * (1.0 / high - 1.0));
            let p = ((1.0 - at_half) / (1.0 + at_half)).min(0.98);
            // The low-pass delays low frequencies: they go round less often.
            let g = libm::exp10(per_frame * (length as f64 + p / (1.0 - p)));
            [g * (1.0 - p), p]
        })
    }

    /// Writes what comes out of the low-passes of all lines.
    #[inline(always)]
    fn lose(
        values: FrameValues<'_, ReverbValues>,
        memory: &mut Memory,
        heard: &[Samples; LINES],
        heads: &mut [Row; LINES],
    ) {
        let whole = match values.constant() {
            Some(constant) => {
                let whole = values.len() / LANES * LANES;
                let mut low_passes =
                    [0, LANES].map(|first| LowPasses::new(constant, memory, first));
                LowPasses::run(&mut low_passes, heard, heads, whole);
                low_passes.into_iter().for_each(|it| it.store(memory));
                whole
            }
            None => 0,
        };
        for (i, values) in values.iter().enumerate().skip(whole) {
            for (k, [gain, pole]) in values.losses.into_iter().enumerate() {
                let state = &mut memory.numbers[k];
                *state = gain * f64::from(heard[k][i]) + pole * *state;
                heads[k][i] = *state;
            }
        }
    }

    /// Adds the input of a channel, as late as it enters the lines.
    #[inline(always)]
    fn read_predelay(
        &self,
        values: FrameValues<'_, ReverbValues>,
        memory: &mut Memory,
        (channel, input): (usize, &[f32]),
        late: &mut Row,
    ) {
        let (ring, at) = (self.predelay[channel], memory.counts[0]);
        let mut line = [0f32; FRAMES];
        let samples = line.iter_mut().zip(input);
        samples.for_each(|(y, x)| *y = line_sample(f64::from(*x)));
        ring.write_run(memory, at, &line[..input.len()]);
        let level = 1.0 / (self.predelay.len().max(1) as f64).sqrt();
        if let Some(values) = values.constant() {
            let tap = ring.tap(values.predelay);
            // The older of the two samples of each frame; the newer one is that of the frame behind.
            let mut heard = [0f32; FRAMES + 1];
            let heard = &mut heard[..input.len() + 1];
            ring.read_run(memory, at, tap.whole + 1, heard);
            for ((y, older), newer) in late.iter_mut().zip(&*heard).zip(&heard[1..]) {
                let [older, newer] = [f64::from(*older), f64::from(*newer)];
                *y += (newer + (older - newer) * tap.share) * level;
            }
            return;
        }
        for ((y, values), at) in late.iter_mut().zip(values.iter()).zip(at..) {
            *y += ring.read_linear(memory, at, values.predelay) * level;
        }
    }

    /// Processes frames that are no more than the shortest line has: none hears another. The lines know sixteen channels apart;
    /// `CHANNELS` are as many as there are, or these.
    #[inline(always)]
    fn process_run<const CHANNELS: usize>(
        &self,
        values: FrameValues<'_, ReverbValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
        frames: Range<usize>,
    ) {
        let (at, count) = (memory.counts[0], frames.len());
        let mut late = [[0.0; FRAMES]; CHANNELS];
        for c in 0..self.predelay.len() {
            let input = &io.input(0)[c][frames.clone()];
            self.read_predelay(values, memory, (c, input), &mut late[c % CHANNELS]);
        }
        let mut heads = [[0.0; FRAMES]; LINES];
        let mut lines = [[0f32; FRAMES]; LINES];
        for ((to, line), length) in lines.iter_mut().zip(&self.lines).zip(self.lengths) {
            line.read_run(memory, at, length, &mut to[..count]);
        }
        Self::lose(values, memory, &lines, &mut heads);
        mix_lines(&heads, &mut late, &mut lines);
        for (line, from) in self.lines.iter().zip(&lines) {
            line.write_run(memory, at, &from[..count]);
        }
        for c in 0..self.predelay.len() {
            let (input, output) = io.both((0, c), (0, c));
            let (input, output) = (&input[frames.clone()], &mut output[frames.clone()]);
            let wet = &late[heard_as(c)][..count];
            let frames = output.iter_mut().zip(input).zip(wet);
            let mixed = |x: f64, wet: f64, mix: f64| to_sample(x + mix * (wet - x));
            match values.constant() {
                Some(values) => {
                    frames.for_each(|((y, x), wet)| *y = mixed(f64::from(*x), *wet, values.mix));
                }
                None => {
                    for (((y, x), wet), values) in frames.zip(values.iter()) {
                        *y = mixed(f64::from(*x), *wet, values.mix);
                    }
                }
            }
        }
        memory.counts[0] = at.wrapping_add(count as u64);
    }
}

impl UnitKernel for Reverb {
    type Values = ReverbValues;
    const PARAMS: &'static [ParamSpec] = &[DECAY, HIGH, PREDELAY, MIX];
    const IS_LOOP: bool = true;
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.rate = rate;
        let mut first = 0;
        for (i, (line, length)) in self.lines.iter_mut().zip(&mut self.lengths).enumerate() {
            let share = i as f64 / (LINES - 1) as f64;
            let seconds = SHORTEST_S * libm::pow(LONGEST_S / SHORTEST_S, share) * self.size;
            *length = prime((seconds * rate) as usize);
            *line = DelayRing::new(first, *length as f64);
            first = line.end();
        }
        self.predelay.clear();
        for _ in 0..channels {
            // It is written before it is read, so the newest frames must not be where the oldest are.
            let ring = DelayRing::new(first, MAX_PREDELAY_S * rate + FRAMES as f64);
            first = ring.end();
            self.predelay.push(ring);
        }
        MemorySize {
            numbers: LINES,
            counts: 1,
            line: first,
        }
    }

    fn values(&self, params: &[f64]) -> ReverbValues {
        ReverbValues {
            losses: self.losses(params[0], params[1]),
            predelay: params[2] * self.rate,
            mix: params[3],
        }
    }

    fn next_values(
        &self,
        params: &[f64],
        (before, values): (&[f64], &ReverbValues),
    ) -> ReverbValues {
        if params[..2] != before[..2] {
            return self.values(params);
        }
        ReverbValues {
            losses: values.losses,
            predelay: params[2] * self.rate,
            mix: params[3],
        }
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, ReverbValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        // Not in one piece where a line is shorter: at a low rate and a small size.
        let run = self
            .lengths
            .iter()
            .fold(FRAMES, |run, length| run.min(*length));
        for first in (0..values.len()).step_by(run.max(1)) {
            let frames = first..values.len().min(first + run.max(1));
            let values = values.part(frames.clone());
            match self.predelay.len() {
                0..=1 => self.process_run::<1>(values, io, memory, frames),
                2 => self.process_run::<2>(values, io, memory, frames),
                _ => self.process_run::<LINES>(values, io, memory, frames),
            }
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let longest = self.lengths[LINES - 1] as f64 + MAX_PREDELAY_S * self.rate;
        Tail::Frames((9.5 * params[0] * self.rate + 2.0 * longest) as u64 + 16_384)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_moved_is_taken_from_the_frame_before() {
        crate::kernel::check_next_values(&Reverb {
            size: 1.0,
            rate: 48_000.0,
            lines: [DelayRing::default(); LINES],
            lengths: [1777; LINES],
            predelay: Vec::new(),
        });
    }

    #[test]
    fn lengths_are_primes() {
        assert_eq!([prime(0), prime(8), prime(24)], [2, 11, 29]);
    }
}
