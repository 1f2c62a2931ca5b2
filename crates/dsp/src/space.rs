//! Space and pitch: reverbs, a pitch shifter, a granular player.

mod grains;
mod pitch;
mod plate;
mod reverb;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(reverb::kind(), reverb::make);
    registry.add(plate::kind(), plate::make);
    registry.add(pitch::kind(), pitch::make);
    registry.add(grains::kind(), grains::make);
    registry.add_probe("grains", crate::io::player::file_channels);
}
