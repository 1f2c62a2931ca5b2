//! Commands and events as bytes in rings, without allocation.

use super::MAX_MESSAGE;
use rtrb::{Consumer, Producer, RingBuffer};
use std::net::{IpAddr, SocketAddr};

/// Bytes of a ring: many messages, and a few of the longest.
const ROOM: usize = 1 << 18;

/// A socket of an object: with each one that it opens the number goes up, so that what comes from older ones is told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketId {
    pub object: u32,
    pub number: u32,
}

/// Form of the data of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketFormat {
    /// Datagrams, and not a stream.
    pub is_udp: bool,
    /// Bytes as they are, and not messages with `;`.
    pub is_binary: bool,
}

/// Request of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NetCommand<'c> {
    /// Connects to a port of a host; `source` is the own port, 0 for any.
    Connect {
        format: SocketFormat,
        host: &'c str,
        port: u16,
        source: u16,
    },
    /// Listens at a port.
    Listen {
        format: SocketFormat,
        host: &'c str,
        port: u16,
    },
    /// Sends bytes: to all that are connected to a listener.
    Send(&'c [u8]),
    Close,
}

/// The event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NetEvent<'e> {
    /// The connection that was asked for stands.
    Connected,
    /// It does not, or it has ended; with a reason where there is one.
    Ended(&'e str),
    /// Something was lost, or could not be done yet.
    Trouble(&'e str),
    /// Somebody has connected to a listener.
    Opened(SocketAddr),
    /// One of those has gone.
    Closed,
    /// A message without its `;`.
    Text(SocketAddr, &'e str),
    /// Bytes: a datagram, or a part of a stream.
    Bytes(SocketAddr, &'e [u8]),
}

/// Bytes before the payload of a frame: kind, format, ports or address, socket, length.
const HEADER: usize = 1 + 1 + 2 + 2 + 16 + 4 + 4 + 4;

#[derive(Clone, Copy)]
struct Header {
    kind: u8,
    format: u8,
    port: u16,
    source: u16,
    ip: [u8; 16],
    socket: SocketId,
    len: usize,
}

impl Header {
    fn new(kind: u8, socket: SocketId, len: usize) -> Self {
        Self {
            kind,
            format: 0,
            port: 0,
            source: 0,
            ip: [0; 16],
            socket,
            len,
        }
    }

    fn with_address(mut self, address: SocketAddr) -> Self {
        self.port = address.port();
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => self.ip[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => {
                self.format = 1;
                self.ip = ip.octets();
            }
        }
        self
    }

    fn address(&self) -> SocketAddr {
        let [a, b, c, d, ..] = self.ip;
        match self.format {
            0 => ([a, b, c, d], self.port).into(),
            _ => (self.ip, self.port).into(),
        }
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = self.kind;
        bytes[1] = self.format;
        bytes[2..4].copy_from_slice(&self.port.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.source.to_le_bytes());
        bytes[6..22].copy_from_slice(&self.ip);
        bytes[22..26].copy_from_slice(&self.socket.object.to_le_bytes());
        bytes[26..30].copy_from_slice(&self.socket.number.to_le_bytes());
        let len = u32::try_from(self.len).unwrap_or(0);
        bytes[30..34].copy_from_slice(&len.to_le_bytes());
        bytes
    }

    fn of(bytes: &[u8; HEADER]) -> Self {
        let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|it| bytes[at + it]));
        Self {
            kind: bytes[0],
            format: bytes[1],
            port: two(2),
            source: two(4),
            ip: std::array::from_fn(|it| bytes[6 + it]),
            socket: SocketId {
                object: four(22),
                number: four(26),
            },
            len: four(30) as usize,
        }
    }
}

/// Both ends of a ring.
///
/// Real-time: setup.
pub(crate) fn ring() -> (Producer<u8>, Consumer<u8>) {
    RingBuffer::new(ROOM)
}

/// Writes a frame; false, and nothing is written, if there is no room or it is too long.
///
/// Real-time: hot.
fn write(ring: &mut Producer<u8>, header: Header, payload: &[u8]) -> bool {
    if payload.len() > MAX_MESSAGE {
        return false;
    }
    let Ok(chunk) = ring.write_chunk_uninit(HEADER + payload.len()) else {
        return false;
    };
    chunk.fill_from_iter(header.to_bytes().into_iter().chain(payload.iter().copied()));
    true
}

/// A frame that was read.
struct Frame {
    payload: Vec<u8>,
}

impl Frame {
    fn new() -> Self {
        Self {
            payload: Vec::with_capacity(MAX_MESSAGE),
        }
    }

    /// Reads a frame; frames are written as a whole.
    ///
    /// Real-time: hot.
    fn read(&mut self, ring: &mut Consumer<u8>) -> Option<Header> {
        let chunk = ring.read_chunk(HEADER).ok()?;
        let (first, second) = chunk.as_slices();
        let mut bytes = [0; HEADER];
        bytes[..first.len()].copy_from_slice(first);
        bytes[first.len()..].copy_from_slice(second);
        let header = Header::of(&bytes);
        chunk.commit_all();
        let chunk = ring.read_chunk(header.len).ok()?;
        let (first, second) = chunk.as_slices();
        self.payload.clear();
        self.payload.extend_from_slice(first);
        self.payload.extend_from_slice(second);
        chunk.commit_all();
        Some(header)
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.payload).unwrap_or_default()
    }
}

