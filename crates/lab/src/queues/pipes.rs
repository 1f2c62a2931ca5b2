//! Pipes, the usual transport between processes: the system copies bytes in and out, and lets the ends sleep.

use super::transfer::{Disconnected, Endpoint};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStdin, ChildStdout};

/// A pipe to the other process, and one from it.
pub(super) struct Pipes {
    outgoing: File,
    incoming: File,
}

impl Pipes {
    /// The first process's ends.
    pub(super) fn of_child(outgoing: ChildStdin, incoming: ChildStdout) -> Self {
        Self {
            outgoing: OwnedFd::from(outgoing).into(),
            incoming: OwnedFd::from(incoming).into(),
        }
    }

    /// The other process's ends, without the buffers of the standard library.
    pub(super) fn of_this_process() -> io::Result<Self> {
        Ok(Self {
            outgoing: io::stdout().as_fd().try_clone_to_owned()?.into(),
            incoming: io::stdin().as_fd().try_clone_to_owned()?.into(),
        })
    }
}

/// Neither ever returns false: both wait in the system.
impl Endpoint for Pipes {
    fn send(&mut self, message: &[u8]) -> Result<bool, Disconnected> {
        let sent = self.outgoing.write_all(message);
        sent.map(|()| true).map_err(|_| Disconnected)
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<bool, Disconnected> {
        let received = self.incoming.read_exact(message);
        received.map(|()| true).map_err(|_| Disconnected)
    }
}
