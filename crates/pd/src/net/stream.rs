//! [`Connection`]: one connection of a stream. It never waits.

use super::frame::{EventWriter, NetEvent, SocketFormat, SocketId};
use super::split::Splitter;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Bytes that wait to be sent, at most.
const MAX_UNSENT: usize = 1 << 20;
/// Bytes that are read at once, at most.
const READ: usize = 4096;

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    from: SocketAddr,
    splitter: Splitter,
    /// Bytes that were read, and how many of them are used.
    unread: Vec<u8>,
    used: usize,
    unsent: Vec<u8>,
}

/// State of a connection after a look.
pub(super) enum Progress {
    /// Nothing was there.
    Idle,
    /// Something was.
    More,
    /// It has ended.
    Ended(Option<std::io::Error>),
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        // As in Pd: a message goes out at once.
        stream.set_nodelay(true)?;
        Ok(Self {
            from: stream.peer_addr()?,
            stream,
            splitter: Splitter::default(),
            unread: Vec::with_capacity(READ),
            used: 0,
            unsent: Vec::new(),
        })
    }

    /// Address of the other side.
    pub(super) fn from(&self) -> SocketAddr {
        self.from
    }

    /// Sends bytes, now or later; false if too many wait already.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        if self.unsent.len() + bytes.len() > MAX_UNSENT {
            return false;
        }
        self.unsent.extend_from_slice(bytes);
        // A failure is found when it is looked at.
        let _ = self.flush();
        true
    }

    /// Sends what the other side takes now.
    fn flush(&mut self) -> std::io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// Sends and receives what can be sent and received now, as long as there is room for events.
    pub(super) fn poll(
        &mut self,
        id: SocketId,
        format: SocketFormat,
        events: &mut EventWriter,
    ) -> Progress {
        if let Err(why) = self.flush() {
            return Progress::Ended(Some(why));
        }
        if !self.give(id, format, events) {
            return Progress::Idle;
        }
        self.unread.resize(READ, 0);
        self.used = 0;
        let result = self.stream.read(&mut self.unread);
        self.unread.truncate(*result.as_ref().unwrap_or(&0));
        match result {
            Ok(0) => Progress::Ended(None),
            Ok(_) => {
                self.give(id, format, events);
                Progress::More
            }
            Err(why) => match why.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Progress::Idle,
                _ => Progress::Ended(Some(why)),
            },
        }
    }

    /// Gives what was read to the object; false if there is no room for all of it.
    fn give(&mut self, id: SocketId, format: SocketFormat, events: &mut EventWriter) -> bool {
        while self.used < self.unread.len() {
            if !events.has_room() {
                return false;
            }
            let rest = &self.unread[self.used..];
            if format.is_binary {
                events.write(id, NetEvent::Bytes(self.from, rest));
                self.used = self.unread.len();
                break;
            }
            let (taken, message) = self.splitter.take(rest);
            self.used += taken;
            match message {
                Some(Ok(text)) => events.write(id, NetEvent::Text(self.from, &text)),
                Some(Err(())) => {
                    events.write(id, NetEvent::Trouble("a message is too long and left out"));
                }
                None => {}
            }
        }
        true
    }

    /// Sends the rest, until `deadline`; returns the number of bytes that are lost.
    ///
    /// Real-time: waits, on the other side.
    pub(super) fn finish(&mut self, deadline: Instant) -> usize {
        while !self.unsent.is_empty() && self.flush().is_ok() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.unsent.len()
    }
}
