//! The twin of `jack.rs` for systems where no libjack is looked for.

use crate::{DriverError, Found, Opened, Request};

/// Always [`DriverError::NoLibrary`] here.
///
/// Real-time: setup.
pub fn open(config: &Request) -> Result<Box<dyn Opened>, DriverError> {
    config.check()?;
    Err(DriverError::NoLibrary)
}

/// As [`open`].
///
/// Real-time: setup.
pub fn open_pipewire(config: &Request) -> Result<Box<dyn Opened>, DriverError> {
    open(config)
}

pub(crate) fn probe() -> Vec<Found> {
    vec![Found {
        driver: "jack",
        what: "JACK: not looked for on this system".to_owned(),
        answers: false,
        advice: None,
    }]
}
