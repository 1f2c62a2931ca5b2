//! [`sample_info`]: what a WAV or AIFF file says of itself as the sample of an instrument: its key and its loop.

mod aiff;
mod wav;

use crate::MediaError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most chunks that are looked at.
const MAX_CHUNKS: u32 = 10_000;
/// Bytes of a chunk's head.
const HEAD_BYTES: u64 = 8;

/// Key and loop that a WAV or AIFF file states for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleInfo {
    /// Key that plays it as it is, from 0 to 128, with the fraction that the file states.
    pub key: Option<f64>,
    /// First frame of its first forward loop, and the frame behind its last. The first is before the second; neither is known
    /// to be in the file.
    pub cycle: Option<(u64, u64)>,
}

/// Reads the `smpl` chunk of a WAV file, also of one above 4 GB (RF64, BW64), or `INST` and `MARK` of an AIFF file. A file of
/// another format, or without these chunks, or where they make no sense, says nothing.
///
/// # Errors
///
/// The file cannot be opened or read.
///
/// Real-time: waits, on the disk.
pub fn sample_info(path: impl AsRef<Path>) -> Result<SampleInfo, MediaError> {
    let path = path.as_ref();
    let file = files::open(path).map_err(|error| MediaError::Open(path.to_path_buf(), error))?;
    read_file(file).map_err(|error| MediaError::Io(path.to_path_buf(), error))
}

fn read_file(mut file: File) -> std::io::Result<SampleInfo> {
    let end = file.metadata()?.len();
    let mut form = [0; 12];
    if end < 12 {
        return Ok(SampleInfo::default());
    }
    file.read_exact(&mut form)?;
    let chunks = |number| Chunks {
        file,
        end,
        at: 12,
        number,
        large_bytes: None,
    };
    match (&form[..4], &form[8..]) {
        (b"RIFF" | b"RF64" | b"BW64", b"WAVE") => of_wav(chunks(u32::from_le_bytes)),
        (b"FORM", b"AIFF" | b"AIFC") => of_aiff(chunks(u32::from_be_bytes)),
        _ => Ok(SampleInfo::default()),
    }
}

fn of_wav(mut chunks: Chunks) -> std::io::Result<SampleInfo> {
    for _ in 0..MAX_CHUNKS {
        match chunks.next()? {
            None => break,
            Some((name, size)) if &name == b"smpl" => {
                return Ok(wav::read_info(&chunks.read(size.min(wav::BYTES))?));
            }
            Some(_) => {}
        }
    }
    Ok(SampleInfo::default())
}

fn of_aiff(mut chunks: Chunks) -> std::io::Result<SampleInfo> {
    let (mut inst, mut marks) = (Vec::new(), Vec::new());
    for _ in 0..MAX_CHUNKS {
        match chunks.next()? {
            None => break,
            Some((name, size)) if &name == b"INST" => {
                inst = chunks.read(size.min(aiff::INST_BYTES))?;
            }
            Some((name, size)) if &name == b"MARK" => {
                marks = chunks.read(size.min(aiff::MARK_BYTES))?;
            }
            Some(_) => {}
        }
    }
    Ok(aiff::read_info(&inst, &marks))
}

/// The chunks of a file, one after the other.
struct Chunks {
    file: File,
    end: u64,
    /// Begin of the next one.
    at: u64,
    number: fn([u8; 4]) -> u32,
    /// Bytes of samples as `ds64` states them.
    large_bytes: Option<u64>,
}

impl Chunks {
    /// Name and stated size of the next chunk, at whose contents the file is then.
    fn next(&mut self) -> std::io::Result<Option<([u8; 4], u64)>> {
        if self.at.saturating_add(HEAD_BYTES) > self.end {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES as usize];
        self.file.seek(SeekFrom::Start(self.at))?;
        self.file.read_exact(&mut head)?;
        let [a, b, c, d, size @ ..] = head;
        let name = [a, b, c, d];
        let size = match ((self.number)(size), &name) {
            // The samples of a large file; no other chunk of it is so long.
            (u32::MAX, b"data") => self.large_bytes.unwrap_or(u64::from(u32::MAX)),
            (size, _) => u64::from(size),
        };
        // An odd chunk is followed by a padding byte.
        let length = size.saturating_add(HEAD_BYTES + size % 2);
        self.at = self.at.saturating_add(length);
        if &name == b"ds64" {
            let sizes = self.read(size.min(16))?;
            let of_samples = sizes.get(8..16).and_then(|bytes| bytes.try_into().ok());
            self.large_bytes = of_samples.map(u64::from_le_bytes);
        }
        Ok(Some((name, size)))
    }

    /// The next bytes of the file: fewer where it ends.
    fn read(&mut self, bytes: u64) -> std::io::Result<Vec<u8>> {
        let mut all = Vec::new();
        (&mut self.file).take(bytes).read_to_end(&mut all)?;
        Ok(all)
    }
}
