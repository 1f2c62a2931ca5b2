//! [`PulseFilter`]: expects the pulses of a clock, of which each comes some milliseconds early or late.
//!
//! A delay-locked loop of second order filters their times:
//!
//! ```text
//!   e  = t - t1                  t: frame of a pulse; t1: where it was expected; e2: period
//!   t1 = t1 + b e + e2           b = √2 ω, c = ω²; ω falls from 0.5 to 0.03 over the first pulses,
//!   e2 = e2 + c e                so that it locks at once and then hardly moves
//! ```
//!
//! Source: F. Adriaensen, *Using a DLL to filter time*, Linux Audio Conference 2005.
//!
//! A pulse that is off by more than half a period is an *outlier*. It was sent twice, or pulses before it were left out, or
//! the tempo is another. One outlier leaves the period as it is. If the interval after it is as long as that before it, the
//! tempo is another, and the filter begins again. A port whose server was late repeats messages: without this rule a pulse
//! that came twice would set a short period, and all pulses after it would count as left out.

use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;
use units::SampleRate;

/// Bandwidth of the loop at its begin and when it has locked, in radians a pulse.
const WIDE: f64 = 0.5;
const NARROW: f64 = 0.03;
/// Factor of the bandwidth at each pulse.
const NARROWING: f64 = 0.9;
/// Longest gap in which pulses count as left out, in seconds.
const MAX_GAP_S: f64 = 2.0;
/// Slowest and fastest clock, in pulses a second.
const PULSES_PER_S: (f64, f64) = (2.0, 500.0);
/// Part of an interval by which two of one tempo may differ.
const AGREEMENT: f64 = 0.25;

/// Expects the next pulse of a clock.
#[derive(Debug)]
pub(super) struct PulseFilter {
    /// Shortest and longest period, in frames.
    periods: RangeInclusive<f64>,
    max_gap: f64,
    dll: Option<Dll>,
    /// Frame of the last pulse, if there was one.
    last: Option<u64>,
    /// The last pulse, if it was an outlier.
    outlier: Option<Outlier>,
}

/// A delay-locked loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dll {
    /// Frame at which the next pulse is expected.
    pub(super) expected: f64,
    /// Frames between pulses.
    pub(super) period: f64,
    omega: f64,
}

/// A pulse that was off by more than half a period.
#[derive(Clone, Copy, Debug)]
struct Outlier {
    /// Frames from the pulse before to it.
    interval: f64,
    /// Pulses that were taken as left out before it.
    left_out: i64,
    /// The loop as it was without it.
    before: Dll,
}

impl Dll {
    fn new(at: f64, period: f64) -> Self {
        Self {
            expected: at + period,
            period,
            omega: WIDE,
        }
    }

    fn pulse(&mut self, at: f64, periods: &RangeInclusive<f64>) {
        let error = at - self.expected;
        self.expected += SQRT_2 * self.omega * error + self.period;
        let period = self.period + self.omega * self.omega * error;
        self.period = period.clamp(*periods.start(), *periods.end());
        self.omega = (self.omega * NARROWING).max(NARROW);
    }
}

impl PulseFilter {
    /// Before the first pulse.
    ///
    /// Real-time: setup.
    pub(super) fn new(rate: SampleRate) -> Self {
        let rate = f64::from(rate.hz());
        Self {
            periods: rate / PULSES_PER_S.1..=rate / PULSES_PER_S.0,
            max_gap: MAX_GAP_S * rate,
            dll: None,
            last: None,
            outlier: None,
        }
    }

    /// The loop, after two pulses.
    ///
    /// Real-time: hot.
    pub(super) fn dll(&self) -> Option<Dll> {
        self.dll
    }

    /// Expects pulses of the same period from `at` on, which need not be in phase with those before.
    ///
    /// Real-time: hot.
    pub(super) fn begin_at(&mut self, at: u64) {
        self.dll = self.dll.map(|dll| Dll::new(at as f64, dll.period));
        self.outlier = None;
    }

