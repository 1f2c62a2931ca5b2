//! [`IrLimit`]: the largest impulse response, checked before anything is allocated for it.

use super::{IrReason, memory};
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
    pub(crate) fn charge(&mut self, samples: usize) -> Result<(), IrReason> {
        let (samples, max) = (samples as u64, self.samples);
        let left = max.checked_sub(samples);
        self.samples = left.ok_or(IrReason::TooLarge { samples, max })?;
        Ok(())
    }

    /// Checks `channels` channels of `frames` frames against the limit.
    ///
    /// # Errors
    ///
    /// The limit that they exceed.
    ///
    /// Real-time: setup.
    pub fn check(&self, frames: u64, channels: usize) -> Result<(), IrReason> {
        let max = self.frames;
        if frames > max {
            return Err(IrReason::TooLong { frames, max });
        }
        let (samples, max) = (frames.saturating_mul(channels as u64), self.samples);
        if samples > max {
            return Err(IrReason::TooLarge { samples, max });
        }
        let bytes = samples.saturating_mul(BYTES);
        match self.bytes.or_else(memory::free) {
            Some(free) if bytes > free => Err(IrReason::Memory { bytes, free }),
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
        assert!(limit.check(1000, 1).is_ok());
        let wrong = |frames, channels| limit.check(frames, channels).unwrap_err();
        assert!(matches!(wrong(1001, 1), IrReason::TooLong { .. }));
        assert!(matches!(wrong(1000, 2), IrReason::TooLarge { .. }));
        assert!(matches!(wrong(1300 / 2, 2), IrReason::Memory { .. }));
        assert!(matches!(wrong(u64::MAX, 9), IrReason::TooLong { .. }));
    }

    #[test]
    fn the_usual_limit_is_below_any_machine_that_can_hold_it() {
        assert!(IrLimit::default().check(1 << 16, 2).is_ok());
        assert!(IrLimit::default().check(1 << 26, 256).is_err());
    }
}
