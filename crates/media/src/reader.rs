//! Sound from a WAV, AIFF or FLAC file, a piece at a time.

use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError, chunks};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, SeekMode, SeekTo, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;
use symphonia::core::packet::Packet;
use symphonia::core::units::Timestamp;
use units::{Channels, SampleRate};

/// An open sound file.
pub struct Reader {
    path: PathBuf,
    rate: SampleRate,
    channels: Channels,
    frames: Option<u64>,
    track: u32,
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    /// Decoded and not yet given, interleaved, from `taken` on.
    pending: Vec<f32>,
    taken: usize,
    /// The next frame to be given.
    position: u64,
    /// After a seek: what lies before this frame is dropped.
    sought: Option<u64>,
}

/// Opens a sound file; the format is found by looking into it.
///
/// # Errors
///
/// It is not there, no sound file, or claims what no sound file claims.
///
/// Real-time: waits, on the disk.
pub fn open(path: impl AsRef<Path>) -> Result<Reader, MediaError> {
    let path = path.as_ref().to_path_buf();
    let file = File::open(&path).map_err(|error| MediaError::Open(path.clone(), error))?;
    let most_frames = chunks::check(&file, &path)?;
    let source = MediaSourceStream::new(Box::new(file), Default::default());
    let mut hint = Hint::new();
    if let Some(extension) = path.extension().and_then(|e| e.to_str()) {
        hint.with_extension(extension);
    }
    let format = guarded(|| {
        let (formats, texts) = (FormatOptions::default(), MetadataOptions::default());
        symphonia::default::get_probe().probe(&hint, source, formats, texts)
    })
    .map_err(|error| unknown(&path, error))?;
    Reader::new(path, format, most_frames)
}

/// What `parse` gives; a parser that panics (some do, where a damaged number overflows) has found damage. What it was
/// at is not used again but to be asked once more, when it may fail again.
fn guarded<T>(parse: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(parse))
        .unwrap_or(Err(Error::DecodeError("its numbers make no sense")))
}

