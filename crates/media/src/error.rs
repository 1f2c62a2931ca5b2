//! [`MediaError`]: the errors of sound files, each with the file and what to do about it.

use std::path::{Path, PathBuf};

/// Reason why a sound file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// The file cannot be opened or created. Check its name and the rights of its folder.
    #[error("cannot open {0}")]
    Open(PathBuf, #[source] std::io::Error),
    /// Reading or writing failed in the middle of the file: a full or failing disk.
    #[error("cannot read or write {0}")]
    Io(PathBuf, #[source] std::io::Error),
    /// It is not a sound file of a known format. Convert it to WAV, AIFF or FLAC.
    #[error("{0} is not a readable sound file ({1}): convert it to WAV, AIFF or FLAC")]
    UnknownFormat(PathBuf, String),
    /// It is damaged in the way that is described. Frames that were read before are good.
    #[error("{0} is damaged: {1}")]
    Damaged(PathBuf, String),
    /// It claims something that no sound file has: 0 channels, 10^9 Hz.
    #[error("{0} has an impossible format: {1}")]
    Unsupported(PathBuf, String),
}

impl MediaError {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Open(path, _)
            | Self::Io(path, _)
            | Self::UnknownFormat(path, _)
            | Self::Damaged(path, _)
            | Self::Unsupported(path, _) => path,
        }
    }
}
