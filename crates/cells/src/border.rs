//! Nodes at both sides of a border: taps with the supervisor, inputs and an output with the cell.

use graph::{Kind, PortRef, Role};
use processor::{Block, MakeError, ProcessStatus, Processor, Registry, Setup, Tail};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Channels;

/// Kind of a cell's node in the supervisor's graph.
pub(crate) const CELL: &str = "cell";
/// Kind that stands in for a node whose outputs leave a cell.
pub(crate) const TAP: &str = "cell tap";
/// Kind that stands in for a node whose outputs enter a cell.
pub(crate) const INPUT: &str = "cell input";
/// Kind that collects what leaves a cell.
pub(crate) const OUTPUT: &str = "cell output";

/// An output that crosses the border of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderPort {
    /// The output in the whole graph.
    pub from: PortRef,
    /// Its width.
    pub channels: Channels,
}

/// Returns true for the kinds of this file.
pub(crate) fn is_border(kind: &str) -> bool {
    [CELL, TAP, INPUT, OUTPUT].contains(&kind)
}

/// A kind that no session names.
pub(crate) fn hidden_kind(name: &'static str, summary: &'static str) -> Kind {
    Kind {
        duplicable: false,
        ..Kind::new(name, summary)
    }
}

/// Registers what stands in for nodes in the supervisor's graph.
pub(crate) fn register_tap(registry: &mut Registry) {
    let kind = hidden_kind(TAP, "Passes on what a cell puts out.");
    registry.add(kind, |_| Ok(Box::new(Tap)));
}

/// Registers what is at the border of a cell with these inputs. What leaves it is in `collected` after each cycle.
pub(crate) fn register_border(
    registry: &mut Registry,
    firsts: HashMap<String, Vec<Option<usize>>>,
    collected: Arc<[AtomicU32]>,
) {
    let kind = Kind {
        role: Role::Source,
        ..hidden_kind(INPUT, "Puts out what enters the cell.")
    };
    registry.add(kind, move |context| {
        let name = &context.node.name;
        let firsts = firsts.get(name).ok_or_else(|| MakeError {
            message: format!("nothing enters the cell as `{name}`"),
            key: None,
        })?;
        let firsts = firsts.clone();
        Ok(Box::new(BorderInput { firsts }))
    });
    let kind = hidden_kind(OUTPUT, "Collects what leaves the cell.");
    registry.add(kind, move |_| {
        let collected = collected.clone();
        Ok(Box::new(BorderOutput { collected }))
    });
}

/// Copies input k to output k.
struct Tap;

impl Processor for Tap {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for port in 0..block.output_count() {
            let input = block.input(port);
            let mut output = block.output(port);
            for channel in 0..input.channels().count() {
                output
                    .channel(channel)
                    .copy_from_slice(input.channel(channel));
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// Puts out channels of the request.
struct BorderInput {
    /// First channel of each output; `None` for one that does not cross the border.
    firsts: Vec<Option<usize>>,
}

impl Processor for BorderInput {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for (port, first) in self.firsts.iter().enumerate().take(block.output_count()) {
            for channel in 0..block.output(port).channels().count() {
                let from = first.and_then(|first| block.device_input(first + channel));
                let mut output = block.output(port);
                match from {
                    Some(from) => output.channel(channel).copy_from_slice(from),
                    None => output.channel(channel).fill(0.0),
                }
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// Stores its inputs, channel by channel, as bits.
struct BorderOutput {
    collected: Arc<[AtomicU32]>,
}

impl Processor for BorderOutput {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut words = self.collected.iter();
        for port in 0..block.input_count() {
            let input = block.input(port);
            for channel in 0..input.channels().count() {
                // Relaxed: the end of the cycle orders these stores before the reply.
                let samples = input.channel(channel).iter();
                samples.zip(&mut words).for_each(|(sample, word)| {
                    word.store(sample.to_bits(), Ordering::Relaxed);
                });
            }
        }
        block.outputs().for_each(|mut output| output.silence());
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
