//! `sink`: one output channel of the program.
//!
//! Sinks are counted: the k-th sink of a patch is output channel k unless it sets `channel`. The host reads the sink's input; its
//! processor is never run.
//!
//! | | |
//! |---|---|
//! | ports | `in`, one channel; no output |
//! | parameters | `channel` 0 (by count) to 256 |

use graph::{Kind, Param, PortSpec, Role};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        params: vec![
            Param::number("channel", (0.0, 256.0), 0.0)
                .doc("Output channel, from 1; 0: the k-th sink is channel k."),
        ],
        role: Role::Sink,
        typical_ns: 10,
        ..Kind::new("sink", "An output channel of the program.")
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
