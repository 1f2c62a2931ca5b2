//! `crossfade`: from one input to another.
//!
//! ```text
//! linear: y = (1 - p) a + p b        power: y = cos(π p / 2) a + sin(π p / 2) b
//! ```
//!
//! `linear` keeps the level of equal sounds, `power` that of unlike ones.
//!
//! | | |
//! |---|---|
//! | ports | `a`, `b`, `out`, as wide as `channels` says |
//! | parameters | `position` 0 (a) to 1 (b); `law` |
//! | latency, tail | none |
//! | driven | `position` at audio rate |

use crate::generators::sine::sine;
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};

const POSITION: ParamSpec = ParamSpec::new(0, "position", (0.0, 1.0), 0.5)
    .doc("0 is a, 1 is b.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: ["a", "b"].map(PortSpec::audio).into(),
        params: vec![
            POSITION.param(),
            Param::choice("law", &["power", "linear"]).doc("What stays the same: power or level."),
            channels(),
        ],
        typical_ns: 250,
        picture: graph::KindPicture::Sweep(&["position"]),
        ..Kind::effect("crossfade", "From one input to another.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let is_linear = creation.choice("law")? == 1;
    KernelNode::make(creation, Crossfade { is_linear })
}

struct Crossfade {
    is_linear: bool,
}

impl UnitKernel for Crossfade {
    /// Gains of both inputs.
    type Values = [f64; 2];
    const PARAMS: &'static [ParamSpec] = &[POSITION];

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        MemorySize::default()
    }

    fn values(&self, params: &[f64]) -> [f64; 2] {
        let position = params[0];
        match self.is_linear {
            true => [1.0 - position, position],
            false => [1.0 - position, position].map(|share| {
                let phase = share * 2f64.powi(30);
                f64::from(sine(phase as u32))
            }),
        }
    }

    fn process(&self, values: FrameValues<'_, [f64; 2]>, io: &mut LaneIo<'_>, _: &mut Memory) {
        for (i, [of_a, of_b]) in values.iter().enumerate() {
            let [a, b] = [0, 1].map(|port| f64::from(io.input(port)[0][i]));
            io.output(0)[0][i] = to_sample(of_a * a + of_b * b);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }
}
