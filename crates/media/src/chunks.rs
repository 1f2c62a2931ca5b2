//! Checks the chunks of a WAV or AIFF file before a parser reads them.
//!
//! A damaged or hostile file can claim a chunk of 4 GB, or 65535 channels. A parser that believes such a number allocates
//! it, or multiplies it until it overflows. So every chunk up to the samples must fit into the file and below a limit.
//!
//! ```text
//!  0        8     12                                       RIFF: sizes little-endian, the last chunk is "data"
//!                                                          RF64, BW64: the same, with sizes of 64 bits in "ds64"
//!  ┌────┬───┬─────┬────┬───┬───────────┬────┬───┬── ─      FORM: sizes big-endian, "SSND" has the samples
//!  │RIFF│len│WAVE │fmt │len│ len bytes │data│len│ ...
//!  └────┴───┴─────┴────┴───┴───────────┴────┴───┴── ─      an odd chunk is followed by a padding byte
//! ```

use crate::riff_view::Patch;
use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most bytes of a chunk without samples: texts, marks, pictures.
const MAX_CHUNK_BYTES: u64 = 16 << 20;
/// The most chunks before the samples.
const MAX_CHUNKS: u32 = 10_000;
/// The most channels that the parser knows.
const PARSER_CHANNELS: u16 = 18;
/// Codings of whole samples: integers, floats, and the form that states one of these later.
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;
/// Upper bound on the frames that FLAC packs into a byte.
const MAX_FRAMES_PER_BYTE: u64 = 8192;

/// Format and place of the samples, from the chunks.
#[derive(Default)]
pub(crate) struct ChunkInfo {
    /// Upper bound on the number of frames, whatever the file claims.
    pub(crate) max_frames: u64,
    /// Number of frames that an RF64 file states.
    pub(crate) large_frames: Option<u64>,
    /// Bytes to be read in place of those in the file.
    pub(crate) patches: Vec<Patch>,
    /// The samples are there as they are, not packed: what is missing is known without reading them.
    pub(crate) is_plain: bool,
    /// Number of channels that are read as one; 1 for none.
    pub(crate) interleaved: u16,
    /// Number of bytes of samples that the file states and does not have; 0 for a part of a frame.
    pub(crate) missing_bytes: u64,
}

/// Checks the chunks up to the samples. Of other formats than WAV and AIFF only the upper bound is known.
pub(crate) fn check(mut file: &File, path: &Path) -> Result<ChunkInfo, MediaError> {
    let transfer = |error| MediaError::Io(path.to_path_buf(), error);
    let metadata = file.metadata().map_err(transfer)?;
    let mut scan = ChunkScan {
        file,
        path,
        end: metadata.len(),
        frame_bytes: 1,
        large_bytes: None,
        missing_bytes: 0,
        interleaved: 1,
        patches: Vec::new(),
    };
    let mut head = [0; 12];
    let mut info = ChunkInfo {
        max_frames: scan.end.saturating_mul(MAX_FRAMES_PER_BYTE),
        ..ChunkInfo::default()
    };
    if scan.end == 0 {
        return Err(scan.damaged("it is empty".into()));
    }
    if scan.end >= 12 {
        file.read_exact(&mut head).map_err(transfer)?;
        match &head[..4] {
            b"RIFF" | b"RF64" | b"BW64" => {
                if &head[..4] != b"RIFF" {
                    scan.patches.push((0, b"RIFF".into()));
                }
                info.max_frames = scan.scan(u32::from_le_bytes)? / scan.frame_bytes;
            }
            b"FORM" => info.max_frames = scan.scan(u32::from_be_bytes)?,
            _ => {}
        }
    }
    info.large_frames = scan.large_bytes.map(|_| info.max_frames);
    info.missing_bytes = scan.missing_bytes;
    info.is_plain = [b"RIFF", b"RF64", b"BW64", b"FORM"]
        .iter()
        .any(|tag| head.starts_with(*tag));
    (info.interleaved, info.patches) = (scan.interleaved, scan.patches);
    file.rewind().map_err(transfer)?;
    Ok(info)
}

struct ChunkScan<'a> {
    file: &'a File,
    path: &'a Path,
    end: u64,
    /// Bytes of a frame as a WAV file states them; 1 where none are stated.
    frame_bytes: u64,
    /// Bytes of samples as `ds64` states them.
    large_bytes: Option<u64>,
    /// Stated bytes of samples that are not in the file.
    missing_bytes: u64,
    interleaved: u16,
    patches: Vec<Patch>,
}

