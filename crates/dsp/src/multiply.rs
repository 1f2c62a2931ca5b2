//! `multiply`: the product of all inputs: what an envelope, or any other control that is sound, is heard through.
//!
//! `in` inputs, one output, each as wide as `channels` says. The product is taken in the order of the ports, so its bits
//! do not change; where an input is silent, so is the output.

use crate::knob::channels;
use crate::mix::many;
use crate::sample::{bounded, channels_of};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![many("in", 2, 1)],
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
        channels: channels_of(creation.node),
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
            // The others may sound, and this one may be called for nothing; it has no state that could change.
            return ProcessStatus::Sleep;
        }
        for c in 0..self.channels {
            for port in 0..inputs {
                let from = block.input(port).channel(c);
                let mut output = block.output(0);
                let pairs = output.channel(c).iter_mut().zip(from);
                if port == 0 {
                    pairs.for_each(|(y, x)| *y = bounded(*x));
                } else {
                    pairs.for_each(|(y, x)| *y = bounded(*y * x));
                }
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
