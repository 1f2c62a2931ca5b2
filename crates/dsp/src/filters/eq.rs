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

use crate::filters::eq_band::{EqBand, EqShelf};
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_tail};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

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
            EqBand::shelf(EqShelf::Low, params[0], params[1], self.rate),
            EqBand::peak(params[2], params[3], params[4], self.rate),
            EqBand::peak(params[5], params[6], params[7], self.rate),
            EqBand::shelf(EqShelf::High, params[8], params[9], self.rate),
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
                x = band.tick(state, x);
            }
            io.output(0)[0][i] = to_sample(x);
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let radii = self.values(params).map(EqBand::pole_radius);
        match decay_tail(radii.into_iter().fold(0.0, f64::max)) {
            Tail::Frames(frames) => Tail::Frames(2 * frames),
            endless => endless,
        }
    }
}
