//! The experiments of the works that Divisi builds on, done again: runs, figures, pictures, and a page that explains them.
//!
//! Takes the name of an experiment and a folder, gives there a table of every run, its plots and one page that can be
//! read without anything else. May: start threads that load the machine, take minutes, write files in that folder. May
//! not: compute what a page says from anything but the table, use `unsafe`.
#![forbid(unsafe_code)]

mod bench;
mod chart;
mod convolution;
mod error;
mod experiment;
mod figures;
mod graphs;
mod load;
mod machine;
mod page;
mod play;
mod queues;
mod run;
mod scale;
mod session;
pub mod simulator;
mod state;
mod table;
mod threads;

pub use error::LabError;
pub use experiment::{Experiment, ExperimentResult};
pub use machine::MachineInfo;
pub use queues::{PeerRole, serve_peer};
pub use run::{Effort, RunObserver};
pub use table::{Row, Table};

pub(crate) use experiment::dates;
