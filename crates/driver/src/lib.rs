//! Drivers: a clock, a file, a sound card or a JACK or PipeWire server asks for one block after the other.
//!
//! Takes a [`DriverConfig`] and an [`AudioCallback`], calls it once for each of the engine's blocks, gives it back.
//! May: start a thread, load a library, use `unsafe` where it calls C (`jack/`, `alsa/`, `clock/linux.rs`), with its reason.
//! May not: know a graph, allocate or wait in a callback, change the engine's block.
//!
//! A live driver starts in two steps, because the engine must know rate, buffer and priority before it can make its
//! plan:
//!
//! ```text
//!   DriverConfig ─▶ open() ─▶ OpenDriver ─▶ start(callback) ─▶ RunningDriver ─▶ stop() ─▶ the callback
//!                                 │
//!                                 └─ info(): rate, buffer size, latency, priority, what was refused
//! ```
//!
//! The offline driver is a single call, [`offline::render`], on the caller's own thread.
//!
//! | driver | who asks for a block | block |
//! |---|---|---|
//! | [`clock`] | the system's monotonic clock, without a device | the engine's |
//! | [`jack`] | a JACK server, or PipeWire | the device's buffers, through a [`BlockAdapter`] |
//! | [`alsa`] | a sound card, or another PCM of ALSA | the device's periods, through a [`BlockAdapter`] |
//! | [`offline`] | nobody: as fast as possible | the engine's, the last one cut |
//!
//! [`open_auto`] takes JACK or PipeWire where a server answers, else ALSA where there is a sound card, else the clock,
//! and says which. [`probe()`] lists what there is.
#![warn(missing_docs)]

#[cfg_attr(not(target_os = "linux"), path = "alsa/absent.rs")]
pub mod alsa;
mod block_adapter;
mod block_buffers;
pub mod clock;
#[cfg(unix)]
mod connections;
mod contract;
mod error;
#[cfg_attr(not(unix), path = "jack/absent.rs")]
pub mod jack;
#[cfg(unix)]
mod loaded;
mod midi;
pub mod offline;
mod own_thread;
mod probe;
#[cfg_attr(not(target_os = "linux"), path = "sequencer/absent.rs")]
mod sequencer;
mod slice_list;

pub use block_adapter::{AdapterClient, BlockAdapter};
pub use contract::{
    AudioCallback, BarPosition, CallbackInfo, DriverConfig, DriverInfo, DriverState, HostTransport,
    HostTransportChange, OpenDriver, PortConnections, RunningDriver, ServerTransport, Timebase,
};
pub use error::DriverError;
pub use midi::{MAX_SYSEX_BYTES, MidiEvent, MidiLosses, MidiParser};
pub use probe::{AutoDriver, ProbeResult, open_auto, probe};
