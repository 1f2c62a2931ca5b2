//! `mix`: the same sum on every output.
//!
//! `in` inputs, `out` outputs, each as wide as `channels` says. The sum is taken in the order of the ports, so its bits
//! do not change. With `grouped`, where the number of outputs divides the number of inputs, each output is the sum of
//! as many neighbouring inputs; where it is the other way round, each input is copied to as many neighbouring outputs
//! (the adaptor of the 2019 report's program); where neither divides, the flag changes nothing.

use crate::knob::{channels, flag};
use crate::sample::{bounded, channels_of};
use crate::split::{Split, split};
use graph::{Kind, PortCount, PortSignal, PortSpec};
use processor::{
    Block, BlockPart, InputBuffer, MakeContext, MakeError, OutputBuffer, ProcessStatus, Processor,
    Setup,
};
use std::ops::Range;

/// A run of like ports as wide as the node says.
pub(crate) fn many(name: &'static str, default: u16, least: u16) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::AsNode,
        count: PortCount::Many {
            default,
            min: least,
            max: 4096,
        },
    }
}

/// What a sample of an input or an output costs where the inputs come from nodes of their own.
const SAMPLE_NS: f64 = 0.18;

pub(crate) fn kind() -> Kind {
    let grouped = "Sums or copies neighbouring ports instead, where the numbers divide.";
    Kind {
        inputs: vec![many("in", 2, 0)],
        outputs: vec![many("out", 1, 0)],
        params: vec![flag("grouped", grouped), split(), channels()],
        typical_ns: 60,
        ..Kind::new("mix", "The same sum of all inputs on every output.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let node = creation.node;
    Ok(Box::new(Mix {
        grouped: node.flag("grouped"),
        channels: channels_of(node),
        samples: node.inputs.len() + node.outputs.len(),
        split: Split::of(creation)?,
    }))
}

#[derive(Clone)]
struct Mix {
    grouped: bool,
    channels: usize,
    /// Of a frame on one channel, in and out.
    samples: usize,
    split: Split,
}

impl Mix {
    fn play_groups(&self, block: &mut Block<'_>) {
        let (inputs, outputs) = (block.input_count(), block.output_count());
        let group = |port| share(inputs, outputs, port);
        let is_heard = |input: InputBuffer<'_>| !input.is_silent();
        for port in 0..outputs {
            if !group(port).any(|i| is_heard(block.input(i))) {
                block.output(port).silence();
            }
        }
        self.split.play(block, 0..block.frames(), |part| {
            for port in 0..outputs {
                // Without sound nothing is written: the output is silent already.
                add(part, group(port), port, self.channels);
            }
        });
    }
}

/// Which of `inputs` inputs reach output `port` of `outputs`, in groups.
fn share(inputs: usize, outputs: usize, port: usize) -> Range<usize> {
    if inputs > 0 && inputs.is_multiple_of(outputs) {
        let each = inputs / outputs;
        port * each..(port + 1) * each
    } else if inputs > 0 && outputs.is_multiple_of(inputs) {
        let from = port / (outputs / inputs);
        from..from + 1
    } else {
        0..inputs
    }
}

/// Puts the sum of the inputs `from` on the output `port`, in the order of the ports; without sound, silence.
///
/// Real-time: hot.
pub(crate) fn sum(block: &mut Block<'_>, from: Range<usize>, port: usize, channels: usize) {
    if from.clone().all(|i| block.input(i).is_silent()) {
        return block.output(port).silence();
    }
    let all = 0..block.frames();
    block.split(all, 1, |part| add(part, from.clone(), port, channels));
}

/// The part of [`sum`] that is heard.
fn add(part: &mut BlockPart<'_>, from: Range<usize>, port: usize, channels: usize) {
    let mut begun = false;
    for i in from {
        let input = part.input(i);
        if input.is_silent() {
            continue;
        }
        let mut output = part.output(port);
        for c in 0..channels {
            let pairs = output.channel(c).iter_mut().zip(input.channel(c));
            if begun {
                pairs.for_each(|(y, x)| *y = bounded(*y + x));
            } else {
                pairs.for_each(|(y, x)| *y = bounded(*x));
            }
        }
        begun = true;
    }
}

/// Copies the first output to all others.
///
/// Real-time: hot.
pub(crate) fn spread(block: &mut Block<'_>, channels: usize) {
    if block.output_count() > 1 {
        copy(block.outputs(), channels);
    }
}

fn copy<'a>(mut outputs: impl Iterator<Item = OutputBuffer<'a>>, channels: usize) {
    let Some(mut first) = outputs.next() else {
        return;
    };
    for mut output in outputs {
        for c in 0..channels {
            output.channel(c).copy_from_slice(first.channel(c));
        }
    }
}

impl Processor for Mix {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let samples = self.samples * self.channels;
        self.split
            .set_up(setup, samples as f64 * SAMPLE_NS, samples);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let (inputs, outputs) = (block.input_count(), block.output_count());
        let (channels, all) = (self.channels, 0..block.frames());
        if self.grouped {
            self.play_groups(block);
        } else if outputs > 0 {
            self.split.play(block, all, |part| {
                add(part, 0..inputs, 0, channels);
                if outputs > 1 {
                    copy(part.outputs(), channels);
                }
            });
        }
        ProcessStatus::Continue
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn reset(&mut self) {}
}