/// The end of objects that commands leave by.
pub(crate) struct CommandWriter(pub(crate) Producer<u8>);

impl CommandWriter {
    /// Passes a command on; false if there is no room for it.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&mut self, socket: SocketId, command: NetCommand<'_>) -> bool {
        let flags =
            |format: SocketFormat| u8::from(format.is_udp) | u8::from(format.is_binary) << 1;
        let (header, payload) = match command {
            NetCommand::Connect {
                format,
                host,
                port,
                source,
            } => {
                let mut header = Header::new(0, socket, host.len());
                (header.format, header.port, header.source) = (flags(format), port, source);
                (header, host.as_bytes())
            }
            NetCommand::Listen { format, host, port } => {
                let mut header = Header::new(1, socket, host.len());
                (header.format, header.port) = (flags(format), port);
                (header, host.as_bytes())
            }
            NetCommand::Send(bytes) => (Header::new(2, socket, bytes.len()), bytes),
            NetCommand::Close => (Header::new(3, socket, 0), &[][..]),
        };
        write(&mut self.0, header, payload)
    }
}

/// The other end.
pub(crate) struct CommandReader {
    ring: Consumer<u8>,
    frame: Frame,
}

impl CommandReader {
    pub(crate) fn new(ring: Consumer<u8>) -> Self {
        let frame = Frame::new();
        Self { ring, frame }
    }

    /// Returns true if the objects are gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.ring.is_abandoned()
    }

    /// Takes a command.
    pub(crate) fn read(&mut self) -> Option<(SocketId, NetCommand<'_>)> {
        let header = self.frame.read(&mut self.ring)?;
        let format = SocketFormat {
            is_udp: header.format & 1 != 0,
            is_binary: header.format & 2 != 0,
        };
        let (port, source) = (header.port, header.source);
        let command = match header.kind {
            0 => NetCommand::Connect {
                format,
                host: self.frame.text(),
                port,
                source,
            },
            1 => NetCommand::Listen {
                format,
                host: self.frame.text(),
                port,
            },
            2 => NetCommand::Send(&self.frame.payload),
            _ => NetCommand::Close,
        };
        Some((header.socket, command))
    }
}

/// The end that events come from.
pub(crate) struct EventWriter(pub(crate) Producer<u8>);

impl EventWriter {
    /// Returns true if there is room for any event, and a few short ones behind it.
    pub(crate) fn has_room(&self) -> bool {
        self.0.slots() >= 2 * (HEADER + MAX_MESSAGE)
    }

