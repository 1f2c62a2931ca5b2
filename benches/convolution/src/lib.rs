//! Partitioned convolution beside its peers, in one run.
//!
//! Takes nothing but lengths and a number of channels, gives processor time, channels held in real time, bytes a channel,
//! for Divisi and for zita-convolver 4 and the two-stage FFTConvolver on the same noise. May: start threads, use
//! `unsafe` at the border to C and to the system. May not: time what it has not checked.
//!
//! ```text
//! apt-get install libzita-convolver-dev
//! cargo run --release --manifest-path benches/convolution/Cargo.toml --bin table
//! cargo run --release --manifest-path benches/convolution/Cargo.toml --bin live -- --seconds 60
//! ```

pub mod bound;
pub mod check;
pub mod clock;
pub mod contestant;
pub mod feed;
pub mod live;
pub mod options;
pub mod ours;
pub mod stats;
pub mod system;
pub mod two_stage;
pub mod zita;

/// Frames in a block.
pub const BLOCK: usize = 64;
/// Frames a second.
pub const RATE: f64 = 44_100.0;
/// The lengths of the impulse responses that are compared.
pub const LENGTHS: [usize; 4] = [16_384, 65_536, 262_144, 524_288];
/// How long a block lasts, in ns.
pub const PERIOD_NS: u64 = (BLOCK as f64 * 1e9 / RATE) as u64;
