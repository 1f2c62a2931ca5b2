//! `split` and `join`: one port of many channels as many ports of one, and back.
//!
//! | | |
//! |---|---|
//! | ports | `split`: `in`, as wide as `channels` or `layout` says, and for each of its channels an output of one: `out1`, `out2`, … ; with `layout` they have the names of its loudspeakers. `join` is the inverse, with `in1`, `in2`, … and `out` |
//! | width | `split` without `channels` and `layout` takes that of what enters; `join` has as many inputs as edges name |
//! | latency, tail | none |

use crate::param::channels;
use graph::{Kind, PortCount, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup};

/// Ports of one channel, one for each channel of the node.
fn series(name: &'static str) -> Vec<PortSpec> {
    vec![PortSpec {
        count: PortCount::Channels,
        ..PortSpec::mono(name)
    }]
}

pub(crate) fn split_kind() -> Kind {
    Kind {
        outputs: series("out"),
        params: vec![channels()],
        typical_ns: 10,
        ..Kind::effect("split", "A port of many channels as many ports of one.")
    }
}

pub(crate) fn join_kind() -> Kind {
    Kind {
        inputs: series("in"),
        params: vec![channels()],
        typical_ns: 10,
        ..Kind::effect("join", "Many ports of one channel as one port of many.")
    }
}

pub(crate) fn make_split(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let channels = context.node.outputs.len();
    Ok(Box::new(Split { channels }))
}

pub(crate) fn make_join(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let channels = context.node.kind_inputs().len();
    Ok(Box::new(Join { channels }))
}

struct Split {
    channels: usize,
}

struct Join {
    channels: usize,
}

impl Processor for Split {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let input = block.input(0);
        for channel in 0..self.channels {
            let mut output = block.output(channel);
            output.channel(0).copy_from_slice(input.channel(channel));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

impl Processor for Join {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        for channel in 0..self.channels {
            let input = block.input(channel);
            let mut output = block.output(0);
            output.channel(channel).copy_from_slice(input.channel(0));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
