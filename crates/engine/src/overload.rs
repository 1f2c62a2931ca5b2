//! [`Overload`]: mutes the engine for a while after too many cycles in a row that took longer than their period.
//!
//! A graph that is too large for the machine would else take the whole processor, and its user could not even stop it.

use crate::messages::CycleOutcome;
use units::Nanos;

/// Number of misses in a row after which the engine is muted.
const MAX_MISSES: u32 = 8;
/// Time for which it is muted.
const MUTED: Nanos = Nanos(100_000_000);

/// Counts misses in a row, and the cycles that are left out after them.
pub(crate) struct Overload {
    period: Nanos,
    misses: u32,
    muted_cycles: u64,
}

impl Overload {
    pub(crate) fn new(period: Nanos) -> Self {
        Self {
            period,
            misses: 0,
            muted_cycles: 0,
        }
    }

    /// Returns how to report the cycle that begins now if it is to be left out.
    ///
    /// Real-time: hot.
    pub(crate) fn next_muted(&mut self) -> Option<CycleOutcome> {
        if self.muted_cycles == 0 {
            return None;
        }
        let is_first = self.muted_cycles == self.cycles_to_mute();
        self.muted_cycles -= 1;
        Some(if is_first {
            CycleOutcome::MuteBegins
        } else {
            CycleOutcome::Muted
        })
    }

    /// Takes note of a live cycle. A miss counts only where the cycle itself took its whole period or more: a cycle
    /// that began too late is the driver's fault, and to mute the engine would not help.
    ///
    /// Real-time: hot.
    pub(crate) fn add(&mut self, outcome: CycleOutcome, duration: Nanos) {
        let is_overload = match outcome {
            CycleOutcome::Missed => duration >= self.period,
            CycleOutcome::Abandoned => true,
            _ => false,
        };
        self.misses = if is_overload { self.misses + 1 } else { 0 };
        if self.misses >= MAX_MISSES {
            self.muted_cycles = self.cycles_to_mute();
            self.misses = 0;
        }
    }

    fn cycles_to_mute(&self) -> u64 {
        MUTED.0.div_ceil(self.period.0.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_long_cycles_in_a_row_mute_the_engine_for_100_ms() {
        let mut overload = Overload::new(Nanos(40_000_000));
        for duration in [50_000_000; 7].into_iter().chain([30_000_000]) {
            overload.add(CycleOutcome::Missed, Nanos(duration));
        }
        assert_eq!(overload.next_muted(), None);
        (0..8).for_each(|_| overload.add(CycleOutcome::Abandoned, Nanos(0)));
        let muted: Vec<_> = std::iter::from_fn(|| overload.next_muted()).collect();
        let [begins, rest] = [CycleOutcome::MuteBegins, CycleOutcome::Muted];
        assert_eq!(muted, [begins, rest, rest]);
    }
}
