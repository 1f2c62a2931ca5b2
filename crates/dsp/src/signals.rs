//! Signals as numbers: arithmetic, slew, sample and hold. What drives parameters is shaped here.

mod math;
mod sample_hold;
mod slew;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(math::kind(), math::make);
    registry.add(slew::kind(), slew::make);
    registry.add(sample_hold::kind(), sample_hold::make);
}
