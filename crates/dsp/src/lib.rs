//! The unit library: oscillators, filters, gains, meters, each under the name it has in files.
//!
//! Takes a [`Registry`], gives it every kind with what makes it ([`register`]).
//! May: allocate in makers and in `setup`. May not: own a thread, call the system's elementary functions on the signal
//! path (the bits must not hang on a C library), use `unsafe`.
//!
//! | file | holds |
//! |---|---|
//! | `knob.rs` | parameters: descriptors, and the events that turn them |
//! | `steps.rs` | a block cut at its events and at the frames where units tidy up |
//! | `split.rs` | one block over several cores |
//! | `smooth.rs` | a number that glides instead of jumping |
//! | `state.rs` | saved state as a list of words |
//! | `filter.rs` | what all filters share |
//! | `sample.rs` `sine.rs` | arithmetic of single samples |
//!
//! Every other file is one unit, or one tight family.
//!
//! What holds for all of them: finite input gives finite output (the sum of two loudest samples is the loudest sample,
//! not infinity); silence is +0.0; what does not depend on the block's size does not see it, not even in the last bit.
#![forbid(unsafe_code)]

mod biquad;
mod delay;
mod envelope;
mod filter;
mod fir;
mod gain;
mod input;
mod knob;
mod meter;
mod metro;
mod mix;
mod mixer;
mod modulator;
mod multiply;
mod noise;
mod onepole;
mod osc;
mod pan;
mod player;
mod recorder;
mod sample;
mod shape;
mod sine;
mod sink;
mod smooth;
mod split;
mod state;
mod steps;
mod svf;
mod work;

use processor::Registry;

/// Adds every kind of this library to `registry`.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    registry.add(osc::kind(), osc::make);
    registry.add(modulator::kind(), modulator::make);
    registry.add(noise::kind(), noise::make);
    registry.add(mix::kind(), mix::make);
    registry.add(multiply::kind(), multiply::make);
    registry.add(gain::kind(), gain::make);
    registry.add(mixer::kind(), mixer::make);
    registry.add(pan::kind(), pan::make);
    registry.add(shape::kind(), shape::make);
    registry.add(delay::kind(), delay::make);
    registry.add(biquad::kind(), biquad::make);
    registry.add(svf::kind(), svf::make);
    registry.add(onepole::kind(), onepole::make);
    registry.add(fir::kind(), fir::make);
    registry.add(envelope::kind(), envelope::make);
    registry.add(metro::kind(), metro::make);
    registry.add(meter::kind(), meter::make);
    registry.add(work::kind(), work::make);
    registry.add(player::kind(), player::make);
    registry.add(recorder::kind(), recorder::make);
    registry.add(input::kind(), input::make);
    registry.add(sink::kind(), sink::make);
}

/// Every kind of this library, for readers that make nothing.
///
/// Real-time: setup.
pub fn catalogue() -> graph::Catalogue {
    let mut registry = Registry::default();
    register(&mut registry);
    registry.catalogue().clone()
}
