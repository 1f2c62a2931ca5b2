//! `multiply`: the product of all inputs, for instance of a sound and its envelope.
//!
//! The product is taken in the order of the ports, so its bits never change. If an input is silent, so is the output.
//!
//! | | |
//! |---|---|
//! | ports | `in` inputs, 1 to 4096, and `out`; as wide as `channels` says |
//! | parameters | none |
//! | latency, tail | none |

use crate::param::channels;
use crate::sample::{channel_count, clamp_sample};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::many("in", 2, 1, 4096)],
        outputs: vec![PortSpec::audio("out")],
        params: vec![channels()],
        typical_ns: 60,
        ..Kind::new(
            "multiply",
            "The product of all inputs: a sound through an envelope.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Multiply {
        channels: channel_count(creation.node),
    }))
}

#[derive(Clone)]
struct Multiply {
    channels: usize,
}

impl Processor for Multiply {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let inputs = block.input_count();
        if (0..inputs).any(|port| block.input(port).is_silent()) {
            block.silence_outputs();
            // It may be called with nothing to do, since other inputs carry sound. It has no state that could change.
            return ProcessStatus::Sleep;
        }
        let is_constant = block.is_constant();
        let frames = if is_constant { 1 } else { block.frames() };
        for c in 0..self.channels {
            for port in 0..inputs {
                let from = &block.input(port).channel(c)[..frames];
                let mut output = block.output(0);
                let pairs = output.channel(c).iter_mut().zip(from);
                if port == 0 {
                    pairs.for_each(|(y, x)| *y = clamp_sample(*x));
                } else {
                    pairs.for_each(|(y, x)| *y = clamp_sample(*y * x));
                }
            }
        }
        if is_constant {
            block.hold_first_frame();
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
