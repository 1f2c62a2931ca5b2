//! [`BufferedStream`]: one connection, with what was read and what is to be written, within limits.

use rustix::event::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;

/// Largest number of bytes that wait for a client to read them.
const MAX_OUTPUT: usize = 16 << 20;
/// Bytes that are read at once, so that no client keeps the others waiting.
const MAX_READ: usize = 1 << 16;

/// A connection that never waits.
pub(super) struct BufferedStream<S> {
    stream: S,
    /// Bytes that were read and not yet used.
    pub(super) input: Vec<u8>,
    output: Vec<u8>,
    /// The other end has sent all, or cannot be spoken with.
    pub(super) has_ended: bool,
}

impl<S: Read + Write + AsFd> BufferedStream<S> {
    /// A connection over `stream`, which does not block.
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            has_ended: false,
        }
    }

    pub(super) fn poll_fd(&self) -> PollFd<'_> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, !self.has_ended);
        flags.set(PollFlags::OUT, !self.output.is_empty());
        PollFd::new(&self.stream, flags)
    }

    /// Reads what has come, at most 64 KiB, unless `max` bytes wait already.
    pub(super) fn read(&mut self, max: usize) {
        if self.has_ended || self.input.len() > max {
            return;
        }
        let mut part = [0; MAX_READ];
        match self.stream.read(&mut part) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.input.extend_from_slice(&part[..count]),
            Err(error) if is_transient(&error) => {}
            Err(_) => self.has_ended = true,
        }
    }

    /// Ends the connection after what is to be written.
    pub(super) fn end(&mut self) {
        self.input = Vec::new();
        self.has_ended = true;
    }

    /// Adds bytes to be written. A client that does not read is cut off.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.output.len() > MAX_OUTPUT {
            self.output = Vec::new();
            return self.end();
        }
        self.output.extend_from_slice(bytes);
    }

    /// Writes as much as the client takes.
    pub(super) fn write(&mut self) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(count) if count > 0 => {
                    self.output.drain(..count);
                }
                Err(error) if is_transient(&error) => break,
                _ => {
                    self.output = Vec::new();
                    self.end();
                }
            }
        }
    }

    /// Returns true if nothing can come or go any more.
    pub(super) fn is_done(&self) -> bool {
        self.has_ended && self.output.is_empty()
    }
}

/// Returns true if the same call may succeed later.
pub(super) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
