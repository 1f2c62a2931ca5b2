//! [`DriverError`]: why a driver could not be opened or started.

use units::Frames;

use crate::DriverConfig;

/// A driver that could not be opened or started, with the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// No driver plays blocks of this length; ask for one from 1 to [`DriverConfig::MAX_BLOCK`] frames.
    #[error("a block of {0} cannot be played: take from 1 to {max}", max = DriverConfig::MAX_BLOCK.0)]
    Block(Frames),
    /// No driver opens so many channels; ask for [`DriverConfig::MAX_CHANNELS`] at most.
    #[error("{0} channels cannot be opened: take at most {max}", max = DriverConfig::MAX_CHANNELS)]
    Channels(u16),
    /// No driver opens so many MIDI ports; ask for [`DriverConfig::MAX_MIDI_PORTS`] at most in each direction.
    #[error("{0} MIDI ports cannot be opened: take at most {max}", max = DriverConfig::MAX_MIDI_PORTS)]
    MidiPorts(usize),
    /// A thread could not be started; the system is out of something, and says of what.
    #[error("the thread of the driver could not be started")]
    Thread(#[source] std::io::Error),
    /// There is no JACK library on this machine, neither a JACK server's nor PipeWire's; install one of the packages
    /// that the message names.
    #[error(
        "no JACK library is installed: install libjack-jackd2-0, or pipewire-jack where PipeWire plays"
    )]
    NoLibrary,
    /// No JACK or PipeWire server answers; start one, or use the clock driver.
    #[error("no JACK or PipeWire server answers: start one (jackd -R -d alsa)")]
    NoServer,
    /// The server answered and refused what is named; its own log says why.
    #[error("the JACK server refused {0}: see its log")]
    Refused(&'static str),
    /// There is no libasound on this machine; install the package that the message names.
    #[error("no ALSA library is installed: install libasound2")]
    NoAlsaLibrary,
    /// The device cannot be opened or set up; the reason says what to do.
    #[error("the ALSA device {device} cannot be played: {reason}")]
    AlsaDevice {
        /// Name and direction of the device.
        device: String,
        /// The library's reason, with advice.
        reason: String,
    },
    /// The device does not play at this rate; ask for one of those that the message lists, or for none.
    #[error("the ALSA device {device} does not play at {rate} Hz; it can do {rates}")]
    AlsaRate {
        /// Name and direction of the device.
        device: String,
        /// Rate that was asked for, in Hz.
        rate: u32,
        /// Rates that it can do, in words.
        rates: String,
    },
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