    /// Passes an event on. One that finds no room is lost; `has_room` tells.
    pub(crate) fn write(&mut self, socket: SocketId, event: NetEvent<'_>) {
        let new = |kind, payload: &[u8]| Header::new(kind, socket, payload.len());
        let (header, payload) = match event {
            NetEvent::Connected => (new(0, &[]), &[][..]),
            NetEvent::Ended(why) => (new(1, why.as_bytes()), why.as_bytes()),
            NetEvent::Trouble(why) => (new(2, why.as_bytes()), why.as_bytes()),
            NetEvent::Opened(from) => (new(3, &[]).with_address(from), &[][..]),
            NetEvent::Closed => (new(4, &[]), &[][..]),
            NetEvent::Text(from, text) => {
                let bytes = text.as_bytes();
                (new(5, bytes).with_address(from), bytes)
            }
            NetEvent::Bytes(from, bytes) => (new(6, bytes).with_address(from), bytes),
        };
        write(&mut self.0, header, payload);
    }
}

/// The end of objects that events arrive at.
pub(crate) struct EventReader {
    ring: Consumer<u8>,
    frame: Frame,
    header: Option<Header>,
}

impl EventReader {
    pub(crate) fn new(ring: Consumer<u8>) -> Self {
        Self {
            ring,
            frame: Frame::new(),
            header: None,
        }
    }

    /// Takes the next event in, unless there is one already; returns false if there is none.
    ///
    /// Real-time: hot.
    pub(crate) fn advance(&mut self) -> bool {
        if self.header.is_none() {
            self.header = self.frame.read(&mut self.ring);
        }
        self.header.is_some()
    }

    /// The event that was taken in.
    ///
    /// Real-time: hot.
    pub(crate) fn current(&self) -> Option<(SocketId, NetEvent<'_>)> {
        let header = self.header.as_ref()?;
        let event = match header.kind {
            0 => NetEvent::Connected,
            1 => NetEvent::Ended(self.frame.text()),
            2 => NetEvent::Trouble(self.frame.text()),
            3 => NetEvent::Opened(header.address()),
            4 => NetEvent::Closed,
            5 => NetEvent::Text(header.address(), self.frame.text()),
            _ => NetEvent::Bytes(header.address(), &self.frame.payload),
        };
        Some((header.socket, event))
    }

    /// Forgets it.
    ///
    /// Real-time: hot.
    pub(crate) fn forget(&mut self) {
        self.header = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_events_come_as_they_were_written() {
        let socket = SocketId {
            object: 7,
            number: 70_000,
        };
        let format = SocketFormat {
            is_udp: true,
            is_binary: false,
        };
        let commands = [
            NetCommand::Connect {
                format,
                host: "localhost",
                port: 65_535,
                source: 9,
            },
            NetCommand::Listen {
                format,
                host: "",
                port: 1,
            },
            NetCommand::Send(b"foo;\n"),
            NetCommand::Close,
        ];
        let (producer, consumer) = ring();
        let (mut writer, mut reader) = (CommandWriter(producer), CommandReader::new(consumer));
        for command in commands.iter().cycle().take(30_000) {
            assert!(writer.write(socket, *command));
            assert_eq!(reader.read(), Some((socket, *command)));
        }
        assert!(!writer.write(socket, NetCommand::Send(&[0; MAX_MESSAGE + 1])));
        assert_eq!(reader.read(), None);
        let (four, six) = ("127.0.0.1:80".parse(), "[::1]:65535".parse());
        let (four, six) = (four.expect("an address"), six.expect("an address"));
        let events = [
            NetEvent::Connected,
            NetEvent::Ended("why"),
            NetEvent::Trouble(""),
            NetEvent::Opened(six),
            NetEvent::Closed,
            NetEvent::Text(four, "foo 1"),
            NetEvent::Bytes(six, &[0, 255]),
        ];
        let (producer, consumer) = ring();
        let (mut writer, mut reader) = (EventWriter(producer), EventReader::new(consumer));
        for event in events.iter().cycle().take(30_000) {
            writer.write(socket, *event);
            assert!(reader.advance());
            assert_eq!(reader.current(), Some((socket, *event)));
            reader.forget();
        }
        assert!(!reader.advance());
    }
}
