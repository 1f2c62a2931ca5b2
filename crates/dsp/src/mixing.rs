//! Levels and sums: gain, pan, mixers, a matrix, products, and meters of level and loudness.

pub(crate) mod crossfade;
pub(crate) mod gain;
pub(crate) mod loudness;
pub(crate) mod matrix;
pub(crate) mod meter;
pub(crate) mod mix;
pub(crate) mod mixer;
pub(crate) mod multiply;
pub(crate) mod pan;
mod panner;
mod panning;
mod split_join;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(mix::kind(), mix::make);
    registry.add(multiply::kind(), multiply::make);
    registry.add(gain::kind(), gain::make);
    registry.add(mixer::kind(), mixer::make);
    registry.add(pan::kind(), pan::make);
    registry.add(meter::kind(), meter::make);
    registry.add(loudness::kind(), loudness::make);
    registry.add(crossfade::kind(), crossfade::make);
    registry.add(matrix::kind(), matrix::make);
    registry.add(split_join::split_kind(), split_join::make_split);
    registry.add(split_join::join_kind(), split_join::make_join);
}
