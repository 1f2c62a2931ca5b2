//! `compressor`: reduces what is above a threshold, on all channels alike.
//!
//! ```text
//! L = 20 log10 of the loudest channel of `in` (or of `side`)
//! c = 0 below the knee, slope × (L - threshold) above it, slope × (L - threshold + knee / 2)² / (2 knee) within
//! s += (c - s) × (1 - exp(-1 / (time × rate))), time: `attack` while c > s, else `release`        slope = 1 - 1 / ratio
//! y[n] = x[n - lookahead] × 10^((makeup_db - s) / 20)
//! ```
//!
//! Dimitrios Giannoulis, Michael Massberg and Joshua Reiss, "Digital dynamic range compressor design", *J. Audio Eng. Soc.* 60
//! (2012): a feed-forward design in dB with a smooth branching detector. The gauge `reduction` shows s in dB.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `side`, `out`, as wide as `channels` says |
//! | parameters | `threshold_db`, `ratio`, `knee_db`, `attack`, `release`, `makeup_db`; `key`: which input is measured; `lookahead` 0 to 0.02 s |
//! | latency | `lookahead` |
//! | tail | `lookahead` |
//! | driven | all live ones at audio rate |

use crate::dynamics::detector::{GainCurve, LookAhead, decibels, seconds};
use crate::dynamics::gain_computer::{FollowLanes, GainComputer};
use crate::filters::lanes::LANES;
use crate::kernel::{
    FRAMES, FrameValues, KernelNode, LaneIo, LaneSignals, LaneUnits, Memory, MemorySize, UnitKernel,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture, Param, PortSpec};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use units::Frames;

const THRESHOLD: ParamSpec = decibels(
    0,
    "threshold_db",
    (-80.0, 20.0),
    -20.0,
    "Level above which it reduces.",
);
const RATIO: ParamSpec = ParamSpec::new(1, "ratio", (1.0, 100.0), 4.0)
    .doc("Change of the input, in dB, for one of 1 dB in the output.")
    .audio_rate();
const KNEE: ParamSpec = decibels(2, "knee_db", (0.0, 40.0), 6.0, "Width of the bend.");
const ATTACK: ParamSpec = seconds(3, "attack", 1.0, 0.005, "Time of 63 % of a reduction.");
const RELEASE: ParamSpec = seconds(4, "release", 5.0, 0.1, "Time of 63 % of its end.");
const MAKEUP: ParamSpec = decibels(5, "makeup_db", (-24.0, 48.0), 0.0, "Gain behind it.");

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Compressor::PARAMS.iter().map(ParamSpec::param).collect();
    params.extend([
        Param::choice("key", &["in", "side"]).doc("The input whose level is measured."),
        Param::number("lookahead", (0.0, 0.02), 0.0)
            .unit("s")
            .doc("Delay of the sound behind its level; it is latency."),
        channels(),
    ]);
    Kind {
        inputs: ["in", "side"].map(PortSpec::audio).into(),
        params,
        typical_ns: 1500,
        side_by_side: true,
        duplicable: false,
        picture: KindPicture::Levels,
        ..Kind::effect("compressor", "Reduces what is above a threshold.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let kernel = Compressor {
        key: creation.choice("key")?,
        lookahead_s: creation.number("lookahead")?,
        lookahead: LookAhead::default(),
        rate: 0.0,
        shown: Gauge::default(),
    };
    KernelNode::make(creation, kernel)
}

struct Compressor {
    /// Input whose level is measured.
    key: usize,
    lookahead_s: f64,
    lookahead: LookAhead,
    rate: f64,
    shown: Gauge,
}

impl UnitKernel for Compressor {
    type Values = GainComputer;
    const PARAMS: &'static [ParamSpec] = &[THRESHOLD, RATIO, KNEE, ATTACK, RELEASE, MAKEUP];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize {
        self.rate = rate;
        self.lookahead = LookAhead {
            frames: (self.lookahead_s * rate + 0.5) as usize,
            channels,
        };
        MemorySize {
            numbers: 1,
            counts: 1,
            line: self.lookahead.samples(),
        }
    }

    fn values(&self, params: &[f64]) -> GainComputer {
        let curve = GainCurve {
            threshold_db: params[0],
            slope: 1.0 - 1.0 / params[1],
            knee_db: params[2],
        };
        GainComputer::new(curve, [params[3], params[4]], params[5], self.rate)
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, GainComputer>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let count = values.len();
        let mut levels = [0f32; FRAMES];
        for channel in io.input(self.key) {
            let samples = levels.iter_mut().zip(channel);
            samples.for_each(|(level, x)| *level = level.max(x.abs()));
        }
        let mut gains = [0.0; FRAMES];
        let reduction = &mut memory.numbers[0];
        match values.constant() {
            Some(values) => values.gains(reduction, &levels[..count], &mut gains[..count]),
            None => {
                for ((gain, level), values) in gains.iter_mut().zip(levels).zip(values.iter()) {
                    *gain = values.gain(reduction, f64::from(level));
                }
            }
        }
        let at = memory.counts[0];
        for c in 0..io.output(0).len() {
            let mut sound = io.input(0)[c];
            if self.lookahead.frames > 0 {
                for (i, x) in (0u64..).zip(&mut sound[..count]) {
                    let late = self
                        .lookahead
                        .delay(memory, at.wrapping_add(i), c, f64::from(*x));
                    *x = late as f32;
                }
            }
            for ((y, x), gain) in io.output(0)[c].iter_mut().zip(&sound).zip(&gains) {
                *y = to_sample(f64::from(*x) * gain);
            }
        }
        memory.counts[0] = at.wrapping_add(count as u64);
    }

    // The reduction of a frame waits for that of the one before.
    const MIN_LANES: usize = 2;

    fn fits_lane(&self, values: &GainComputer, _: &Memory) -> bool {
        self.key == 0 && self.lookahead.frames == 0 && values.fits_lane()
    }

    #[inline(always)]
    fn process_lanes(lanes: &mut LaneUnits<'_, Self>, signals: LaneSignals<'_>) {
        let LaneSignals {
            inputs,
            outputs,
            count,
        } = signals;
        let mut gains = [[0.0; FRAMES]; LANES];
        let mut follow = FollowLanes::default();
        for (lane, unit) in lanes.iter().flatten().enumerate() {
            let mut levels = [0f32; FRAMES];
            for (level, x) in levels.iter_mut().zip(&inputs[lane][..count]) {
                *level = level.max(x.abs());
            }
            unit.values
                .wanted(&levels[..count], &mut gains[lane][..count]);
            follow.set(lane, unit.values, unit.memory.numbers[0]);
        }
        let states = follow.run(&mut gains, count);
        let units = lanes.iter_mut().flatten().zip(&mut gains).zip(states);
        for (((unit, gains), state), (x, y)) in units.zip(inputs.into_iter().zip(outputs)) {
            unit.memory.numbers[0] = state;
            unit.values.factors(&mut gains[..count]);
            for ((y, x), gain) in y.iter_mut().zip(x).zip(&*gains) {
                *y = to_sample(f64::from(*x) * gain);
            }
            unit.memory.counts[0] = unit.memory.counts[0].wrapping_add(count as u64);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(self.lookahead.frames as u64)
    }

    fn latency(&self) -> Frames {
        Frames(self.lookahead.frames as u32)
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = services.gauge("reduction");
    }

    fn show(&self, memory: &Memory) {
        self.shown.set(memory.numbers[0] as f32);
    }
}
