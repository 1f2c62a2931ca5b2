//! [`Writer`]: a WAV file, written as a whole or recorded.
//!
//! | | [`create`](Writer::create): a whole file | [`record`](Writer::record): a recording |
//! |---|---|---|
//! | has its name | when it is finished; until then the old file is there | from the beginning |
//! | header | when it is finished | brought up to date after each second of sound: a killed program loses one second |
//! | full disk | the old file stays | what was written is kept, and can be played |
//! | a file of this name | becomes `NAME~` in the end | becomes `NAME~` at the begin |

use crate::wav_header::{HEADER_BYTES, WavFormat};
use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use files::NewFile;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
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
    pub(crate) fn bits(self) -> u16 {
        match self {
            Self::F32 => 32,
            Self::I24 => 24,
            Self::I16 => 16,
        }
    }

    /// Writes each sample into the first of the next `stride` bytes.
    fn put(self, samples: &[f32], bytes: &mut [u8], stride: usize) {
        let slots = bytes.chunks_mut(stride).zip(samples);
        match self {
            Self::F32 => slots.for_each(|(slot, sample)| {
                slot[..4].copy_from_slice(&sample.to_le_bytes());
            }),
            Self::I24 => slots.for_each(|(slot, sample)| {
                slot[..3].copy_from_slice(&integer(*sample, 23).to_le_bytes()[..3]);
            }),
            Self::I16 => slots.for_each(|(slot, sample)| {
                slot[..2].copy_from_slice(&integer(*sample, 15).to_le_bytes()[..2]);
            }),
        }
    }
}

/// A WAV file that is being written. Beyond 4 GiB it is RF64.
///
/// Dropped before [`finish`](Self::finish), a recording is ended like a killed program's, and a whole file is given up.
pub struct Writer {
    path: PathBuf,
    /// `None` once the file is ended.
    out: Option<BufWriter<NewFile>>,
    format: WavFormat,
    /// The earlier file of a recording's name.
    kept: Option<PathBuf>,
    frames: u64,
    is_recording: bool,
    has_failed: bool,
    flush_at: u64,
    /// Bytes of one portion.
    bytes: Vec<u8>,
}

/// Frames that are converted at once.
const PORTION: usize = 1024;

