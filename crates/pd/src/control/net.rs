//! [`Net`]: the sockets that objects of a patch have, here or with another thread.

use super::symbol::{Symbol, Symbols};
use crate::net::{
    CommandReader, CommandWriter, EventReader, EventWriter, MAX_MESSAGE, NetCommand, NetEvent,
    NetHub, Served, SocketId, ring,
};
use std::borrow::Cow;

/// Symbols that messages from outside may make, at most.
const MAX_SYMBOLS: usize = 65_536;
/// Bytes of messages from outside before one block, at most: the rest waits for the next.
const MAX_BYTES: usize = 1 << 16;
/// The same, in messages.
const MAX_EVENTS: usize = 1024;

/// Sockets of a patch.
pub(crate) struct Net {
    end: NetEnd,
    /// What came, until it is given to objects. Empty where there are no sockets, or while they are being given.
    pub(super) events: Option<EventReader>,
    /// New symbols that messages from outside may still make.
    symbols_left: usize,
}

enum NetEnd {
    /// No object has sockets.
    None,
    /// They are served where messages run.
    Here(NetHub, EventWriter),
    /// They are served by another thread.
    Elsewhere(CommandWriter),
}

/// State of the thread that serves sockets.
pub(crate) struct NetService {
    pub(crate) hub: NetHub,
    pub(crate) commands: CommandReader,
    pub(crate) events: EventWriter,
}

impl Default for Net {
    fn default() -> Self {
        Self {
            end: NetEnd::None,
            events: None,
            symbols_left: MAX_SYMBOLS,
        }
    }
}

impl Net {
    /// Returns true if nothing can come: no object has sockets.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.end, NetEnd::None) && self.events.is_none()
    }

    /// Makes room for sockets, as an object has asked for.
    ///
    /// Real-time: setup.
    pub(crate) fn open(&mut self) {
        if let NetEnd::None = self.end {
            let (writer, reader) = ring();
            self.end = NetEnd::Here(NetHub::default(), EventWriter(writer));
            self.events = Some(EventReader::new(reader));
        }
    }

    /// Gives the sockets away, so that another thread serves them from now on; `None` if there are none, or they are with one.
    ///
    /// Real-time: setup.
    pub(crate) fn take_service(&mut self) -> Option<NetService> {
        let (writer, reader) = match self.end {
            NetEnd::Here(..) => ring(),
            _ => return None,
        };
        let elsewhere = NetEnd::Elsewhere(CommandWriter(writer));
        match std::mem::replace(&mut self.end, elsewhere) {
            NetEnd::Here(hub, events) => Some(NetService {
                hub,
                commands: CommandReader::new(reader),
                events,
            }),
            _ => None,
        }
    }

    /// Does what an object asks for, or passes it on.
    ///
    /// Real-time: waits, on the system; hot where another thread does it.
    pub(super) fn serve(
        &mut self,
        socket: SocketId,
        command: NetCommand<'_>,
    ) -> Result<Served, Cow<'static, str>> {
        match &mut self.end {
            NetEnd::None => Ok(Served::Later),
            NetEnd::Here(hub, events) => hub.serve(socket, command, events).map_err(Cow::Owned),
            NetEnd::Elsewhere(commands) => match commands.write(socket, command) {
                true => Ok(Served::Later),
                false => Err("too much waits to be sent: a message is lost".into()),
            },
        }
    }

    /// Looks what has come, where the sockets are here.
    ///
    /// Real-time: waits, on the system; hot where another thread does it.
    pub(super) fn poll(&mut self) {
        if let NetEnd::Here(hub, events) = &mut self.end {
            hub.poll(events);
        }
    }

    /// The symbol of a word from outside; `None` if too many were made already.
    ///
    /// Real-time: as [`Symbols::intern`].
    pub(super) fn symbol(&mut self, text: &str, symbols: &mut Symbols) -> Option<Symbol> {
        if let Some(known) = symbols.find(text) {
            return Some(known);
        }
        self.symbols_left = self.symbols_left.checked_sub(1)?;
        Some(symbols.intern(text))
    }
}

/// What may still be given to objects before a block.
pub(super) struct Budget {
    bytes: usize,
    events: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            bytes: MAX_BYTES,
            events: MAX_EVENTS,
        }
    }

    /// Counts an event; false if it has to wait.
    pub(super) fn take(&mut self, event: &NetEvent<'_>) -> bool {
        let bytes = match event {
            NetEvent::Text(_, text) => text.len(),
            NetEvent::Bytes(_, bytes) => bytes.len(),
            _ => 0,
        };
        let (Some(bytes), Some(events)) =
            (self.bytes.checked_sub(bytes), self.events.checked_sub(1))
        else {
            return false;
        };
        (self.bytes, self.events) = (bytes, events);
        true
    }
}

/// Number and bytes of the symbols that an event may make, at most.
pub(super) fn symbol_counts(event: &NetEvent<'_>) -> (usize, usize) {
    /// Text of an address.
    const ADDRESS: usize = 64;
    match event {
        NetEvent::Text(_, text) => (text.len().div_ceil(2) + 1, text.len() + ADDRESS),
        NetEvent::Bytes(..) | NetEvent::Opened(_) => (1, ADDRESS),
        _ => (0, 0),
    }
}

const _: () = assert!(
    MAX_MESSAGE.div_ceil(2) < super::symbol::ROOM.0 / 2,
    "a message must fit into the memory for symbols that there always is"
);
