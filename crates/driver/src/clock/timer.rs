//! [`BlockTimer`]: the block that is due, and its time.

use units::{Frames, Nanos, SampleRate};

use crate::CallbackInfo;

/// Number of blocks that a callback may be late before blocks are skipped.
pub const MAX_LATE_BLOCKS: u64 = 2;

/// Times of blocks of one length at one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockTimer {
    pub(crate) block: Frames,
    pub(crate) rate: SampleRate,
    /// Time of block 0.
    origin: Nanos,
    /// Number of the next block.
    next: u64,
}

impl BlockTimer {
    pub(crate) fn new(block: Frames, rate: SampleRate, origin: Nanos) -> Self {
        Self {
            block,
            rate,
            origin,
            next: 0,
        }
    }

    /// Time at which the next block is due.
    pub(crate) fn next_due(&self) -> Nanos {
        self.due(self.next)
    }

    /// Time at which block `number` is due, rounded down to nanoseconds.
    fn due(&self, number: u64) -> Nanos {
        let frames = u128::from(number) * u128::from(self.block.0);
        let since = frames * 1_000_000_000 / u128::from(self.rate.hz());
        Nanos(self.origin.0.saturating_add(since as u64))
    }

    /// Number of the last block that is due at `now`.
    fn last_due(&self, now: Nanos) -> u64 {
        let since = u128::from(now.0.saturating_sub(self.origin.0));
        // `due` rounds down, so a block is due up to one nanosecond before its exact time: look one block ahead.
        let frames = since * u128::from(self.rate.hz()) / 1_000_000_000;
        let number = (frames / u128::from(self.block.0)) as u64;
        if self.due(number + 1) <= now {
            number + 1
        } else {
            number
        }
    }

    /// Moves to the block that is to be played at `now`. Blocks that are too late are skipped and counted as xruns.
    pub(crate) fn advance(&mut self, now: Nanos) -> CallbackInfo {
        let late = self.last_due(now).saturating_sub(self.next);
        let skipped = if late > MAX_LATE_BLOCKS { late } else { 0 };
        self.next += skipped + 1;
        CallbackInfo {
            budget: Some(Nanos(self.next_due().0.saturating_sub(now.0))),
            xruns: u32::try_from(skipped).unwrap_or(u32::MAX),
            ..CallbackInfo::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(block: u32, rate: u32) -> BlockTimer {
        let rate = SampleRate::new(rate).unwrap();
        BlockTimer::new(Frames(block), rate, Nanos(1_000))
    }

    #[test]
    fn the_period_does_not_drift() {
        let timer = timer(64, 44_100);
        let day = 86_400 * 44_100 / 64; // whole: 59_535_000 blocks
        assert_eq!(timer.due(day), Nanos(1_000 + 86_400_000_000_000));
    }

    #[test]
    fn each_block_is_due_at_its_own_time() {
        let timer = timer(64, 44_100);
        for number in [0, 1, 2, 3, 1_000, 59_535_001, 10_000_000_019] {
            let due = timer.due(number);
            assert_eq!(timer.last_due(due), number);
            assert_eq!(timer.last_due(Nanos(due.0 - 1)), number.saturating_sub(1));
        }
    }

    #[test]
    fn a_block_in_time_has_a_whole_period_and_a_late_one_the_rest() {
        let mut timer = timer(48, 48_000);
        assert_eq!(timer.advance(Nanos(1_000)).budget, Some(Nanos(1_000_000)));
        let late = timer.advance(Nanos(1_000 + 1_400_000));
        assert_eq!((late.budget, late.xruns), (Some(Nanos(600_000)), 0));
    }

    #[test]
    fn a_short_delay_is_caught_up_and_a_long_one_skipped() {
        let mut timer = timer(48, 48_000);
        let at = |ms: u64| Nanos(1_000 + ms * 1_000_000);
        timer.advance(at(0));
        // Block 1 at the time of block 3: caught up, with nothing of its time left.
        let caught_up = timer.advance(at(3));
        assert_eq!((caught_up.budget, caught_up.xruns), (Some(Nanos(0)), 0));
        assert_eq!(timer.next, 2);
        // Block 2 at the time of block 5: three are skipped.
        let skipped = timer.advance(at(5));
        assert_eq!((skipped.budget, skipped.xruns), (Some(Nanos(1_000_000)), 3));
        assert_eq!(timer.next, 6);
    }
}
