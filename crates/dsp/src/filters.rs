//! Filters: one-pole, biquad and state-variable filters on a shared processor (`kernel.rs`), and FIR filters.

mod biquad;
mod driven;
mod fir;
mod kernel;
mod onepole;
mod svf;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(biquad::kind(), biquad::make);
    registry.add(svf::kind(), svf::make);
    registry.add(onepole::kind(), onepole::make);
    registry.add(fir::kind(), fir::make);
}
