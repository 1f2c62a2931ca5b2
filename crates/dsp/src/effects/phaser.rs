//! `phaser`: notches that wander: first-order all-passes in a row, moved by a slow sine.
//!
//! ```text
//! phase += speed / rate        f = freq × 2^(depth × sin 2π(phase + c × spread))    c: the channel
//! v = x + feedback × (last v through all sections)        y = (1 - mix) x + mix × (v through all sections)
//! section: y = d s - c x, s = c s + d x    c = (cos - sin) / (cos + sin), d = 2 √(sin cos) / (cos + sin) of π f / rate
//! ```
//!
//! Julius O. Smith, "An allpass approach to digital phasing and flanging" (ICMC 1984); each section is a rotation of state and
//! input and keeps the energy, so the loop is stable on every path of its parameters. With an even number of sections there is a
//! notch for each two of them.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 20 Hz to 0.45 of the rate, `speed` 0 to 20 Hz, `depth` 0 to 4 octaves, `feedback` ±0.95, `mix` and `spread` 0 to 1; `stages` 2 to 24 |
//! | latency | none |
//! | tail | until sections and loop have decayed at the lowest frequency; endless while a parameter is driven |
//! | driven | all at audio rate |

use crate::filters::allpass::{rotate, rotation};
use crate::generators::sine::sine;
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, Tail, exp2};

const FREQ: ParamSpec = ParamSpec::new(0, "freq", (20.0, 20_000.0), 800.0)
    .unit("Hz")
    .doc("Middle of the movement: there each section turns by 90 degrees.")
    .audio_rate();
const SPEED: ParamSpec = ParamSpec::new(1, "speed", (0.0, 20.0), 0.3)
    .unit("Hz")
    .doc("Frequency of the movement.")
    .audio_rate();
const DEPTH: ParamSpec = ParamSpec::new(2, "depth", (0.0, 4.0), 1.5)
    .unit("octaves")
    .doc("Movement up and down.")
    .audio_rate();
const FEEDBACK: ParamSpec = ParamSpec::new(3, "feedback", (-0.95, 0.95), 0.3)
    .doc("Gain of the loop.")
    .audio_rate();
const MIX: ParamSpec = ParamSpec::new(4, "mix", (0.0, 1.0), 0.5)
    .doc("Share of the turned sound in the output: 0.5 has the deepest notches.")
    .audio_rate();
const SPREAD: ParamSpec = ParamSpec::new(5, "spread", (0.0, 1.0), 0.25)
    .unit("cycles")
    .doc("Distance of the movements of neighbouring channels.")
    .audio_rate();

const MAX_STAGES: f64 = 24.0;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Phaser::PARAMS.iter().map(ParamSpec::param).collect();
    let stages = "Number of all-passes in a row.";
    params.push(Param::number("stages", (2.0, MAX_STAGES), 4.0).doc(stages));
    params.push(channels());
    Kind {
        params,
        typical_ns: 2500,
        ..Kind::effect("phaser", "Notches that wander.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let stages = creation.number("stages")? as usize;
    KernelNode::make(creation, Phaser { stages, rate: 0.0 })
}

struct Phaser {
    stages: usize,
    rate: f64,
}

#[derive(Clone, Copy)]
struct PhaserValues {
    freq: f64,
    step: u64,
    depth: f32,
    feedback: f64,
    mix: f64,
    spread: u32,
}

impl Phaser {
    /// The rotation at a phase, in units of 2^-32 cycles.
    fn rotation(&self, values: &PhaserValues, phase: u32) -> [f64; 2] {
        let moved = f64::from(exp2(values.depth * sine(phase)));
        rotation(
            (values.freq * moved).clamp(1.0, 0.45 * self.rate),
            self.rate,
        )
    }
}

impl UnitKernel for Phaser {
    type Values = PhaserValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, SPEED, DEPTH, FEEDBACK, MIX, SPREAD];
    const IS_LOOP: bool = true;
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            // The states of the sections, and what came out of the last one.
            numbers: self.stages + 1,
            counts: 1,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> PhaserValues {
        PhaserValues {
            freq: params[0],
            step: (params[1] / self.rate * 2f64.powi(64)) as u64,
            depth: params[2] as f32,
            feedback: params[3],
            mix: params[4],
            spread: (params[5] * 4_294_967_295.0) as u32,
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, PhaserValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        for (i, values) in values.iter().enumerate() {
            let passed = memory.counts[0];
            let turned = values.spread.wrapping_mul(memory.lane as u32);
            let rotation = self.rotation(values, ((passed >> 32) as u32).wrapping_add(turned));
            let x = f64::from(io.input(0)[0][i]);
            let (states, last) = memory.numbers.split_at_mut(self.stages);
            let entering = x + values.feedback * last[0];
            let wet = states
                .iter_mut()
                .fold(entering, |x, s| rotate(rotation, s, x));
            last[0] = wet;
            io.output(0)[0][i] = to_sample(x + values.mix * (wet - x));
            memory.counts[0] = passed.wrapping_add(values.step);
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let lowest = (params[0] / f64::from(exp2(params[2] as f32))).max(1.0);
        let [c, _] = rotation(lowest, self.rate);
        // Time constant of a section, as many times as there are sections and rounds of the loop.
        let section = 1.0 / -libm::log(c.abs().clamp(0.01, 1.0 - 1e-9));
        let rounds = 1.0 / -libm::log(params[3].abs().max(1e-3));
        Tail::Frames((section * self.stages as f64 * (2.0 + rounds) * 60.0) as u64 + 1024)
    }
}
