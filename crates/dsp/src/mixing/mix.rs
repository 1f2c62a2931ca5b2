//! `mix`: the same sum of all inputs on every output.
//!
//! The sum is taken in the order of the ports, so its bits never change. With `grouped`:
//!
//! ```text
//! 4 inputs, 2 outputs        2 inputs, 4 outputs
//! in1 ─┐                     in1 ─┬─ out1
//! in2 ─┴─ out1               │    └─ out2
//! in3 ─┐                     in2 ─┬─ out3
//! in4 ─┴─ out2                    └─ out4
//! ```
//!
//! Neighbouring inputs are summed, or an input is copied to neighbouring outputs, if one number divides the other (the
//! adaptor of the 2019 report's program); if not, the flag changes nothing.
//!
//! | | |
//! |---|---|
//! | ports | `in` inputs and `out` outputs, up to 4096, as wide as `channels` says |
//! | parameters | `grouped`, `split` |
//! | latency, tail | none |

use crate::param::channels;
use crate::sample::channel_count;
use crate::split::{BlockSplit, split};
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, BlockPart, Content, InputBuffer, MakeContext, MakeError, OutputBuffer, ProcessStatus,
    Processor, Setup,
};
use rt::vectors::{WideWork, widest};
use std::ops::Range;

/// Cost of a sample of an input or an output, in ns, if the inputs come from different nodes.
const SAMPLE_NS: f64 = 0.18;

pub(crate) fn kind() -> Kind {
    let grouped = "Sums or copies neighbouring ports, if one number of ports divides the other.";
    Kind {
        inputs: vec![PortSpec::many("in", 2, 0, 4096)],
        outputs: vec![PortSpec::many("out", 1, 0, 4096)],
        params: vec![Param::flag("grouped").doc(grouped), split(), channels()],
        typical_ns: 60,
        ..Kind::new("mix", "The same sum of all inputs on every output.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let node = creation.node;
    Ok(Box::new(Mix {
        grouped: node.flag("grouped"),
        channels: channel_count(node),
        samples: node.inputs.len() + node.outputs.len(),
        split: BlockSplit::from_node(creation)?,
    }))
}

#[derive(Clone)]
struct Mix {
    grouped: bool,
    channels: usize,
    /// Samples of a frame on one channel, in and out.
    samples: usize,
    split: BlockSplit,
}

impl Mix {
    fn process_groups(&self, block: &mut Block<'_>) {
        let (inputs, outputs) = (block.input_count(), block.output_count());
        let group = move |port| inputs_of_group(inputs, outputs, port);
        let is_sounding = |input: InputBuffer<'_>| !input.is_silent();
        for port in 0..outputs {
            if !group(port).any(|i| is_sounding(block.input(i))) {
                block.output(port).silence();
            }
        }
        let channels = self.channels;
        self.split.process(block, 0..block.frames(), move |part| {
            for port in 0..outputs {
                // Silent inputs write nothing: the output is silent already.
                sum_part(part, group(port), port, channels);
            }
        });
    }
}

/// The inputs, of `inputs`, that are summed on output `port` of `outputs`.
fn inputs_of_group(inputs: usize, outputs: usize, port: usize) -> Range<usize> {
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

/// Puts the sum of the inputs `from` on the output `port`, in the order of the ports; silence if all are silent.
///
/// Real-time: hot.
pub(crate) fn sum(block: &mut Block<'_>, from: Range<usize>, port: usize, channels: usize) {
    if from.clone().all(|i| block.input(i).is_silent()) {
        return block.output(port).silence();
    }
    let all = 0..block.frames();
    let (first, end) = (from.start, from.end);
    block.split(all, 1, move |part| {
        sum_part(part, first..end, port, channels)
    });
}

/// Sums the inputs that are not silent; writes nothing if there is none.
fn sum_part(part: &mut BlockPart<'_>, from: Range<usize>, port: usize, channels: usize) {
    if !from.clone().any(|i| !part.input(i).is_silent()) {
        return;
    }
    sum_sounding(part, from, port, channels);
}

/// Sums the inputs that are not silent, of which there is one at least.
#[inline]
fn sum_sounding(part: &mut BlockPart<'_>, from: Range<usize>, port: usize, channels: usize) {
    widest(SumPart {
        part,
        from,
        port,
        channels,
    });
}

/// The sum of inputs, of which one sounds at least, on an output.
struct SumPart<'a, 'p> {
    part: &'a mut BlockPart<'p>,
    from: Range<usize>,
    port: usize,
    channels: usize,
}

impl WideWork for SumPart<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let frames = self.part.range().len();
        for c in 0..self.channels {
            let mut at = 0;
            while at < frames {
                at += match frames - at {
                    64.. => self.sum::<64>(c, at),
                    32.. => self.sum::<32>(c, at),
                    16.. => self.sum::<16>(c, at),
                    _ => self.sum::<1>(c, at),
                };
            }
        }
    }
}

impl SumPart<'_, '_> {
    /// Sums `RUN` frames, in registers. Returns their number.
    #[inline(always)]
    fn sum<const RUN: usize>(&mut self, channel: usize, at: usize) -> usize {
        let mut sum = [0.0; RUN];
        for input in self.from.clone().map(|i| self.part.input(i)) {
            if input.is_silent() {
                continue;
            }
            let run = input.channel(channel)[at..].first_chunk::<RUN>();
            let run = run.expect("every input is as long as the part");
            for (sum, x) in sum.iter_mut().zip(run) {
                *sum = add(*sum, *x);
            }
        }
        // -0.0 becomes +0.0 here: until now no bit depended on it.
        sum.iter_mut().for_each(|x| *x += 0.0);
        let mut output = self.part.output(self.port);
        output.channel(channel)[at..][..RUN].copy_from_slice(&sum);
        RUN
    }
}

/// The sum, within the range of finite samples.
#[inline(always)]
fn add(sum: f32, x: f32) -> f32 {
    (sum + x).clamp(-f32::MAX, f32::MAX)
}

/// Copies the first output to all others.
///
/// Real-time: hot.
pub(crate) fn copy_to_all_outputs(block: &mut Block<'_>, channels: usize) {
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
        self.split.setup(setup, samples as f64 * SAMPLE_NS, samples);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let content = block.input_content();
        if content == Content::Silent {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let (inputs, outputs) = (block.input_count(), block.output_count());
        let is_constant = content == Content::Constant && !self.grouped && block.is_constant();
        let frames = if is_constant { 1 } else { block.frames() };
        let (channels, all) = (self.channels, 0..frames);
        if self.grouped {
            self.process_groups(block);
        } else if outputs > 0 {
            self.split.process(block, all, move |part| {
                sum_sounding(part, 0..inputs, 0, channels);
                if outputs > 1 {
                    copy(part.outputs(), channels);
                }
            });
        }
        if is_constant {
            block.hold_first_frame();
        }
        ProcessStatus::Continue
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn reset(&mut self) {}
}
