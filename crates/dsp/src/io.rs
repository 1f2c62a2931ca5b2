//! Inputs and outputs of a graph: device channels and sound files.

mod input;
pub(crate) mod player;
mod recorder;
mod sink;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(player::kind(), player::make);
    registry.add_probe("player", player::file_channels);
    registry.add(recorder::kind(), recorder::make);
    registry.add(input::kind(), input::make);
    registry.add(sink::kind(), sink::make);
}
