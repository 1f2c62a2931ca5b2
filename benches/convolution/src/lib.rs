//! Partitioned convolution of Divisi beside other convolvers, in one run.
//!
//! Takes lengths and a number of channels, gives processor time, channels in real time and bytes per channel, for Divisi,
//! zita-convolver 4 and the two-stage FFTConvolver on the same noise. May: start threads, use `unsafe` for calls to C and
//! to the system. May not: time an engine that it has not checked.
//!
//! ```text
//! apt-get install libzita-convolver-dev
//! cargo run --release --manifest-path benches/convolution/Cargo.toml --bin table
//! cargo run --release --manifest-path benches/convolution/Cargo.toml --bin live -- --seconds 60
//! ```

pub mod bound;
pub mod check;
pub mod clock;
pub mod divisi;
pub mod engine;
pub mod live;
pub mod options;
pub mod signals;
pub mod stats;
pub mod study;
pub mod system;
pub mod two_stage;
pub mod zita;

/// Frames in a block.
pub const BLOCK: usize = 64;
/// Sample rate in Hz.
pub const RATE: f64 = 44_100.0;
/// The lengths of the impulse responses that are compared.
pub const LENGTHS: [usize; 4] = [16_384, 65_536, 262_144, 524_288];
/// Duration of a block in ns.
pub const PERIOD_NS: u64 = (BLOCK as f64 * 1e9 / RATE) as u64;
