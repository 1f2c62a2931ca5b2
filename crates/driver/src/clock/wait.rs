//! [`Clock`]: a clock that can be waited for, and the system's.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;

use units::Nanos;

pub use system::SystemClock;

/// A clock that can be waited for. Tests drive their own by hand.
pub trait Clock: Send + 'static {
    /// Time since some fixed moment.
    ///
    /// Real-time: hot.
    fn now(&mut self) -> Nanos;

    /// Returns at `time` or later; at once if it is past.
    ///
    /// Real-time: waits, until `time`.
    fn sleep_until(&mut self, time: Nanos);
}
