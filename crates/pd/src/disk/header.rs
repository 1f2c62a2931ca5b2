//! Sound files of WAVE, AIFF, NeXT and CAF, as Pd knows them: where their samples lie.
//!
//! The room `media` reads more formats, but says neither where samples begin nor how they are stored, which `soundfiler` gives out;
//! and it writes WAVE alone.

/// Type of a sound file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileType {
    Wave,
    Aiff,
    Next,
    Caf,
}

impl FileType {
    /// The type that a name's ending says.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is = |other: &&str| ending.eq_ignore_ascii_case(other);
        let types = [
            (&["wav"][..], Self::Wave),
            (&["aif", "aiff", "aifc"], Self::Aiff),
            (&["snd", "au"], Self::Next),
            (&["caf"], Self::Caf),
        ];
        let mut types = types.into_iter();
        let found = types.find(|(endings, _)| endings.iter().any(is));
        found.map(|(_, file_type)| file_type)
    }

    /// The ending that is added to a name without one.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Wave => ".wav",
            Self::Aiff => ".aif",
            Self::Next => ".snd",
            Self::Caf => ".caf",
        }
    }
}

/// How samples are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoundFormat {
    /// Sample rate in hertz.
    pub rate: f32,
    /// Bytes before the first sample.
    pub header_bytes: usize,
    /// At least 1.
    pub channels: usize,
    /// 2 and 3 are integers, 4 floats.
    pub sample_bytes: usize,
    /// True if the high byte comes first.
    pub is_big: bool,
}

/// Channels of a file, at most.
pub(crate) const MAX_CHANNELS: usize = 64;

/// Numbers of a file, each absent where the file ends before it.
struct Bytes<'b> {
    bytes: &'b [u8],
    is_big: bool,
}

impl Bytes<'_> {
    fn number<const N: usize>(&self, at: usize) -> Option<u64> {
        let mut word = [0; 8];
        word[..N].copy_from_slice(self.bytes.get(at..at.checked_add(N)?)?);
        if self.is_big {
            word[..N].reverse();
        }
        Some(u64::from_le_bytes(word))
    }

    fn size(&self, at: usize) -> Option<usize> {
        usize::try_from(self.number::<4>(at)?).ok()
    }

    fn has(&self, at: usize, tag: &[u8]) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(tag))
    }

    /// Finds a chunk: its first byte and its length as it is stated.
    fn chunk(&self, mut at: usize, tag: &[u8; 4]) -> Option<(usize, usize)> {
        loop {
            let length = self.size(at.checked_add(4)?)?;
            if self.has(at, tag) {
                return Some((at + 8, length));
            }
            at = at
                .checked_add(8)?
                .checked_add(length)?
                .checked_add(length & 1)?;
        }
    }
}

/// The format of a file and its samples as bytes.
pub(super) fn parse_header(bytes: &[u8]) -> Option<(SoundFormat, &[u8])> {
    let (format, length) = sound_layout(bytes)?;
    let rest = bytes.get(format.header_bytes..)?;
    Some((format, &rest[..rest.len().min(length)]))
}

/// The format of a file and the bytes of its samples as its header states them; `bytes` are its begin.
pub(super) fn sound_layout(bytes: &[u8]) -> Option<(SoundFormat, usize)> {
    let (format, length) = match bytes.get(..4)? {
        b"RIFF" => wave(&Bytes {
            bytes,
            is_big: false,
        })?,
        b"FORM" => aiff(&Bytes {
            bytes,
            is_big: true,
        })?,
        b".snd" => next(&Bytes {
            bytes,
            is_big: true,
        })?,
        b"dns." => next(&Bytes {
            bytes,
            is_big: false,
        })?,
        b"caff" => caf(&Bytes {
            bytes,
            is_big: true,
        })?,
        _ => return None,
    };
    let is_known =
        (1..=MAX_CHANNELS).contains(&format.channels) && (2..=4).contains(&format.sample_bytes);
    is_known.then_some((format, length))
}

#[expect(clippy::cast_precision_loss, reason = "rates are small")]
fn wave(file: &Bytes<'_>) -> Option<(SoundFormat, usize)> {
    if !file.has(8, b"WAVE") {
        return None;
    }
    let (at, length) = file.chunk(12, b"fmt ")?;
    let mut kind = file.number::<2>(at)?;
    if kind == 0xfffe && length >= 40 {
        kind = file.number::<2>(at + 24)?;
    }
    let bits = usize::try_from(file.number::<2>(at + 14)?).ok()?;
    if !matches!((kind, bits), (1, 16 | 24) | (3, 32)) {
        return None;
    }
    let (data, length) = file.chunk(12, b"data")?;
    let format = SoundFormat {
        rate: file.number::<4>(at + 4)? as f32,
        header_bytes: data,
        channels: usize::try_from(file.number::<2>(at + 2)?).ok()?,
        sample_bytes: bits / 8,
        is_big: false,
    };
    Some((format, length))
}

