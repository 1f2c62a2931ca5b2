//! The twin of `jack.rs` for systems where no libjack is looked for.

use crate::{DriverConfig, DriverError, OpenDriver, ProbeResult};

/// Always [`DriverError::NoLibrary`] here.
///
/// Real-time: setup.
pub fn open(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    Err(DriverError::NoLibrary)
}

/// As [`open`].
///
/// Real-time: setup.
pub fn open_pipewire(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    open(config)
}

pub(crate) fn probe() -> Vec<ProbeResult> {
    vec![ProbeResult {
        driver: "jack",
        description: "JACK: not looked for on this system".to_owned(),
        is_available: false,
        advice: None,
    }]
}
