//! `saturate` and `fold`: wave shapers with oversampling.
//!
//! ```text
//! u = x × 10^(drive_db / 20) + bias        at 1, 2, 4 or 8 times the rate (`oversample`)
//! saturate  soft: u (27 + u²) / (27 + 9 u²) within ±3    tube: that for u < 0, u / (1 + u) for u ≥ 0    hard: u within ±1
//!           tape: u / √(1 + u²)
//! fold      u reflected at ±1, as often as it takes; sine: sin(π u / 2)
//! y = (shape(u) - shape(bias)) × 10^(level_db / 20), mixed with x by `mix`
//! ```
//!
//! The way up and down is a linear-phase filter of 64 taps in each phase, of which images are 100 dB down
//! (`kernel/oversampler.rs`). What a shape makes above half the *high* rate still aliases. The dry sound of `mix` is delayed as much.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `drive_db` -60 to 60, `bias` ±1, `level_db` -60 to 24, `mix` 0 to 1; `mode`; `oversample` |
//! | latency | 64 frames; none with an `oversample` of 1 |
//! | tail | 128 frames; none with an `oversample` of 1 |
//! | driven | all live ones at audio rate |

use crate::kernel::{
    DelayRing, FrameValues, KernelNode, LaneIo, Memory, MemorySize, OVERSAMPLER_TAPS, Oversampler,
    UnitKernel,
};
use crate::param::{ParamSpec, channels};
use crate::sample::{db_to_gain, to_sample};
use graph::{Kind, KindPicture, Param};
use processor::{MakeContext, MakeError, Processor, Tail};
use std::f64::consts::FRAC_PI_2;
use units::Frames;

const DRIVE: ParamSpec = ParamSpec::new(0, "drive_db", (-60.0, 60.0), 6.0)
    .unit("dB")
    .doc("Gain before the shape.")
    .audio_rate();
const BIAS: ParamSpec = ParamSpec::new(1, "bias", (-1.0, 1.0), 0.0)
    .doc("Offset before the shape: even harmonics.")
    .audio_rate();
const LEVEL: ParamSpec = ParamSpec::new(2, "level_db", (-60.0, 24.0), 0.0)
    .unit("dB")
    .doc("Gain behind the shape.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(3, "mix", (0.0, 1.0), 1.0)
    .doc("Share of the shaped sound in the output.")
    .audio_rate();

type Shape = fn(f64) -> f64;

const SATURATE: [(&str, Shape); 4] = [
    ("soft", soft),
    ("tube", tube),
    ("tape", tape),
    ("hard", hard),
];
const FOLD: [(&str, Shape); 2] = [("triangle", triangle), ("sine", sine)];
const SATURATE_NAMES: &[&str] = &["soft", "tube", "tape", "hard"];
const FOLD_NAMES: &[&str] = &["triangle", "sine"];
const TIMES: &[&str] = &["4", "1", "2", "8"];

fn soft(u: f64) -> f64 {
    let u = u.clamp(-3.0, 3.0);
    u * (27.0 + u * u) / (27.0 + 9.0 * u * u)
}

fn tube(u: f64) -> f64 {
    if u < 0.0 { soft(u) } else { u / (1.0 + u) }
}

fn tape(u: f64) -> f64 {
    u / (1.0 + u * u).sqrt()
}

fn hard(u: f64) -> f64 {
    u.clamp(-1.0, 1.0)
}

/// `u` reflected at -1 and 1.
fn triangle(u: f64) -> f64 {
    let way = (u + 1.0) * 0.25;
    let way = (way - libm::floor(way)) * 4.0;
    (if way > 2.0 { 4.0 - way } else { way }) - 1.0
}

fn sine(u: f64) -> f64 {
    libm::sin(FRAC_PI_2 * u)
}

fn kind_of(name: &'static str, summary: &'static str, modes: &'static [&'static str]) -> Kind {
    let mut params: Vec<_> = Saturator::PARAMS.iter().map(ParamSpec::param).collect();
    params.extend([
        Param::choice("mode", modes).doc("The shape."),
        Param::choice("oversample", TIMES).doc("Multiple of the rate at which it is shaped."),
        channels(),
    ]);
    Kind {
        params,
        typical_ns: 9000,
        duplicable: false,
        picture: KindPicture::Transfer(-2, 2),
        ..Kind::effect(name, summary)
    }
}

pub(crate) fn saturate_kind() -> Kind {
    kind_of("saturate", "Saturation with oversampling.", SATURATE_NAMES)
}

pub(crate) fn fold_kind() -> Kind {
    kind_of("fold", "A wave folder with oversampling.", FOLD_NAMES)
}

pub(crate) fn make_saturate(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Saturator::make(creation, &SATURATE)
}

pub(crate) fn make_fold(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Saturator::make(creation, &FOLD)
}

struct Saturator {
    shape: Shape,
    oversampler: Oversampler,
    /// The dry sound.
    dry: DelayRing,
}

#[derive(Clone, Copy)]
struct SaturatorValues {
    drive: f64,
    bias: f64,
    level: f64,
    mix: f64,
}

impl Saturator {
    fn make(
        creation: &MakeContext<'_>,
        shapes: &[(&str, Shape)],
    ) -> Result<Box<dyn Processor>, MakeError> {
        let times = [4, 1, 2, 8][creation.choice("oversample")?];
        let kernel = Self {
            shape: shapes[creation.choice("mode")?].1,
            oversampler: Oversampler::new(times),
            dry: DelayRing::default(),
        };
        KernelNode::make(creation, kernel)
    }
}

impl UnitKernel for Saturator {
    type Values = SaturatorValues;
    const PARAMS: &'static [ParamSpec] = &[DRIVE, BIAS, LEVEL, MIX];

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        self.dry = DelayRing::new(
            self.oversampler.samples(),
            f64::from(self.oversampler.latency()),
        );
        MemorySize {
            numbers: 0,
            counts: 1,
            line: self.dry.end(),
        }
    }

    fn values(&self, params: &[f64]) -> SaturatorValues {
        SaturatorValues {
            drive: db_to_gain(params[0]),
            bias: params[1],
            level: db_to_gain(params[2]),
            mix: params[3],
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, SaturatorValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let latency = self.oversampler.latency() as usize;
        for (i, values) in values.iter().enumerate() {
            let SaturatorValues {
                drive,
                bias,
                level,
                mix,
            } = *values;
            let at = memory.counts[0];
            let x = f64::from(io.input(0)[0][i]);
            // Silence stays silence at any bias.
            let rest = (self.shape)(bias);
            let shape = |u: f64| (self.shape)(u * drive + bias) - rest;
            let wet = self.oversampler.process(memory, at, x, shape) * level;
            self.dry.write(memory, at, x);
            let dry = self.dry.read(memory, at, latency);
            io.output(0)[0][i] = to_sample(dry + mix * (wet - dry));
            memory.counts[0] = at.wrapping_add(1);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(match self.oversampler.latency() {
            0 => 0,
            _ => 2 * OVERSAMPLER_TAPS as u64,
        })
    }

    fn latency(&self) -> Frames {
        Frames(self.oversampler.latency())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_their_names_in_order() {
        let names = |shapes: &[(&'static str, Shape)]| -> Vec<_> {
            shapes.iter().map(|shape| shape.0).collect()
        };
        assert_eq!(names(&SATURATE), SATURATE_NAMES);
        assert_eq!(names(&FOLD), FOLD_NAMES);
    }
}
