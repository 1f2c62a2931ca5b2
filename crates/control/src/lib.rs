//! The one vocabulary of commands for an engine that plays, and the ways in which commands arrive.
//!
//! Takes commands as plain data, gives a [`Reply`] to each request; the engine plays on whatever is asked.
//! May: open sockets and the session's file, allocate, wait. May not: run on an audio thread, know a face (a page, a
//! program), use `unsafe`, trust a byte that arrives.
//!
//! ```text
//!   divisi send ─ words ─▶ Request ─ JSON line ─▶ UnixServer ──┐
//!                                                              ├─▶ Request ─▶ Controller ─▶ Engine
//!   a fader ────────────── OSC packet ──────────▶ OscServer ───┘                  │
//!                                                     ▲                           │
//!                                                     └────────── Reply ──────────┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `command` | [`Command`], [`Request`], [`Reply`]: plain data with names in JSON |
//! | `words` | commands as a shell has them: `set tone.freq 800` |
//! | `target` | `node.port` and `node.param` looked up in a graph |
//! | `controller` | carries requests out on an engine |
//! | `history` | undo and redo, also after the loss of a supervisor |
//! | `subscription` | what clients have asked to be sent |
//! | `meters` | levels, loudness and spectrum of a port |
//! | `events` | numbers and MIDI for event inputs |
//! | `transport` | start, stop, locate, loop and tempo, for the engine or for a server that it follows |
//! | `cells` | what a session does whose parts are processes of their own |
//! | `edits` | one command as a change to a graph |
//! | `schema` | the JSON Schema of requests, replies and messages |
//! | `query` | the graph, the kinds and the figures as JSON |
//! | `solo` | solo of channel strips |
//! | `snapshot` | values kept by name, in the session and as presets |
//! | `live_controllers` | MIDI controllers of a session, as the engine has them |
//! | `loaded_state` | tempo and controllers of a loaded session, for `undo` |
//! | `session_file` | loads and saves the session |
//! | `osc` | OSC packets as requests |
//! | `nsm` | a client of the New Session Manager |
//! | `server` | the sockets: JSON lines over a Unix socket, OSC over UDP and TCP |
#![forbid(unsafe_code)]

mod cells;
mod command;
mod controller;
mod edits;
mod error;
mod events;
mod history;
mod live_controllers;
mod loaded_state;
mod measured_port;
mod meters;
pub mod nsm;
pub mod osc;
mod query;
mod schema;
#[cfg(unix)]
pub mod server;
mod session_file;
mod snapshot;
mod solo;
mod subscription;
mod target;
mod transport;
mod words;

pub use cells::{CellHost, CellTap, CellTaps, EditGoal, InsideEvent, TapHost};
pub use command::{Command, PositionArg, PositionUnit, Query, Reply, Request, Topic};
pub use controller::{Controller, LearnRequest};
pub use error::ControlError;
pub use history::KeptHistory;
pub use live_controllers::controller_binding;
pub use measured_port::MeasuredPort;
pub use meters::{BandLevel, PortMeter};
pub use schema::schema;
pub use target::audio_output;
pub use transport::FollowedTransport;
pub use words::{WordsError, read_words};
