//! `crossover`: three bands that add up to the input's level at every frequency.
//!
//! ```text
//! x ─ LR4 at freq1 ─┬─ low ── all-pass at freq2 ──▶ low
//!                   └─ high ─ LR4 at freq2 ─┬─────▶ mid
//!                                           └─────▶ high
//! LR4: two Butterworth filters of second order (q = 1/√2) in a row on each side
//! ```
//!
//! Siegfried Linkwitz, "Active crossover networks for noncoincident drivers", *J. Audio Eng. Soc.* 24 (1976). The sides of an LR4
//! add up to a second-order all-pass; the low band goes through that of the second crossover too, so all three bands
//! add up to an all-pass: flat. `mid` + `high` are the upper side of a crossover of two ways at `freq1`.
//!
//! | | |
//! |---|---|
//! | ports | `in`; `low`, `mid`, `high`; as wide as `channels` says |
//! | parameters | `freq1`, `freq2` 20 Hz to 0.49 of the rate; the higher of both is the second |
//! | latency | none |
//! | tail | until the slower poles have decayed |
//! | driven | both at audio rate |

use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, Resonator, UnitKernel, decay_tail,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};
use std::f64::consts::FRAC_1_SQRT_2;

const FREQ1: ParamSpec = ParamSpec::new(0, "freq1", (20.0, 20_000.0), 200.0)
    .unit("Hz")
    .doc("Frequency between low and mid: both are 6 dB down there.")
    .audio_rate();
const FREQ2: ParamSpec = ParamSpec::new(1, "freq2", (20.0, 20_000.0), 2000.0)
    .unit("Hz")
    .doc("Frequency between mid and high; at least freq1.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: ["low", "mid", "high"].map(PortSpec::audio).into(),
        params: vec![FREQ1.param(), FREQ2.param(), channels()],
        typical_ns: 1800,
        ..Kind::effect("crossover", "Three bands that add up flat.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Crossover { rate: 0.0 })
}

struct Crossover {
    rate: f64,
}

/// Both sides of a crossover. `numbers` has six of them.
#[inline(always)]
fn split(filter: Resonator, numbers: &mut [f64], x: f64) -> [f64; 2] {
    let high_of = |low: f64, band: f64, x: f64| x - filter.k * band - low;
    let [low, band] = filter.tick(&mut numbers[..2], x);
    let high = high_of(low, band, x);
    let [low, _] = filter.tick(&mut numbers[2..4], low);
    let [second, band] = filter.tick(&mut numbers[4..6], high);
    [low, high_of(second, band, high)]
}

impl UnitKernel for Crossover {
    type Values = [Resonator; 2];
    const PARAMS: &'static [ParamSpec] = &[FREQ1, FREQ2];

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 14,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> [Resonator; 2] {
        let freqs = [params[0], params[0].max(params[1])];
        freqs.map(|freq| Resonator::new(freq, FRAC_1_SQRT_2, self.rate))
    }

    fn process(
        &self,
        values: FrameValues<'_, [Resonator; 2]>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (first, rest) = memory.numbers.split_at_mut(6);
        let (second, pass) = rest.split_at_mut(6);
        for (i, [lower, upper]) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            let [low, above] = split(*lower, first, x);
            let [mid, high] = split(*upper, second, above);
            let low = upper.all_pass(pass, low);
            for (port, y) in [low, mid, high].into_iter().enumerate() {
                io.output(port)[0][i] = to_sample(y);
            }
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let [lower, upper] = self.values(params).map(Resonator::pole_radius);
        match decay_tail(lower.max(upper)) {
            // Poles that lie on each other decay as n r^n.
            Tail::Frames(frames) => Tail::Frames(2 * frames),
            endless => endless,
        }
    }
}
