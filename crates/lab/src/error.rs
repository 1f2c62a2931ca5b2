//! Why an experiment could not be done.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// Why an experiment could not be done.
#[derive(Debug)]
#[non_exhaustive]
pub enum LabError {
    /// A file of the folder cannot be read or written. What is in the table stays.
    Io(PathBuf, io::Error),
    /// The table in the folder is another experiment's, or of another version. Take another folder.
    Foreign(PathBuf),
    /// The table in the folder was made on another machine, which it names. Take another folder.
    Elsewhere(PathBuf, String),
    /// A graph cannot be played. The message says why.
    Play(String),
}

impl LabError {
    /// For `map_err` on what was done with `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |error| Self::Io(path, error)
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, _) => write!(f, "{} cannot be read or written", path.display()),
            Self::Foreign(path) => {
                let path = path.display();
                write!(
                    f,
                    "{path} is no table of this experiment: choose another folder"
                )
            }
            Self::Elsewhere(path, machine) => {
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
