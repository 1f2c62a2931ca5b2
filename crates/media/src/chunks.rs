//! Checks the chunks of a WAV or AIFF file before a parser reads them.
//!
//! A damaged or hostile file can claim a chunk of 4 GB, or 65535 channels. A parser that believes such a number allocates
//! it, or multiplies it until it overflows. So every chunk up to the samples must fit into the file and below a limit.
//!
//! ```text
//!  0        8     12                                       RIFF: sizes little-endian, the last chunk is "data"
//!  ┌────┬───┬─────┬────┬───┬───────────┬────┬───┬── ─      FORM: sizes big-endian, "SSND" has the samples
//!  │RIFF│len│WAVE │fmt │len│ len bytes │data│len│ ...
//!  └────┴───┴─────┴────┴───┴───────────┴────┴───┴── ─      an odd chunk is followed by a padding byte
//! ```

use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most bytes of a chunk without samples: texts, marks, pictures.
const MAX_CHUNK_BYTES: u64 = 16 << 20;
/// The most chunks before the samples.
const MAX_CHUNKS: u32 = 10_000;
/// Upper bound on the frames that FLAC packs into a byte.
const MAX_FRAMES_PER_BYTE: u64 = 8192;

/// Checks the chunks up to the samples. Returns an upper bound on the number of frames, whatever the file claims; of
/// other formats than WAV and AIFF only that.
pub(crate) fn check(mut file: &File, path: &Path) -> Result<u64, MediaError> {
    let transfer = |error| MediaError::Io(path.to_path_buf(), error);
    let metadata = file.metadata().map_err(transfer)?;
    let mut scan = ChunkScan {
        file,
        path,
        end: metadata.len(),
        frame_bytes: 1,
    };
    let mut head = [0; 12];
    let mut max_frames = scan.end.saturating_mul(MAX_FRAMES_PER_BYTE);
    if scan.end >= 12 {
        file.read_exact(&mut head).map_err(transfer)?;
        match &head[..4] {
            b"RIFF" => max_frames = scan.scan(u32::from_le_bytes)? / scan.frame_bytes,
            b"FORM" => max_frames = scan.scan(u32::from_be_bytes)?,
            _ => {}
        }
    }
    file.rewind().map_err(transfer)?;
    Ok(max_frames)
}

struct ChunkScan<'a> {
    file: &'a File,
    path: &'a Path,
    end: u64,
    /// Bytes of a frame as a WAV file states them; 1 where none are stated.
    frame_bytes: u64,
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
                b"data" => return Ok(size.min(self.end - begin)),
                b"SSND" => sample_bytes = size.min(self.end - begin),
                name if size > MAX_CHUNK_BYTES || at > self.end + 1 => {
                    let name = name.escape_ascii();
                    return Err(self.damaged(format!("its chunk \"{name}\" claims {size} bytes")));
                }
                b"fmt " if size >= 16 => self.check_format()?,
                _ => {}
            }
        }
        let what = "it has more chunks than a sound file has".to_owned();
        Err(MediaError::Unsupported(self.path.to_path_buf(), what))
    }

    /// Checks the format chunk of a WAV file, at which the file is positioned.
    fn check_format(&mut self) -> Result<(), MediaError> {
        let mut chunk = [0; 16];
        if self.file.read_exact(&mut chunk).is_err() {
            return Err(self.damaged("it ends before the samples begin".into()));
        }
        let [_, _, c0, c1, h0, h1, h2, h3, _, _, _, _, a0, a1, b0, b1] = chunk;
        let channels = u16::from_le_bytes([c0, c1]);
        let hz = u32::from_le_bytes([h0, h1, h2, h3]);
        let bits = u16::from_le_bytes([b0, b1]);
        self.frame_bytes = u64::from(u16::from_le_bytes([a0, a1])).max(1);
        if (1..=MAX_CHANNELS).contains(&channels) && (1..=MAX_RATE_HZ).contains(&hz) && bits <= 64 {
            return Ok(());
        }
        let what = format!("{channels} channels of {bits} bits at {hz} Hz");
        Err(MediaError::Unsupported(self.path.to_path_buf(), what))
    }

    fn damaged(&self, what: String) -> MediaError {
        MediaError::Damaged(self.path.to_path_buf(), what)
    }
}
