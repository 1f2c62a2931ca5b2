//! The node that copies an output port into a ring, for whoever watches it: its kind and its processor.

use graph::{Kind, Node, Port, PortSpec, Signal};
use processor::{Block, ProcessStatus, Processor, Setup};
use rtrb::Producer;

/// Its name. No session can have it: names of kinds in sessions have no space.
pub(crate) const KIND: &str = "port tap";

/// Description for plans.
pub(super) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        duplicable: false,
        typical_ns: 40,
        ..Kind::new(KIND, "Copies a signal for a meter.")
    }
}

/// A node that takes `signal`.
pub(crate) fn node(name: String, signal: Signal) -> Node {
    let mut node = Node::new(name, KIND);
    node.inputs = vec![Port::new("in", signal)];
    if let Signal::Audio(channels) = signal {
        node.channels = channels;
    }
    node
}

/// The processor: writes frames into the ring, and leaves out a block for which there is no room.
pub(super) struct PortTap(pub(super) Producer<f32>);

impl Processor for PortTap {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let input = block.input(0);
        let (frames, channels) = (block.frames(), input.channels().count());
        if let Ok(chunk) = self.0.write_chunk_uninit(frames * channels) {
            let samples = (0..frames * channels).map(|i| input.channel(i % channels)[i / channels]);
            chunk.fill_from_iter(samples);
        }
        // Called for silence too: a meter falls.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
