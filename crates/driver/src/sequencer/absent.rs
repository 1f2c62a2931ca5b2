//! The twin of `sequencer.rs` for systems without ALSA: there are no MIDI ports.

use crate::{AudioCallback, DriverConfig, DriverInfo, MidiLosses, PortConnections};
use units::Nanos;

/// No ports.
pub(crate) enum SequencerPeriods {}

/// No thread.
pub(crate) enum SequencerHandle {}

/// Refuses the MIDI ports that `config` asks for.
pub(crate) fn open_beside(
    config: &DriverConfig,
    info: &mut DriverInfo,
) -> (Option<SequencerHandle>, Option<SequencerPeriods>) {
    if config.has_midi() {
        let refused = "MIDI ports: this system has none; play through JACK";
        info.refused.push(refused.to_owned());
    }
    (None, None)
}

impl SequencerPeriods {
    pub(crate) fn begin(&mut self, _: Nanos, _: usize) {
        match *self {}
    }

    pub(crate) fn read(&mut self, _: &mut dyn AudioCallback, _: usize, _: usize, _: usize) {
        match *self {}
    }

    pub(crate) fn write(&mut self, _: &mut dyn AudioCallback, _: usize, _: usize, _: usize) {
        match *self {}
    }
}

impl SequencerHandle {
    pub(crate) fn take_connections(&self) -> Option<Vec<PortConnections>> {
        match *self {}
    }

    pub(crate) fn losses(&self) -> MidiLosses {
        match *self {}
    }
}
