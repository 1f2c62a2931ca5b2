//! [`probe`]: reads the state of the machine in a few milliseconds, to find out if it is what it was when a choice was made.
//!
//! A virtual machine's cores may be two threads of one core now and two cores a minute later; a laptop changes its clock
//! rate. Each of the three readings is taken by the same procedure each time, so they compare with their former selves
//! and with nothing else.

use crate::measure::quick_pair;
use costs::MachineProbe;
use rt::stamp::{self, TickScale};
use std::hint::black_box;

/// Number of steps of the computation that is timed, some 20 µs, and of its repeats.
const STEPS: u32 = 20_000;
const REPEATS: usize = 8;

/// A reading has changed if it is larger or smaller by this factor, and by this many nanoseconds.
const CROSSING: (f64, f64) = (1.8, 40.0);
const WAKE: (f64, f64) = (2.0, 2_000.0);
const COMPUTATION: (f64, f64) = (1.25, 500.0);

/// Reads the state of the machine: a crossing, a wake, and a computation on one core.
///
/// Real-time: waits, for some milliseconds.
pub(super) fn probe(scale: TickScale) -> MachineProbe {
    let (crossing_ns, wake_ns) = quick_pair(scale);
    let times = (0..REPEATS).map(|_| scale.nanos(computation()));
    MachineProbe {
        crossing_ns,
        wake_ns,
        computation_ns: times.min().unwrap_or_default().0 as f64,
    }
}

/// Ticks that a chain of dependent multiplications takes.
fn computation() -> u64 {
    let start = stamp::now();
    let mut state = black_box(1_u64);
    for _ in 0..STEPS {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    }
    black_box(state);
    stamp::now().saturating_sub(start)
}

/// Returns true if the machine's state is `before` still.
pub(super) fn is_unchanged(before: &MachineProbe, now: &MachineProbe) -> bool {
    let is_close = |a: f64, b: f64, (factor, ns): (f64, f64)| {
        let (low, high) = (a.min(b), a.max(b));
        high <= low * factor || high - low <= ns
    };
    let both = |a: Option<f64>, b: Option<f64>, limits| match (a, b) {
        (Some(a), Some(b)) => is_close(a, b, limits),
        (a, b) => a == b,
    };
    both(before.crossing_ns, now.crossing_ns, CROSSING)
        && both(before.wake_ns, now.wake_ns, WAKE)
        && is_close(before.computation_ns, now.computation_ns, COMPUTATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: MachineProbe = MachineProbe {
        crossing_ns: Some(55.0),
        wake_ns: Some(3_000.0),
        computation_ns: 20_000.0,
    };

    #[test]
    fn cores_that_moved_apart_and_a_slower_clock_are_noticed_and_noise_is_not() {
        let crossing = |ns| MachineProbe {
            crossing_ns: Some(ns),
            ..BEFORE
        };
        assert!(is_unchanged(&BEFORE, &BEFORE) && is_unchanged(&BEFORE, &crossing(80.0)));
        assert!(!is_unchanged(&BEFORE, &crossing(180.0)));
        assert!(!is_unchanged(&crossing(180.0), &BEFORE));
        let wake = |wake_ns| MachineProbe { wake_ns, ..BEFORE };
        assert!(is_unchanged(&BEFORE, &wake(Some(4_900.0))));
        assert!(
            !is_unchanged(&BEFORE, &wake(Some(26_000.0))) && !is_unchanged(&BEFORE, &wake(None))
        );
        let slower = MachineProbe {
            computation_ns: 30_000.0,
            ..BEFORE
        };
        assert!(!is_unchanged(&BEFORE, &slower));
    }
}
