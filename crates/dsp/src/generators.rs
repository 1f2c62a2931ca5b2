//! Generators: oscillators, noise, envelopes and beats. None needs an audio input.

pub(crate) mod driven;
pub(crate) mod envelope;
pub(crate) mod lfo;
pub(crate) mod metro;
pub(crate) mod mseg;
pub(crate) mod noise;
mod note_gate;
pub(crate) mod operator;
pub(crate) mod osc;
mod residual;
pub(crate) mod sine;
pub(crate) mod wavetable;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(osc::kind(), osc::make);
    registry.add(noise::kind(), noise::make);
    registry.add(envelope::kind(), envelope::make);
    registry.add(mseg::kind(), mseg::make);
    registry.add(metro::kind(), metro::make);
    registry.add(lfo::kind(), lfo::make);
    registry.add(operator::kind(), operator::make);
    registry.add(wavetable::kind(), wavetable::make);
}
