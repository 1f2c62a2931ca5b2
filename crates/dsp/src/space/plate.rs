//! `plate`: the plate reverb of Jon Dattorro: four diffusers, and a tank of two halves that feed each other.
//!
//! ```text
//! mean of in ─ predelay ─ low-pass (bandwidth) ─ all-passes 142, 107 (0.75), 379, 277 (0.625) ─▶ v
//! left half:  v + decay × end of the right half ─ all-pass 672 ± depth (-0.7) ─ delay 4453 ─ low-pass (damping) × decay
//!             ─ all-pass 1800 (decay + 0.15, 0.25 to 0.5) ─ delay 3720
//! right half: likewise with 908 ± depth, 4217, 2656, 3163        left and right: seven taps each, times 0.6
//! lengths in frames at 29,761 Hz; all-pass (g): w = x - g d, y = d + g w, d = w delayed
//! y = (1 - mix) x + mix × (left or right)
//! ```
//!
//! Jon Dattorro, "Effect design, part 1: reverberator and other filters", *J. Audio Eng. Soc.* 45 (1997), figure 1 and tables 1 and
//! 2. The moving all-passes are read on a straight line between two frames.
//!
//! | | |
//! |---|---|
//! | ports | `in`, as wide as `channels` says; `out`, two channels |
//! | parameters | `decay` 0 to 0.97, `bandwidth` and `damping` 0 to 1, `predelay` 0 to 0.2 s, `speed` 0 to 5 Hz, `depth` 0 to 16 frames, `mix` 0 to 1 |
//! | latency | none |
//! | tail | until the tank is 480 dB down; endless while a parameter is driven |
//! | driven | all at audio rate |

use crate::generators::sine::sine;
use crate::kernel::{DelayRing, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, PortCount, PortSignal, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};
use units::Channels;

const DECAY: ParamSpec = ParamSpec::new(0, "decay", (0.0, 0.97), 0.6)
    .doc("Gain of a round through both halves, as its root.")
    .audio_rate();
const BANDWIDTH: ParamSpec = ParamSpec::new(1, "bandwidth", (0.01, 1.0), 0.99)
    .doc("Share of a step of the input's low-pass; 1: none.")
    .audio_rate();
const DAMPING: ParamSpec = ParamSpec::new(2, "damping", (0.0, 0.99), 0.2)
    .doc("Loss of high frequencies in the tank.")
    .audio_rate();
const PREDELAY: ParamSpec = ParamSpec::new(3, "predelay", (0.0, MAX_PREDELAY_S), 0.0)
    .unit("s")
    .doc("Time before the plate.")
    .audio_rate();
const SPEED: ParamSpec = ParamSpec::new(4, "speed", (0.0, 5.0), 1.0)
    .unit("Hz")
    .doc("Frequency at which two all-passes move.")
    .audio_rate();
const DEPTH: ParamSpec = ParamSpec::new(5, "depth", (0.0, MAX_DEPTH), 8.0)
    .unit("frames")
    .doc("Movement of two all-passes, at 29,761 Hz.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(6, "mix", (0.0, 1.0), 0.3)
    .doc("Share of the plate in the output.")
    .audio_rate();

const MAX_PREDELAY_S: f64 = 0.2;
const MAX_DEPTH: f64 = 16.0;
/// Rate of the paper's lengths.
const PAPER_RATE: f64 = 29_761.0;

/// Lengths and gains of the diffusers.
const DIFFUSERS: [(f64, f64); 4] = [(142.0, 0.75), (107.0, 0.75), (379.0, 0.625), (277.0, 0.625)];
/// Lengths of a half: the moving all-pass, a delay, an all-pass, a delay.
const HALVES: [[f64; 4]; 2] = [
    [672.0, 4453.0, 1800.0, 3720.0],
    [908.0, 4217.0, 2656.0, 3163.0],
];
const MOVING_GAIN: f64 = -0.7;
/// Gain of the second all-pass of a half: the decay and this, within these.
const ABOVE_DECAY: f64 = 0.15;
const TANK_GAINS: (f64, f64) = (0.25, 0.5);
/// Taps of both outputs: half, line in the half, frames, sign.
const TAPS: [[(usize, usize, f64, f64); 7]; 2] = [
    [
        (1, 1, 266.0, 1.0),
        (1, 1, 2974.0, 1.0),
        (1, 2, 1913.0, -1.0),
        (1, 3, 1996.0, 1.0),
        (0, 1, 1990.0, -1.0),
        (0, 2, 187.0, -1.0),
        (0, 3, 1066.0, -1.0),
    ],
    [
        (0, 1, 353.0, 1.0),
        (0, 1, 3627.0, 1.0),
        (0, 2, 1228.0, -1.0),
        (0, 3, 2673.0, 1.0),
        (1, 1, 2111.0, -1.0),
        (1, 2, 335.0, -1.0),
        (1, 3, 121.0, -1.0),
    ],
];

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Plate::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec {
            name: "out",
            signal: PortSignal::Fixed(Channels(2)),
            count: PortCount::One,
        }],
        params,
        typical_ns: 8000,
        duplicable: false,
        picture: graph::KindPicture::Response,
        ..Kind::new("plate", "A plate reverb with two outputs.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Plate::default())
}

/// A ring that is read at its whole length.
#[derive(Clone, Copy, Default)]
struct PlateLine {
    ring: DelayRing,
    frames: usize,
}

#[derive(Default)]
struct Plate {
    rate: f64,
    predelay: DelayRing,
    diffusers: [PlateLine; 4],
    halves: [[PlateLine; 4]; 2],
    /// Frames of a paper's frame.
    scale: f64,
}

