//! Random numbers for tests: the same in every run.

pub use units::SplitMix64 as Rng;
