//! [`Client`]: calls to a JACK server, never from a callback.

use std::ffi::{CStr, CString, c_char, c_ulong, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use units::Frames;

use super::callbacks::{self, ClientState};
use super::library::{Functions, LatencyRange, Library, RawClient, RawPort};
use super::transport::{self, Commander};
use crate::connections::PortDirection;
use crate::{DriverError, Timebase};

const AUDIO: &CStr = c"32 bit float mono audio";
const MIDI: &CStr = c"8 bit raw midi";
const NO_START_SERVER: u32 = 1;
const SERVER_NAME: u32 = 4;
const IS_PHYSICAL: c_ulong = 4;

/// The server of our clients and their number; locked while one is opened or closed.
///
/// The libraries keep tables of clients that they don't guard, and a JACK server's knows one server at a time: a client
/// on a second one would crash both. PipeWire's can talk to several and is not counted.
static CLIENTS: Mutex<Clients> = Mutex::new(Clients {
    server: None,
    count: 0,
});

struct Clients {
    server: Option<String>,
    count: usize,
}

/// The tables, also after a panic: they are changed in one go.
fn clients() -> MutexGuard<'static, Clients> {
    CLIENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PortDirection {
    /// Flag of our port in `jack.h`.
    fn ours(self) -> c_ulong {
        match self {
            Self::Input => 1,
            Self::Output => 2,
        }
    }

    /// Flag of the device's port that we connect to.
    fn theirs(self) -> c_ulong {
        match self {
            Self::Input => Self::Output.ours(),
            Self::Output => Self::Input.ours(),
        }
    }
}

/// A client's handle; closed when dropped.
pub(crate) struct Client {
    pub(super) library: &'static Library,
    pub(super) raw: *mut RawClient,
    /// False once it is closed.
    is_open: Arc<Mutex<bool>>,
}

// SAFETY: a client may be used from any thread; we never do so from two at once but as `jack.h` allows.
unsafe impl Send for Client {}

impl Client {
    /// Opens a client on a server that runs; never starts one.
    pub(crate) fn open(
        library: &'static Library,
        name: &str,
        server: Option<&str>,
    ) -> Result<Self, DriverError> {
        let mut clients = clients();
        let counts = !library.is_pipewire();
        if counts && clients.count > 0 && clients.server.as_deref() != server {
            return Err(DriverError::Refused("a second server at the same time"));
        }
        if counts {
            clients.server = server.map(str::to_owned);
        }
        let name = c_string(&client_name(name));
        let server = server.map(c_string);
        let open = library.functions.jack_client_open;
        let mut status = 0;
        // SAFETY: all strings live through the call, and the option announces the one more argument.
        let raw = unsafe {
            match &server {
                None => open(name.as_ptr(), NO_START_SERVER, &mut status),
                Some(server) => {
                    let options = NO_START_SERVER | SERVER_NAME;
                    open(name.as_ptr(), options, &mut status, server.as_ptr())
                }
            }
        };
        if raw.is_null() {
            return Err(refusal(status));
        }
        clients.count += usize::from(counts);
        let is_open = Arc::new(Mutex::new(true));
        Ok(Self {
            library,
            raw,
            is_open,
        })
    }

    fn functions(&self) -> &'static Functions {
        &self.library.functions
    }

    /// A handle for commands of the transport.
    pub(crate) fn commander(&self) -> Commander {
        Commander {
            library: self.library,
            raw: self.raw,
            is_open: self.is_open.clone(),
        }
    }

    /// Makes this client the one that gives bars and beats to the server's transport.
    ///
    /// # Safety
    /// `timebase` stays where it is until the client is closed.
    pub(crate) unsafe fn give_timebase(&self, timebase: &Timebase) -> Result<(), DriverError> {
        let arg = std::ptr::from_ref(timebase).cast_mut().cast::<c_void>();
        let set = self.functions().jack_set_timebase_callback;
        // SAFETY: the client is open, and `arg` is what the callback expects, as the caller says.
        match unsafe { set(self.raw, 0, Some(transport::timebase), arg) } {
            0 => Ok(()),
            _ => Err(DriverError::Refused("to give bars and beats")),
        }
    }

    /// Frames a second.
    pub(crate) fn rate(&self) -> u32 {
        // SAFETY: the client is open.
        unsafe { (self.functions().jack_get_sample_rate)(self.raw) }
    }

    /// Buffer size in frames.
    pub(crate) fn buffer(&self) -> u32 {
        // SAFETY: the client is open.
        unsafe { (self.functions().jack_get_buffer_size)(self.raw) }
    }

    /// The callback thread's real-time priority, where it will have one.
    pub(crate) fn priority(&self) -> Option<i32> {
        // SAFETY: the client is open.
        let (real_time, priority) = unsafe {
            (
                (self.functions().jack_is_realtime)(self.raw),
                (self.functions().jack_client_real_time_priority)(self.raw),
            )
        };
        (real_time != 0 && priority > 0).then_some(priority)
    }

    /// Latency of the device's own inputs and outputs together.
    pub(crate) fn device_latency(&self) -> Frames {
        let one_direction = |direction: PortDirection| {
            let mut most = 0;
            for name in self.device_ports(direction) {
                let mut range = LatencyRange::default();
                // Inputs of ours capture (mode 0), outputs play back (mode 1).
                let mode = u32::from(direction == PortDirection::Output);
                // SAFETY: the client is open, the name is a C string, a port that is gone is null.
                unsafe {
                    let port = (self.functions().jack_port_by_name)(self.raw, name.as_ptr());
                    if !port.is_null() {
                        (self.functions().jack_port_get_latency_range)(port, mode, &mut range);
                    }
                }
                most = most.max(range.max);
            }
            most
        };
        Frames(
            one_direction(PortDirection::Input)
                .saturating_add(one_direction(PortDirection::Output)),
        )
    }

    /// Makes `count` ports of our own, `in_1` or `out_1` and so on.
    pub(crate) fn register(
        &self,
        direction: PortDirection,
        count: u16,
    ) -> Result<Vec<*mut RawPort>, DriverError> {
        let word = match direction {
            PortDirection::Input => "in",
            PortDirection::Output => "out",
        };
        let names = (1..=count).map(|channel| format!("{word}_{channel}"));
        names
            .map(|name| self.register_port(&name, AUDIO, direction))
            .collect()
    }

    /// Makes MIDI ports with these names.
    pub(crate) fn register_midi(
        &self,
        direction: PortDirection,
        names: &[String],
    ) -> Result<Vec<*mut RawPort>, DriverError> {
        let names = names.iter().map(|name| client_name(name));
        names
            .map(|name| self.register_port(&name, MIDI, direction))
            .collect()
    }

    fn register_port(
        &self,
        name: &str,
        port_type: &CStr,
        direction: PortDirection,
    ) -> Result<*mut RawPort, DriverError> {
        let name = c_string(name);
        // SAFETY: the client is open, and both strings live through the call.
        let port = unsafe {
            let register = self.functions().jack_port_register;
            let (name, port_type) = (name.as_ptr(), port_type.as_ptr());
            register(self.raw, name, port_type, direction.ours(), 0)
        };
        match port.is_null() {
            true => Err(DriverError::Refused("another port")),
            false => Ok(port),
        }
    }

    /// Activates the client: the server calls our callbacks from now on.
    ///
    /// # Safety
    /// `stage` stays where it is until the client is closed.
    pub(crate) unsafe fn activate(&self, stage: &ClientState) -> Result<(), DriverError> {
        let f = self.functions();
        let arg = std::ptr::from_ref(stage).cast_mut().cast::<c_void>();
        // SAFETY: the client is open and not active, the callbacks are of the types that `jack.h` names, and `arg` is
        // what they expect for as long as they are called, as the caller says.
        let failed = unsafe {
            (f.jack_set_thread_init_callback)(self.raw, Some(callbacks::thread_begins), arg)
                | (f.jack_set_process_callback)(self.raw, Some(callbacks::process), arg)
                | (f.jack_set_sample_rate_callback)(self.raw, Some(callbacks::rate), arg)
                | (f.jack_set_xrun_callback)(self.raw, Some(callbacks::xrun), arg)
                | (f.jack_set_freewheel_callback)(self.raw, Some(callbacks::freewheel), arg)
                | (f.jack_set_port_registration_callback)(
                    self.raw,
                    Some(callbacks::port_registered),
                    arg,
                )
                | (f.jack_set_port_connect_callback)(
                    self.raw,
                    Some(callbacks::ports_connected),
                    arg,
                )
        };
        // Some versions of PipeWire's library know only the older of the two; a JACK server calls one.
        // SAFETY: as above.
        unsafe {
            (f.jack_on_shutdown)(self.raw, Some(callbacks::shutdown), arg);
            (f.jack_on_info_shutdown)(self.raw, Some(callbacks::info_shutdown), arg);
        }
        // SAFETY: as above.
        if failed != 0 || unsafe { (f.jack_activate)(self.raw) } != 0 {
            return Err(DriverError::Refused("to begin"));
        }
        Ok(())
    }

    /// Connects our k-th port to the device's k-th, in each direction, as far as both have it. A port that is null is
    /// left out.
    pub(crate) fn connect(&self, inputs: &[*mut RawPort], outputs: &[*mut RawPort]) {
        let connect = self.functions().jack_connect;
        let name = self.functions().jack_port_name;
        // SAFETY: the client is active, our ports live as long as it, and names are C strings. A refusal leaves the
        // port open to be connected by hand.
        unsafe {
            for (theirs, &ours) in self.device_ports(PortDirection::Input).iter().zip(inputs) {
                if !ours.is_null() {
                    connect(self.raw, theirs.as_ptr(), name(ours));
                }
            }
            for (theirs, &ours) in self.device_ports(PortDirection::Output).iter().zip(outputs) {
                if !ours.is_null() {
                    connect(self.raw, name(ours), theirs.as_ptr());
                }
            }
        }
    }

    /// Number of channels of the device that come to us and that go from us.
    pub(crate) fn device_channels(&self) -> (usize, usize) {
        let count = |direction| self.device_ports(direction).len();
        (count(PortDirection::Input), count(PortDirection::Output))
    }

    /// Names of the device's ports that our ports of this direction connect to.
    fn device_ports(&self, direction: PortDirection) -> Vec<CString> {
        let flags = IS_PHYSICAL | direction.theirs();
        let mut names = Vec::new();
        // SAFETY: the client is open; the answer is null or a list of C strings that ends with null, and ours to free.
        unsafe {
            let get = self.functions().jack_get_ports;
            let list = get(self.raw, std::ptr::null(), AUDIO.as_ptr(), flags);
            if list.is_null() {
                return names;
            }
            let mut next: *const *const c_char = list;
            while !(*next).is_null() {
                names.push(CStr::from_ptr(*next).to_owned());
                next = next.add(1);
            }
            (self.functions().jack_free)(list.cast());
        }
        names
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut clients = clients();
        let is_open = &mut *self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        *is_open = false;
        // SAFETY: the client is open, and this is the last call on it. Both may fail when the server is gone: the
        // library still ends its threads.
        unsafe {
            (self.functions().jack_deactivate)(self.raw);
            (self.functions().jack_client_close)(self.raw);
        }
        clients.count -= usize::from(!self.library.is_pipewire());
    }
}

