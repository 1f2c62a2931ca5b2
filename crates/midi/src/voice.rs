//! From notes to voices: which voice plays a note, and the signals by which it plays.

pub(crate) mod note;
pub(crate) mod ramp;
pub(crate) mod table;
pub(crate) mod voices;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(note::kind(), note::make);
    registry.add(voices::kind(), voices::make);
}
