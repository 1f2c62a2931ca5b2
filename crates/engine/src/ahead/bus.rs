//! [`SignalBus`]: the signals that leave the ahead part in one block; and the processors that write and read it.

use graph::{Kind, Node, Port, PortSpec, Signal};
use processor::{Block, ProcessStatus, Processor, Setup, Tail};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Channels;

/// Kind of the node that puts a signal on the bus. No session can have it: names of kinds in sessions have no space.
pub(super) const BORDER_KIND: &str = "ahead border";
/// Kind of the node that takes a signal from the bus, in the place of the node that has computed it.
pub(super) const STAND_IN_KIND: &str = "ahead stand-in";

/// Description for plans.
pub(crate) fn border_kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        duplicable: false,
        typical_ns: 40,
        ..Kind::new(BORDER_KIND, "Hands on a signal that was played ahead.")
    }
}

/// Description for plans.
pub(crate) fn stand_in_kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::audio("out")],
        duplicable: false,
        typical_ns: 40,
        ..Kind::new(STAND_IN_KIND, "Plays what was played ahead.")
    }
}

/// A node that puts a signal of `channels` on the bus.
pub(super) fn border_node(name: String, channels: Channels) -> Node {
    let mut node = Node::new(name, BORDER_KIND);
    node.inputs = vec![Port::new("in", Signal::Audio(channels))];
    node.channels = channels;
    node
}

/// The samples of one block, as bits: channel after channel, signal after signal.
///
/// Written by the ahead part's executor and read by that of the rest, one after the other on the callback's thread; workers read
/// after the start of their cycle, which publishes what was written before. So all accesses are `Relaxed`.
pub(crate) struct SignalBus {
    samples: Box<[AtomicU32]>,
    frames: usize,
}

impl SignalBus {
    /// For so many channels together, and blocks of `frames`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(channels: usize, frames: usize) -> Arc<Self> {
        let samples = (0..channels * frames).map(|_| AtomicU32::new(0));
        Arc::new(Self {
            samples: samples.collect(),
            frames,
        })
    }

    /// Number of samples in a block.
    pub(crate) fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Real-time: hot.
    pub(super) fn copy_to(&self, block: &mut [u32]) {
        for (to, from) in block.iter_mut().zip(&self.samples) {
            *to = from.load(Ordering::Relaxed);
        }
    }

    /// Real-time: hot.
    pub(super) fn copy_from(&self, block: &[u32]) {
        for (from, to) in block.iter().zip(&self.samples) {
            to.store(*from, Ordering::Relaxed);
        }
    }

    fn channel(&self, channel: usize, frames: Range<usize>) -> &[AtomicU32] {
        let start = channel * self.frames;
        &self.samples[start + frames.start..start + frames.end]
    }
}

/// The processor of a node of [`BORDER_KIND`]: its channels begin with `first`.
pub(crate) struct Border {
    pub(crate) bus: Arc<SignalBus>,
    pub(crate) first: usize,
}

impl Processor for Border {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let input = block.input(0);
        for channel in 0..input.channels().count() {
            let to = self.bus.channel(self.first + channel, 0..block.frames());
            for (to, from) in to.iter().zip(input.channel(channel)) {
                to.store(from.to_bits(), Ordering::Relaxed);
            }
        }
        // Called for silence too: the bus holds the last block.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// The processor of a node of [`STAND_IN_KIND`]: of each output, the first channel on the bus. An output without one has no
/// reader.
pub(crate) struct StandIn {
    pub(crate) bus: Arc<SignalBus>,
    pub(crate) outputs: Vec<Option<usize>>,
}

impl Processor for StandIn {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let frames = block.frames();
        for (mut output, first) in block.outputs().zip(&self.outputs) {
            let Some(first) = first else {
                output.silence();
                continue;
            };
            let mut any = 0;
            for channel in 0..output.channels().count() {
                let from = self.bus.channel(first + channel, 0..frames);
                for (to, from) in output.channel(channel).iter_mut().zip(from) {
                    let bits = from.load(Ordering::Relaxed);
                    any |= bits;
                    *to = f32::from_bits(bits);
                }
            }
            // Not where a sample is -0.0: that is no silence.
            if any == 0 {
                output.silence();
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
