//! The functions of ALSA's sequencer and of its translator of MIDI bytes, and the records that they read and write.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use crate::loaded::functions;

/// `snd_seq_event_t` as it was before MIDI 2.0: 28 bytes. Programs that do not ask for more get this.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawEvent {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) tag: u8,
    pub(crate) queue: u8,
    /// Seconds and nanoseconds.
    pub(crate) time: [u32; 2],
    pub(crate) source: RawAddress,
    pub(crate) dest: RawAddress,
    pub(crate) data: [u32; 3],
}

/// `snd_seq_addr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RawAddress {
    pub(crate) client: u8,
    pub(crate) port: u8,
}

impl RawEvent {
    /// No event.
    pub(crate) const NONE: Self = Self {
        kind: 255,
        flags: 0,
        tag: 0,
        queue: 253,
        time: [0; 2],
        source: RawAddress { client: 0, port: 0 },
        dest: RawAddress { client: 0, port: 0 },
        data: [0; 3],
    };
}

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident,)*) => { $( $(#[$doc])* #[repr(C)] pub(crate) struct $name(c_void); )* };
}

opaque! {
    /// `snd_seq_t`.
    RawSequencer,
    /// `snd_seq_client_info_t`.
    RawClientInfo,
    /// `snd_seq_port_info_t`.
    RawPortInfo,
    /// `snd_seq_queue_status_t`.
    RawQueueStatus,
    /// `snd_seq_query_subscribe_t`.
    RawSubscribers,
    /// `snd_midi_event_t`.
    RawTranslator,
}

type OfSequencer = unsafe extern "C" fn(*mut RawSequencer) -> c_int;
type OfPort = unsafe extern "C" fn(*mut RawPortInfo, c_int);
type Connect = unsafe extern "C" fn(*mut RawSequencer, c_int, c_int, c_int) -> c_int;

functions! {
    /// The functions of `alsa/seq.h`, `alsa/seqmid.h` and `alsa/seq_midi_event.h`.
    SequencerFunctions {
        snd_seq_open: unsafe extern "C" fn(*mut *mut RawSequencer, *const c_char, c_int, c_int) -> c_int,
        snd_seq_close: OfSequencer,
        snd_seq_client_id: OfSequencer,
        snd_seq_set_client_name: unsafe extern "C" fn(*mut RawSequencer, *const c_char) -> c_int,
        snd_seq_poll_descriptors: unsafe extern "C" fn(*mut RawSequencer, *mut libc::pollfd, c_uint, i16) -> c_int,
        snd_seq_event_input: unsafe extern "C" fn(*mut RawSequencer, *mut *mut RawEvent) -> c_int,
        snd_seq_event_output_direct: unsafe extern "C" fn(*mut RawSequencer, *mut RawEvent) -> c_int,
        snd_seq_drain_output: OfSequencer,
        snd_seq_alloc_queue: OfSequencer,
        snd_seq_control_queue: unsafe extern "C" fn(*mut RawSequencer, c_int, c_int, c_int, *mut RawEvent) -> c_int,
        snd_seq_queue_status_malloc: unsafe extern "C" fn(*mut *mut RawQueueStatus) -> c_int,
        snd_seq_queue_status_free: unsafe extern "C" fn(*mut RawQueueStatus),
        snd_seq_get_queue_status: unsafe extern "C" fn(*mut RawSequencer, c_int, *mut RawQueueStatus) -> c_int,
        snd_seq_queue_status_get_real_time: unsafe extern "C" fn(*const RawQueueStatus) -> *const [u32; 2],
        snd_seq_port_info_malloc: unsafe extern "C" fn(*mut *mut RawPortInfo) -> c_int,
        snd_seq_port_info_free: unsafe extern "C" fn(*mut RawPortInfo),
        snd_seq_port_info_set_name: unsafe extern "C" fn(*mut RawPortInfo, *const c_char),
        snd_seq_port_info_set_capability: unsafe extern "C" fn(*mut RawPortInfo, c_uint),
        snd_seq_port_info_set_type: unsafe extern "C" fn(*mut RawPortInfo, c_uint),
        snd_seq_port_info_set_timestamping: OfPort,
        snd_seq_port_info_set_timestamp_real: OfPort,
        snd_seq_port_info_set_timestamp_queue: OfPort,
        snd_seq_port_info_set_client: OfPort,
        snd_seq_port_info_set_port: OfPort,
        snd_seq_port_info_get_port: unsafe extern "C" fn(*const RawPortInfo) -> c_int,
        snd_seq_port_info_get_name: unsafe extern "C" fn(*const RawPortInfo) -> *const c_char,
        snd_seq_create_port: unsafe extern "C" fn(*mut RawSequencer, *mut RawPortInfo) -> c_int,
        snd_seq_query_next_port: unsafe extern "C" fn(*mut RawSequencer, *mut RawPortInfo) -> c_int,
        snd_seq_client_info_malloc: unsafe extern "C" fn(*mut *mut RawClientInfo) -> c_int,
        snd_seq_client_info_free: unsafe extern "C" fn(*mut RawClientInfo),
        snd_seq_client_info_set_client: unsafe extern "C" fn(*mut RawClientInfo, c_int),
        snd_seq_client_info_get_client: unsafe extern "C" fn(*const RawClientInfo) -> c_int,
        snd_seq_client_info_get_name: unsafe extern "C" fn(*mut RawClientInfo) -> *const c_char,
        snd_seq_query_next_client: unsafe extern "C" fn(*mut RawSequencer, *mut RawClientInfo) -> c_int,
        snd_seq_connect_from: Connect,
        snd_seq_connect_to: Connect,
        snd_seq_query_subscribe_malloc: unsafe extern "C" fn(*mut *mut RawSubscribers) -> c_int,
        snd_seq_query_subscribe_free: unsafe extern "C" fn(*mut RawSubscribers),
        snd_seq_query_subscribe_set_root: unsafe extern "C" fn(*mut RawSubscribers, *const RawAddress),
        snd_seq_query_subscribe_set_type: unsafe extern "C" fn(*mut RawSubscribers, c_int),
        snd_seq_query_subscribe_set_index: unsafe extern "C" fn(*mut RawSubscribers, c_int),
        snd_seq_query_port_subscribers: unsafe extern "C" fn(*mut RawSequencer, *mut RawSubscribers) -> c_int,
        snd_seq_query_subscribe_get_addr: unsafe extern "C" fn(*const RawSubscribers) -> *const RawAddress,
        snd_midi_event_new: unsafe extern "C" fn(usize, *mut *mut RawTranslator) -> c_int,
        snd_midi_event_free: unsafe extern "C" fn(*mut RawTranslator),
        snd_midi_event_no_status: unsafe extern "C" fn(*mut RawTranslator, c_int),
        snd_midi_event_encode: unsafe extern "C" fn(*mut RawTranslator, *const u8, c_long, *mut RawEvent) -> c_long,
        snd_midi_event_decode: unsafe extern "C" fn(*mut RawTranslator, *mut u8, c_long, *const RawEvent) -> c_long,
    }
}
