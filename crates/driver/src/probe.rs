//! What there is to play through, and the choice of it.

use crate::{DriverError, Opened, Request, clock, jack};

/// One way to play, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The driver that would play: `jack`, `clock`.
    pub driver: &'static str,
    /// What was found, in one line.
    pub what: String,
    /// Whether it can be played through now.
    pub answers: bool,
    /// What to do so that it can.
    pub advice: Option<String>,
}

/// What there is to play through.
///
/// Real-time: setup.
pub fn probe() -> Vec<Found> {
    let mut found = jack::probe();
    found.push(Found {
        driver: "clock",
        what: "the system's clock: a beat without sound".to_owned(),
        answers: true,
        advice: None,
    });
    found
}

/// A driver that was chosen, and the choice in one line.
pub struct Chosen {
    /// The driver.
    pub opened: Box<dyn Opened>,
    /// What was chosen, and why where it may surprise.
    pub said: String,
}

/// Opens JACK or PipeWire where one answers, else the clock.
///
/// Real-time: setup.
pub fn auto(request: &Request) -> Result<Chosen, DriverError> {
    let refused = match jack::open(request) {
        Ok(opened) => {
            let facts = opened.facts();
            let said = format!("playing through {}, {}", facts.server, facts.rate);
            return Ok(Chosen { opened, said });
        }
        // What is wrong with the request is wrong for the clock too.
        Err(refused @ (DriverError::Block(_) | DriverError::Channels(_))) => return Err(refused),
        Err(refused) => refused,
    };
    let opened = clock::open(request)?;
    let said = format!("playing by the clock, without a device: {refused}");
    Ok(Chosen { opened, said })
}
