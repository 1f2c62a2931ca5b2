//! [`Reader`]: frames of a WAV, AIFF or FLAC file, a portion at a time.
//!
//! The crate `symphonia` parses and decodes. It gives packets of any length; `pending` holds the frames of one packet
//! until they are read. After a seek, packets begin before the frame that was asked for, and the frames before it are
//! dropped.

use crate::chunks::{self, ChunkInfo};
use crate::riff_view::RiffView;
use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, SeekMode, SeekTo, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream};
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
    /// The first damage that was found.
    damage: Option<String>,
    is_plain: bool,
    track: u32,
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    /// Channels that the parser sees as one; else 1.
    interleaved: u64,
    /// Samples of the last packet, interleaved.
    packet: Vec<f32>,
    /// Samples that are ready, interleaved; those from `taken` on have not been read.
    pending: Vec<f32>,
    taken: usize,
    /// Frame that is read next.
    position: u64,
    /// After a seek: frames before this one are dropped.
    seek_target: Option<u64>,
}

/// Opens a sound file. Its contents decide the format, not its name.
///
/// # Errors
///
/// The file is missing, is not a sound file, or claims what no sound file has.
///
/// Real-time: waits, on the disk.
pub fn open(path: impl AsRef<Path>) -> Result<Reader, MediaError> {
    let path = path.as_ref().to_path_buf();
    let file = files::open(&path).map_err(|error| MediaError::Open(path.clone(), error))?;
    let info = chunks::check(&file, &path)?;
    let source: Box<dyn MediaSource> = match info.patches.is_empty() {
        true => Box::new(file),
        false => Box::new(RiffView::new(file, info.patches.clone())),
    };
    let source = MediaSourceStream::new(source, Default::default());
    let mut hint = Hint::new();
    if let Some(extension) = path.extension().and_then(|e| e.to_str()) {
        hint.with_extension(extension);
    }
    let format = catch_panic(|| {
        let (format_options, metadata_options) =
            (FormatOptions::default(), MetadataOptions::default());
        symphonia::default::get_probe().probe(&hint, source, format_options, metadata_options)
    })
    .map_err(|error| open_error(&path, error, "it does not begin as one"))?;
    Reader::new(path, format, &info)
}

/// Runs `parse` and turns a panic into an error: some parsers panic where a damaged number overflows. The parser is used
/// afterwards only to parse again, which may fail again.
fn catch_panic<T>(parse: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(parse))
        .unwrap_or(Err(Error::DecodeError("its numbers make no sense")))
}

/// The rate, or what is wrong with it.
fn rate_of(codec: &AudioCodecParameters) -> Result<SampleRate, String> {
    let hz = codec.sample_rate.unwrap_or(0);
    let rate = SampleRate::new(hz).filter(|_| hz <= MAX_RATE_HZ);
    rate.ok_or_else(|| format!("a sample rate of {hz} Hz"))
}

/// The channels, or what is wrong with them. The coding may know several as one.
fn channels_of(codec: &AudioCodecParameters, info: &ChunkInfo) -> Result<Channels, String> {
    let coded = codec.channels.as_ref().map_or(0, |c| c.count());
    let channels = match info.interleaved {
        1 => coded,
        interleaved => usize::from(interleaved),
    };
    match (1..=usize::from(MAX_CHANNELS)).contains(&channels) {
        true => Ok(Channels(channels as u16)),
        false => Err(format!("{channels} channels")),
    }
}

