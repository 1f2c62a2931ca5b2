//! [`MediaError`]: the errors of sound files, each with the file and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Reason why a sound file cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum MediaError {
    /// The file cannot be opened or created. Check its name and the rights of its folder.
    Open(PathBuf, std::io::Error),
    /// Reading or writing failed in the middle of the file: a full or failing disk.
    Io(PathBuf, std::io::Error),
    /// It is not a sound file of a known format. Convert it to WAV, AIFF or FLAC.
    UnknownFormat(PathBuf, String),
    /// It is damaged in the way that is described. Frames that were read before are good.
    Damaged(PathBuf, String),
    /// It claims something that no sound file has: 0 channels, 10^9 Hz.
    Unsupported(PathBuf, String),
    /// A WAV file holds 4 GiB and this one is full. Record fewer channels, fewer bits, or into several files.
    Full(PathBuf),
}

impl MediaError {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Open(path, _)
            | Self::Io(path, _)
            | Self::UnknownFormat(path, _)
            | Self::Damaged(path, _)
            | Self::Unsupported(path, _)
            | Self::Full(path) => path,
        }
    }
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().display();
        match self {
            Self::Open(..) => write!(f, "cannot open {path}"),
            Self::Io(..) => write!(f, "cannot read or write {path}"),
            Self::UnknownFormat(_, why) => write!(
                f,
                "{path} is not a readable sound file ({why}): convert it to WAV, AIFF or FLAC"
            ),
            Self::Damaged(_, what) => write!(f, "{path} is damaged: {what}"),
            Self::Unsupported(_, what) => write!(f, "{path} has an impossible format: {what}"),
            Self::Full(_) => write!(
                f,
                "{path} is full at 4 GiB: write fewer channels or bits, or several files"
            ),
        }
    }
}

impl std::error::Error for MediaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(_, error) | Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
