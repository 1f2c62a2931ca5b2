//! [`Client`]: a client of ALSA's sequencer, through libasound.

use std::ffi::{CString, c_int, c_long, c_uint};
use std::ptr::null_mut;

use units::Nanos;

use super::library::{
    RawAddress, RawClientInfo, RawEvent, RawPortInfo, RawQueueStatus, RawSequencer, RawSubscribers,
    RawTranslator, SequencerFunctions,
};
use super::thread::{Received, Sequencer};
use crate::alsa::library::{Library, check};
use crate::alsa::stream::Errno;
use crate::connections::{OwnPort, PortDirection, PortGraph};
use crate::loaded::text;
use crate::{DriverConfig, MAX_SYSEX_BYTES};

const DUPLEX: c_int = 3;
const NONBLOCK: c_int = 1;
/// Capabilities of ports (`alsa/seq.h`).
const READ: c_uint = 1;
const WRITE: c_uint = 1 << 1;
const SUBSCRIBE_READ: c_uint = 1 << 5;
const SUBSCRIBE_WRITE: c_uint = 1 << 6;
const NO_EXPORT: c_uint = 1 << 7;
/// Types of ports: generic MIDI, of an application.
const MIDI_GENERIC: c_uint = 1 << 1;
const APPLICATION: c_uint = 1 << 20;
/// Kinds of events.
const START_QUEUE: c_int = 30;
const PORTS_CHANGED: std::ops::RangeInclusive<u8> = 60..=67;
const NO_EVENT: u8 = 255;
/// Flags of events: a time in seconds; those of the length.
const REAL_TIME: u8 = 1;
const LENGTH_FLAGS: u8 = 0b1100;
/// The port that announces all others.
const ANNOUNCE: RawAddress = RawAddress { client: 0, port: 1 };
/// All ports that are connected to ours.
const SUBSCRIBERS: RawAddress = RawAddress {
    client: 254,
    port: 253,
};
/// Most ports of the system that are looked at.
const MAX_PORTS: usize = 4096;

/// A client with a queue that stamps and sends, and our ports. It is closed when dropped.
pub(super) struct Client {
    functions: &'static SequencerFunctions,
    raw: *mut RawSequencer,
    status: *mut RawQueueStatus,
    queue: c_int,
    inputs: Vec<OwnPort<i32>>,
    outputs: Vec<OwnPort<i32>>,
    decoder: Translator,
    /// One for each output: a message comes in parts.
    encoders: Vec<Translator>,
}

// SAFETY: a client may be used from any thread, one at a time; we give it to one.
unsafe impl Send for Client {}

/// Translates between events and bytes. It is freed when dropped.
pub(super) struct Translator {
    functions: &'static SequencerFunctions,
    raw: *mut RawTranslator,
}

impl Translator {
    pub(super) fn new(functions: &'static SequencerFunctions) -> Option<Self> {
        let mut raw = null_mut();
        // SAFETY: `raw` is ours to write.
        let made = unsafe { (functions.snd_midi_event_new)(MAX_SYSEX_BYTES, &mut raw) };
        if made < 0 || raw.is_null() {
            return None;
        }
        // SAFETY: it exists. Each message has its status byte.
        unsafe { (functions.snd_midi_event_no_status)(raw, 1) };
        Some(Self { functions, raw })
    }

    /// The bytes of an event, and their number; an error for an event that has none.
    ///
    /// # Safety
    /// `event` came from the library, and what it points to is still there.
    pub(super) unsafe fn decode(
        &mut self,
        event: &RawEvent,
        bytes: &mut [u8],
    ) -> Result<usize, Errno> {
        let decode = self.functions.snd_midi_event_decode;
        let len = bytes.len() as c_long;
        // SAFETY: there is room for `len` bytes, and the event is whole, as the caller says.
        let count = unsafe { decode(self.raw, bytes.as_mut_ptr(), len, event) };
        usize::try_from(count).map_err(|_| Errno(-count as i32))
    }

    /// The first event that `bytes` complete, and the number of bytes that it took. A long message becomes several events.
    /// It may point to memory of this translator.
    pub(super) fn encode(&mut self, bytes: &[u8]) -> Option<(usize, RawEvent)> {
        let encode = self.functions.snd_midi_event_encode;
        let mut event = RawEvent::NONE;
        // SAFETY: the bytes are there, and `event` is ours to write.
        let taken = unsafe { encode(self.raw, bytes.as_ptr(), bytes.len() as c_long, &mut event) };
        match usize::try_from(taken) {
            Ok(taken @ 1..) => Some((taken, event)),
            _ => None,
        }
    }
}

