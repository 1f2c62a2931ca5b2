//! `sink`: output channels of the program.
//!
//! A sink takes as many output channels as its input is wide. Sinks are counted: the first one begins with output channel 1, each
//! next one behind the channels of the sinks before it, unless it sets `channel`. The host reads the sink's input; its processor is
//! never run.
//!
//! | | |
//! |---|---|
//! | ports | `in`, as wide as `channels` says: channel k is output channel `channel` + k; no output |
//! | parameters | `channel` 0 (by count) to 1024 |

use crate::param::channels;
use graph::{Kind, Param, PortSpec, Role};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        params: vec![
            Param::number("channel", (0.0, 1024.0), 0.0).doc(
                "First output channel, from 1; 0: the one behind those of the sinks before it.",
            ),
            channels(),
        ],
        role: Role::Sink,
        typical_ns: 10,
        ..Kind::new("sink", "Output channels of the program.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    creation.number("channel")?;
    Ok(Box::new(Sink))
}

struct Sink;

impl Processor for Sink {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, _block: &mut Block<'_>) -> ProcessStatus {
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {}
}
