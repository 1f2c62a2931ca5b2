//! The session that a command works on: its file, its options, its costs and its latencies.

pub(crate) mod as_ag;
pub(crate) mod costs_store;
pub(crate) mod file_problems;
pub(crate) mod latencies;
pub(crate) mod load;
pub(crate) mod losses;
pub(crate) mod midi_files;
pub(crate) mod options;
