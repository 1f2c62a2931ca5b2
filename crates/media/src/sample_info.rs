//! [`sample_info`]: what a WAV file says of itself as the sample of an instrument: its key and its loop.
//!
//! ```text
//!  0      8            20   24         36    44   48    52
//!  ┌────┬───┬─ ─ ─ ─ ─┬────┬─────┬─ ─ ─┬─ ─ ─┬────┬─────┬───┬─ ─      numbers of 32 bits, little-endian, after the name
//!  │smpl│len│         │key │part │     │count│    │     │ a loop: id, kind, first, last, part, count
//!  └────┴───┴─ ─ ─ ─ ─┴────┴─────┴─ ─ ─┴─ ─ ─┴────┴─────┴───┴─ ─
//! ```
//!
//! The chunk mostly follows the samples. IBM and Microsoft, *Multimedia Programming Interface and Data Specifications 1.0*
//! (1991), as later extended by Microsoft, *New Multimedia Data Types and Data Techniques* (1994).

use crate::MediaError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most chunks that are looked at.
const MAX_CHUNKS: u32 = 10_000;
/// Bytes of `smpl` before its loops, and of one loop.
const FIXED_BYTES: usize = 36;
const LOOP_BYTES: usize = 24;
/// Bytes of a chunk's head.
const HEAD_BYTES: u64 = 8;

/// Key and loop that a WAV file states for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleInfo {
    /// Key that plays it as it is, from 0 to 128, with the fraction that the file states.
    pub key: Option<f64>,
    /// First frame of its first forward loop, and the frame behind its last. The first is before the second; neither is known
    /// to be in the file.
    pub cycle: Option<(u64, u64)>,
}

/// Reads the `smpl` chunk of a WAV file. A file of another format, or without the chunk, or where it makes no sense, says
/// nothing.
///
/// # Errors
///
/// The file cannot be opened or read.
///
/// Real-time: waits, on the disk.
pub fn sample_info(path: impl AsRef<Path>) -> Result<SampleInfo, MediaError> {
    let path = path.as_ref();
    let file = files::open(path).map_err(|error| MediaError::Open(path.to_path_buf(), error))?;
    let chunk = find_chunk(file).map_err(|error| MediaError::Io(path.to_path_buf(), error))?;
    Ok(chunk.map_or_else(SampleInfo::default, |chunk| read_info(&chunk)))
}

/// The beginning of the `smpl` chunk, with one loop if it has one.
fn find_chunk(mut file: File) -> std::io::Result<Option<Vec<u8>>> {
    let end = file.metadata()?.len();
    let mut form = [0; 12];
    if end < 12 {
        return Ok(None);
    }
    file.read_exact(&mut form)?;
    if &form[..4] != b"RIFF" || &form[8..] != b"WAVE" {
        return Ok(None);
    }
    let mut at = 12u64;
    for _ in 0..MAX_CHUNKS {
        if at.saturating_add(HEAD_BYTES) > end {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES as usize];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        let [a, b, c, d, size @ ..] = head;
        let size = u64::from(u32::from_le_bytes(size));
        if &[a, b, c, d] == b"smpl" {
            let bytes = size.min((FIXED_BYTES + LOOP_BYTES) as u64);
            let mut chunk = Vec::new();
            file.take(bytes).read_to_end(&mut chunk)?;
            return Ok(Some(chunk));
        }
        // An odd chunk is followed by a padding byte.
        at += HEAD_BYTES + size + size % 2;
    }
    Ok(None)
}

/// The key and the loop of a chunk that may be cut off or hostile.
fn read_info(chunk: &[u8]) -> SampleInfo {
    let number = |at: usize| {
        let bytes = chunk.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let key = number(12).filter(|key| *key < 128).map(|key| {
        // A fraction of a semitone, in units of 2^-32.
        f64::from(key) + f64::from(number(16).unwrap_or(0)) / 4_294_967_296.0
    });
    let has_loop = number(28).is_some_and(|count| count > 0);
    let cycle = || {
        let (kind, first, last) = (number(40)?, number(44)?, number(48)?);
        // 0 is forward; to and fro, backward and what comes after is not played.
        (kind == 0 && first < last).then_some((u64::from(first), u64::from(last) + 1))
    };
    SampleInfo {
        key,
        cycle: has_loop.then(cycle).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of a key and a loop.
    fn chunk(key: u32, part: u32, count: u32, (kind, first, last): (u32, u32, u32)) -> Vec<u8> {
        let numbers = [0, 0, 20_833, key, part, 0, 0, count, 0];
        let of_loop = [0, kind, first, last, 0, 0];
        let all = numbers.into_iter().chain(of_loop);
        all.flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn the_key_and_the_first_loop_are_read() {
        let info = read_info(&chunk(69, 1 << 31, 1, (0, 10, 99)));
        assert_eq!((info.key, info.cycle), (Some(69.5), Some((10, 100))));
    }

    #[test]
    fn numbers_that_make_no_sense_say_nothing() {
        let none = SampleInfo::default();
        assert_eq!(read_info(&[]), none);
        assert_eq!(read_info(&chunk(128, 0, 0, (0, 0, 0))), none);
        for (count, cycle) in [
            (0, (0, 1, 9)),
            (1, (1, 1, 9)),
            (1, (0, 9, 9)),
            (1, (0, u32::MAX, 0)),
        ] {
            assert_eq!(read_info(&chunk(u32::MAX, 9, count, cycle)), none);
        }
        let long = read_info(&chunk(0, 0, u32::MAX, (0, 0, u32::MAX)));
        assert_eq!(long.cycle, Some((0, 1 << 32)));
        let whole = chunk(60, 0, 1, (0, 1, 9));
        for length in 0..whole.len() {
            let info = read_info(&whole[..length]);
            assert_eq!(info.key.is_some(), length >= 16, "{length}");
            assert_eq!(info.cycle.is_some(), length >= 52, "{length}");
        }
    }
}