impl Writer {
    /// Begins a file that is named `path` when it is finished. An earlier file of this name is kept as `NAME~`.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or no sound file has this format.
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
        let format = WavFormat {
            channels: channels.0,
            rate_hz: rate.hz(),
            samples: format,
        };
        let open = |error| MediaError::Open(path.clone(), error);
        let mut out = BufWriter::new(NewFile::create(&path).map_err(open)?);
        out.write_all(&format.header(0)).map_err(open)?;
        Ok(Self {
            path,
            out: Some(out),
            format,
            kept: None,
            frames: 0,
            is_recording: false,
            has_failed: false,
            flush_at: u64::MAX,
            bytes: Vec::new(),
        })
    }

    /// Begins a recording, which has its name at once and can be played at every moment. An earlier file of this name is kept
    /// as `NAME~`.
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create); the old file is as it was.
    ///
    /// Real-time: waits, on the disk.
    pub fn record(
        path: impl AsRef<Path>,
        rate: SampleRate,
        channels: Channels,
        format: SampleFormat,
    ) -> Result<Self, MediaError> {
        let mut new = Self::create(path, rate, channels, format)?;
        new.flush()?;
        if let Some(out) = &mut new.out {
            let published = out.get_mut().publish();
            let kept = published.map_err(|error| MediaError::Open(new.path.clone(), error))?;
            new.kept = kept.map(Path::to_owned);
        }
        new.is_recording = true;
        Ok(new)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name under which the earlier file of a recording's name is kept, from its begin on.
    pub fn kept(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// Number of frames written so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Appends the frames of `planar`, which has one slice a channel, all of one length.
    ///
    /// # Errors
    ///
    /// The disk fails. The file is ended: of a recording the frames that were written stay.
    ///
    /// # Panics
    ///
    /// `planar` has another number of channels, or slices of different lengths.
    ///
    /// Real-time: waits, on the disk.
    pub fn write(&mut self, planar: &[&[f32]]) -> Result<(), MediaError> {
        let channels = usize::from(self.format.channels);
        assert_eq!(planar.len(), channels, "one slice a channel");
        let frames = planar[0].len();
        assert!(
            planar.iter().all(|c| c.len() == frames),
            "channels of one length"
        );
        let samples = self.format.samples;
        let bytes_each = usize::from(samples.bits() / 8);
        self.append(frames, |portion, bytes| {
            for (channel, all) in planar.iter().enumerate() {
                let own = &mut bytes[channel * bytes_each..];
                samples.put(&all[portion.clone()], own, channels * bytes_each);
            }
        })
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
        let channels = usize::from(self.format.channels);
        assert_eq!(samples.len() % channels, 0, "whole frames");
        let format = self.format.samples;
        self.append(samples.len() / channels, |portion, bytes| {
            let all = &samples[portion.start * channels..portion.end * channels];
            format.put(all, bytes, usize::from(format.bits() / 8));
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
        self.append(frames, |_, bytes| bytes.fill(0))
    }

    /// Appends frames; `convert` writes a portion of them as bytes.
    fn append(
        &mut self,
        frames: usize,
        convert: impl Fn(Range<usize>, &mut [u8]),
    ) -> Result<(), MediaError> {
        for begin in (0..frames).step_by(PORTION) {
            let end = (begin + PORTION).min(frames);
            let len = (end - begin) * self.format.frame_bytes() as usize;
            self.bytes.resize(len, 0);
            convert(begin..end, &mut self.bytes);
            let bytes = &self.bytes;
            let written = self.out.as_mut().map_or(Ok(()), |out| out.write_all(bytes));
            self.check(written)?;
            self.frames += (end - begin) as u64;
            if self.is_recording && self.frames >= self.flush_at {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes header and buffered samples to the file, so that a reader sees all frames.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    ///
    /// Real-time: waits, on the disk.
    pub fn flush(&mut self) -> Result<(), MediaError> {
        self.flush_at = self.frames + u64::from(self.format.rate_hz);
        let header = self.format.header(self.frames);
        let written = self
            .out
            .as_mut()
            .map_or(Ok(()), |out| write_header(out, &header));
        self.check(written)
    }

    /// Ends the file: it is on the disk and has its name. Returns the name under which an earlier file of other content is kept.
    ///
    /// # Errors
    ///
    /// The disk fails: of a whole file nothing is left, of a recording the frames that were written.
    ///
    /// Real-time: waits, on the disk.
    pub fn finish(mut self) -> Result<Option<PathBuf>, MediaError> {
        self.end()
    }

    fn end(&mut self) -> Result<Option<PathBuf>, MediaError> {
        if self.out.is_none() {
            let earlier = || io::Error::other("an earlier part could not be written");
            return match self.has_failed {
                true => Err(MediaError::Io(self.path.clone(), earlier())),
                false => Ok(None),
            };
        }
        if self.frames * self.format.frame_bytes() % 2 == 1 {
            let written = self.out.as_mut().map_or(Ok(()), |out| out.write_all(&[0]));
            self.check(written)?;
        }
        self.flush()?;
        let ended = match self.out.take().map(BufWriter::into_inner) {
            Some(Ok(file)) => file.commit(),
            Some(Err(error)) => Err(error.into_error()),
            None => Ok(None),
        };
        self.check(ended)
    }

    /// After an error, ends the file with the frames that are in it: nothing more can be written.
    fn check<T>(&mut self, written: io::Result<T>) -> Result<T, MediaError> {
        let error = match written {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        self.has_failed = true;
        // What is still in the buffer is given up. A whole file is removed when it is dropped.
        let file = self.out.take().map(|out| out.into_parts().0);
        if let Some(mut file) = file.filter(|_| self.is_recording) {
            let bytes = file.file().metadata().map_or(0, |metadata| metadata.len());
            self.frames = bytes.saturating_sub(HEADER_BYTES) / self.format.frame_bytes();
            let end = HEADER_BYTES + self.frames * self.format.frame_bytes();
            // Overwriting needs no room. If this fails too, the file ends at its last whole second.
            let header = self.format.header(self.frames);
            let _ = file
                .file()
                .set_len(end)
                .and_then(|()| write_header(&mut file, &header));
        }
        Err(MediaError::Io(self.path.clone(), error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_recording {
            let _ = self.end();
        }
    }
}

/// Overwrites the header and goes back to the end.
fn write_header(out: &mut (impl Write + Seek), header: &[u8]) -> io::Result<()> {
    out.seek(SeekFrom::Start(0))?;
    out.write_all(header)?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}

/// Converts to the nearest integer of `bits` bits and a sign; NaN becomes 0.
fn integer(sample: f32, bits: u32) -> i32 {
    let full = f64::from(1_u32 << bits);
    let scaled = f64::from(sample) * full;
    scaled.round().clamp(-full, full - 1.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open;

    #[test]
    fn a_recording_beyond_4_gib_is_written_and_read_to_its_last_frame() {
        let name = format!("divisi-media-large-{}.wav", std::process::id());
        let path = std::env::temp_dir().join(name);
        let rate = SampleRate::new(48_000).unwrap();
        let mut writer = Writer::record(&path, rate, Channels(256), SampleFormat::F32).unwrap();
        writer.write_interleaved(&[0.25; 256]).unwrap();
        writer.flush().unwrap();
        // A hole in the file in place of 5 GiB of silence.
        let hole = (5 << 30) / writer.format.frame_bytes();
        let end = HEADER_BYTES + (1 + hole) * writer.format.frame_bytes();
        let out = writer.out.as_mut().unwrap();
        out.get_ref().file().set_len(end).unwrap();
        out.seek(SeekFrom::End(0)).unwrap();
        writer.frames += hole;
        writer.write_interleaved(&[0.5; 512]).unwrap();
        writer.finish().unwrap();

        let mut reader = open(&path).unwrap();
        assert_eq!((reader.frames(), reader.damage()), (Some(hole + 3), None));
        let mut samples = vec![9.0; 4 * 256];
        assert_eq!(reader.read_interleaved(&mut samples).unwrap(), 4);
        assert_eq!((samples[0], samples[256]), (0.25, 0.0));
        reader.seek(hole).unwrap();
        assert_eq!(reader.read_interleaved(&mut samples).unwrap(), 3);
        assert_eq!((samples[255], samples[256], samples[767]), (0.0, 0.5, 0.5));
        std::fs::remove_file(path).unwrap();
    }
}
