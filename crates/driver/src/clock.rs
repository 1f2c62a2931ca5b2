//! The clock driver: a thread and the system's clock ask for blocks in real time, without a device.
//!
//! Block k is due exactly k blocks after the first, in rational arithmetic: the period never drifts. If the callback is
//! behind by up to [`MAX_LATE_BLOCKS`] blocks, the driver catches up. Further behind, it skips blocks and counts each
//! as an xrun, as a device would:
//!
//! ```text
//!   due      │ 0    │ 1    │ 2    │ 3    │ 4    │ 5    │ 6
//!   played   │▓▓▓▓  │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│5 ▓▓▓ │▓▓▓▓
//!                                                 └─ 2, 3, 4 are skipped: 3 xruns
//! ```

mod thread;
mod timer;
mod wait;

use units::SampleRate;

use crate::{DriverConfig, DriverError, OpenDriver};

#[cfg(target_os = "linux")]
pub(crate) use timer::BlockTimer;
pub use timer::MAX_LATE_BLOCKS;
pub use wait::{Clock, SystemClock};

/// Sample rate of a configuration that names none.
pub const DEFAULT_RATE: SampleRate = SampleRate::new(48_000).expect("48000 is not zero");

/// Opens the clock driver: its thread exists, with the priority at which it will play, and waits for the callback.
///
/// # Errors
///
/// The configuration is out of range, or no thread can be started.
///
/// Real-time: setup.
pub fn open(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    thread::open(config, SystemClock)
}

/// As [`open`], on another clock, and at ordinary priority.
///
/// # Errors
///
/// As for [`open`].
///
/// Real-time: setup.
pub fn open_with_clock(
    config: &DriverConfig,
    clock: impl Clock,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    let ordinary = DriverConfig {
        priority: None,
        ..config.clone()
    };
    thread::open(&ordinary, clock)
}