    /// Takes a pulse at absolute frame `at`. Returns how many were left out before it; negative, if those that were taken as
    /// left out before the last one were not.
    ///
    /// Real-time: hot.
    pub(super) fn push(&mut self, at: u64) -> i64 {
        let now = at as f64;
        let since = self.last.replace(at).map(|last| now - last as f64);
        let outlier = self.outlier.take();
        let in_range = since.filter(|since| self.periods.contains(since));
        let late = self.dll.map_or(0.0, |dll| now - dll.expected);
        let (Some(dll), Some(since)) = (self.dll, since.filter(|_| late <= self.max_gap)) else {
            let is_first = self.dll.take().is_none();
            let period = in_range.filter(|_| is_first);
            self.dll = period.map(|period| Dll::new(now, period));
            return 0;
        };
        match (outlier, in_range) {
            (Some(outlier), Some(period)) if outlier.agrees(period) => {
                self.dll = Some(Dll::new(now, period));
                -outlier.left_out
            }
            // As if the outlier had not come.
            (Some(Outlier { before, .. }), _) if (now - before.expected).abs() < late.abs() => {
                self.filter(before, now, since)
            }
            _ => self.filter(dll, now, since),
        }
    }

    /// Moves the loop by a pulse, an outlier or not.
    fn filter(&mut self, mut dll: Dll, now: f64, interval: f64) -> i64 {
        let periods_late = (now - dll.expected) / dll.period;
        let left_out = periods_late.round().max(0.0);
        let is_early = periods_late < -0.5;
        self.outlier = (left_out > 0.0 || is_early).then_some(Outlier {
            interval,
            left_out: left_out as i64,
            before: dll,
        });
        if is_early {
            dll.expected = now + dll.period;
        } else {
            dll.expected += left_out * dll.period;
            dll.pulse(now, &self.periods);
        }
        self.dll = Some(dll);
        left_out as i64
    }
}

impl Outlier {
    fn agrees(&self, interval: f64) -> bool {
        (interval - self.interval).abs() <= AGREEMENT * self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes pulses; the last period, and the number of pulses with those that were left out.
    fn filter(frames: impl IntoIterator<Item = u64>) -> (f64, i64) {
        let mut filter = PulseFilter::new(SampleRate::new(48_000).unwrap());
        let count = frames.into_iter().map(|at| filter.push(at) + 1).sum();
        (filter.dll().unwrap().period, count)
    }

    fn steady(period: u64, count: u64) -> impl Iterator<Item = u64> + Clone {
        (0..count).map(move |n| 1000 + n * period)
    }

    #[test]
    fn a_pulse_that_comes_twice_leaves_the_period_as_it_is() {
        for twice in 0..30 {
            for later in [1, 96, 256, 512, 900, 1200] {
                let mut frames = steady(1333, 60).collect::<Vec<_>>();
                frames.push(1000 + twice * 1333 + later);
                frames.sort_unstable();
                let (period, count) = filter(frames);
                assert!(
                    (period - 1333.0).abs() < 13.3 && (count == 61 || twice == 0),
                    "{twice} {later}: {period} {count}"
                );
            }
        }
    }

    #[test]
    fn another_tempo_is_taken_within_three_pulses_and_costs_no_pulse() {
        for (before, after) in [
            (1000, 2000),
            (1000, 3100),
            (1000, 1700),
            (1000, 500),
            (1000, 333),
            (1000, 250),
        ] {
            let first = steady(before, 50);
            let begin = 1000 + 49 * before;
            let frames = first.chain((1..=4).map(|n| begin + n * after));
            let (period, count) = filter(frames);
            let error = (period - after as f64).abs();
            assert!(error < 1.0, "{before} to {after}: {period}");
            assert_eq!(count, 54, "{before} to {after}");
        }
    }

    #[test]
    fn pulses_that_were_left_out_are_counted() {
        for gap in [1, 2, 7, 30] {
            let left_out = |at: &u64| !(1000 + 20 * 1000..1000 + (20 + gap) * 1000).contains(at);
            let (period, count) = filter(steady(1000, 100).filter(left_out));
            assert!((period - 1000.0).abs() < 0.01, "{gap}: {period}");
            assert_eq!(count, 100, "{gap}");
        }
    }

    #[test]
    fn a_clock_that_pauses_begins_again() {
        let frames = steady(1000, 20).chain(steady(700, 20).map(|at| at + 200_000));
        let (period, count) = filter(frames);
        assert!(
            (period - 700.0).abs() < 0.01 && count == 40,
            "{period} {count}"
        );
    }
}
