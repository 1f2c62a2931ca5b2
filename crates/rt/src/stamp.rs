//! Time stamps: the machine's time-stamp counter, and the scale from its ticks to nanoseconds.
//!
//! On x86-64 it is the time-stamp counter where that is invariant (half the price of reading the clock), on AArch64 the
//! virtual counter, elsewhere the clock itself. Stamps of two cores may be compared: each of these counters is one for
//! the whole machine.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use units::Nanos;

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[path = "stamp/aarch64.rs"]
mod counter;
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "stamp/other.rs"]
mod counter;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "stamp/x86_64.rs"]
mod counter;

/// Time for which ticks are compared with the clock, where the processor does not report its rate.
const COMPARED: Duration = Duration::from_millis(20);

/// The scale of this machine, once it is known.
static SCALE: OnceLock<TickScale> = OnceLock::new();

/// Ticks since some fixed moment.
///
/// Real-time: hot, once [`TickScale::calibrated`] has been asked for.
#[inline]
pub fn now() -> u64 {
    counter::now()
}

/// Scale from ticks to nanoseconds and back, in 32.32 fixed point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickScale {
    ticks_per_second: u64,
    /// Nanoseconds a tick, times 2^32, rounded to the nearest.
    nanos: u64,
    /// Ticks a nanosecond, times 2^32, rounded to the nearest.
    ticks: u64,
}

impl TickScale {
    /// The scale of [`now`] on this machine. The first call may compare the counter with the clock, for 20 ms; the
    /// other calls return the same scale.
    ///
    /// Real-time: setup.
    pub fn calibrated() -> Self {
        *SCALE.get_or_init(|| {
            let hz = counter::ticks_per_second().unwrap_or_else(compare);
            Self::new(hz).expect("a counter that ticks was chosen")
        })
    }

    /// Takes the scale that another process on this machine has found, so that [`calibrated`](Self::calibrated) compares nothing. Changes nothing
    /// where the scale is known already, and where this is none.
    ///
    /// Real-time: setup.
    pub fn inherit(ticks_per_second: u64) {
        if let Some(scale) = Self::new(ticks_per_second) {
            // Another thread may have been first: its scale is as good.
            let _ = SCALE.set(scale);
        }
    }

    /// A scale of `ticks_per_second`; `None` for less than one a second or over 2^32 a nanosecond.
    pub fn new(ticks_per_second: u64) -> Option<Self> {
        let nanos = ratio(1_000_000_000, ticks_per_second)?;
        let ticks = ratio(ticks_per_second, 1_000_000_000)?;
        (nanos > 0 && ticks > 0).then_some(Self {
            ticks_per_second,
            nanos,
            ticks,
        })
    }

    /// Ticks a second.
    ///
    /// Real-time: hot.
    pub fn ticks_per_second(self) -> u64 {
        self.ticks_per_second
    }

    /// Time that `ticks` ticks last, rounded down; monotone.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn nanos(self, ticks: u64) -> Nanos {
        Nanos(scaled(ticks, self.nanos))
    }

    /// Ticks that last `time`, rounded down; monotone.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn ticks(self, time: Nanos) -> u64 {
        scaled(time.0, self.ticks)
    }

    /// Time from stamp `from` to stamp `to`; zero if `to` is the earlier.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn between(self, from: u64, to: u64) -> Nanos {
        self.nanos(to.saturating_sub(from))
    }
}

/// `above / below` times 2^32, to the nearest; `None` if it is not finite or does not fit.
fn ratio(above: u64, below: u64) -> Option<u64> {
    let doubled = (u128::from(above) << 33).checked_div(u128::from(below))?;
    u64::try_from(doubled.div_ceil(2)).ok()
}

/// `count * ratio / 2^32`, rounded down; what does not fit is `u64::MAX`.
#[inline]
fn scaled(count: u64, ratio: u64) -> u64 {
    let product = (u128::from(count) * u128::from(ratio)) >> 32;
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// Measures ticks a second by comparison with the clock.
fn compare() -> u64 {
    let (ticks, time) = both();
    std::thread::sleep(COMPARED);
    let (ticks_after, time_after) = both();
    let nanos = (time_after - time).as_nanos().max(1);
    let hz = u128::from(ticks_after.saturating_sub(ticks)) * 1_000_000_000 / nanos;
    u64::try_from(hz).unwrap_or(u64::MAX).max(1)
}

/// Reads counter and clock at one moment: of 16 tries, the one whose two readings of the counter are closest.
fn both() -> (u64, Instant) {
    let tries = (0..16).map(|_| {
        let before = now();
        let time = Instant::now();
        let after = now();
        let apart = after.saturating_sub(before);
        (apart, before + apart / 2, time)
    });
    let (_, ticks, time) = tries.min_by_key(|t| t.0).expect("there are 16 tries");
    (ticks, time)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{TickScale, now};
    use units::Nanos;

    #[test]
    fn stamps_of_one_thread_never_go_back() {
        TickScale::calibrated();
        let stamps: Vec<u64> = (0..1000).map(|_| now()).collect();
        assert!(stamps.is_sorted() && stamps[999] > stamps[0]);
    }

    #[test]
    fn a_scale_that_is_known_is_not_inherited_anew() {
        let known = TickScale::calibrated();
        for other in [0, 1, known.ticks_per_second() / 2] {
            TickScale::inherit(other);
            assert_eq!(TickScale::calibrated(), known);
        }
    }

    #[test]
    fn conversions_are_monotone_and_exact() {
        for hz in [1, 24_000_000, 1_000_000_000, 2_999_999_999, 5_000_000_000] {
            let scale = TickScale::new(hz).unwrap();
            assert_eq!(scale.ticks_per_second(), hz);
            let points = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
            let mut points: Vec<u64> = points.collect();
            points.sort_unstable();
            assert!(points.iter().map(|n| scale.nanos(*n)).is_sorted());
            assert!(points.iter().map(|n| scale.ticks(Nanos(*n))).is_sorted());
            let (day, error) = (86_400 * hz, 86_400 * 1_000_000_000u64);
            // Off by a few parts in 10^9 at most, for the slowest counter too.
            assert!(scale.nanos(day).0.abs_diff(error) <= error / 1_000_000_000 * 4);
        }
    }

    #[test]
    fn absurd_counters_are_refused() {
        assert_eq!(TickScale::new(0), None);
        assert_eq!(
            TickScale::new(u64::MAX).map(|s| s.nanos(u64::MAX).0 > 0),
            None
        );
    }

    #[test]
    fn a_stamp_before_another_is_no_time_after_it() {
        let scale = TickScale::new(1_000_000_000).unwrap();
        assert_eq!(scale.between(5, 12), Nanos(7));
        assert_eq!(scale.between(12, 5), Nanos(0));
    }

    #[test]
    fn every_caller_gets_the_same_scale() {
        assert_eq!(TickScale::calibrated(), TickScale::calibrated());
    }
}
