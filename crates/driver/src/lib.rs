//! What gives the beat: a clock, a file, a JACK or PipeWire server.
//!
//! Takes a [`DriverConfig`] and a player ([`AudioCallback`]), calls it once for each of the engine's blocks, gives it back.
//! May: start a thread, load a library, use `unsafe` where it calls C (`jack/`, `clock/linux.rs`), with its reason.
//! May not: know a graph, allocate or wait in a callback, change the engine's block.
//!
//! A live driver starts in two steps, because the engine needs to know rate, buffer and priority before it can make
//! its plan: opening gives an [`OpenDriver`] with its [`DriverInfo`], and [`OpenDriver::start`] takes the player and gives a
//! [`RunningDriver`]. The offline one is a single call, [`file::render`], on the caller's own thread.
//!
//! | driver | beat | block |
//! |---|---|---|
//! | [`clock`] | the system's monotonic clock, no device | the engine's |
//! | [`jack`] | a JACK server's, or PipeWire's | the device's buffers, through a [`BlockAdapter`] |
//! | [`offline`](mod@file) | none: as fast as it goes | the engine's, the last one cut |
//!
//! [`open_auto`] takes JACK or PipeWire where one answers, else the clock, and says which; [`probe()`] tells what there is.
#![warn(missing_docs)]

mod block_adapter;
pub mod clock;
mod contract;
mod error;
#[cfg_attr(not(unix), path = "jack/absent.rs")]
pub mod jack;
pub mod offline;
mod probe;
mod recycle;

pub use block_adapter::BlockAdapter;
pub use contract::{
    AudioCallback, CallbackInfo, DriverConfig, DriverInfo, DriverState, OpenDriver, RunningDriver,
};
pub use error::DriverError;
pub use probe::{AutoDriver, ProbeResult, open_auto, probe};