/// A name that both servers take: at most 48 bytes, no colon, not empty.
fn client_name(wanted: &str) -> String {
    let mut name: String = wanted
        .chars()
        .map(|c| if c == ':' || c.is_control() { '-' } else { c })
        .collect();
    while name.len() > 48 {
        name.pop();
    }
    if name.is_empty() {
        "divisi".to_owned()
    } else {
        name
    }
}

/// For C; cut at a zero.
pub(super) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).expect("it was cut before the first zero")
}

/// The error for the status of a client that could not be opened.
fn refusal(status: u32) -> DriverError {
    const SERVER_FAILED: u32 = 0x10;
    const NAME_NOT_UNIQUE: u32 = 0x04;
    const VERSION_ERROR: u32 = 0x400;
    if status & SERVER_FAILED != 0 {
        DriverError::NoServer
    } else if status & VERSION_ERROR != 0 {
        DriverError::Refused("this version of its library")
    } else if status & NAME_NOT_UNIQUE != 0 {
        DriverError::Refused("a client of this name")
    } else {
        DriverError::NoServer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_server_refuses_are_mended() {
        assert_eq!(client_name("divisi"), "divisi");
        assert_eq!(client_name("a:b\0c"), "a-b-c");
        assert_eq!(client_name(""), "divisi");
        assert_eq!(client_name(&"ü".repeat(100)), "ü".repeat(24));
        assert_eq!(c_string("a\0b"), c"a".to_owned());
    }
}
