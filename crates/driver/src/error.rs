//! Why a driver could not be opened or started.

use std::fmt;

use units::Frames;

use crate::Request;

/// Why a driver could not be opened or started.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriverError {
    /// No driver plays blocks of this length; ask for one from 1 to [`Request::MAX_BLOCK`] frames.
    Block(Frames),
    /// No driver opens so many channels; ask for [`Request::MAX_CHANNELS`] at most.
    Channels(u16),
    /// A thread could not be started; the system is out of something, and says of what.
    Thread(std::io::Error),
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => write!(
                f,
                "a block of {block} cannot be played: take from 1 to {}",
                Request::MAX_BLOCK.0
            ),
            Self::Channels(count) => write!(
                f,
                "{count} channels cannot be opened: take at most {}",
                Request::MAX_CHANNELS
            ),
            Self::Thread(_) => write!(f, "the thread that gives the beat could not be started"),
        }
    }
}

impl std::error::Error for DriverError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(cause) => Some(cause),
            _ => None,
        }
    }
}
