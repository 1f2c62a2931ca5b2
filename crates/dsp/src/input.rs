//! `input`: what the device hears.
//!
//! No inputs, one output. Channel k of it is the device's input channel `channel` + k, and silent where the device has
//! fewer.

use crate::knob::{channels, fixed};
use crate::sample::{bounded, channels_of};
use graph::{Kind, PortSpec, Role};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, Tail};

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            fixed(
                "channel",
                "",
                (1.0, 256.0),
                1.0,
                "The device's channel that is heard first, counted from 1.",
            ),
            channels(),
        ],
        role: Role::Source,
        typical_ns: 20,
        ..Kind::new("input", "What the device hears.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Input {
        first: creation.number("channel")? as usize - 1,
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone, Copy)]
struct Input {
    first: usize,
    channels: usize,
}

impl Processor for Input {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.device_input(self.first).is_none() {
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        for c in 0..self.channels {
            let heard = block.device_input(self.first + c);
            let mut output = block.output(0);
            let out = output.channel(c);
            match heard {
                Some(heard) => out
                    .iter_mut()
                    .zip(heard)
                    .for_each(|(to, from)| *to = bounded(*from)),
                None => out.fill(0.0),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
