//! [`probe()`] lists the drivers of this machine; [`open_auto`] chooses one.

use crate::{DriverConfig, DriverError, OpenDriver, alsa, clock, jack};

/// A driver that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Name of the driver: `jack`, `alsa`, `clock`.
    pub driver: &'static str,
    /// Description of what was found, in one line.
    pub description: String,
    /// True if it can play now.
    pub is_available: bool,
    /// Advice on how to make it available.
    pub advice: Option<String>,
}

/// Lists the drivers of this machine, those that cannot play now among them.
///
/// Real-time: setup.
pub fn probe() -> Vec<ProbeResult> {
    let mut found = jack::probe();
    found.extend(alsa::probe());
    found.push(ProbeResult {
        driver: "clock",
        description: "the system's clock: in real time, without sound".to_owned(),
        is_available: true,
        advice: None,
    });
    found
}

/// The driver that was chosen.
pub struct AutoDriver {
    /// The open driver.
    pub driver: Box<dyn OpenDriver>,
    /// The choice in one line, with the reason where it may surprise.
    pub message: String,
}

/// Opens JACK or PipeWire where a server answers, else ALSA's default device where there is a sound card, else the clock.
///
/// # Errors
///
/// The configuration is out of range, or not even the clock can be opened.
///
/// Real-time: setup.
pub fn open_auto(config: &DriverConfig) -> Result<AutoDriver, DriverError> {
    let mut refused = match jack::open(config) {
        Ok(opened) => {
            let facts = opened.info();
            let said = format!("playing through {}, {}", facts.server, facts.rate);
            return Ok(AutoDriver {
                driver: opened,
                message: said,
            });
        }
        // A configuration that is out of range here is out of range for the clock too.
        Err(refused @ (DriverError::Block(_) | DriverError::Channels(_))) => return Err(refused),
        Err(refused) => refused,
    };
    match alsa::open_card(config) {
        Some(Ok(driver)) => {
            let facts = driver.info();
            let message = format!(
                "playing through {}, {}: {refused}",
                facts.server, facts.rate
            );
            return Ok(AutoDriver { driver, message });
        }
        Some(Err(error)) => refused = error,
        None => {}
    }
    let opened = clock::open(config)?;
    let said = format!("playing by the clock, without a device: {refused}");
    Ok(AutoDriver {
        driver: opened,
        message: said,
    })
}
