//! The twin of `alsa.rs` for systems without ALSA.

use crate::{DriverConfig, DriverError, OpenDriver, ProbeResult};

/// Always [`DriverError::NoAlsaLibrary`] here.
///
/// Real-time: setup.
pub fn open(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    Err(DriverError::NoAlsaLibrary)
}

pub(crate) fn open_card(_: &DriverConfig) -> Option<Result<Box<dyn OpenDriver>, DriverError>> {
    None
}

pub(crate) fn probe() -> Vec<ProbeResult> {
    Vec::new()
}
