//! Headers of new sound files: WAVE, AIFF, NeXT and CAF, byte for byte as Pd writes them.

use super::header::{FileType, SoundFormat};

/// The bytes before `frames` frames, and the format with its length. `None` if the file is too long for its type.
pub(super) fn header_of(
    file_type: FileType,
    mut format: SoundFormat,
    frames: usize,
) -> Option<(SoundFormat, Vec<u8>)> {
    let sound = Sound::new(&format, frames)?;
    match file_type {
        FileType::Wave => format.is_big = false,
        // Floats of this type have the high byte first.
        FileType::Aiff => format.is_big |= sound.is_float,
        FileType::Next | FileType::Caf => {}
    }
    let bytes = match file_type {
        FileType::Wave => sound.wave(),
        FileType::Aiff => sound.aiff(format.is_big),
        FileType::Next => sound.next(format.is_big),
        FileType::Caf => sound.caf(format.is_big),
    };
    format.header_bytes = bytes.len();
    Some((format, bytes))
}

/// Numbers of a header.
struct Sound {
    /// Bytes of the samples.
    size: u32,
    frames: u32,
    channels: u32,
    /// Bits of a sample.
    bits: u32,
    /// Frames a second, as a whole number, and as it is.
    rate: u32,
    exact_rate: f32,
    is_float: bool,
}

impl Sound {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate in whole hertz"
    )]
    fn new(format: &SoundFormat, frames: usize) -> Option<Self> {
        let length = frames.checked_mul(format.channels * format.sample_bytes)?;
        Some(Self {
            size: u32::try_from(length.checked_add(1024)?).ok()? - 1024,
            frames: u32::try_from(frames).ok()?,
            channels: u32::try_from(format.channels).ok()?,
            bits: format.sample_bytes as u32 * 8,
            rate: format.rate.max(0.0) as u32,
            exact_rate: format.rate,
            is_float: format.sample_bytes == 4,
        })
    }

    /// Bytes of a frame.
    fn align(&self) -> u32 {
        self.channels * self.bits / 8
    }

    fn wave(&self) -> Vec<u8> {
        let mut out = Header::new(false);
        let (riff, fmt, tag) = match self.is_float {
            true => (72, 40, 0xfffe),
            false => (36, 16, 1),
        };
        out.tag(b"RIFF").long(self.size + riff).tag(b"WAVEfmt ");
        out.long(fmt).short(tag).short(self.channels);
        out.long(self.rate)
            .long(self.rate.wrapping_mul(self.align()));
        out.short(self.align()).short(self.bits);
        if self.is_float {
            out.short(22).short(self.bits).long(0).short(3);
            out.tag(&[0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]);
            out.tag(b"fact").long(4).long(self.frames);
        }
        out.tag(b"data").long(self.size);
        out.bytes
    }

    #[expect(clippy::cast_possible_truncation, reason = "names are short")]
    fn aiff(&self, is_big: bool) -> Vec<u8> {
        let mut out = Header::new(true);
        let (code, name): (&[u8], &[u8]) = match self.is_float {
            true => (b"fl32", b"\x1532-bit floating point"),
            false => (b"sowt", b"\x0enot compressed\0"),
        };
        let is_compressed = self.is_float || !is_big;
        let (form, version, common): (&[u8], u32, u32) = match is_compressed {
            true => (b"AIFC", 12, 22 + name.len() as u32),
            false => (b"AIFF", 0, 18),
        };
        out.tag(b"FORM")
            .long(4 + version + 8 + common + 16 + self.size)
            .tag(form);
        if is_compressed {
            out.tag(b"FVER").long(4).long(0xa280_5140);
        }
        out.tag(b"COMM").long(common).short(self.channels);
        out.long(self.frames).short(self.bits);
        // The rate as a float of 80 bits.
        let shift = self.rate.max(1).leading_zeros();
        out.short(16383 + 31 - shift)
            .long(self.rate.max(1) << shift)
            .long(0);
        if is_compressed {
            out.tag(code).tag(name);
        }
        out.tag(b"SSND").long(8 + self.size).long(0).long(0);
        out.bytes
    }

    fn next(&self, is_big: bool) -> Vec<u8> {
        let mut out = Header::new(is_big);
        let encoding = match self.bits {
            16 => 3,
            24 => 4,
            _ => 6,
        };
        out.tag(if is_big { b".snd" } else { b"dns." }).long(28);
        out.long(self.size).long(encoding);
        out.long(self.rate).long(self.channels).tag(b"Pd \0");
        out.bytes
    }

    fn caf(&self, is_big: bool) -> Vec<u8> {
        let mut out = Header::new(true);
        out.tag(b"caff").long(0x0001_0000);
        out.tag(b"desc").long(0).long(32);
        out.tag(&f64::from(self.exact_rate).to_be_bytes());
        let flags = u32::from(self.is_float) | if is_big { 0 } else { 2 };
        out.tag(b"lpcm").long(flags).long(self.align());
        out.long(1).long(self.channels).long(self.bits);
        out.tag(b"data").long(0).long(self.size + 4).long(0);
        out.bytes
    }
}

/// Bytes of a header, in one order.
struct Header {
    bytes: Vec<u8>,
    is_big: bool,
}

impl Header {
    fn new(is_big: bool) -> Self {
        let bytes = Vec::new();
        Self { bytes, is_big }
    }

    fn tag(&mut self, tag: &[u8]) -> &mut Self {
        self.bytes.extend(tag);
        self
    }

    fn long(&mut self, number: u32) -> &mut Self {
        self.bytes.extend(match self.is_big {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        });
        self
    }

    fn short(&mut self, number: u32) -> &mut Self {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        self.bytes.extend(match self.is_big {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        });
        self
    }
}
