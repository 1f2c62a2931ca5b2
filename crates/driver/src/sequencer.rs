//! MIDI ports in ALSA's sequencer, beside a driver that has none: the clock's and ALSA's own.
//!
//! ```text
//!   other programs ─▶ sequencer ─▶ thread ─▶ ring ─▶ SequencerPeriods::read  ─▶ callback   (audio thread)
//!   other programs ◀─ sequencer ◀─ thread ◀─ ring ◀─ SequencerPeriods::write ◀─ callback
//! ```
//!
//! The audio thread makes no system call for it. What comes in has the sequencer's time stamp; a period gets what came in
//! the period before, at the same places, one millisecond later: constant latency, and no jitter but that of the begins
//! of periods, which a loop filter takes out ([`period`]). What goes out has a time one period (two milliseconds at least)
//! after its frame began, and the sequencer sends it then, as exactly as its timer is (one millisecond where the kernel
//! has no finer one).

mod client;
mod library;
mod period;
#[cfg(test)]
mod tests;
mod thread;

use crate::{DriverConfig, DriverInfo};
pub(crate) use library::SequencerFunctions;
pub(crate) use period::SequencerPeriods;
pub(crate) use thread::SequencerHandle;

/// Opens the MIDI ports that `config` asks for. `info` says that they exist, or why they do not.
///
/// Real-time: setup.
pub(crate) fn open_beside(
    config: &DriverConfig,
    info: &mut DriverInfo,
) -> (Option<SequencerHandle>, Option<SequencerPeriods>) {
    if !config.has_midi() {
        return (None, None);
    }
    let opened = client::Client::open(config);
    let started = opened.and_then(|client| thread::start(client, config, info.rate));
    match started {
        Ok((handle, periods)) => {
            info.has_midi = true;
            (Some(handle), Some(periods))
        }
        Err(reason) => {
            info.refused.push(format!("MIDI ports: {reason}"));
            (None, None)
        }
    }
}