impl ChunkScan<'_> {
    /// Goes through all chunks. Returns the number of bytes of samples.
    fn scan(&mut self, number: fn([u8; 4]) -> u32) -> Result<u64, MediaError> {
        let mut at = 12;
        let mut sample_bytes = 0;
        for _ in 0..MAX_CHUNKS {
            if at + 8 > self.end {
                return Ok(sample_bytes);
            }
            let mut head = [0; 8];
            self.file
                .seek(SeekFrom::Start(at))
                .and_then(|_| self.file.read_exact(&mut head))
                .map_err(|error| MediaError::Io(self.path.to_path_buf(), error))?;
            let [a, b, c, d, size @ ..] = head;
            let size = u64::from(number(size));
            let begin = at + 8;
            at = begin + size + size % 2;
            match &[a, b, c, d] {
                // In WAV nothing is read after it; in AIFF chunks after the samples matter too.
                b"data" => return Ok(self.sample_bytes(begin, size)),
                b"SSND" => sample_bytes = self.sample_bytes(begin, size),
                b"ds64" if size >= 28 => self.read_large_sizes()?,
                name if size > MAX_CHUNK_BYTES || at > self.end + 1 => {
                    let name = name.escape_ascii();
                    let what = match size > MAX_CHUNK_BYTES {
                        true => format!("its chunk \"{name}\" claims {size} bytes"),
                        false => format!("it ends within its chunk \"{name}\", before the samples"),
                    };
                    return Err(self.damaged(what));
                }
                b"fmt " if size >= 16 => self.check_format(begin, size)?,
                _ => {}
            }
        }
        let what = "it has more chunks than a sound file has".to_owned();
        Err(MediaError::Unsupported(self.path.to_path_buf(), what))
    }

    /// Number of bytes of samples in the file, of which the chunk at `begin` states `size`.
    fn sample_bytes(&mut self, begin: u64, size: u64) -> u64 {
        let has = self.end - begin;
        // All ones: what wrote the file did not know its length.
        let stated = match size {
            0xffff_ffff => self.large_bytes.unwrap_or(has),
            size => size,
        };
        let missing = stated.saturating_sub(has);
        self.missing_bytes = if missing >= self.frame_bytes {
            missing
        } else {
            0
        };
        stated.min(has)
    }

    /// Reads the sizes of an RF64 file, at which the file is positioned.
    fn read_large_sizes(&mut self) -> Result<(), MediaError> {
        let mut chunk = [0; 16];
        if self.file.read_exact(&mut chunk).is_err() {
            return Err(self.damaged("it ends before the samples begin".into()));
        }
        let [_, _, _, _, _, _, _, _, data @ ..] = chunk;
        self.large_bytes = Some(u64::from_le_bytes(data)).filter(|bytes| *bytes > 0);
        Ok(())
    }

    /// Checks the format chunk of a WAV file, at which the file is positioned.
    fn check_format(&mut self, begin: u64, size: u64) -> Result<(), MediaError> {
        let mut chunk = [0; 16];
        if self.file.read_exact(&mut chunk).is_err() {
            return Err(self.damaged("it ends before the samples begin".into()));
        }
        let [t0, t1, c0, c1, h0, h1, h2, h3, _, _, _, _, a0, a1, b0, b1] = chunk;
        let channels = u16::from_le_bytes([c0, c1]);
        let hz = u32::from_le_bytes([h0, h1, h2, h3]);
        let bits = u16::from_le_bytes([b0, b1]);
        self.frame_bytes = u64::from(u16::from_le_bytes([a0, a1])).max(1);
        if (1..=MAX_CHANNELS).contains(&channels) && (1..=MAX_RATE_HZ).contains(&hz) && bits <= 64 {
            let tag = u16::from_le_bytes([t0, t1]);
            if channels > PARSER_CHANNELS && [PCM, FLOAT, EXTENSIBLE].contains(&tag) {
                self.read_as_one_channel((begin, size), channels, hz);
            }
            return Ok(());
        }
        let what = format!("{channels} channels of {bits} bits at {hz} Hz");
        Err(MediaError::Unsupported(self.path.to_path_buf(), what))
    }

    /// Patches the format chunk at `begin` to one channel, if its frames are whole samples.
    fn read_as_one_channel(&mut self, (begin, size): (u64, u64), channels: u16, hz: u32) {
        let sample_bytes = (self.frame_bytes / u64::from(channels)) as u16;
        if u64::from(sample_bytes) * u64::from(channels) != self.frame_bytes {
            return;
        }
        self.interleaved = channels;
        let mut patch = |at: u64, bytes: &[u8]| self.patches.push((begin + at, bytes.into()));
        patch(2, &1_u16.to_le_bytes());
        patch(8, &(hz * u32::from(sample_bytes)).to_le_bytes());
        patch(12, &sample_bytes.to_le_bytes());
        if size >= 40 {
            // The loudspeaker of a single channel.
            patch(20, &4_u32.to_le_bytes());
        }
    }

    fn damaged(&self, what: String) -> MediaError {
        MediaError::Damaged(self.path.to_path_buf(), what)
    }
}