impl Reader {
    fn new(
        path: PathBuf,
        format: Box<dyn FormatReader>,
        most_frames: u64,
    ) -> Result<Self, MediaError> {
        let absurd = |what: String| MediaError::Unsupported(path.clone(), what);
        let track = format.default_track(TrackType::Audio).ok_or_else(|| {
            MediaError::UnknownFormat(path.clone(), "there is no sound in it".into())
        })?;
        let codec = track
            .codec_params
            .as_ref()
            .and_then(|c| c.audio())
            .ok_or_else(|| {
                MediaError::UnknownFormat(path.clone(), "of an unknown coding".into())
            })?;
        let hz = codec.sample_rate.unwrap_or(0);
        let rate = SampleRate::new(hz)
            .filter(|_| hz <= MAX_RATE_HZ)
            .ok_or_else(|| absurd(format!("a sample rate of {hz} Hz")))?;
        let channels = codec.channels.as_ref().map_or(0, |c| c.count());
        if !(1..=usize::from(MAX_CHANNELS)).contains(&channels) {
            return Err(absurd(format!("{channels} channels")));
        }
        let frames = track.num_frames.map(|n| n.min(most_frames));
        let track = track.id;
        let options = AudioDecoderOptions::default();
        let decoder =
            guarded(|| symphonia::default::get_codecs().make_audio_decoder(codec, &options))
                .map_err(|error| unknown(&path, error))?;
        Ok(Self {
            path,
            rate,
            channels: Channels(channels as u16),
            frames,
            track,
            format,
            decoder,
            pending: Vec::new(),
            taken: 0,
            position: 0,
            sought: None,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frames a second.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// How many channels it has: 1 to 256.
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// How many frames it says it has, if that can be; `None` where it does not say. A damaged file may have fewer.
    pub fn frames(&self) -> Option<u64> {
        self.frames
    }

    /// The frame that is read next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Fills the slices of `planar`, one a channel, all of one length; how many frames were there. Fewer than asked for
    /// only at the end of the file.
    ///
    /// # Errors
    ///
    /// The disk fails or the file is damaged here; another read goes on behind the damage where there is more.
    ///
    /// # Panics
    ///
    /// `planar` has another number of channels, or slices of different lengths.
    ///
    /// Real-time: waits, on the disk.
    pub fn read(&mut self, planar: &mut [&mut [f32]]) -> Result<usize, MediaError> {
        let channels = self.channels.count();
        assert_eq!(planar.len(), channels, "one slice a channel");
        let wanted = planar[0].len();
        assert!(
            planar.iter().all(|c| c.len() == wanted),
            "channels of one length"
        );
        self.take(wanted, |samples, at| {
            for (c, plane) in planar.iter_mut().enumerate() {
                let to = plane[at..].iter_mut();
                for (to, frame) in to.zip(samples.chunks_exact(channels)) {
                    *to = frame[c];
                }
            }
        })
    }

    /// Fills `samples` with whole frames, the samples of each beside one another; how many frames were there.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    ///
    /// Real-time: waits, on the disk.
    pub fn read_interleaved(&mut self, samples: &mut [f32]) -> Result<usize, MediaError> {
        let channels = self.channels.count();
        self.take(samples.len() / channels, |from, at| {
            samples[at * channels..][..from.len()].copy_from_slice(from);
        })
    }

    /// Gives up to `wanted` frames to `give`, with how many came before.
    fn take(
        &mut self,
        wanted: usize,
        mut give: impl FnMut(&[f32], usize),
    ) -> Result<usize, MediaError> {
        let channels = self.channels.count();
        let left = self
            .frames
            .map_or(u64::MAX, |n| n.saturating_sub(self.position));
        let wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < wanted {
            if self.taken == self.pending.len() && !self.decode_more()? {
                break;
            }
            let n = (wanted - done).min((self.pending.len() - self.taken) / channels);
            give(&self.pending[self.taken..][..n * channels], done);
            self.taken += n * channels;
            self.position += n as u64;
            done += n;
        }
        Ok(done)
    }

    /// Decodes one packet; `false` at the end of the file.
    fn decode_more(&mut self) -> Result<bool, MediaError> {
        self.pending.clear();
        self.taken = 0;
        loop {
            let packet = match guarded(|| self.format.next_packet()) {
                Ok(Some(packet)) if packet.track_id == self.track => packet,
                Ok(Some(_)) => continue,
                Ok(None) => return Ok(false),
                Err(Error::IoError(e)) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Ok(false);
                }
                Err(error) => return Err(broken(&self.path, error)),
            };
            self.decode(&packet)?;
            if self.taken < self.pending.len() {
                return Ok(true);
            }
        }
    }

    fn decode(&mut self, packet: &Packet) -> Result<(), MediaError> {
        let decoded = match guarded(|| self.decoder.decode(packet)) {
            Ok(decoded) => decoded,
            Err(error) => return Err(broken(&self.path, error)),
        };
        if decoded.num_planes() != self.channels.count() {
            let what = format!("its channels change to {}", decoded.num_planes());
            return Err(MediaError::Damaged(self.path.clone(), what));
        }
        decoded.copy_to_vec_interleaved(&mut self.pending);
        if let Some(sought) = self.sought {
            let here = u64::try_from(packet.pts.get()).unwrap_or(0);
            let early = sought.saturating_sub(here) * u64::from(self.channels.0);
            self.taken =
                usize::try_from(early).map_or(self.pending.len(), |n| n.min(self.pending.len()));
            if self.taken < self.pending.len() {
                self.sought = None;
            }
        }
        Ok(())
    }

    /// Makes `frame` the one that is read next. Behind the end there is nothing to read.
    ///
    /// # Errors
    ///
    /// The disk fails, or the file is damaged on the way there.
    ///
    /// Real-time: waits, on the disk.
    pub fn seek(&mut self, frame: u64) -> Result<(), MediaError> {
        self.pending.clear();
        self.taken = 0;
        self.position = frame;
        self.sought = Some(frame);
        if self.frames.is_some_and(|n| frame >= n) {
            return Ok(());
        }
        let to = SeekTo::Timestamp {
            ts: Timestamp::new(i64::try_from(frame).unwrap_or(i64::MAX)),
            track_id: self.track,
        };
        self.decoder.reset();
        match guarded(|| self.format.seek(SeekMode::Accurate, to)) {
            Ok(_) => Ok(()),
            Err(error) => Err(broken(&self.path, error)),
        }
    }
}

fn unknown(path: &Path, error: Error) -> MediaError {
    match error {
        Error::IoError(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
            MediaError::Damaged(path.to_path_buf(), "it ends before the sound begins".into())
        }
        Error::IoError(error) => MediaError::Io(path.to_path_buf(), error),
        error => MediaError::UnknownFormat(path.to_path_buf(), error.to_string()),
    }
}

fn broken(path: &Path, error: Error) -> MediaError {
    match error {
        Error::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            MediaError::Io(path.to_path_buf(), error)
        }
        error => MediaError::Damaged(path.to_path_buf(), error.to_string()),
    }
}
