//! Nodes at both sides of a border: taps with the supervisor, inputs and an output with the cell.

use crate::events;
use graph::{Kind, PortRef, Role, Signal};
use processor::{
    Block, EventBody, EventTarget, MakeError, ProcessStatus, Processor, Registry, Setup, Tail,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
    /// Sound, numbers or events.
    pub signal: Signal,
}

impl BorderPort {
    /// Number of its channels of sound.
    pub(crate) fn channels(&self) -> usize {
        match self.signal {
            Signal::Audio(channels) => channels.count(),
            Signal::Control | Signal::Event => 0,
        }
    }

    /// Its words in a message, for a block of `frames`.
    pub(crate) fn words(&self, frames: usize) -> usize {
        match self.signal {
            Signal::Audio(channels) => channels.count() * frames,
            Signal::Control | Signal::Event => events::words(frames),
        }
    }
}

/// Place of what enters by an output of a stand-in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// Its first channel among the inputs of the engine.
    Sound(usize),
    /// Its first word among those of events.
    Events(usize),
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

/// Registers what is at the border of a cell with these entries. Events that enter are in `entered` before each cycle; what
/// leaves is in `collected` afterwards.
pub(crate) fn register_border(
    registry: &mut Registry,
    entries: HashMap<String, Vec<Option<Entry>>>,
    entered: Arc<[AtomicU32]>,
    collected: Arc<[AtomicU32]>,
) {
    let kind = Kind {
        role: Role::Source,
        ..hidden_kind(INPUT, "Puts out what enters the cell.")
    };
    registry.add(kind, move |context| {
        let name = &context.node.name;
        let entries = entries.get(name).ok_or_else(|| MakeError {
            message: format!("nothing enters the cell as `{name}`"),
            key: None,
        })?;
        Ok(Box::new(BorderInput {
            entries: entries.clone(),
            entered: entered.clone(),
            scratch: Vec::new(),
        }))
    });
    let kind = hidden_kind(OUTPUT, "Collects what leaves the cell.");
    registry.add(kind, move |_| {
        Ok(Box::new(BorderOutput {
            collected: collected.clone(),
            scratch: Vec::new(),
        }))
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
            for (frame, body) in port_events(block, port) {
                block.send_event(port, frame, body);
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// The events that come by input `port`.
///
/// Real-time: hot.
pub(crate) fn port_events<'a>(
    block: &Block<'a>,
    port: usize,
) -> impl Iterator<Item = (u32, EventBody)> + use<'a> {
    let events = block.events().iter();
    let here = events.filter(move |it| it.target == EventTarget::Input(port as u16));
    here.map(|it| (it.frame, it.body))
}

/// Puts out what the request holds.
struct BorderInput {
    /// The place of each output; `None` for one that does not cross the border.
    entries: Vec<Option<Entry>>,
    entered: Arc<[AtomicU32]>,
    /// The words of one port.
    scratch: Vec<u32>,
}

impl BorderInput {
    fn send_events(&mut self, block: &mut Block<'_>, port: usize, first: usize) {
        let words = self.entered.iter().skip(first);
        for (to, from) in self.scratch.iter_mut().zip(words) {
            // Relaxed: stored by the thread that began this cycle.
            *to = from.load(Ordering::Relaxed);
        }
        events::read(&self.scratch, block.frames(), |(frame, body)| {
            block.send_event(port, frame, body);
        });
    }
}

impl Processor for BorderInput {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.scratch = vec![0; events::words(setup.block.count())];
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for port in 0..block.output_count().min(self.entries.len()) {
            let entry = self.entries[port];
            for channel in 0..block.output(port).channels().count() {
                let from = match entry {
                    Some(Entry::Sound(first)) => block.device_input(first + channel),
                    _ => None,
                };
                let mut output = block.output(port);
                match from {
                    Some(from) => output.channel(channel).copy_from_slice(from),
                    None => output.channel(channel).fill(0.0),
                }
            }
            if let Some(Entry::Events(first)) = entry {
                self.send_events(block, port, first);
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// Stores its inputs, port by port: samples as bits, events as words.
struct BorderOutput {
    collected: Arc<[AtomicU32]>,
    /// The words of one port.
    scratch: Vec<u32>,
}

impl Processor for BorderOutput {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.scratch = vec![0; events::words(setup.block.count())];
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut words = &self.collected[..];
        for port in 0..block.input_count() {
            let input = block.input(port);
            let channels = input.channels().count();
            for channel in 0..channels {
                // Relaxed: the end of the cycle orders these stores before the reply.
                let samples = input.channel(channel).iter();
                samples.zip(words).for_each(|(sample, word)| {
                    word.store(sample.to_bits(), Ordering::Relaxed);
                });
                words = &words[block.frames().min(words.len())..];
            }
            if channels == 0 {
                events::write(port_events(block, port), &mut self.scratch);
                // Relaxed: as above.
                let stored = self.scratch.iter().zip(words);
                stored.for_each(|(from, word)| word.store(*from, Ordering::Relaxed));
                words = &words[self.scratch.len().min(words.len())..];
            }
        }
        block.outputs().for_each(|mut output| output.silence());
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
