//! Effects: delay, ring modulator and wave shaper.

mod delay;
mod ring_modulator;
mod wave_shaper;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(ring_modulator::kind(), ring_modulator::make);
    registry.add(wave_shaper::kind(), wave_shaper::make);
    registry.add(delay::kind(), delay::make);
}
