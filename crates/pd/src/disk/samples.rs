//! Bytes to samples, and back, with the rounding of Pd.

use super::header::SoundFormat;

/// The samples of whole frames, channel by channel.
pub(super) fn decode(bytes: &[u8], format: SoundFormat) -> Vec<Vec<f32>> {
    let size = format.sample_bytes;
    let mut channels =
        vec![Vec::with_capacity(bytes.len() / size / format.channels); format.channels];
    for frame in bytes.chunks_exact(size * format.channels) {
        for (channel, sample) in channels.iter_mut().zip(frame.chunks_exact(size)) {
            channel.push(to_sample(sample, format.is_big));
        }
    }
    channels
}

/// A number of two or three bytes, or a float.
fn to_sample(bytes: &[u8], is_big: bool) -> f32 {
    let mut word = [0; 4];
    // The high bytes of a number of 32 bits.
    for (to, from) in word[4 - bytes.len()..].iter_mut().zip(bytes) {
        *to = *from;
    }
    if is_big {
        word[4 - bytes.len()..].reverse();
    }
    match bytes.len() {
        4 => f32::from_le_bytes(word),
        #[expect(clippy::cast_precision_loss, reason = "at most 24 bits are set")]
        _ => i32::from_le_bytes(word) as f32 / 2_147_483_648.0,
    }
}

/// Adds `frames` frames behind a header.
pub(super) fn encode(
    channels: &[Vec<f32>],
    frames: usize,
    factor: f64,
    format: SoundFormat,
    bytes: &mut Vec<u8>,
) {
    for frame in 0..frames {
        for channel in channels {
            let sample = channel[frame];
            match format.sample_bytes {
                2 => put(
                    &whole(sample, factor, 32_768.0).to_le_bytes()[..2],
                    format.is_big,
                    bytes,
                ),
                3 => put(
                    &whole(sample, factor, 8_388_608.0).to_le_bytes()[..3],
                    format.is_big,
                    bytes,
                ),
                _ => {
                    #[expect(clippy::cast_possible_truncation, reason = "a file of floats")]
                    let sample = (f64::from(sample) * factor) as f32;
                    put(&sample.to_le_bytes(), format.is_big, bytes);
                }
            }
        }
    }
}

fn put(little: &[u8], is_big: bool, bytes: &mut Vec<u8>) {
    match is_big {
        true => bytes.extend(little.iter().rev()),
        false => bytes.extend(little),
    }
}

/// Rounds down, and clips evenly on both sides.
#[expect(clippy::cast_possible_truncation, reason = "clipped")]
fn whole(sample: f32, factor: f64, scale: f64) -> i32 {
    let shifted = (scale + f64::from(sample) * (factor * scale)) as i32;
    let max = scale as i32 - 1;
    shifted.saturating_sub(scale as i32).clamp(-max, max)
}
