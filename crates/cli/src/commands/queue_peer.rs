//! `queue-peer`: what `experiment queues` starts as its other process; nobody calls it by hand.

use crate::failure::Failure;
use clap::Args;
use lab::PeerRole;

/// Sends back what comes by shared memory or by pipes, or reads it
#[derive(Args)]
pub(crate) struct QueuePeer {
    /// Bytes in a portion
    bytes: usize,
    /// The ring that portions come by; without it, standard input
    #[arg(requires = "back")]
    there: Option<String>,
    /// The ring that they go back by
    back: Option<String>,
    /// Answer the first portion only
    #[arg(long)]
    sink: bool,
}

impl QueuePeer {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let role = match self.sink {
            true => PeerRole::Sink,
            false => PeerRole::Echo,
        };
        let rings = self.there.as_deref().zip(self.back.as_deref());
        lab::serve_peer(role, self.bytes, rings).map_err(|error| Failure::failed(error.to_string()))
    }
}