impl Drop for Translator {
    fn drop(&mut self) {
        // SAFETY: it exists, and nobody uses it after this.
        unsafe { (self.functions.snd_midi_event_free)(self.raw) };
    }
}

impl Client {
    /// Opens a client with the ports that `config` asks for. An error says what to do.
    pub(super) fn open(config: &DriverConfig) -> Result<Self, String> {
        let library = Library::load().map_err(|error| error.to_string())?;
        let functions = library.sequencer.as_ref();
        let functions = functions.ok_or("this libasound has no sequencer")?;
        let decoder = Translator::new(functions).ok_or("there is no memory for them")?;
        let mut raw = null_mut();
        // SAFETY: the name is a C string, and `raw` is ours to write.
        let opened =
            unsafe { (functions.snd_seq_open)(&mut raw, c"default".as_ptr(), DUPLEX, NONBLOCK) };
        check(opened).map_err(|error| refusal(library, error))?;
        let mut client = Self {
            functions,
            raw,
            status: null_mut(),
            queue: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            decoder,
            encoders: Vec::new(),
        };
        client
            .prepare(config)
            .map_err(|error| refusal(library, error))?;
        Ok(client)
    }

    fn prepare(&mut self, config: &DriverConfig) -> Result<(), Errno> {
        let f = self.functions;
        let name = c_name(&config.name);
        // SAFETY: the client is open, the name is a C string, and `status` is ours to write.
        unsafe {
            check((f.snd_seq_set_client_name)(self.raw, name.as_ptr()))?;
            check((f.snd_seq_queue_status_malloc)(&mut self.status))?;
            self.queue = check((f.snd_seq_alloc_queue)(self.raw))?;
            check((f.snd_seq_control_queue)(
                self.raw,
                self.queue,
                START_QUEUE,
                0,
                null_mut(),
            ))?;
            check((f.snd_seq_drain_output)(self.raw))?;
        }
        for name in &config.midi_inputs {
            let port = self.own_port(name, PortDirection::Input)?;
            self.inputs.push(port);
        }
        for name in &config.midi_outputs {
            let port = self.own_port(name, PortDirection::Output)?;
            self.outputs.push(port);
            let encoder = Translator::new(f).ok_or(Errno(libc::ENOMEM))?;
            self.encoders.push(encoder);
        }
        // The last one, so that the others count from 0.
        let listener = self.create_port("", WRITE | NO_EXPORT, 0)?;
        let (from, port) = (ANNOUNCE.client.into(), ANNOUNCE.port.into());
        // SAFETY: the client is open.
        check(unsafe { (f.snd_seq_connect_from)(self.raw, listener, from, port) }).map(drop)
    }

    fn own_port(&self, name: &str, direction: PortDirection) -> Result<OwnPort<i32>, Errno> {
        let capability = match direction {
            PortDirection::Input => WRITE | SUBSCRIBE_WRITE,
            PortDirection::Output => READ | SUBSCRIBE_READ,
        };
        let port = self.create_port(name, capability, MIDI_GENERIC | APPLICATION)?;
        Ok(OwnPort {
            name: name.to_owned(),
            port,
            direction,
        })
    }

    /// A port whose events are stamped in seconds by our queue.
    fn create_port(&self, name: &str, capability: c_uint, kind: c_uint) -> Result<i32, Errno> {
        let f = self.functions;
        let name = c_name(name);
        let mut info: *mut RawPortInfo = null_mut();
        // SAFETY: the client is open, `info` is ours from `malloc` to `free`, and the name is a C string.
        unsafe {
            check((f.snd_seq_port_info_malloc)(&mut info))?;
            (f.snd_seq_port_info_set_name)(info, name.as_ptr());
            (f.snd_seq_port_info_set_capability)(info, capability);
            (f.snd_seq_port_info_set_type)(info, kind);
            (f.snd_seq_port_info_set_timestamping)(info, 1);
            (f.snd_seq_port_info_set_timestamp_real)(info, 1);
            (f.snd_seq_port_info_set_timestamp_queue)(info, self.queue);
            let made = check((f.snd_seq_create_port)(self.raw, info));
            let port = (f.snd_seq_port_info_get_port)(info);
            (f.snd_seq_port_info_free)(info);
            made.map(|_| port)
        }
    }

