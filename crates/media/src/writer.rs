//! [`Writer`]: a WAV file that can be played at every moment, even if the program is killed.
//!
//! The header of a WAV file states its length. The writer brings it up to date after each second of sound, so that a
//! killed program loses one second at most.

use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use units::{Channels, SampleRate};

/// Number format of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleFormat {
    /// 32-bit float: the bits as they are.
    #[default]
    F32,
    /// 24-bit integer; values beyond full scale are clipped.
    I24,
    /// 16-bit integer, clipped likewise; rounded to the nearest, without dither.
    I16,
}

impl SampleFormat {
    fn bits(self) -> u16 {
        match self {
            Self::F32 => 32,
            Self::I24 => 24,
            Self::I16 => 16,
        }
    }
}

/// A WAV file that is being written.
pub struct Writer {
    path: PathBuf,
    wav: Option<hound::WavWriter<BufWriter<File>>>,
    format: SampleFormat,
    channels: usize,
    max_frames: u64,
    frames: u64,
    flush_every: u64,
    flush_at: u64,
}

/// The most bytes of samples in a WAV file: 4 GiB less some room for headers.
const MAX_BYTES: u64 = u32::MAX as u64 - 4096;

impl Writer {
    /// Creates the file. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or WAV has no such format.
    ///
    /// Real-time: waits, on the disk.
    pub fn create(
        path: impl AsRef<Path>,
        rate: SampleRate,
        channels: Channels,
        format: SampleFormat,
    ) -> Result<Self, MediaError> {
        let path = path.as_ref().to_path_buf();
        if !(1..=MAX_CHANNELS).contains(&channels.0) || rate.hz() > MAX_RATE_HZ {
            let what = format!("{} channels at {rate}", channels.0);
            return Err(MediaError::Unsupported(path, what));
        }
        let spec = hound::WavSpec {
            channels: channels.0,
            sample_rate: rate.hz(),
            bits_per_sample: format.bits(),
            sample_format: match format {
                SampleFormat::F32 => hound::SampleFormat::Float,
                _ => hound::SampleFormat::Int,
            },
        };
        let wav = match hound::WavWriter::create(&path, spec) {
            Ok(wav) => wav,
            Err(hound::Error::IoError(error)) => return Err(MediaError::Open(path, error)),
            Err(error) => return Err(MediaError::Unsupported(path, error.to_string())),
        };
        let frame_bytes = u64::from(format.bits() / 8) * u64::from(channels.0);
        Ok(Self {
            path,
            wav: Some(wav),
            format,
            channels: channels.count(),
            max_frames: MAX_BYTES / frame_bytes,
            frames: 0,
            flush_every: u64::from(rate.hz()),
            flush_at: u64::from(rate.hz()),
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of frames written so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Appends the frames of `planar`, which has one slice a channel, all of one length.
    ///
    /// # Errors
    ///
    /// The disk fails, or the file is full. Frames that were written stay.
    ///
    /// # Panics
    ///
    /// `planar` has another number of channels, or slices of different lengths.
    ///
    /// Real-time: waits, on the disk.
    pub fn write(&mut self, planar: &[&[f32]]) -> Result<(), MediaError> {
        assert_eq!(planar.len(), self.channels, "one slice a channel");
        let frames = planar[0].len();
        assert!(
            planar.iter().all(|c| c.len() == frames),
            "channels of one length"
        );
        self.append(frames, |frame, channel| planar[channel][frame])
    }

    /// Appends whole frames, interleaved.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    ///
    /// # Panics
    ///
    /// The length of `samples` is not a multiple of the number of channels.
    ///
    /// Real-time: waits, on the disk.
    pub fn write_interleaved(&mut self, samples: &[f32]) -> Result<(), MediaError> {
        let channels = self.channels;
        assert_eq!(samples.len() % channels, 0, "whole frames");
        self.append(samples.len() / channels, |frame, channel| {
            samples[frame * channels + channel]
        })
    }

    /// Appends silence.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    ///
    /// Real-time: waits, on the disk.
    pub fn write_silence(&mut self, frames: usize) -> Result<(), MediaError> {
        self.append(frames, |_, _| 0.0)
    }

    fn append(
        &mut self,
        frames: usize,
        sample: impl Fn(usize, usize) -> f32,
    ) -> Result<(), MediaError> {
        let writable = self
            .max_frames
            .saturating_sub(self.frames)
            .min(frames as u64) as usize;
        for frame in 0..writable {
            for channel in 0..self.channels {
                self.write_sample(sample(frame, channel))?;
            }
            self.frames += 1;
            if self.frames == self.flush_at {
                self.flush()?;
            }
        }
        if writable < frames {
            return Err(MediaError::Full(self.path.clone()));
        }
        Ok(())
    }

    fn write_sample(&mut self, sample: f32) -> Result<(), MediaError> {
        let Some(wav) = &mut self.wav else {
            return Ok(());
        };
        let done = match self.format {
            SampleFormat::F32 => wav.write_sample(sample),
            SampleFormat::I24 => wav.write_sample(integer(sample, 23)),
            SampleFormat::I16 => wav.write_sample(integer(sample, 15)),
        };
        done.map_err(|error| io_error(&self.path, error))
    }

    /// Writes header and buffered samples to the disk, so that a reader sees all frames.
    ///
    /// # Errors
    ///
    /// The disk fails.
    ///
    /// Real-time: waits, on the disk.
    pub fn flush(&mut self) -> Result<(), MediaError> {
        self.flush_at = self.frames + self.flush_every;
        match &mut self.wav {
            Some(wav) => wav.flush().map_err(|error| io_error(&self.path, error)),
            None => Ok(()),
        }
    }

    /// Ends the file and returns the last error. Dropping the writer ends the file too, and ignores errors.
    ///
    /// # Errors
    ///
    /// The disk fails.
    ///
    /// Real-time: waits, on the disk.
    pub fn finish(mut self) -> Result<(), MediaError> {
        match self.wav.take() {
            Some(wav) => wav.finalize().map_err(|error| io_error(&self.path, error)),
            None => Ok(()),
        }
    }
}

/// Converts to the nearest integer of `bits` bits and a sign; NaN becomes 0.
fn integer(sample: f32, bits: u32) -> i32 {
    let full = f64::from(1_u32 << bits);
    let scaled = f64::from(sample) * full;
    scaled.round().clamp(-full, full - 1.0) as i32
}

fn io_error(path: &Path, error: hound::Error) -> MediaError {
    let error = match error {
        hound::Error::IoError(error) => error,
        other => std::io::Error::other(other),
    };
    MediaError::Io(path.to_path_buf(), error)
}
