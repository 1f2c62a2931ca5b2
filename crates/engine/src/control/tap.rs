//! [`Tap`]: the signal that a meter reads, and [`TapSpec`]: the engine's record of it.

use graph::{NodeId, Signal};
use rtrb::Consumer;

/// The signal of an output port. Dropped, it must be removed from the engine too.
pub struct Tap {
    pub(super) id: NodeId,
    pub(super) channels: usize,
    pub(super) ring: Consumer<f32>,
}

/// A tap of the engine. It is found by names: a node that is made anew is tapped again.
pub(super) struct TapSpec {
    pub(super) id: NodeId,
    pub(super) node: String,
    pub(super) port: String,
    pub(super) signal: Signal,
}

impl Tap {
    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Passes the frames that have come to `read`, channels side by side. Blocks that found no room are missing.
    ///
    /// Real-time: setup.
    pub fn read(&mut self, mut read: impl FnMut(&[f32])) {
        let count = self.ring.slots() / self.channels * self.channels;
        if let Ok(chunk) = self.ring.read_chunk(count) {
            let (first, second) = chunk.as_slices();
            read(first);
            read(second);
            chunk.commit_all();
        }
    }
}

impl TapSpec {
    /// Name of the node that taps.
    pub(super) fn name(&self) -> String {
        format!("{}.{} (tap {})", self.node, self.port, self.id.0)
    }
}
