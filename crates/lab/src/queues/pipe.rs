//! Pipes: how processes usually pass bytes on. The system copies them in and out again, and sleeps where there are none.

use super::pass::{Gone, Post};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStdin, ChildStdout};

/// A pipe by which bytes go, and one by which they come back.
pub(super) struct Pipes {
    out: File,
    home: File,
}

impl Pipes {
    /// The first process's ends.
    pub(super) fn of_child(out: ChildStdin, home: ChildStdout) -> Self {
        Self {
            out: OwnedFd::from(out).into(),
            home: OwnedFd::from(home).into(),
        }
    }

    /// The other one's, which the standard library would put buffers in front of.
    pub(super) fn of_this_process() -> io::Result<Self> {
        Ok(Self {
            out: io::stdout().as_fd().try_clone_to_owned()?.into(),
            home: io::stdin().as_fd().try_clone_to_owned()?.into(),
        })
    }
}

/// Neither says "not yet": both wait in the system.
impl Post for Pipes {
    fn put(&mut self, bytes: &[u8]) -> Result<bool, Gone> {
        self.out.write_all(bytes).map_err(|_| Gone)?;
        Ok(true)
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<bool, Gone> {
        self.home.read_exact(bytes).map_err(|_| Gone)?;
        Ok(true)
    }
}