fn aiff(file: &Bytes<'_>) -> Option<(SoundFormat, usize)> {
    let is_compressed = file.has(8, b"AIFC");
    if !is_compressed && !file.has(8, b"AIFF") {
        return None;
    }
    let (at, _) = file.chunk(12, b"COMM")?;
    let bits = usize::try_from(file.number::<2>(at + 6)?).ok()?;
    let is_little = match is_compressed {
        false => false,
        true if file.has(at + 18, b"sowt") => true,
        true if file.has(at + 18, b"NONE")
            || file.has(at + 18, b"fl32")
            || file.has(at + 18, b"FL32") =>
        {
            false
        }
        true => return None,
    };
    let (data, length) = file.chunk(12, b"SSND")?;
    let offset = file.size(data)?;
    let format = SoundFormat {
        rate: extended(file.number::<2>(at + 8)?, file.number::<8>(at + 10)?),
        header_bytes: data.checked_add(8)?.checked_add(offset)?,
        channels: usize::try_from(file.number::<2>(at)?).ok()?,
        sample_bytes: bits / 8,
        is_big: !is_little,
    };
    Some((format, length.saturating_sub(8)))
}

/// A positive number of 80 bits.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rates are small"
)]
fn extended(exponent: u64, mantissa: u64) -> f32 {
    let exponent = i32::try_from(exponent & 0x7fff).unwrap_or(0) - 16383 - 63;
    (mantissa as f64 * f64::from(exponent).exp2()) as f32
}

#[expect(clippy::cast_precision_loss, reason = "rates are small")]
fn next(file: &Bytes<'_>) -> Option<(SoundFormat, usize)> {
    let length = file.size(8)?;
    let format = SoundFormat {
        rate: file.number::<4>(16)? as f32,
        header_bytes: file.size(4)?,
        channels: file.size(20)?,
        sample_bytes: match file.size(12)? {
            3 => 2,
            4 => 3,
            6 => 4,
            _ => return None,
        },
        is_big: file.is_big,
    };
    // A length of all ones is not known.
    Some((
        format,
        if length == 0xffff_ffff {
            usize::MAX
        } else {
            length
        },
    ))
}

fn caf(file: &Bytes<'_>) -> Option<(SoundFormat, usize)> {
    let (mut at, mut description) = (8_usize, None);
    loop {
        let length = file.number::<8>(at.checked_add(4)?)?;
        let begin = at.checked_add(12)?;
        if file.has(at, b"desc") {
            description = Some(begin);
        }
        if file.has(at, b"data") {
            let from = description?;
            let flags = file.size(from + 12)?;
            #[expect(clippy::cast_possible_truncation, reason = "rates are small")]
            let rate = f64::from_bits(file.number::<8>(from)?) as f32;
            let format = SoundFormat {
                rate,
                header_bytes: begin + 4,
                channels: file.size(from + 24)?,
                sample_bytes: file.size(from + 28)? / 8,
                is_big: flags & 2 == 0,
            };
            let is_known =
                file.has(from + 8, b"lpcm") && (flags & 1 == 1) == (format.sample_bytes == 4);
            let length = usize::try_from(length)
                .unwrap_or(usize::MAX)
                .saturating_sub(4);
            return is_known.then_some((format, length));
        }
        at = begin.checked_add(usize::try_from(length).ok()?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::new_header::header_of;
    use super::*;

    fn format(sample_bytes: usize, is_big: bool) -> SoundFormat {
        SoundFormat {
            rate: 44_100.0,
            header_bytes: 0,
            channels: 2,
            sample_bytes,
            is_big,
        }
    }

    #[test]
    fn a_header_that_was_written_is_read_again() {
        for file_type in [
            FileType::Wave,
            FileType::Aiff,
            FileType::Next,
            FileType::Caf,
        ] {
            for sample_bytes in [2, 3, 4] {
                for is_big in [false, true] {
                    let (written, mut bytes) =
                        header_of(file_type, format(sample_bytes, is_big), 5).expect("it is short");
                    bytes.resize(bytes.len() + 5 * 2 * sample_bytes, 0);
                    let (read, data) = parse_header(&bytes).expect("it is ours");
                    assert_eq!(read, written, "{file_type:?}");
                    assert_eq!(data.len(), 5 * 2 * sample_bytes);
                }
            }
        }
    }

    #[test]
    fn a_chunk_that_ends_at_the_last_address_is_refused() {
        let mut bytes = b"caff\0\x01\0\0free".to_vec();
        bytes.extend((u64::MAX - 22).to_be_bytes());
        bytes.extend([0; 32]);
        assert!(parse_header(&bytes).is_none());
    }

    #[test]
    fn headers_that_end_early_or_lie_are_refused_or_bounded() {
        let mut state = 1_u32;
        for file_type in [
            FileType::Wave,
            FileType::Aiff,
            FileType::Next,
            FileType::Caf,
        ] {
            let (_, bytes) = header_of(file_type, format(4, true), 5).expect("it is short");
            for end in 0..bytes.len() {
                let _ = parse_header(&bytes[..end]);
            }
            for _ in 0..20_000 {
                let mut wrong = bytes.clone();
                for _ in 0..3 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let at = (state >> 8) as usize % wrong.len();
                    wrong[at] = (state >> 24) as u8;
                }
                if let Some((format, _)) = parse_header(&wrong) {
                    assert!((1..=MAX_CHANNELS).contains(&format.channels));
                }
            }
        }
    }
}
