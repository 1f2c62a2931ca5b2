//! [`Connections`]: the connections of a client that are kept with its session, made again whenever a port appears.
//!
//! A server may not be asked for connections in its own callbacks. These set a flag, and the thread that asks for the
//! driver's state connects.

use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, PoisonError};

use super::client::{Client, PortDirection, c_string};
use super::library::{RawPort, text};
use crate::PortConnections;

/// A port of our own.
struct OwnPort {
    /// Name without the client's.
    name: String,
    full_name: CString,
    direction: PortDirection,
}

/// A connection that is wanted.
struct WantedConnection {
    /// Index of our port.
    own: usize,
    other: CString,
    /// True if the other port was there at the last look: what the user disconnects stays so.
    was_there: bool,
}

/// Connections of one client.
pub(super) struct Connections {
    ports: Vec<OwnPort>,
    wanted: Mutex<Vec<WantedConnection>>,
}

impl Connections {
    /// The connections that are wanted of these ports.
    pub(super) fn new<'a>(
        client: &Client,
        ports: impl Iterator<Item = (*mut RawPort, PortDirection)>,
        wanted: impl Iterator<Item = &'a PortConnections>,
    ) -> Self {
        let own = |(port, direction)| {
            let full_name = client.port_name(port);
            let shown = full_name.to_string_lossy();
            let name = shown.split_once(':').map_or(&*shown, |(_, name)| name);
            OwnPort {
                name: name.to_owned(),
                full_name,
                direction,
            }
        };
        let ports: Vec<OwnPort> = ports.map(own).collect();
        let mut all = Vec::new();
        for connections in wanted {
            let found = ports.iter().position(|port| port.name == connections.port);
            let Some(own) = found else {
                continue;
            };
            all.extend(connections.others.iter().map(|other| WantedConnection {
                own,
                other: c_string(other),
                was_there: false,
            }));
        }
        Self {
            ports,
            wanted: Mutex::new(all),
        }
    }

    /// Makes the connections to ports that have appeared since the last call.
    ///
    /// Real-time: setup.
    pub(super) fn restore(&self, client: &Client) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        for connection in wanted.iter_mut() {
            let is_there = client.has_port(&connection.other);
            if is_there && !connection.was_there {
                let own = &self.ports[connection.own];
                match own.direction {
                    PortDirection::Input => client.connect_ports(&connection.other, &own.full_name),
                    PortDirection::Output => {
                        client.connect_ports(&own.full_name, &connection.other);
                    }
                }
            }
            connection.was_there = is_there;
        }
    }

    /// The connections that there are now, of ports that have any.
    ///
    /// Real-time: setup.
    pub(super) fn current(&self, client: &Client) -> Vec<PortConnections> {
        let connections = self.ports.iter().map(|port| PortConnections {
            port: port.name.clone(),
            others: client.connections_of(&port.full_name),
        });
        connections.filter(|it| !it.others.is_empty()).collect()
    }
}

impl Client {
    /// Full name of a port of our own.
    fn port_name(&self, port: *mut RawPort) -> CString {
        // SAFETY: the port is ours and lives as long as the client; its name is a C string.
        c_string(&unsafe { text((self.library.functions.jack_port_name)(port)) })
    }

    fn has_port(&self, name: &CStr) -> bool {
        // SAFETY: the client is open, and the name a C string.
        unsafe { !(self.library.functions.jack_port_by_name)(self.raw, name.as_ptr()).is_null() }
    }

    /// Connects an output to an input. A refusal (they are connected, or of different types) changes nothing.
    fn connect_ports(&self, from: &CStr, to: &CStr) {
        // SAFETY: the client is active, and both names are C strings.
        unsafe { (self.library.functions.jack_connect)(self.raw, from.as_ptr(), to.as_ptr()) };
    }

    fn connections_of(&self, name: &CStr) -> Vec<String> {
        let f = &self.library.functions;
        let mut names = Vec::new();
        // SAFETY: the client is open; a port that is gone is null; the list is null or one of C strings that ends with
        // null, and ours to free.
        unsafe {
            let port = (f.jack_port_by_name)(self.raw, name.as_ptr());
            if port.is_null() {
                return names;
            }
            let list = (f.jack_port_get_all_connections)(self.raw, port);
            if list.is_null() {
                return names;
            }
            let mut next: *const *const c_char = list;
            while !(*next).is_null() {
                names.push(text(*next));
                next = next.add(1);
            }
            (f.jack_free)(list.cast());
        }
        names.sort_unstable();
        names
    }
}
