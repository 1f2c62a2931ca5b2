//! [`Outside`]: the ways between a patch and the outside.

use super::inbox::WordsReader;
use super::midi::MidiExchange;
use super::own_params::OwnParams;
use super::playing_names::PlayingNames;
use super::printer::{LineSender, Printer};
use crate::control::Machine;
use processor::Events;

/// Ways between a patch and the outside.
pub(super) struct Outside {
    /// Lines for the terminal.
    pub(super) console: LineSender,
    /// Messages from outside.
    pub(super) words: WordsReader,
    /// Absolute frame of the block.
    pub(super) frame: u64,
    /// Its names, while it plays.
    pub(super) names: PlayingNames,
    /// Until a thread has it that may wait.
    pub(super) printer: Option<Printer>,
    pub(super) midi: MidiExchange,
    pub(super) own_params: OwnParams,
}

impl Outside {
    /// Sends what has come for a patch.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(super) fn receive(&mut self, patch: u16, events: Events<'_>, machine: &mut Machine) {
        if !events.is_empty() {
            self.own_params.receive(events, machine);
            self.midi.receive(patch, events, machine);
        }
        self.words
            .read(self.frame, |text| machine.send_text(patch, text));
    }
}
