//! A first look at a WAV or AIFF file: does any chunk claim more than the file has, or more than any file? A parser that
//! believes such a number would allocate it, or multiply it until it overflows.

use crate::{MOST_CHANNELS, MOST_HZ, MediaError};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most that a chunk beside the sound may have: texts, marks, pictures.
const MOST_BYTES: u64 = 16 << 20;
/// The most chunks before the sound.
const MOST_CHUNKS: u32 = 10_000;

/// Walks the chunks up to the sound; how long the file is. Other formats are not looked at.
pub(crate) fn check(mut file: &File, path: &Path) -> Result<u64, MediaError> {
    let transfer = |error| MediaError::Transfer(path.to_path_buf(), error);
    let whole = file.metadata().map_err(transfer)?;
    if !whole.is_file() {
        let error = std::io::Error::other("it is no plain file");
        return Err(MediaError::Open(path.to_path_buf(), error));
    }
    let end = whole.len();
    let mut head = [0; 12];
    if end >= 12 {
        file.read_exact(&mut head).map_err(transfer)?;
        match &head[..4] {
            b"RIFF" => walk(file, path, end, u32::from_le_bytes, b"data")?,
            b"FORM" => walk(file, path, end, u32::from_be_bytes, b"SSND")?,
            _ => {}
        }
    }
    file.rewind().map_err(transfer)?;
    Ok(end)
}

fn walk(
    mut file: &File,
    path: &Path,
    end: u64,
    number: fn([u8; 4]) -> u32,
    sound: &[u8; 4],
) -> Result<(), MediaError> {
    let mut at = 12;
    for _ in 0..MOST_CHUNKS {
        let mut head = [0; 8];
        let transfer = |error| MediaError::Transfer(path.to_path_buf(), error);
        if at + 8 > end {
            return Ok(());
        }
        file.seek(SeekFrom::Start(at)).map_err(transfer)?;
        file.read_exact(&mut head).map_err(transfer)?;
        let [a, b, c, d, size @ ..] = head;
        let (name, size) = ([a, b, c, d], u64::from(number(size)));
        at += 8 + size + size % 2;
        if name == *b"fmt " && size >= 16 {
            form(file, path)?;
        }
        if name == *sound {
            // AIFF has chunks behind the sound that matter; in WAV they are not read.
            if sound == b"data" {
                return Ok(());
            }
        } else if size > MOST_BYTES || at > end + 1 {
            let name = name.escape_ascii();
            let what = format!("its chunk \"{name}\" claims {size} bytes");
            return Err(MediaError::Broken(path.to_path_buf(), what));
        }
    }
    let what = "it has more chunks than any sound file".to_owned();
    Err(MediaError::Absurd(path.to_path_buf(), what))
}

/// What a WAV file says about its samples; `file` stands there.
fn form(mut file: &File, path: &Path) -> Result<(), MediaError> {
    let mut facts = [0; 16];
    file.read_exact(&mut facts).map_err(|_| {
        MediaError::Broken(path.to_path_buf(), "it ends before the sound begins".into())
    })?;
    let [_, _, c0, c1, h0, h1, h2, h3, .., b0, b1] = facts;
    let channels = u16::from_le_bytes([c0, c1]);
    let hz = u32::from_le_bytes([h0, h1, h2, h3]);
    let bits = u16::from_le_bytes([b0, b1]);
    if (1..=MOST_CHANNELS).contains(&channels) && (1..=MOST_HZ).contains(&hz) && bits <= 64 {
        return Ok(());
    }
    let what = format!("{channels} channels of {bits} bits at {hz} Hz");
    Err(MediaError::Absurd(path.to_path_buf(), what))
}
