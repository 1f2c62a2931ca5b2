//! `eq`: a parametric equalizer: a low shelf, two peaks and a high shelf in a row.
//!
//! ```text
//! A = 10^(dB / 40)    y = m0 x + m1 band + m2 low of a state-variable filter with gain g and damping k
//! peak        g = tan(π f / rate)         k = 1 / (q A)   m = 1, k (A² - 1), 0
//! low shelf   g = tan(π f / rate) / √A    k = √2          m = 1, k (A - 1), A² - 1
//! high shelf  g = tan(π f / rate) √A      k = √2          m = A², k (1 - A) A, 1 - A²
//! ```
//!
//! Andrew Simper, "Solving the continuous SVF equations using trapezoidal integration and equivalent currents" (Cytomic,
//! 2013). The responses are those of Robert Bristow-Johnson's *Audio EQ Cookbook*. Stable on every path of the parameters.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | frequencies 20 Hz to 0.49 of the rate, gains ±24 dB, `q` of the peaks 0.1 to 20 |
//! | latency | none |
//! | tail | until the slowest pole has decayed |
//! | driven | all at audio rate; a frame whose parameters move costs four tangents |

use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, Resonator, UnitKernel, decay_tail,
    integrator_gain,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};
use std::f64::consts::SQRT_2;

const fn freq(index: u16, name: &'static str, default: f64, doc: &'static str) -> ParamSpec {
    ParamSpec::new(index, name, (20.0, 20_000.0), default)
        .unit("Hz")
        .doc(doc)
        .audio_rate()
}

const fn gain(index: u16, name: &'static str, doc: &'static str) -> ParamSpec {
    ParamSpec::new(index, name, (-24.0, 24.0), 0.0)
        .unit("dB")
        .doc(doc)
        .audio_rate()
}

const fn q(index: u16, name: &'static str, doc: &'static str) -> ParamSpec {
    ParamSpec::new(index, name, (0.1, 20.0), 1.0)
        .doc(doc)
        .audio_rate()
}

const PARAMS: [ParamSpec; 10] = [
    freq(0, "low_freq", 100.0, "Middle of the low shelf's slope."),
    gain(1, "low_db", "Gain of the low shelf."),
    freq(2, "mid1_freq", 500.0, "Frequency of the first peak."),
    q(3, "mid1_q", "Narrowness of the first peak."),
    gain(4, "mid1_db", "Gain of the first peak."),
    freq(5, "mid2_freq", 3000.0, "Frequency of the second peak."),
    q(6, "mid2_q", "Narrowness of the second peak."),
    gain(7, "mid2_db", "Gain of the second peak."),
    freq(8, "high_freq", 8000.0, "Middle of the high shelf's slope."),
    gain(9, "high_db", "Gain of the high shelf."),
];

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        params,
        typical_ns: 1300,
        ..Kind::effect("eq", "A parametric equalizer: two shelves and two peaks.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Equalizer { rate: 0.0 })
}

struct Equalizer {
    rate: f64,
}

/// One band: its filter, and the weights of input, band and low output.
#[derive(Clone, Copy)]
struct EqBand {
    filter: Resonator,
    weights: [f64; 3],
}

/// 10^(dB / 40).
fn amplitude(db: f64) -> f64 {
    libm::exp10(db / 40.0)
}

impl Equalizer {
    fn peak(&self, freq: f64, q: f64, db: f64) -> EqBand {
        let a = amplitude(db);
        let filter = Resonator::new(freq, q * a, self.rate);
        EqBand {
            filter,
            weights: [1.0, filter.k * (a * a - 1.0), 0.0],
        }
    }

    /// A low shelf, or a high one.
    fn shelf(&self, freq: f64, db: f64, is_high: bool) -> EqBand {
        let (a, k) = (amplitude(db), SQRT_2);
        let g = integrator_gain(freq, self.rate);
        let (g, weights) = match is_high {
            false => (g / a.sqrt(), [1.0, k * (a - 1.0), a * a - 1.0]),
            true => (g * a.sqrt(), [a * a, k * (1.0 - a) * a, 1.0 - a * a]),
        };
        EqBand {
            filter: Resonator::from_gains(g, k),
            weights,
        }
    }
}

impl UnitKernel for Equalizer {
    type Values = [EqBand; 4];
    const PARAMS: &'static [ParamSpec] = &PARAMS;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 8,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> [EqBand; 4] {
        [
            self.shelf(params[0], params[1], false),
            self.peak(params[2], params[3], params[4]),
            self.peak(params[5], params[6], params[7]),
            self.shelf(params[8], params[9], true),
        ]
    }

    fn process(
        &self,
        values: FrameValues<'_, [EqBand; 4]>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, bands) in values.iter().enumerate() {
            let mut x = f64::from(io.input(0)[0][i]);
            for (band, state) in bands.iter().zip(memory.numbers.chunks_exact_mut(2)) {
                let [low, mid] = band.filter.tick(state, x);
                let [m0, m1, m2] = band.weights;
                x = m0 * x + m1 * mid + m2 * low;
            }
            io.output(0)[0][i] = to_sample(x);
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let radii = self.values(params).map(|band| band.filter.pole_radius());
        match decay_tail(radii.into_iter().fold(0.0, f64::max)) {
            Tail::Frames(frames) => Tail::Frames(2 * frames),
            endless => endless,
        }
    }
}
