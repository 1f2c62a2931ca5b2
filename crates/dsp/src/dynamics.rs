//! Dynamics: what follows the level of its input, or of another one.

mod compressor;
mod deesser;
pub(crate) mod detector;
pub(crate) mod gain_computer;
mod gate;
mod limiter;
mod points;
mod transient;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(compressor::kind(), compressor::make);
    registry.add(limiter::kind(), limiter::make);
    registry.add(gate::gate_kind(), gate::make_gate);
    registry.add(gate::expander_kind(), gate::make_expander);
    registry.add(deesser::kind(), deesser::make);
    registry.add(transient::kind(), transient::make);
}
