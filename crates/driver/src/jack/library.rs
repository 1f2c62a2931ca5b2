//! [`Library`]: finds libjack and binds its functions.
//!
//! There may be two on one machine: the JACK server's own, found by name as `libjack.so.0`, and PipeWire's, which
//! Debian keeps out of the way in `/usr/lib/*/pipewire-0.3/jack`, where only `pw-jack` looks. Both have one name, but
//! a library opened by its full path and without lending its symbols (`RTLD_LOCAL`) does not meet the other, so we
//! open each by the way that finds it and ask it for its version: PipeWire's says so. The one found by name is always
//! looked for first: the loader would else take PipeWire's, already there, for it. Where a distribution has
//! installed PipeWire's in place of JACK's, the one found by name is it.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::Library as Handle;

use super::transport::{OfTimebase, RawPosition};
use crate::DriverError;
use crate::loaded::{self, functions, text};

/// A client, as C knows it.
#[repr(C)]
pub(crate) struct RawClient(c_void);

/// A port, as C knows it.
#[repr(C)]
pub(crate) struct RawPort(c_void);

/// `jack_latency_range_t`, packed in the header too; two `u32` have no gap to pack.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct LatencyRange {
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// `jack_midi_event_t`.
#[repr(C)]
pub(crate) struct RawMidiEvent {
    pub(crate) time: u32,
    pub(crate) size: usize,
    pub(crate) buffer: *mut u8,
}

impl Default for RawMidiEvent {
    fn default() -> Self {
        Self {
            time: 0,
            size: 0,
            buffer: std::ptr::null_mut(),
        }
    }
}

type MessageCallback = Option<unsafe extern "C" fn(*const c_char)>;
type OfFrames = Option<unsafe extern "C" fn(u32, *mut c_void) -> c_int>;
type OfNothing = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
type OfPort = Option<unsafe extern "C" fn(u32, c_int, *mut c_void)>;
type OfPorts = Option<unsafe extern "C" fn(u32, u32, c_int, *mut c_void)>;
type OfSwitch = Option<unsafe extern "C" fn(c_int, *mut c_void)>;
type OfThread = Option<unsafe extern "C" fn(*mut c_void)>;
type OfShutdown = Option<unsafe extern "C" fn(c_uint, *const c_char, *mut c_void)>;

