//! Errors of experiments.

use std::io;
use std::path::{Path, PathBuf};

/// Reason why an experiment could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file of the folder cannot be read or written. The table keeps its runs.
    #[error("{0} cannot be read or written")]
    Io(PathBuf, #[source] io::Error),
    /// The table in the folder is of another experiment, or of a later version. Choose another folder.
    #[error("{0} is not a table of this experiment: choose another folder")]
    OtherExperiment(PathBuf),
    /// The table in the folder was made on another machine, which is named. Choose another folder.
    #[error("{0} was made on another machine ({1}): choose another folder")]
    OtherMachine(PathBuf, String),
    /// A graph cannot be played; the message has the reason.
    #[error("{0}")]
    Play(String),
}

impl LabError {
    /// For `map_err` on an operation on `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |error| Self::Io(path, error)
    }
}
