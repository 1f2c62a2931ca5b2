//! Filters: one-pole, biquad and state-variable filters on a shared processor (`filter.rs`), FIR filters, and filters that are
//! kernels of the library (`crate::kernel`).

pub(crate) mod allpass;
mod biquad;
mod comb;
mod crossover;
mod dc;
mod driven;
mod eq;
pub(crate) mod eq_band;
mod filter;
mod fir;
mod groups;
mod hilbert;
mod kernel;
mod ladder;
pub(crate) mod lanes;
mod onepole;

mod svf;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(biquad::kind(), biquad::make);
    registry.add(svf::kind(), svf::make);
    registry.add(onepole::kind(), onepole::make);
    registry.add(fir::kind(), fir::make);
    registry.add(ladder::kind(), ladder::make);
    registry.add(allpass::kind(), allpass::make);
    registry.add(comb::kind(), comb::make);
    registry.add(dc::kind(), dc::make);
    registry.add(eq::kind(), eq::make);
    registry.add(crossover::kind(), crossover::make);
    registry.add(hilbert::kind(), hilbert::make);
}
