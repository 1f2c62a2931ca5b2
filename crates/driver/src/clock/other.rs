//! Elsewhere than Linux: the standard library's clock and sleep.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use units::Nanos;

use super::Clock;

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&mut self) -> Nanos {
        static START: OnceLock<Instant> = OnceLock::new();
        Nanos(START.get_or_init(Instant::now).elapsed().as_nanos() as u64)
    }

    fn sleep_until(&mut self, time: Nanos) {
        let now = self.now();
        std::thread::sleep(Duration::from_nanos(time.0.saturating_sub(now.0)));
    }
}