    /// All ports of the system with their full names.
    fn all_ports(&self) -> Vec<(String, RawAddress)> {
        let f = self.functions;
        let mut all = Vec::new();
        let (mut client, mut port): (*mut RawClientInfo, *mut RawPortInfo) =
            (null_mut(), null_mut());
        // SAFETY: the client is open; both infos are ours from `malloc` to `free`; names are C strings of theirs.
        unsafe {
            if (f.snd_seq_client_info_malloc)(&mut client) < 0 {
                return all;
            }
            if (f.snd_seq_port_info_malloc)(&mut port) < 0 {
                (f.snd_seq_client_info_free)(client);
                return all;
            }
            (f.snd_seq_client_info_set_client)(client, -1);
            while (f.snd_seq_query_next_client)(self.raw, client) >= 0 {
                let number = (f.snd_seq_client_info_get_client)(client);
                let client_name = text((f.snd_seq_client_info_get_name)(client));
                (f.snd_seq_port_info_set_client)(port, number);
                (f.snd_seq_port_info_set_port)(port, -1);
                while all.len() < MAX_PORTS && (f.snd_seq_query_next_port)(self.raw, port) >= 0 {
                    let address = RawAddress {
                        client: number as u8,
                        port: (f.snd_seq_port_info_get_port)(port) as u8,
                    };
                    let name = text((f.snd_seq_port_info_get_name)(port));
                    all.push((format!("{client_name}:{name}"), address));
                }
            }
            (f.snd_seq_port_info_free)(port);
            (f.snd_seq_client_info_free)(client);
        }
        all
    }

    /// Ports that are connected to a port of ours.
    fn subscribers(&self, own: &OwnPort<i32>) -> Vec<RawAddress> {
        let f = self.functions;
        let mut info: *mut RawSubscribers = null_mut();
        let mut found = Vec::new();
        // SAFETY: the client is open, `info` is ours from `malloc` to `free`, and an address of it is valid in between.
        unsafe {
            let client = (f.snd_seq_client_id)(self.raw);
            if client < 0 || (f.snd_seq_query_subscribe_malloc)(&mut info) < 0 {
                return found;
            }
            let root = RawAddress {
                client: client as u8,
                port: own.port as u8,
            };
            (f.snd_seq_query_subscribe_set_root)(info, &root);
            let kind = c_int::from(own.direction == PortDirection::Input);
            (f.snd_seq_query_subscribe_set_type)(info, kind);
            for index in 0..MAX_PORTS {
                (f.snd_seq_query_subscribe_set_index)(info, index as c_int);
                if (f.snd_seq_query_port_subscribers)(self.raw, info) < 0 {
                    break;
                }
                let address = (f.snd_seq_query_subscribe_get_addr)(info);
                if !address.is_null() {
                    found.push(*address);
                }
            }
            (f.snd_seq_query_subscribe_free)(info);
        }
        found
    }
}

impl PortGraph<i32> for Client {
    fn has_port(&self, name: &str) -> bool {
        self.all_ports().iter().any(|(known, _)| known == name)
    }

    fn connect(&self, own: &OwnPort<i32>, other: &str) -> bool {
        let ports = self.all_ports();
        let Some((_, address)) = ports.iter().find(|(name, _)| name == other) else {
            return false;
        };
        let connect = match own.direction {
            PortDirection::Input => self.functions.snd_seq_connect_from,
            PortDirection::Output => self.functions.snd_seq_connect_to,
        };
        let (client, port) = (address.client.into(), address.port.into());
        // SAFETY: the client is open.
        let error = unsafe { connect(self.raw, own.port, client, port) };
        error == 0 || error == -libc::EBUSY
    }

    fn connections_of(&self, own: &OwnPort<i32>) -> Vec<String> {
        let (ports, subscribers) = (self.all_ports(), self.subscribers(own));
        let connected = ports.into_iter().filter(|(_, it)| subscribers.contains(it));
        let mut names: Vec<String> = connected.map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }
}

impl Sequencer for Client {
    fn own_ports(&self) -> Vec<OwnPort<i32>> {
        let all = self.inputs.iter().chain(&self.outputs);
        all.map(OwnPort::clone).collect()
    }

