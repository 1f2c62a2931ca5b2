//! Sound files in and out, and from one sample rate to another.
//!
//! Takes paths, gives a [`Reader`] of WAV, AIFF and FLAC, a [`ResamplingReader`] of one at any rate, a whole [`Sound`] in
//! memory, the [`SampleInfo`] of a WAV or AIFF, a [`Writer`] of WAV and RF64, and the [`Resampler`] beneath.
//!
//! ```text
//!  file ── chunks (limits) ── Reader ── ResamplingReader ── Sound          Writer ── file.wav
//!            before a parser  frames    Resampler: frames   all frames,
//!            believes them    of the    at a stated rate    shared
//!                             file
//! ```
//!
//! May: open files, allocate, take its time. May not: run on an audio thread, trust a number that it read in a file,
//! use `unsafe`.
//!
//! Samples are `f32`, full scale is 1.0. A float file keeps its bits; 16 and 24 bits are exact there and back.
#![forbid(unsafe_code)]

mod chunks;
mod completion;
mod error;
mod reader;
mod resample;
mod riff_view;
mod sample_info;
mod sound;
mod stream;
mod wav_header;
mod writer;

pub use completion::complete_recording;
pub use error::MediaError;
pub use reader::{Reader, open};
pub use resample::{RateRatioError, Resampler};
pub use sample_info::{SampleInfo, sample_info};
pub use sound::Sound;
pub use stream::{ResamplingReader, find_damage};
pub use writer::{SampleFormat, Writer};

/// The most channels of a file.
pub const MAX_CHANNELS: u16 = 256;
/// The highest sample rate of a file, in Hz.
pub const MAX_RATE_HZ: u32 = 768_000;
