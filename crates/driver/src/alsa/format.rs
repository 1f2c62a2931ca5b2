//! [`SampleFormat`]: the formats in which a device takes samples, and their exact conversion.
//!
//! To an integer of n bits: the sample times 2^(n-1), rounded to the nearest integer (ties to even), then limited to
//! what n bits hold. NaN becomes 0. There is no dither. From an integer: divided by 2^(n-1).

/// A sample format, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleFormat {
    /// 32-bit integer.
    S32,
    /// 24-bit integer in 3 bytes.
    S24In3,
    /// 24-bit integer in the low bytes of 4.
    S24,
    /// 16-bit integer.
    S16,
    /// 32-bit float.
    Float,
}

impl SampleFormat {
    /// All formats, the preferred one first: a device of 32-bit words takes all that a float has.
    pub(crate) const ALL: [Self; 5] = [Self::S32, Self::S24In3, Self::S24, Self::S16, Self::Float];

    /// Value of `snd_pcm_format_t`.
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::S16 => 2,
            Self::S24 => 6,
            Self::S32 => 10,
            Self::Float => 14,
            Self::S24In3 => 32,
        }
    }

    /// Bytes of one sample.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::S16 => 2,
            Self::S24In3 => 3,
            Self::S24 | Self::S32 | Self::Float => 4,
        }
    }

    /// Writes `sample` to the first [`SampleFormat::size`] bytes.
    ///
    /// Real-time: hot.
    pub(crate) fn write(self, sample: f32, to: &mut [u8]) {
        match self {
            Self::S16 => to[..2].copy_from_slice(&(quantize(sample, 16) as i16).to_le_bytes()),
            Self::S24 => to[..4].copy_from_slice(&quantize(sample, 24).to_le_bytes()),
            Self::S24In3 => to[..3].copy_from_slice(&quantize(sample, 24).to_le_bytes()[..3]),
            Self::S32 => to[..4].copy_from_slice(&quantize(sample, 32).to_le_bytes()),
            Self::Float => to[..4].copy_from_slice(&saturate(sample).to_le_bytes()),
        }
    }

    /// Reads a sample from the first [`SampleFormat::size`] bytes.
    ///
    /// Real-time: hot.
    pub(crate) fn read(self, from: &[u8]) -> f32 {
        match self {
            Self::S16 => f32::from(i16::from_le_bytes([from[0], from[1]])) / 32_768.0,
            // The fourth byte of S24 means nothing: the sign is bit 23.
            Self::S24 | Self::S24In3 => {
                let word = i32::from_le_bytes([0, from[0], from[1], from[2]]) >> 8;
                word as f32 / 8_388_608.0
            }
            Self::S32 => {
                let word = i32::from_le_bytes([from[0], from[1], from[2], from[3]]);
                word as f32 / 2_147_483_648.0
            }
            Self::Float => f32::from_le_bytes([from[0], from[1], from[2], from[3]]),
        }
    }
}

/// Float limited to full scale; NaN becomes 0. A device that converts floats itself may wrap around beyond it.
fn saturate(sample: f32) -> f32 {
    match sample.is_nan() {
        true => 0.0,
        false => sample.clamp(-1.0, 1.0),
    }
}

fn quantize(sample: f32, bits: u32) -> i32 {
    let scale = f64::from(1u32 << (bits - 1));
    let scaled = (f64::from(sample) * scale).round_ties_even();
    // The cast turns NaN into 0.
    scaled.clamp(-scale, scale - 1.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(format: SampleFormat, sample: f32) -> f32 {
        let mut bytes = [0xaa; 4];
        format.write(sample, &mut bytes);
        format.read(&bytes)
    }

    #[test]
    fn samples_beyond_full_scale_saturate_and_nan_is_silence() {
        for format in SampleFormat::ALL {
            let top = match format {
                SampleFormat::S16 => 32_767.0 / 32_768.0,
                SampleFormat::S24 | SampleFormat::S24In3 => 8_388_607.0 / 8_388_608.0,
                // 2^31 - 1 is 2^31 as a float.
                SampleFormat::S32 | SampleFormat::Float => 1.0,
            };
            for over in [1.0, 1.5, 1e30, f32::INFINITY] {
                assert_eq!(there_and_back(format, over), top, "{format:?} {over}");
                assert_eq!(there_and_back(format, -over), -1.0, "{format:?} -{over}");
            }
            for silent in [f32::NAN, -f32::NAN, 0.0] {
                assert_eq!(there_and_back(format, silent), 0.0, "{format:?}");
            }
        }
    }

    #[test]
    fn the_words_of_each_format_are_exact() {
        let bytes = |format: SampleFormat, sample| {
            let mut bytes = [0; 4];
            format.write(sample, &mut bytes);
            i32::from_le_bytes(bytes)
        };
        assert_eq!(bytes(SampleFormat::S32, 1.0), i32::MAX);
        assert_eq!(bytes(SampleFormat::S32, -1.0), i32::MIN);
        assert_eq!(bytes(SampleFormat::S32, 0.5), 1 << 30);
        assert_eq!(bytes(SampleFormat::S24, -1.0), -(1 << 23));
        assert_eq!(bytes(SampleFormat::S24, 1.0), (1 << 23) - 1);
        assert_eq!(bytes(SampleFormat::S24In3, -1.0), 0x0080_0000);
        assert_eq!(bytes(SampleFormat::S16, 1.0), 0x7fff);
        // Halves go to the even neighbour.
        assert_eq!(bytes(SampleFormat::S16, 0.5 / 32_768.0), 0);
        assert_eq!(bytes(SampleFormat::S16, 1.5 / 32_768.0), 2);
    }

    #[test]
    fn every_word_of_16_bits_comes_back_and_every_kind_of_24() {
        for word in i16::MIN..=i16::MAX {
            let sample = f32::from(word) / 32_768.0;
            for format in SampleFormat::ALL {
                assert_eq!(there_and_back(format, sample), sample);
            }
        }
        for word in (-(1 << 23)..1 << 23).step_by(4_093) {
            let sample = word as f32 / 8_388_608.0;
            assert_eq!(there_and_back(SampleFormat::S24, sample), sample);
            assert_eq!(there_and_back(SampleFormat::S24In3, sample), sample);
            assert_eq!(there_and_back(SampleFormat::S32, sample), sample);
        }
    }
}
