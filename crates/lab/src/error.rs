//! Errors of experiments.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// Reason why an experiment could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum LabError {
    /// A file of the folder cannot be read or written. The table keeps its runs.
    Io(PathBuf, io::Error),
    /// The table in the folder is of another experiment, or of a later version. Choose another folder.
    OtherExperiment(PathBuf),
    /// The table in the folder was made on another machine, which is named. Choose another folder.
    OtherMachine(PathBuf, String),
    /// A graph cannot be played; the message has the reason.
    Play(String),
}

impl LabError {
    /// For `map_err` on an operation on `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |error| Self::Io(path, error)
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, _) => write!(f, "{} cannot be read or written", path.display()),
            Self::OtherExperiment(path) => {
                let path = path.display();
                write!(
                    f,
                    "{path} is not a table of this experiment: choose another folder"
                )
            }
            Self::OtherMachine(path, machine) => {
                let path = path.display();
                write!(
                    f,
                    "{path} was made on another machine ({machine}): choose another folder"
                )
            }
            Self::Play(why) => f.write_str(why),
        }
    }
}

impl error::Error for LabError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
