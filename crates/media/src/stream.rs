//! A sound file as it sounds at another rate, from any frame on.

use crate::{MediaError, Reader, Resampler, open};
use std::path::Path;
use units::{Channels, SampleRate};

/// An open sound file, heard at a stated rate. Frame n of it is the same bits wherever reading began.
pub struct ResamplingReader {
    reader: Reader,
    resampler: Option<Resampler>,
    rate: SampleRate,
    frames: u64,
    /// The frame that is read next.
    position: u64,
    /// Frames of the file that are at hand, a vector a channel, and which is the first.
    window: Vec<Vec<f32>>,
    begin: i64,
    error: Option<MediaError>,
}

/// Frames made at once.
const PORTION: usize = 1024;

impl ResamplingReader {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or its rate is too far from `rate`.
    ///
    /// Real-time: waits, on the disk.
    pub fn open(path: impl AsRef<Path>, rate: SampleRate) -> Result<Self, MediaError> {
        Self::new(open(path)?, rate)
    }

    /// What `reader` reads, from its beginning, at `rate`.
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
            Some(resampler.map_err(|far| {
                MediaError::Unsupported(reader.path().to_path_buf(), far.to_string())
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

    /// Frames a second, as asked for.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// As many as the file has.
    pub fn channels(&self) -> Channels {
        self.reader.channels()
    }

    /// How many frames there are at this rate.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The frame that is read next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// What was wrong with the file, if anything was yet; from there on it is silent.
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

    /// Fills `samples` with whole frames, the samples of each beside one another; how many there were before the end.
    ///
    /// Real-time: waits, on the disk.
    pub fn read_interleaved(&mut self, samples: &mut [f32]) -> usize {
        let channels = self.window.len();
        let left = usize::try_from(self.frames.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = (samples.len() / channels).min(left);
        for portion in samples[..wanted * channels].chunks_mut(PORTION * channels) {
            self.make(portion);
        }
        wanted
    }

    fn make(&mut self, samples: &mut [f32]) {
        let channels = self.window.len();
        let n = samples.len() / channels;
        let taps = self.resampler.as_ref().map_or(1, Resampler::taps);
        let from = self.first(self.position);
        self.fetch(from, self.first(self.position + n as u64 - 1) + taps as i64);
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

    /// The first frame of the file that frame `n` is made of.
    fn first(&self, n: u64) -> i64 {
        match &self.resampler {
            None => i64::try_from(n).unwrap_or(i64::MAX),
            Some(resampler) => resampler.first_input(n),
        }
    }

    /// Has the file's frames `from..to` at hand; outside the file there is silence. `from` never goes back, and never
    /// beyond what is at hand: a portion ends with more taps than the next one's beginning lies ahead.
    fn fetch(&mut self, from: i64, to: i64) {
        let past = (from - self.begin) as usize;
        let wanted = (to - from) as usize;
        let have = self.window[0].len().saturating_sub(past);
        for channel in &mut self.window {
            channel.drain(..past);
            channel.resize(wanted.max(have), 0.0);
        }
        self.begin = from;
        let before = usize::try_from(-from).unwrap_or(0);
        self.read(have.max(before));
    }

    /// Fills the window from frame `at` of it; what the file does not have stays silent.
    fn read(&mut self, mut at: usize) {
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
