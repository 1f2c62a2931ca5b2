//! Space and pitch: reverbs and a pitch shifter.

mod pitch;
mod plate;
mod reverb;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(reverb::kind(), reverb::make);
    registry.add(plate::kind(), plate::make);
    registry.add(pitch::kind(), pitch::make);
}
