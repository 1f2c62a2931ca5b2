//! The unit library: oscillators, filters, gains, meters, each under the name it has in files.
//!
//! Takes a [`Registry`], gives it every kind with what makes it ([`register`]).
//! May: allocate in makers and in `setup`. May not: own a thread, call the system's elementary functions on the signal
//! path (the bits must not hang on a C library), use `unsafe`.
//!
//! | file | holds |
//! |---|---|
//! | `generators` | oscillators, noise, envelopes, metronome |
//! | `filters` | one-pole, biquad, state-variable and FIR filters |
//! | `mixing` | gain, pan, mixers, products, meter |
//! | `effects` | delay, ring modulator, wave shaper |
//! | `dynamics` | compressor, limiter, gate, expander, de-esser, transient shaper |
//! | `desk` | channel strip and bus |
//! | `signals` | arithmetic, slew, sample and hold |
//! | `kernel` | the arithmetic of a unit, and the processor that does the rest |
//! | `space` | reverbs, pitch shifter, granular player |
//! | `sampler` | samples that play notes, and the SFZ reader |
//! | `trackers` | what is heard in a sound, found by deferred work |
//! | `io` | device inputs, sinks, file player and recorder |
//! | `work.rs` | a unit that only costs time, for test graphs |
//! | `param.rs` | parameters: their descriptions, and the events that change them |
//! | `split.rs` | one block on several cores |
//! | `smoothed.rs` | what nodes with smoothed factors share |
//! | `smoother.rs` | a value that changes in a ramp, not in a step |
//! | `scale.rs` | samples times factors that stand still |
//! | `sample.rs` | arithmetic of single samples |
//! | `whole.rs` | whole numbers of floats, in vectors |
//!
//! Each unit is one file, or one folder. Its module doc gives ports, formula, source, latency and tail.
//!
//! All units keep these rules: finite input gives finite output (the sum of two largest samples is the largest sample,
//! not infinity); silence is +0.0; what does not depend on the block's size does not see it, not even in the last bit.
#![forbid(unsafe_code)]

mod desk;
mod dynamics;
mod effects;
mod filters;
mod generators;
mod io;
mod kernel;
mod mixing;
mod param;
mod sample;
mod sampler;
mod scale;
mod signals;
mod smoothed;
mod smoother;
mod space;
mod split;
mod trackers;
mod whole;
mod work;

pub use sampler::samples_of;

use processor::{Registry, state, steps};

/// Adds every kind of this library to `registry`.
///
/// Real-time: setup.
pub fn register(registry: &mut Registry) {
    generators::register(registry);
    filters::register(registry);
    mixing::register(registry);
    effects::register(registry);
    signals::register(registry);
    dynamics::register(registry);
    desk::register(registry);
    space::register(registry);
    sampler::register(registry);
    trackers::register(registry);
    io::register(registry);
    registry.add(work::kind(), work::make);
}

/// Every kind of this library, for readers that make nothing.
///
/// Real-time: setup.
pub fn catalogue() -> graph::Catalogue {
    let mut registry = Registry::default();
    register(&mut registry);
    registry.catalogue().clone()
}
