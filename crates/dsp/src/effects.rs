//! Effects: delays, moving delays and phases, ring modulator, wave shapers and fewer bits.

mod chorus;
mod crusher;
mod delay;
mod phaser;
mod ring_modulator;
mod saturator;
mod wave_shaper;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(ring_modulator::kind(), ring_modulator::make);
    registry.add(wave_shaper::kind(), wave_shaper::make);
    registry.add(delay::kind(), delay::make);
    registry.add(chorus::chorus_kind(), chorus::make_chorus);
    registry.add(chorus::flanger_kind(), chorus::make_flanger);
    registry.add(phaser::kind(), phaser::make);
    registry.add(saturator::saturate_kind(), saturator::make_saturate);
    registry.add(saturator::fold_kind(), saturator::make_fold);
    registry.add(crusher::kind(), crusher::make);
}
