//! A run in real time or offline: its input file, its recording, its trace.
//!
//! ```text
//! file ─▶ FileInput (ring) ─┐                       ┌─▶ RecorderTap (ring) ─▶ RecorderThread ─▶ file
//!                           ├─▶ RecordingPlayer ────┤
//! device inputs ────────────┘   (callback thread)   └─▶ device outputs
//! ```

pub(crate) mod control;
pub(crate) mod file_input;
pub(crate) mod live;
pub(crate) mod live_ports;
pub(crate) mod midi_feed;
pub(crate) mod nsm;
pub(crate) mod recorder;
pub(crate) mod recording_player;
pub(crate) mod run;
pub(crate) mod trace;
