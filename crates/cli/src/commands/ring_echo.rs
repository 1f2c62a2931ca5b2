//! `ring-echo`: what `experiment queues` starts as its other process; nobody calls it by hand.

use crate::failure::Failure;
use clap::Args;

/// Sends back what comes by shared memory
#[derive(Args)]
pub(crate) struct RingEcho {
    /// The ring that portions come by
    there: String,
    /// The ring that they go back by
    back: String,
    /// Bytes in a portion
    bytes: usize,
}

impl RingEcho {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        lab::echo(&self.there, &self.back, self.bytes)
            .map_err(|error| Failure::failed(error.to_string()))
    }
}