functions! {
    /// The functions of one libjack, as in `jack/jack.h`.
    Functions {
        jack_get_version_string: unsafe extern "C" fn() -> *const c_char,
        jack_set_error_function: unsafe extern "C" fn(MessageCallback),
        jack_set_info_function: unsafe extern "C" fn(MessageCallback),
        jack_client_open: unsafe extern "C" fn(*const c_char, c_uint, *mut c_uint, ...) -> *mut RawClient,
        jack_client_close: unsafe extern "C" fn(*mut RawClient) -> c_int,
        jack_activate: unsafe extern "C" fn(*mut RawClient) -> c_int,
        jack_deactivate: unsafe extern "C" fn(*mut RawClient) -> c_int,
        jack_get_sample_rate: unsafe extern "C" fn(*mut RawClient) -> u32,
        jack_get_buffer_size: unsafe extern "C" fn(*mut RawClient) -> u32,
        jack_is_realtime: unsafe extern "C" fn(*mut RawClient) -> c_int,
        jack_client_real_time_priority: unsafe extern "C" fn(*mut RawClient) -> c_int,
        jack_frames_since_cycle_start: unsafe extern "C" fn(*const RawClient) -> u32,
        jack_set_thread_init_callback: unsafe extern "C" fn(*mut RawClient, OfThread, *mut c_void) -> c_int,
        jack_set_process_callback: unsafe extern "C" fn(*mut RawClient, OfFrames, *mut c_void) -> c_int,
        jack_set_sample_rate_callback: unsafe extern "C" fn(*mut RawClient, OfFrames, *mut c_void) -> c_int,
        jack_set_xrun_callback: unsafe extern "C" fn(*mut RawClient, OfNothing, *mut c_void) -> c_int,
        jack_set_freewheel_callback: unsafe extern "C" fn(*mut RawClient, OfSwitch, *mut c_void) -> c_int,
        jack_on_info_shutdown: unsafe extern "C" fn(*mut RawClient, OfShutdown, *mut c_void),
        jack_on_shutdown: unsafe extern "C" fn(*mut RawClient, OfThread, *mut c_void),
        jack_port_register: unsafe extern "C" fn(*mut RawClient, *const c_char, *const c_char, std::ffi::c_ulong, std::ffi::c_ulong) -> *mut RawPort,
        jack_port_get_buffer: unsafe extern "C" fn(*mut RawPort, u32) -> *mut c_void,
        jack_port_name: unsafe extern "C" fn(*const RawPort) -> *const c_char,
        jack_port_by_name: unsafe extern "C" fn(*mut RawClient, *const c_char) -> *mut RawPort,
        jack_port_get_latency_range: unsafe extern "C" fn(*mut RawPort, c_uint, *mut LatencyRange),
        jack_get_ports: unsafe extern "C" fn(*mut RawClient, *const c_char, *const c_char, std::ffi::c_ulong) -> *mut *const c_char,
        jack_connect: unsafe extern "C" fn(*mut RawClient, *const c_char, *const c_char) -> c_int,
        jack_midi_get_event_count: unsafe extern "C" fn(*mut c_void) -> u32,
        jack_midi_event_get: unsafe extern "C" fn(*mut RawMidiEvent, *mut c_void, u32) -> c_int,
        jack_midi_clear_buffer: unsafe extern "C" fn(*mut c_void),
        jack_midi_event_write: unsafe extern "C" fn(*mut c_void, u32, *const u8, usize) -> c_int,
        jack_port_get_all_connections: unsafe extern "C" fn(*const RawClient, *const RawPort) -> *mut *const c_char,
        jack_set_port_registration_callback: unsafe extern "C" fn(*mut RawClient, OfPort, *mut c_void) -> c_int,
        jack_set_port_connect_callback: unsafe extern "C" fn(*mut RawClient, OfPorts, *mut c_void) -> c_int,
        jack_transport_query: unsafe extern "C" fn(*const RawClient, *mut RawPosition) -> c_uint,
        jack_transport_start: unsafe extern "C" fn(*mut RawClient),
        jack_transport_stop: unsafe extern "C" fn(*mut RawClient),
        jack_transport_locate: unsafe extern "C" fn(*mut RawClient, u32) -> c_int,
        jack_set_timebase_callback: unsafe extern "C" fn(*mut RawClient, c_int, OfTimebase, *mut c_void) -> c_int,
        jack_free: unsafe extern "C" fn(*mut c_void),
    }
}

/// The server to which a libjack belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// The one found by name: a JACK server's, or PipeWire's where that has replaced it.
    Jackd,
    /// PipeWire's own.
    PipeWire,
}

/// One libjack, open to the end of the program.
pub(crate) struct Library {
    pub(crate) functions: Functions,
    /// Name under which it was found.
    pub(crate) path: PathBuf,
    version: String,
    _handle: Handle,
}

#[cfg(target_os = "macos")]
const NAMES: &[&str] = &[
    "libjack.0.dylib",
    "/usr/local/lib/libjack.0.dylib",
    "/opt/homebrew/lib/libjack.0.dylib",
];
#[cfg(not(target_os = "macos"))]
const NAMES: &[&str] = &["libjack.so.0"];

