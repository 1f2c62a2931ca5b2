//! [`ResamplingReader`]: a sound file at a stated rate, from any frame on.
//!
//! A resampled frame depends on `taps` frames of the file. So the reader keeps a window of the file's frames, which moves
//! forward portion by portion:
//!
//! ```text
//!  file     0 ............ begin ......................... end of the window
//!                          └── frames of one portion ──┘
//!                          └ taps of its first frame ┘
//!                                     └ taps of its last frame ─┘
//! ```

use crate::{MediaError, Reader, Resampler, open};
use std::path::Path;
use units::{Channels, SampleRate};

/// An open sound file at a stated rate. The bits of frame n do not depend on the frame at which reading began.
pub struct ResamplingReader {
    reader: Reader,
    resampler: Option<Resampler>,
    rate: SampleRate,
    frames: u64,
    /// Frame that is read next.
    position: u64,
    /// Frames of the file from frame `begin` on, a vector for each channel.
    window: Vec<Vec<f32>>,
    begin: i64,
    error: Option<MediaError>,
}

/// Frames that are resampled at once.
const PORTION: usize = 1024;

impl ResamplingReader {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the ratio of its rate to `rate` is too large.
    ///
    /// Real-time: waits, on the disk.
    pub fn open(path: impl AsRef<Path>, rate: SampleRate) -> Result<Self, MediaError> {
        Self::new(open(path)?, rate)
    }

    /// Reads what `reader` reads, from its beginning, at `rate`.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    ///
    /// Real-time: waits, on the disk.
    pub fn new(mut reader: Reader, rate: SampleRate) -> Result<Self, MediaError> {
        let resampler = if reader.rate() == rate {
            None
        } else {
            let resampler = Resampler::new(reader.rate(), rate);
            Some(resampler.map_err(|error| {
                MediaError::Unsupported(reader.path().to_path_buf(), error.to_string())
            })?)
        };
        let original = match reader.frames() {
            Some(frames) => frames,
            None => count(&mut reader)?,
        };
        let mut stream = Self {
            rate,
            frames: resampler
                .as_ref()
                .map_or(original, |r| r.output_frames(original)),
            resampler,
            position: 0,
            window: vec![Vec::new(); reader.channels().count()],
            begin: 0,
            error: None,
            reader,
        };
        stream.seek(0);
        Ok(stream)
    }

    /// Frames per second of the output.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// Number of channels of the file.
    pub fn channels(&self) -> Channels {
        self.reader.channels()
    }

    /// Number of frames at this rate.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frame that is read next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The first damage that was found so far, with its frame in the file. Frames after it are silent.
    pub fn damage(&self) -> Option<String> {
        let what = self.reader.damage()?;
        let path = self.reader.path().display();
        Some(format!("{path} is damaged: {what}"))
    }

    /// The first error since the last seek, if any. Frames after it are silent.
    pub fn error(&self) -> Option<&MediaError> {
        self.error.as_ref()
    }

    /// Makes `frame` the one that is read next.
    ///
    /// Real-time: waits, on the disk.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame;
        self.begin = self.first(frame);
        self.window.iter_mut().for_each(Vec::clear);
        self.error = None;
        if let Err(error) = self.reader.seek(self.begin.max(0) as u64) {
            self.error = Some(error);
        }
    }

    /// Fills `samples` with whole frames, interleaved. Returns the number of frames before the end of the file.
    ///
    /// Real-time: waits, on the disk.
    pub fn read_interleaved(&mut self, samples: &mut [f32]) -> usize {
        let channels = self.window.len();
        let left = usize::try_from(self.frames.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = (samples.len() / channels).min(left);
        for portion in samples[..wanted * channels].chunks_mut(PORTION * channels) {
            self.resample(portion);
        }
        wanted
    }

    fn resample(&mut self, samples: &mut [f32]) {
        let channels = self.window.len();
        let n = samples.len() / channels;
        let taps = self.resampler.as_ref().map_or(1, Resampler::taps);
        let from = self.first(self.position);
        self.move_window(from, self.first(self.position + n as u64 - 1) + taps as i64);
        for (i, frame) in samples.chunks_exact_mut(channels).enumerate() {
            let at = self.position + i as u64;
            let first = (self.first(at) - from) as usize;
            for (to, original) in frame.iter_mut().zip(&self.window) {
                *to = match &self.resampler {
                    None => original[first],
                    Some(resampler) => resampler.output_frame(at, &original[first..]),
                };
            }
        }
        self.position += n as u64;
    }

    /// First frame of the file that frame `n` depends on.
    fn first(&self, n: u64) -> i64 {
        match &self.resampler {
            None => i64::try_from(n).unwrap_or(i64::MAX),
            Some(resampler) => resampler.first_input(n),
        }
    }

    /// Moves the window to the file's frames `from..to`, with silence outside the file. `from` never decreases, and is
    /// never beyond the window: a portion ends with more taps than the distance to the next portion's first frame.
    fn move_window(&mut self, from: i64, to: i64) {
        let past = (from - self.begin) as usize;
        let wanted = (to - from) as usize;
        let have = self.window[0].len().saturating_sub(past);
        for channel in &mut self.window {
            channel.drain(..past);
            channel.resize(wanted.max(have), 0.0);
        }
        self.begin = from;
        let before = usize::try_from(-from).unwrap_or(0);
        self.fill_window(have.max(before));
    }

    /// Fills the window from its frame `at` on. Frames that the file lacks stay silent.
    fn fill_window(&mut self, mut at: usize) {
        while self.error.is_none() && at < self.window[0].len() {
            let mut planes: Vec<&mut [f32]> =
                self.window.iter_mut().map(|c| &mut c[at..]).collect();
            match self.reader.read(&mut planes) {
                Ok(0) => return,
                Ok(n) => at += n,
                Err(error) => self.error = Some(error),
            }
        }
    }
}

/// Reads the file `path`, as far as needed, and returns the first damage in it; `None` for a sound file without damage.
///
/// # Errors
///
/// It cannot be opened as a sound file.
///
/// Real-time: waits, on the disk; as long as the file is.
pub fn find_damage(path: impl AsRef<Path>) -> Result<Option<String>, MediaError> {
    let mut reader = open(path)?;
    let mut samples = vec![0.0; PORTION * reader.channels().count()];
    let is_known = reader.is_plain();
    while !is_known
        && reader.damage().is_none()
        && reader.read_interleaved(&mut samples).unwrap_or(0) > 0
    {}
    Ok(reader.damage().map(str::to_owned))
}

/// Counts the frames of a file that does not state them, by reading it.
fn count(reader: &mut Reader) -> Result<u64, MediaError> {
    let mut samples = vec![0.0; PORTION * reader.channels().count()];
    let mut frames = 0;
    loop {
        match reader.read_interleaved(&mut samples)? {
            0 => break,
            n => frames += n as u64,
        }
    }
    reader.seek(0)?;
    Ok(frames)
}
