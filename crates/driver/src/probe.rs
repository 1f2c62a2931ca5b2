//! What there is to play through, and the choice of it.

use crate::{DriverConfig, DriverError, OpenDriver, clock, jack};

/// One way to play, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// The driver that would play: `jack`, `clock`.
    pub driver: &'static str,
    /// What was found, in one line.
    pub description: String,
    /// Whether it can be played through now.
    pub is_available: bool,
    /// What to do so that it can.
    pub advice: Option<String>,
}

/// What there is to play through.
///
/// Real-time: setup.
pub fn probe() -> Vec<ProbeResult> {
    let mut found = jack::probe();
    found.push(ProbeResult {
        driver: "clock",
        description: "the system's clock: in real time, without sound".to_owned(),
        is_available: true,
        advice: None,
    });
    found
}

/// A driver that was chosen, and the choice in one line.
pub struct AutoDriver {
    /// The driver.
    pub driver: Box<dyn OpenDriver>,
    /// What was chosen, and why where it may surprise.
    pub message: String,
}

/// Opens JACK or PipeWire where one answers, else the clock.
///
/// Real-time: setup.
pub fn open_auto(config: &DriverConfig) -> Result<AutoDriver, DriverError> {
    let refused = match jack::open(config) {
        Ok(opened) => {
            let facts = opened.info();
            let said = format!("playing through {}, {}", facts.server, facts.rate);
            return Ok(AutoDriver {
                driver: opened,
                message: said,
            });
        }
        // What is wrong with the config is wrong for the clock too.
        Err(refused @ (DriverError::Block(_) | DriverError::Channels(_))) => return Err(refused),
        Err(refused) => refused,
    };
    let opened = clock::open(config)?;
    let said = format!("playing by the clock, without a device: {refused}");
    Ok(AutoDriver {
        driver: opened,
        message: said,
    })
}
