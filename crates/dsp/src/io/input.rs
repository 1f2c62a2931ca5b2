//! `input`: channels of the audio device.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, as wide as `channels` says: channel k is the device's channel `channel` + k, silent if there is none |
//! | parameters | `channel` 1 to 256 |
//! | latency | none of its own |
//! | tail | endless |

use crate::param::channels;
use crate::sample::{channel_count, clamp_sample};
use graph::{Kind, Param, PortSpec, Role};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, Tail};

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            Param::number("channel", (1.0, 256.0), 1.0)
                .doc("First channel of the device, counted from 1."),
            channels(),
        ],
        role: Role::Source,
        typical_ns: 20,
        ..Kind::new("input", "Channels of the audio device.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Input {
        first: creation.number("channel")? as usize - 1,
        channels: channel_count(creation.node),
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
            let from = block.device_input(self.first + c);
            let mut output = block.output(0);
            let out = output.channel(c);
            match from {
                Some(from) => out
                    .iter_mut()
                    .zip(from)
                    .for_each(|(to, from)| *to = clamp_sample(*from)),
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