    fn time(&mut self) -> Result<Nanos, Errno> {
        let f = self.functions;
        // SAFETY: the client and its status exist, and the time is part of the status.
        let [seconds, nanos] = unsafe {
            check((f.snd_seq_get_queue_status)(
                self.raw,
                self.queue,
                self.status,
            ))?;
            *(f.snd_seq_queue_status_get_real_time)(self.status)
        };
        Ok(Nanos(u64::from(seconds) * 1_000_000_000 + u64::from(nanos)))
    }

    fn wait(&mut self, timeout_ms: i32) -> Result<(), Errno> {
        let mut descriptor = libc::pollfd {
            fd: -1,
            events: 0,
            revents: 0,
        };
        let poll_descriptors = self.functions.snd_seq_poll_descriptors;
        // SAFETY: the client is open, and there is room for one descriptor, which is as many as it has.
        let polled = unsafe {
            poll_descriptors(self.raw, &mut descriptor, 1, libc::POLLIN);
            libc::poll(&mut descriptor, 1, timeout_ms)
        };
        match polled {
            0.. => Ok(()),
            _ => Err(Errno(
                std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
            )),
        }
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<Received, Errno> {
        let mut event: *mut RawEvent = null_mut();
        // SAFETY: the client is open, and `event` is ours to write.
        match check(unsafe { (self.functions.snd_seq_event_input)(self.raw, &mut event) }) {
            Err(Errno::AGAIN) => return Ok(Received::Nothing),
            Err(Errno(libc::ENOSPC)) => return Ok(Received::Overrun),
            answer => answer?,
        };
        if event.is_null() {
            return Ok(Received::Nothing);
        }
        // SAFETY: the event stays until the next call of the library.
        let event = unsafe { &*event };
        if PORTS_CHANGED.contains(&event.kind) {
            return Ok(Received::PortsChanged);
        }
        let port = i32::from(event.dest.port);
        let Some(port) = self.inputs.iter().position(|own| own.port == port) else {
            return Ok(Received::Other);
        };
        let [seconds, nanos] = event.time;
        let at = Nanos(u64::from(seconds) * 1_000_000_000 + u64::from(nanos));
        // SAFETY: the event came from the library just now.
        match unsafe { self.decoder.decode(event, bytes) } {
            Ok(0) => Ok(Received::Other),
            Ok(len) => Ok(Received::Midi {
                port: port as u16,
                at,
                len,
            }),
            Err(Errno(libc::ENOMEM)) => Ok(Received::TooLong),
            Err(_) => Ok(Received::Other),
        }
    }

    fn send(&mut self, port: u16, at: Nanos, mut bytes: &[u8]) -> Result<(), Errno> {
        let index = usize::from(port);
        let (Some(own), Some(encoder)) = (self.outputs.get(index), self.encoders.get_mut(index))
        else {
            return Ok(());
        };
        while let Some((taken, mut event)) = encoder.encode(bytes) {
            bytes = bytes.get(taken..).unwrap_or_default();
            if event.kind == NO_EVENT {
                continue;
            }
            event.flags = event.flags & LENGTH_FLAGS | REAL_TIME;
            event.queue = self.queue as u8;
            let second = 1_000_000_000;
            event.time = [(at.0 / second) as u32, (at.0 % second) as u32];
            event.source.port = own.port as u8;
            event.dest = SUBSCRIBERS;
            let send = self.functions.snd_seq_event_output_direct;
            // SAFETY: the client is open; the event and what it points to stay for the call.
            check(unsafe { send(self.raw, &mut event) })?;
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: both exist, and nobody uses them after this. An error leaves nothing to do.
        unsafe {
            if !self.status.is_null() {
                (self.functions.snd_seq_queue_status_free)(self.status);
            }
            (self.functions.snd_seq_close)(self.raw);
        }
    }
}

/// A name for the sequencer, which keeps 63 bytes.
fn c_name(name: &str) -> CString {
    let mut name: String = name.chars().filter(|c| !c.is_control()).collect();
    while name.len() > 63 {
        name.pop();
    }
    CString::new(name).expect("control characters, zero among them, are left out")
}

/// Why there is no sequencer, and what to do.
fn refusal(library: &Library, error: Errno) -> String {
    let advice = match error.0 {
        libc::ENOENT | libc::ENODEV => ": load ALSA's sequencer (sudo modprobe snd-seq)",
        libc::EACCES | libc::EPERM => ": add yourself to the group `audio`",
        _ => "",
    };
    let reason = library.describe(error);
    format!(
        "ALSA's sequencer cannot be opened ({reason}){advice}, or play through JACK or PipeWire"
    )
}
