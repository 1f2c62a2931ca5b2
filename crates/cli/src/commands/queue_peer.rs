//! `queue-peer`: the second process of `experiment queues`. Users do not call it.

use crate::failure::Failure;
use clap::Args;
use lab::PeerRole;

/// Echoes messages from shared memory or pipes, or only reads them
#[derive(Args)]
pub(crate) struct QueuePeer {
    /// Bytes in a message
    bytes: usize,
    /// The ring to read messages from; without it, standard input
    #[arg(requires = "output_ring")]
    input_ring: Option<String>,
    /// The ring to write them back to
    output_ring: Option<String>,
    /// Answer the first message only
    #[arg(long)]
    sink: bool,
}

impl QueuePeer {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let role = match self.sink {
            true => PeerRole::Sink,
            false => PeerRole::Echo,
        };
        let rings = self.input_ring.as_deref().zip(self.output_ring.as_deref());
        lab::serve_peer(role, self.bytes, rings).map_err(|error| Failure::failed(error.to_string()))
    }
}
