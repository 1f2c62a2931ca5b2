//! [`IrLimit`]: the largest impulse response, checked before anything is allocated for it.

use super::{IrError, memory};
use crate::partition::MAX_IR_FRAMES;

/// Largest impulse response that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IrLimit {
    /// Frames of one channel.
    pub frames: u64,
    /// Samples of all channels together.
    pub samples: u64,
    /// Bytes that it may need; `None` asks the system for the free memory.
    pub bytes: Option<u64>,
}

/// Bytes that a convolver needs for a sample of a response: the response and its processed copy (4 each), its spectra and those of
/// as much input (8 each), and as much again in part for a response that is exchanged.
const BYTES: u64 = 32;

impl Default for IrLimit {
    /// As many frames as the longest partition covers (2^26, 23 minutes at 48 kHz), 2^28 samples, and all free memory.
    fn default() -> Self {
        Self {
            frames: MAX_IR_FRAMES as u64,
            samples: 1 << 28,
            bytes: None,
        }
    }
}

impl IrLimit {
    /// Subtracts `samples` from the samples allowed. For many small responses, without a call to the system.
    pub(crate) fn charge(&mut self, name: &str, samples: usize) -> Result<(), IrError> {
        let samples = samples as u64;
        match self.samples.checked_sub(samples) {
            Some(left) => self.samples = left,
            None => {
                return Err(IrError::TooLarge {
                    name: name.to_owned(),
                    samples,
                    most: self.samples,
                });
            }
        }
        Ok(())
    }

    /// Checks `channels` channels of `frames` frames against the limit.
    ///
    /// # Errors
    ///
    /// The limit that they exceed.
    ///
    /// Real-time: setup.
    pub fn check(&self, name: &str, frames: u64, channels: usize) -> Result<(), IrError> {
        let name = || name.to_owned();
        if frames > self.frames {
            return Err(IrError::TooLong {
                name: name(),
                frames,
                most: self.frames,
            });
        }
        let samples = frames.saturating_mul(channels as u64);
        if samples > self.samples {
            return Err(IrError::TooLarge {
                name: name(),
                samples,
                most: self.samples,
            });
        }
        let bytes = samples.saturating_mul(BYTES);
        match self.bytes.or_else(memory::free) {
            Some(free) if bytes > free => Err(IrError::Memory {
                name: name(),
                bytes,
                free,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_held_and_named() {
        let limit = IrLimit {
            frames: 1000,
            samples: 1500,
            bytes: Some(1200 * BYTES),
        };
        assert!(limit.check("a", 1000, 1).is_ok());
        let wrong = |frames, channels| limit.check("a", frames, channels).unwrap_err();
        assert!(matches!(wrong(1001, 1), IrError::TooLong { .. }));
        assert!(matches!(wrong(1000, 2), IrError::TooLarge { .. }));
        assert!(matches!(wrong(1300 / 2, 2), IrError::Memory { .. }));
        assert!(matches!(wrong(u64::MAX, 9), IrError::TooLong { .. }));
    }

    #[test]
    fn the_usual_limit_is_below_any_machine_that_can_hold_it() {
        assert!(IrLimit::default().check("a", 1 << 16, 2).is_ok());
        assert!(IrLimit::default().check("a", 1 << 26, 256).is_err());
    }
}
