//! `slew`: follows its input no faster than a given slope.
//!
//! ```text
//! y[n] = y[n-1] + (x[n] - y[n-1] held within -1 / (fall × rate) and 1 / (rise × rate))
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `rise` and `fall`, 0 to 60 s for a change of 1; 0 follows at once |
//! | latency | none |
//! | tail | endless: it depends on how far the input was from 0 |
//! | driven | `rise` and `fall` at audio rate |

use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::Kind;
use processor::{MakeContext, MakeError, Processor, Tail};

const RISE: ParamSpec = ParamSpec::new(0, "rise", (0.0, 60.0), 0.05)
    .unit("s")
    .doc("Time to rise by 1; 0 follows at once.")
    .audio_rate();
const FALL: ParamSpec = ParamSpec::new(1, "fall", (0.0, 60.0), 0.05)
    .unit("s")
    .doc("Time to fall by 1; 0 follows at once.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![RISE.param(), FALL.param(), channels()],
        typical_ns: 260,
        picture: graph::KindPicture::Step,
        ..Kind::effect("slew", "Follows its input no faster than a slope.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Slew { rate: 0.0 })
}

struct Slew {
    rate: f64,
}

impl UnitKernel for Slew {
    /// Largest steps of a frame, up and down.
    type Values = [f64; 2];
    const PARAMS: &'static [ParamSpec] = &[RISE, FALL];

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> [f64; 2] {
        // A time of 0 gives a step without a bound.
        [params[0], params[1]].map(|seconds| 1.0 / (seconds * self.rate))
    }

    fn process(&self, values: FrameValues<'_, [f64; 2]>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        let mut y = memory.numbers[0];
        for (i, [up, down]) in values.iter().enumerate() {
            let x = f64::from(io.input(0)[0][i]);
            let way = x - y;
            // Where it arrives it is there exactly.
            y = match way {
                way if way > *up => y + up,
                way if way < -down => y - down,
                _ => x,
            };
            io.output(0)[0][i] = to_sample(y);
        }
        memory.numbers[0] = y;
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
