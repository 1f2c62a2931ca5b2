//! A first look at a WAV or AIFF file: does any chunk claim more than the file has, or more than any file? A parser that
//! believes such a number would allocate it, or multiply it until it overflows.

use crate::{MAX_CHANNELS, MAX_RATE_HZ, MediaError};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most that a chunk beside the sound may have: texts, marks, pictures.
const MOST_BYTES: u64 = 16 << 20;
/// The most chunks before the sound.
const MOST_CHUNKS: u32 = 10_000;
/// The most frames that FLAC packs into a byte, generously.
const MOST_PACKED: u64 = 8192;

/// Walks the chunks up to the sound; how many frames the file can have at most, whatever it says. Of other formats only
/// that is told.
pub(crate) fn check(mut file: &File, path: &Path) -> Result<u64, MediaError> {
    let transfer = |error| MediaError::Io(path.to_path_buf(), error);
    let facts = file.metadata().map_err(transfer)?;
    if !facts.is_file() {
        let error = std::io::Error::other("it is no plain file");
        return Err(MediaError::Open(path.to_path_buf(), error));
    }
    let mut look = Look {
        file,
        path,
        end: facts.len(),
        frame_bytes: 1,
    };
    let mut head = [0; 12];
    let mut most = look.end.saturating_mul(MOST_PACKED);
    if look.end >= 12 {
        file.read_exact(&mut head).map_err(transfer)?;
        match &head[..4] {
            b"RIFF" => most = look.walk(u32::from_le_bytes)? / look.frame_bytes,
            b"FORM" => most = look.walk(u32::from_be_bytes)?,
            _ => {}
        }
    }
    file.rewind().map_err(transfer)?;
    Ok(most)
}

struct Look<'a> {
    file: &'a File,
    path: &'a Path,
    end: u64,
    /// As WAV says; 1 where nothing does.
    frame_bytes: u64,
}

impl Look<'_> {
    /// Over all chunks; how many bytes of sound there are.
    fn walk(&mut self, number: fn([u8; 4]) -> u32) -> Result<u64, MediaError> {
        let mut at = 12;
        let mut sound = 0;
        for _ in 0..MOST_CHUNKS {
            if at + 8 > self.end {
                return Ok(sound);
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
                // Behind it nothing is read in WAV; in AIFF there is more that matters.
                b"data" => return Ok(size.min(self.end - begin)),
                b"SSND" => sound = size.min(self.end - begin),
                name if size > MOST_BYTES || at > self.end + 1 => {
                    let name = name.escape_ascii();
                    return Err(self.broken(format!("its chunk \"{name}\" claims {size} bytes")));
                }
                b"fmt " if size >= 16 => self.form()?,
                _ => {}
            }
        }
        let what = "it has more chunks than any sound file".to_owned();
        Err(MediaError::Unsupported(self.path.to_path_buf(), what))
    }

    /// What a WAV file says about its samples; the file stands there.
    fn form(&mut self) -> Result<(), MediaError> {
        let mut facts = [0; 16];
        if self.file.read_exact(&mut facts).is_err() {
            return Err(self.broken("it ends before the sound begins".into()));
        }
        let [_, _, c0, c1, h0, h1, h2, h3, _, _, _, _, a0, a1, b0, b1] = facts;
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

    fn broken(&self, what: String) -> MediaError {
        MediaError::Damaged(self.path.to_path_buf(), what)
    }
}
