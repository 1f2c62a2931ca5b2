//! Linux: the monotonic clock, sleeping to absolute times.

use units::Nanos;

use super::Clock;

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&mut self) -> Nanos {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is ours to write, and CLOCK_MONOTONIC exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    fn sleep_until(&mut self, moment: Nanos) {
        let time = libc::timespec {
            tv_sec: (moment.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (moment.0 % 1_000_000_000) as _,
        };
        let clock = libc::CLOCK_MONOTONIC;
        // SAFETY: `time` is read only, and no remaining time is asked for. A signal cuts the sleep: sleep again.
        while unsafe {
            libc::clock_nanosleep(clock, libc::TIMER_ABSTIME, &time, std::ptr::null_mut())
        } == libc::EINTR
        {}
    }
}
