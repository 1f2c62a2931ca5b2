//! The ports of a JACK server and their connections, as [`Connections`](crate::connections::Connections) asks for them.
//!
//! A server may not be asked in its own callbacks. These set a flag, and the thread that asks for the driver's state
//! connects.

use std::ffi::{CString, c_char};

use super::client::{Client, c_string};
use super::library::RawPort;
use crate::connections::{OwnPort, PortDirection, PortGraph};
use crate::loaded::text;

impl Client {
    /// A port of our own, by its full name.
    pub(super) fn own_port(
        &self,
        port: *mut RawPort,
        direction: PortDirection,
    ) -> OwnPort<CString> {
        // SAFETY: the port is ours and lives as long as the client; its name is a C string.
        let full_name = unsafe { text((self.library.functions.jack_port_name)(port)) };
        let name = full_name
            .split_once(':')
            .map_or(&*full_name, |(_, name)| name);
        OwnPort {
            name: name.to_owned(),
            port: c_string(&full_name),
            direction,
        }
    }
}

impl PortGraph<CString> for Client {
    fn has_port(&self, name: &str) -> bool {
        let name = c_string(name);
        // SAFETY: the client is open, and the name a C string.
        unsafe { !(self.library.functions.jack_port_by_name)(self.raw, name.as_ptr()).is_null() }
    }

    fn connect(&self, own: &OwnPort<CString>, other: &str) -> bool {
        let other = c_string(other);
        let (from, to) = match own.direction {
            PortDirection::Input => (&other, &own.port),
            PortDirection::Output => (&own.port, &other),
        };
        // SAFETY: the client is active, and both names are C strings.
        let error =
            unsafe { (self.library.functions.jack_connect)(self.raw, from.as_ptr(), to.as_ptr()) };
        matches!(error, 0 | libc::EEXIST)
    }

    fn connections_of(&self, own: &OwnPort<CString>) -> Vec<String> {
        let f = &self.library.functions;
        let mut names = Vec::new();
        // SAFETY: the client is open; a port that is gone is null; the list is null or one of C strings that ends with
        // null, and ours to free.
        unsafe {
            let port = (f.jack_port_by_name)(self.raw, own.port.as_ptr());
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
