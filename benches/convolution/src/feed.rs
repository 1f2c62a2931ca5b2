//! Noise to convolve and to convolve with: the same for everyone, and nothing sparse in it.

use crate::BLOCK;

/// Blocks until the noise comes again: a prime, so that no partition has this period.
const BLOCKS: usize = 1021;
/// How many blocks later a channel hears it than the one before.
const APART: usize = 37;

/// What every channel hears.
pub struct Feed(Vec<f32>);

impl Default for Feed {
    fn default() -> Self {
        Self(noise(1, BLOCKS * BLOCK))
    }
}

impl Feed {
    /// Block number `block` of `channel`.
    pub fn block(&self, channel: usize, block: usize) -> &[f32] {
        let at = (block + channel * APART) % BLOCKS * BLOCK;
        &self.0[at..at + BLOCK]
    }

    /// Sample number `frame` of `channel`.
    pub fn sample(&self, channel: usize, frame: usize) -> f32 {
        self.block(channel, frame / BLOCK)[frame % BLOCK]
    }
}

/// The response of a channel: noise that fades by 60 dB.
pub fn response(channel: usize, length: usize) -> Vec<f32> {
    let mut taps = noise(1000 + channel as u64, length);
    let fade = (-6.9 / length as f64).exp();
    let mut gain = 1.0 / (length as f64).sqrt();
    for tap in &mut taps {
        *tap *= gain as f32;
        gain *= fade;
    }
    taps
}

/// White noise within -1 and 1 (a shift register; the same on every machine).
pub fn noise(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..16).for_each(|_| _ = next());
    (0..length).map(|_| next()).collect()
}
