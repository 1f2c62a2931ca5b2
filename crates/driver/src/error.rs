//! [`DriverError`]: why a driver could not be opened or started.

use std::fmt;

use units::Frames;

use crate::DriverConfig;

/// Why a driver could not be opened or started.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriverError {
    /// No driver plays blocks of this length; ask for one from 1 to [`DriverConfig::MAX_BLOCK`] frames.
    Block(Frames),
    /// No driver opens so many channels; ask for [`DriverConfig::MAX_CHANNELS`] at most.
    Channels(u16),
    /// A thread could not be started; the system is out of something, and says of what.
    Thread(std::io::Error),
    /// There is no JACK library on this machine, neither a JACK server's nor PipeWire's; install one of the packages
    /// that the message names.
    NoLibrary,
    /// No JACK or PipeWire server answers; start one, or use the clock driver.
    NoServer,
    /// The server answered and refused what is named; its own log says why.
    Refused(&'static str),
}

impl DriverError {
    /// The more informative error of two servers.
    #[cfg(unix)]
    pub(crate) fn over(self, other: Self) -> Self {
        match other {
            Self::NoLibrary => self,
            other => other,
        }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => write!(
                f,
                "a block of {block} cannot be played: take from 1 to {}",
                DriverConfig::MAX_BLOCK.0
            ),
            Self::Channels(count) => write!(
                f,
                "{count} channels cannot be opened: take at most {}",
                DriverConfig::MAX_CHANNELS
            ),
            Self::Thread(_) => write!(f, "the thread of the clock could not be started"),
            Self::NoLibrary => write!(
                f,
                "no JACK library is installed: install libjack-jackd2-0, or pipewire-jack where PipeWire plays"
            ),
            Self::NoServer => write!(
                f,
                "no JACK or PipeWire server answers: start one (jackd -R -d alsa)"
            ),
            Self::Refused(what) => write!(f, "the JACK server refused {what}: see its log"),
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
