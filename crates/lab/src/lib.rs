//! The experiments of the works that Divisi builds on, repeated: runs, charts, and a page that explains them.
//!
//! Takes the name of an experiment and a folder. Gives a table of every run in that folder, the charts, and one page that
//! needs nothing else. May: start threads that load the machine, take minutes, write files in that folder. May not:
//! compute anything on a page from other data than the table, use `unsafe`.
//!
//! ```text
//! experiment   a name  ->  runs  ->  results.csv  ->  page  ->  index.html and *.svg
//! ├─ run          makes the runs that the table lacks
//! ├─ table        results.csv: one row for each run; an interrupted experiment continues
//! ├─ state        the machine's state during runs; which runs are void
//! ├─ results      the table as pages read it
//! ├─ page, chart  HTML templates; curves, bars, Gantt charts
//! └─ graphs, session, scale, convolution, queues, channels, isolation      one folder for each experiment: mod.rs, runs.rs, page.rs, page.html
//!
//! playback             plays a graph for a while and measures its cycles
//! calibration          costs of the machine and of nodes, measured once
//! simulator            cycles on machines that are not here
//! unit_picture         the response, waveform or curve of one unit
//! background_load, usage, machine      load, processor time, description of the machine
//! ```
#![forbid(unsafe_code)]

mod background_load;
mod calibration;
mod channels;
mod chart;
mod convolution;
mod definition;
mod error;
mod experiment;
mod graphs;
mod isolation;
mod machine;
mod page;
mod playback;
mod queues;
mod record;
mod results;
mod run;
mod scale;
mod session;
pub mod simulator;
mod state;
mod table;
mod unit_picture;
mod usage;

pub use channels::serve_channel;
pub use error::LabError;
pub use experiment::{Experiment, ExperimentResult};
pub use isolation::{Load, MusicApp};
#[cfg(target_os = "linux")]
pub use isolation::{serve_load, serve_music};
pub use queues::{PeerRole, serve_peer};
pub use record::Effort;
pub use run::RunObserver;
pub use unit_picture::{UnitPictureError, unit_picture};

pub(crate) use machine::MachineInfo;
pub(crate) use table::{Row, Table};
