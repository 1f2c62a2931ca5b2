//! `sample_hold`: takes a value of its input at each trigger, and holds it.
//!
//! ```text
//! sample: y[n] = x[n] where the trigger rises through 0.5, else y[n-1]
//! track:  y[n] = x[n] while the trigger is at 0.5 or above, else y[n-1]
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `trigger`, `out`, as wide as `channels` says |
//! | parameters | `mode` |
//! | latency | none |
//! | tail | endless: it holds its last value |

use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};

pub(crate) fn kind() -> Kind {
    let mode = "Takes one value when the trigger rises, or follows while it is high.";
    Kind {
        inputs: ["in", "trigger"].map(PortSpec::audio).into(),
        params: vec![
            Param::choice("mode", &["sample", "track"]).doc(mode),
            channels(),
        ],
        typical_ns: 180,
        picture: graph::KindPicture::Step,
        ..Kind::effect(
            "sample_hold",
            "Holds the value of its input at each trigger.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let tracks = creation.choice("mode")? == 1;
    KernelNode::make(creation, SampleHold { tracks })
}

struct SampleHold {
    tracks: bool,
}

impl UnitKernel for SampleHold {
    type Values = ();
    const PARAMS: &'static [ParamSpec] = &[];

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        MemorySize {
            // The value that is held; 1 while the trigger is high.
            numbers: 2,
            ..MemorySize::default()
        }
    }

    fn values(&self, _: &[f64]) {}

    fn process(&self, values: FrameValues<'_, ()>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for i in 0..values.len() {
            let is_high = io.input(1)[0][i] >= 0.5;
            let was_high = memory.numbers[1] != 0.0;
            if is_high && (self.tracks || !was_high) {
                memory.numbers[0] = f64::from(io.input(0)[0][i]);
            }
            memory.numbers[1] = f64::from(u8::from(is_high));
            io.output(0)[0][i] = to_sample(memory.numbers[0]);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
