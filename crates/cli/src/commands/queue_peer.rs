//! `queue-peer`: the second process of the experiments `queues` and `channels`. Users do not call it.

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
    /// Echo and never sleep
    #[arg(long, requires = "output_ring")]
    awake: bool,
    /// Play each message as a block of a graph
    #[arg(long, requires = "awake")]
    graph: bool,
}

impl QueuePeer {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let role = match self.sink {
            true => PeerRole::Sink,
            false => PeerRole::Echo,
        };
        let rings = self.input_ring.as_deref().zip(self.output_ring.as_deref());
        let failed = |error: std::io::Error| Failure::failed(error.to_string());
        if let (true, Some(rings)) = (self.awake, rings) {
            return lab::serve_channel(self.bytes, rings, self.graph).map_err(failed);
        }
        lab::serve_peer(role, self.bytes, rings).map_err(failed)
    }
}