#[derive(Clone, Copy)]
struct PlateValues {
    decay: f64,
    tank_gain: f64,
    bandwidth: f64,
    damping: f64,
    /// In frames.
    predelay: f64,
    depth: f64,
    /// In units of 2^-64 cycles.
    step: u64,
    mix: f64,
}

/// One step of an all-pass around what its line gives.
#[inline(always)]
fn all_pass(
    ring: DelayRing,
    memory: &mut Memory,
    at: u64,
    delayed: f64,
    (x, g): (f64, f64),
) -> f64 {
    let w = x - g * delayed;
    ring.write(memory, at, w);
    delayed + g * w
}

impl PlateLine {
    #[inline(always)]
    fn delayed(self, memory: &Memory, at: u64) -> f64 {
        self.ring.read(memory, at, self.frames)
    }
}

impl Plate {
    /// One step of a half: what leaves it at its end lies in its last line. `low` is the state of its low-pass.
    #[inline(always)]
    fn half(
        &self,
        half: usize,
        memory: &mut Memory,
        at: u64,
        x: f64,
        moved: f64,
        values: &PlateValues,
    ) {
        let [moving, first, diffuser, last] = self.halves[half];
        let delay = moving.frames as f64 + moved;
        let delayed = moving.ring.read_linear(memory, at, delay);
        let x = all_pass(moving.ring, memory, at, delayed, (x, MOVING_GAIN));
        let delayed = first.delayed(memory, at);
        first.ring.write(memory, at, x);
        let low = &mut memory.numbers[1 + half];
        *low = delayed + values.damping * (*low - delayed);
        let x = *low * values.decay;
        let delayed = diffuser.delayed(memory, at);
        let x = all_pass(diffuser.ring, memory, at, delayed, (x, values.tank_gain));
        last.ring.write(memory, at, x);
    }

    fn tap(&self, memory: &Memory, at: u64, output: usize) -> f64 {
        let taps = TAPS[output].iter().map(|(half, line, frames, sign)| {
            let frames = (frames * self.scale + 0.5) as usize;
            sign * self.halves[*half][*line].ring.read(memory, at, frames)
        });
        0.6 * taps.sum::<f64>()
    }
}

impl UnitKernel for Plate {
    type Values = PlateValues;
    const PARAMS: &'static [ParamSpec] = &[DECAY, BANDWIDTH, DAMPING, PREDELAY, SPEED, DEPTH, MIX];
    const IS_LOOP: bool = true;
    const LINKED: bool = true;
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        (self.rate, self.scale) = (rate, rate / PAPER_RATE);
        self.predelay = DelayRing::new(0, MAX_PREDELAY_S * rate);
        let mut first = self.predelay.end();
        let mut line = |frames: f64| {
            let frames = frames * rate / PAPER_RATE;
            let room = frames + MAX_DEPTH * rate / PAPER_RATE;
            let ring = DelayRing::new(first, room);
            first = ring.end();
            PlateLine {
                ring,
                frames: (frames + 0.5) as usize,
            }
        };
        self.diffusers = DIFFUSERS.map(|(frames, _)| line(frames));
        self.halves = HALVES.map(|half| half.map(&mut line));
        MemorySize {
            // Low-passes of the input and of both halves.
            numbers: 3,
            // The frame and the phase.
            counts: 2,
            line: first,
        }
    }

    fn values(&self, params: &[f64]) -> PlateValues {
        PlateValues {
            decay: params[0],
            tank_gain: (params[0] + ABOVE_DECAY).clamp(TANK_GAINS.0, TANK_GAINS.1),
            bandwidth: params[1],
            damping: params[2],
            predelay: params[3] * self.rate,
            step: (params[4] / self.rate * 2f64.powi(64)) as u64,
            depth: params[5] * self.scale,
            mix: params[6],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, PlateValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let channels = io.input(0).len();
        for (i, values) in values.iter().enumerate() {
            let at = memory.counts[0];
            let phase = (memory.counts[1] >> 32) as u32;
            let sum: f64 = io.input(0).iter().map(|x| f64::from(x[i])).sum();
            self.predelay.write(memory, at, sum / channels as f64);
            let x = self.predelay.read_linear(memory, at, values.predelay);
            let low = &mut memory.numbers[0];
            *low += values.bandwidth * (x - *low);
            let mut x = *low;
            for (line, (_, gain)) in self.diffusers.iter().zip(DIFFUSERS) {
                let delayed = line.delayed(memory, at);
                x = all_pass(line.ring, memory, at, delayed, (x, gain));
            }
            let ends = self.halves.map(|half| half[3].delayed(memory, at));
            for half in 0..2 {
                let quarter = (half as u32) << 30;
                let moved = values.depth * f64::from(sine(phase.wrapping_add(quarter)));
                let into = x + values.decay * ends[1 - half];
                self.half(half, memory, at, into, moved, values);
            }
            for c in 0..2 {
                let dry = f64::from(io.input(0)[c.min(channels - 1)][i]);
                let wet = self.tap(memory, at, c);
                io.output(0)[c][i] = to_sample(dry + values.mix * (wet - dry));
            }
            memory.counts[0] = at.wrapping_add(1);
            memory.counts[1] = memory.counts[1].wrapping_add(values.step);
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        // Frames of a half, its all-passes three times: they ring.
        let half = (3.0 * 908.0 + 4453.0 + 3.0 * 2656.0 + 3720.0) * self.scale;
        let gain = (params[0] * params[0]).max(1e-3);
        let rounds = 56.0 / -libm::log(gain) + 20.0;
        let damping = 60.0 / -libm::log(params[2].max(1e-3));
        Tail::Frames((half * rounds + damping * rounds + MAX_PREDELAY_S * self.rate) as u64 + 8192)
    }
}
