//! [`Fallback`]: from a chosen scheduler to the sequential executor, when playing turns out slower than that was.
//!
//! A choice rests on half a second of trials; a session plays for hours, beside other programs, on cores that a host may
//! move. So the cycles that are really played are compared with the sequential executor's mean in the trials:
//!
//! ```text
//!   cycles   │ 1024: mean 15 µs │ 1024: 24 µs │ 1024: 25 µs │ 1024: 24 µs │ sequential from here on
//!   sequential 17 µs in the trials            slower: 1     2             3
//! ```
//!
//! It goes one way only, once. The sound is the same: every executor gives the same bits, and nodes keep their state.

use super::Engine;
use crate::Scheduler;
use units::Nanos;

/// Number of cycles that are compared together.
const WINDOW: usize = 1024;
/// Number of windows in a row that must be slower.
const WINDOWS: u32 = 3;
/// Part of a window (1/20) that is left out, the longest cycles: other programs had the core then.
const LEFT_OUT: usize = 20;
/// Difference that is no reason: parts of a thousand, and what a callback does beside the cycle.
const SLACK_MILLE: u64 = 30;
const SLACK: Nanos = Nanos(300);

/// Compares what is played with what the sequential executor took.
#[derive(Debug)]
pub(super) struct Fallback {
    sequential: Nanos,
    window: Vec<u32>,
    /// Number of slower windows in a row.
    slower: u32,
    /// Mean of the last window.
    mean: Nanos,
}

impl Fallback {
    /// Compares with a mean of `sequential`.
    pub(super) fn new(sequential: Nanos) -> Self {
        Self {
            sequential,
            window: Vec::with_capacity(WINDOW),
            slower: 0,
            mean: Nanos(0),
        }
    }

    /// Adds the duration of a cycle.
    pub(super) fn add(&mut self, duration_ns: u64) {
        self.window
            .push(u32::try_from(duration_ns).unwrap_or(u32::MAX));
        if self.window.len() == WINDOW {
            self.close_window();
        }
    }

    fn close_window(&mut self) {
        self.window.sort_unstable();
        self.window.truncate(WINDOW - WINDOW / LEFT_OUT);
        let sum: u64 = self.window.iter().copied().map(u64::from).sum();
        self.mean = Nanos(sum / self.window.len() as u64);
        self.window.clear();
        let slack = self.sequential.0.saturating_mul(SLACK_MILLE) / 1000 + SLACK.0;
        self.slower = match self.mean.0 > self.sequential.0.saturating_add(slack) {
            true => self.slower + 1,
            false => 0,
        };
    }

    /// Returns true if playing has been slower for long enough.
    pub(super) fn is_due(&self) -> bool {
        self.slower >= WINDOWS
    }
}

impl Engine {
    /// Goes over to the sequential executor, if the chosen scheduler has turned out slower.
    pub(super) fn fall_back_if_slower(&mut self) {
        let Some(fallback) = self.fallback.take_if(|fallback| fallback.is_due()) else {
            return;
        };
        let former =
            std::mem::replace(&mut self.resources.options.scheduler, Scheduler::Sequential);
        let playing = self.playing_graph().clone();
        if self.swap_to(&playing).is_err() {
            // An edit is on its way: later.
            self.resources.options.scheduler = former;
            self.fallback = Some(fallback);
            return;
        }
        self.fallback_note = Some(format!(
            "{former} took {:.1} µs a cycle, sequential took {:.1} µs when it was tried: sequential from now on",
            fallback.mean.micros(),
            fallback.sequential.micros()
        ));
    }

    /// A sentence, if the engine has gone over to the sequential executor because the chosen scheduler turned out slower:
    /// then the choice is to be dropped, with [`forget_choice`](crate::forget_choice).
    pub fn fallback_note(&self) -> Option<&str> {
        self.fallback_note.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(fallback: &mut Fallback, ns: u64) {
        (0..WINDOW).for_each(|_| fallback.add(ns));
    }

    #[test]
    fn three_slower_windows_in_a_row_are_a_reason_and_disturbed_cycles_are_not() {
        let mut fallback = Fallback::new(Nanos(17_000));
        for (ns, is_due) in [
            (24_000, false),
            (25_000, false),
            (17_400, false),
            (24_000, false),
            (24_000, false),
            (24_000, true),
        ] {
            window(&mut fallback, ns);
            assert_eq!(fallback.is_due(), is_due);
        }
        let mut disturbed = Fallback::new(Nanos(17_000));
        for cycle in 0..4 * WINDOW {
            disturbed.add(if cycle % 25 == 0 { 4_000_000 } else { 15_000 });
        }
        assert!(!disturbed.is_due() && disturbed.mean == Nanos(15_000));
    }
}