impl Reader {
    fn new(
        path: PathBuf,
        format: Box<dyn FormatReader>,
        info: &ChunkInfo,
    ) -> Result<Self, MediaError> {
        let absurd = |what: String| MediaError::Unsupported(path.clone(), what);
        let track = format.default_track(TrackType::Audio).ok_or_else(|| {
            MediaError::UnknownFormat(path.clone(), "it has no audio track".into())
        })?;
        let codec = track
            .codec_params
            .as_ref()
            .and_then(|c| c.audio())
            .ok_or_else(|| {
                MediaError::UnknownFormat(path.clone(), "its coding is unknown".into())
            })?;
        let rate = rate_of(codec).map_err(absurd)?;
        let channels = channels_of(codec, info).map_err(absurd)?;
        let interleaved = u64::from(info.interleaved);
        let stated = track.num_frames.map(|frames| frames / interleaved);
        let frames = stated.or(info.large_frames);
        let frames = frames.map(|n| n.min(info.max_frames));
        let cut = format!("it was cut off: {} bytes are missing", info.missing_bytes);
        let track = track.id;
        let options = AudioDecoderOptions::default();
        let decoder =
            catch_panic(|| symphonia::default::get_codecs().make_audio_decoder(codec, &options))
                .map_err(|error| open_error(&path, error, "its coding is unknown"))?;
        Ok(Self {
            path,
            rate,
            channels,
            frames,
            damage: (info.missing_bytes > 0).then_some(cut),
            is_plain: info.is_plain,
            track,
            format,
            decoder,
            interleaved,
            packet: Vec::new(),
            pending: Vec::new(),
            taken: 0,
            position: 0,
            seek_target: None,
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frames per second.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// Number of channels: 1 to 256.
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// Number of frames that the file states, bounded by its size; `None` if it states none. A damaged file may have
    /// fewer.
    pub fn frames(&self) -> Option<u64> {
        self.frames
    }

    /// The first damage that was found so far: when the file was opened, or where it was read.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Returns true if damage is known without reading the file.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Frame that is read next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Fills the slices of `planar`, one a channel, all of one length. Returns the number of frames read: fewer than the
    /// length only at the end of the file.
    ///
    /// # Errors
    ///
    /// The disk fails or the file is damaged here. Another read continues after the damage.
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
        self.read_with(wanted, |samples, at| {
            for (c, plane) in planar.iter_mut().enumerate() {
                let to = plane[at..].iter_mut();
                for (to, frame) in to.zip(samples.chunks_exact(channels)) {
                    *to = frame[c];
                }
            }
        })
    }

    /// Fills `samples` with whole frames, interleaved. Returns the number of frames read.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    ///
    /// Real-time: waits, on the disk.
    pub fn read_interleaved(&mut self, samples: &mut [f32]) -> Result<usize, MediaError> {
        let channels = self.channels.count();
        self.read_with(samples.len() / channels, |from, at| {
            samples[at * channels..][..from.len()].copy_from_slice(from);
        })
    }

    /// Passes up to `wanted` frames to `copy`, each time with the number of frames passed before.
    fn read_with(
        &mut self,
        wanted: usize,
        mut copy: impl FnMut(&[f32], usize),
    ) -> Result<usize, MediaError> {
        let channels = self.channels.count();
        let left = self
            .frames
            .map_or(u64::MAX, |n| n.saturating_sub(self.position));
        let wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < wanted {
            if self.pending.len() - self.taken < channels && !self.find_more()? {
                break;
            }
            let n = (wanted - done).min((self.pending.len() - self.taken) / channels);
            copy(&self.pending[self.taken..][..n * channels], done);
            self.taken += n * channels;
            self.position += n as u64;
            done += n;
        }
        Ok(done)
    }

    /// Decodes one packet, and notes damage. Returns false at the end of the file.
    fn find_more(&mut self) -> Result<bool, MediaError> {
        let found = self.decode_more();
        let (at, frames) = (self.position, self.frames);
        let damage = match &found {
            Ok(true) => None,
            Ok(false) => { frames.filter(|frames| at < *frames) }
                .map(|frames| format!("it was cut off: it ends at frame {at} of {frames}")),
            Err(MediaError::Damaged(_, what)) => Some(format!("{what}, at frame {at}")),
            Err(error) => Some(error.to_string()),
        };
        if self.damage.is_none() {
            self.damage = damage;
        }
        found
    }

    /// Decodes one packet. Returns false at the end of the file.
    fn decode_more(&mut self) -> Result<bool, MediaError> {
        // Less than a frame is kept: a packet may end within one.
        self.pending.drain(..self.taken);
        self.taken = 0;
        loop {
            let packet = match catch_panic(|| self.format.next_packet()) {
                Ok(Some(packet)) if packet.track_id == self.track => packet,
                Ok(Some(_)) => continue,
                Ok(None) => return Ok(false),
                Err(Error::IoError(e)) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Ok(false);
                }
                Err(error) => return Err(decode_error(&self.path, error)),
            };
            self.decode(&packet)?;
            if self.pending.len() >= self.channels.count() {
                return Ok(true);
            }
        }
    }

    fn decode(&mut self, packet: &Packet) -> Result<(), MediaError> {
        let decoded = match catch_panic(|| self.decoder.decode(packet)) {
            Ok(decoded) => decoded,
            Err(error) => return Err(decode_error(&self.path, error)),
        };
        if decoded.num_planes() as u64 * self.interleaved != u64::from(self.channels.0) {
            let what = format!("its channels change to {}", decoded.num_planes());
            return Err(MediaError::Damaged(self.path.clone(), what));
        }
        let decoded_channels = decoded.num_planes() as u64;
        decoded.copy_to_vec_interleaved(&mut self.packet);
        let mut early = 0;
        if let Some(seek_target) = self.seek_target {
            let here = u64::try_from(packet.pts.get()).unwrap_or(0);
            let target = seek_target.saturating_mul(self.interleaved);
            let samples = target.saturating_sub(here) * decoded_channels;
            early =
                usize::try_from(samples).map_or(self.packet.len(), |n| n.min(self.packet.len()));
            if early < self.packet.len() {
                self.seek_target = None;
            }
        }
        self.pending.extend_from_slice(&self.packet[early..]);
        Ok(())
    }

    /// Makes `frame` the one that is read next. After the end there is nothing to read.
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
        self.seek_target = Some(frame);
        if self.frames.is_some_and(|n| frame >= n) {
            return Ok(());
        }
        let at = frame.saturating_mul(self.interleaved);
        let to = SeekTo::Timestamp {
            ts: Timestamp::new(i64::try_from(at).unwrap_or(i64::MAX)),
            track_id: self.track,
        };
        self.decoder.reset();
        match catch_panic(|| self.format.seek(SeekMode::Accurate, to)) {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = decode_error(&self.path, error);
                let what = || format!("frame {frame} cannot be found");
                self.damage.get_or_insert_with(what);
                Err(error)
            }
        }
    }
}

/// `unsupported` says what the parser does not know.
fn open_error(path: &Path, error: Error, unsupported: &str) -> MediaError {
    match error {
        Error::IoError(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => MediaError::Damaged(
            path.to_path_buf(),
            "it ends before the samples begin".into(),
        ),
        Error::IoError(error) => MediaError::Io(path.to_path_buf(), error),
        // The parser's words for it are of its own parts.
        Error::Unsupported(_) => MediaError::UnknownFormat(path.to_path_buf(), unsupported.into()),
        error => MediaError::UnknownFormat(path.to_path_buf(), error.to_string()),
    }
}

fn decode_error(path: &Path, error: Error) -> MediaError {
    match error {
        Error::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            MediaError::Io(path.to_path_buf(), error)
        }
        error => MediaError::Damaged(path.to_path_buf(), error.to_string()),
    }
}