impl Library {
    /// The library of `server`, opened when it is first asked for.
    pub(crate) fn load(server: Server) -> Result<&'static Self, DriverError> {
        static BY_NAME: OnceLock<Option<Library>> = OnceLock::new();
        static PIPEWIRE: OnceLock<Option<Library>> = OnceLock::new();
        // First in any case: see the head of this file.
        let by_name = BY_NAME.get_or_init(|| Self::first(NAMES.iter().map(PathBuf::from)));
        let found = match (server, by_name) {
            (Server::Jackd, found) => found,
            (Server::PipeWire, Some(library)) if library.is_pipewire() => by_name,
            (Server::PipeWire, _) => {
                PIPEWIRE.get_or_init(|| Self::first(pipewire_paths().into_iter()))
            }
        };
        found.as_ref().ok_or(DriverError::NoLibrary)
    }

    fn first(paths: impl Iterator<Item = PathBuf>) -> Option<Self> {
        paths.filter_map(Self::open).next()
    }

    fn open(path: PathBuf) -> Option<Self> {
        // SAFETY: opening a libjack runs the initialisers of it and of what it needs, which expect nothing of us.
        let handle = unsafe { loaded::open(&path) }?;
        // SAFETY: it goes by libjack's name, and stays open: it lies in a static beside its functions.
        let functions = unsafe { Functions::find(&handle) }.ok()?;
        // SAFETY: these take any function that lives as long as the program, and a version that is a C string.
        let version = unsafe {
            (functions.jack_set_error_function)(Some(ignore_message));
            (functions.jack_set_info_function)(Some(ignore_message));
            text((functions.jack_get_version_string)())
        };
        silence_pipewire(&handle);
        Some(Self {
            functions,
            path,
            version,
            _handle: handle,
        })
    }

    /// Returns true if this is PipeWire's.
    pub(crate) fn is_pipewire(&self) -> bool {
        self.version.contains("PipeWire")
    }

    /// Name of the server behind this library, with its version.
    pub(crate) fn server(&self) -> String {
        match self.version.split_once("PipeWire") {
            // "3.0.0.0 (using PipeWire 0.3.65)"
            Some((_, version)) => {
                let version = version.trim_matches([' ', ')']);
                format!("PipeWire {version}").trim_end().to_owned()
            }
            None => format!("jackd {}", self.version),
        }
    }
}

/// Ignores a message. Without this the libraries write to standard error; errors come as a status as well.
unsafe extern "C" fn ignore_message(_: *const c_char) {}

/// Switches PipeWire's own log off, unless `PIPEWIRE_DEBUG` asks for it.
fn silence_pipewire(handle: &Handle) {
    if std::env::var_os("PIPEWIRE_DEBUG").is_some() {
        return;
    }
    // SAFETY: the type is that of `pipewire/log.h`, looked for in the library and what it needs; 0 is no log.
    unsafe {
        if let Ok(set_level) = handle.get::<unsafe extern "C" fn(c_uint)>(b"pw_log_set_level\0") {
            set_level(0);
        }
    }
}

/// Paths where distributions keep PipeWire's libjack, newest first.
pub(crate) fn pipewire_paths() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/lib64",
    ]
    .map(PathBuf::from)
    .into();
    let by_machine = format!("{}-linux-", std::env::consts::ARCH);
    for folder in ["/usr/lib", "/usr/local/lib"] {
        folders.extend(entries(Path::new(folder), &by_machine));
    }
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| entries(folder, "pipewire-"))
        .map(|folder| folder.join("jack/libjack.so.0"))
        .filter(|path| path.exists())
        .collect();
    paths.sort();
    paths.reverse();
    paths
}

/// Entries of `folder` whose name begins with `prefix`.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    listed
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect()
}

/// PipeWire's socket: of the server named, else of the user's own.
pub(crate) fn pipewire_socket(server: Option<&str>) -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let name = match server {
        Some(name) => name.into(),
        None => variable("PIPEWIRE_REMOTE").unwrap_or_else(|| "pipewire-0".into()),
    };
    if Path::new(&name).is_absolute() {
        return Some(name.into());
    }
    let folder = variable("PIPEWIRE_RUNTIME_DIR").or_else(|| variable("XDG_RUNTIME_DIR"))?;
    Some(Path::new(&folder).join(name))
}

/// Returns true if a PipeWire server answers.
pub(crate) fn pipewire_answers(server: Option<&str>) -> bool {
    pipewire_socket(server)
        .is_some_and(|socket| std::os::unix::net::UnixStream::connect(socket).is_ok())
}
