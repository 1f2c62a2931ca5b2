//! The header of a WAV file, which becomes RF64 (EBU Tech 3306) where 32 bits are too few for its length.
//!
//! ```text
//!  0    4    8    12   16   20         48   52   56          96   100  104
//!  ┌────┬────┬────┬────┬────┬─ ─ ─ ─ ──┬────┬────┬─ ─ ─ ─ ─ ─┬────┬────┬── ─ ─
//!  │RIFF│size│WAVE│JUNK│ 28 │ zeros    │fmt │ 40 │ format    │data│size│ samples
//!  │RF64│ -1 │WAVE│ds64│ 28 │ 3 x size │fmt │ 40 │ format    │data│ -1 │ samples     beyond 4 GiB
//!  └────┴────┴────┴────┴────┴─ ─ ─ ─ ──┴────┴────┴─ ─ ─ ─ ─ ─┴────┴────┴── ─ ─
//! ```
//!
//! The chunk of zeros keeps the place: a recording does not know how long it will be.

use crate::SampleFormat;

/// Bytes before the samples.
pub(crate) const HEADER_BYTES: u64 = 104;
/// Bytes of the sizes in `ds64`.
const DS64_BYTES: u32 = 28;
/// Bytes of the format chunk, the extensible form.
const FORMAT_BYTES: u32 = 40;
/// Channels that have a loudspeaker in the format; further ones have none.
const MAX_SPEAKERS: u32 = 18;

/// Format of the samples of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WavFormat {
    pub(crate) channels: u16,
    pub(crate) rate_hz: u32,
    pub(crate) samples: SampleFormat,
}

impl WavFormat {
    /// Bytes of one frame.
    pub(crate) fn frame_bytes(self) -> u64 {
        u64::from(self.samples.bits() / 8) * u64::from(self.channels)
    }

    /// The header for a file of `frames` frames.
    pub(crate) fn header(self, frames: u64) -> Vec<u8> {
        let data = frames * self.frame_bytes();
        let riff = HEADER_BYTES - 8 + data + data % 2;
        let mut header = Vec::with_capacity(HEADER_BYTES as usize);
        match (u32::try_from(riff), u32::try_from(data)) {
            (Ok(riff), Ok(data)) if riff < u32::MAX => {
                put(
                    &mut header,
                    [b"RIFF", &riff.to_le_bytes(), b"WAVE", b"JUNK"],
                );
                header.extend(DS64_BYTES.to_le_bytes());
                header.extend([0; DS64_BYTES as usize]);
                self.put_format(&mut header);
                put(&mut header, [b"data", &data.to_le_bytes()]);
            }
            _ => {
                put(&mut header, [b"RF64", &[0xff; 4], b"WAVE", b"ds64"]);
                header.extend(DS64_BYTES.to_le_bytes());
                for size in [riff, data, frames] {
                    header.extend(size.to_le_bytes());
                }
                // No further chunk needs a size of 64 bits.
                header.extend(0_u32.to_le_bytes());
                self.put_format(&mut header);
                put(&mut header, [b"data", &[0xff; 4]]);
            }
        }
        header
    }

    fn put_format(self, header: &mut Vec<u8>) {
        let bits = self.samples.bits();
        let frame_bytes = self.frame_bytes() as u32;
        let speakers = (1_u32 << u32::from(self.channels).min(MAX_SPEAKERS)) - 1;
        // The subformat: a number and the rest of an identifier that is the same for all.
        let coding = match self.samples {
            SampleFormat::F32 => 3_u16,
            SampleFormat::I24 | SampleFormat::I16 => 1,
        };
        put(header, [b"fmt ", &FORMAT_BYTES.to_le_bytes()]);
        header.extend(0xfffe_u16.to_le_bytes());
        header.extend(self.channels.to_le_bytes());
        header.extend(self.rate_hz.to_le_bytes());
        header.extend((self.rate_hz * frame_bytes).to_le_bytes());
        header.extend((frame_bytes as u16).to_le_bytes());
        header.extend(bits.to_le_bytes());
        // 22 bytes follow: the bits that count, the loudspeakers, the subformat.
        header.extend(22_u16.to_le_bytes());
        header.extend(bits.to_le_bytes());
        header.extend(speakers.to_le_bytes());
        header.extend(coding.to_le_bytes());
        header.extend([0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]);
    }
}

fn put<const N: usize>(header: &mut Vec<u8>, words: [&[u8; 4]; N]) {
    words.iter().for_each(|word| header.extend(*word));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_rf64_only_where_32_bits_are_too_few() {
        let format = WavFormat {
            channels: 2,
            rate_hz: 48_000,
            samples: SampleFormat::F32,
        };
        let last = (u64::from(u32::MAX - 1) - (HEADER_BYTES - 8)) / 8;
        for (frames, tag) in [(0, b"RIFF"), (last, b"RIFF"), (last + 1, b"RF64")] {
            let header = format.header(frames);
            assert_eq!(header.len() as u64, HEADER_BYTES);
            assert_eq!(&header[..4], tag, "{frames} frames");
            assert_eq!(&header[96..100], b"data");
        }
        let size = &format.header(1 << 33)[28..36];
        assert_eq!(u64::from_le_bytes(size.try_into().unwrap()), 8 << 33);
    }
}
