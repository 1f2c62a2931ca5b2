//! Test signals: dense noise as input and as impulse responses, the same for all engines.

use crate::BLOCK;

/// Period of the input noise in blocks: a prime, so that no partition has the same period.
const BLOCKS: usize = 1021;
/// Delay of each channel's input behind that of the channel before it, in blocks.
const CHANNEL_DELAY: usize = 37;

/// The input of all channels.
pub struct InputSignal(Vec<f32>);

impl Default for InputSignal {
    fn default() -> Self {
        Self(noise(1, BLOCKS * BLOCK))
    }
}

impl InputSignal {
    /// Block `block` of `channel`.
    pub fn block(&self, channel: usize, block: usize) -> &[f32] {
        let at = (block + channel * CHANNEL_DELAY) % BLOCKS * BLOCK;
        &self.0[at..at + BLOCK]
    }

    /// Sample `frame` of `channel`.
    pub fn sample(&self, channel: usize, frame: usize) -> f32 {
        self.block(channel, frame / BLOCK)[frame % BLOCK]
    }
}

/// Impulse response of a channel: noise that decays by 60 dB.
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

/// White noise between -1 and 1 (xorshift, Marsaglia 2003); the same on every machine.
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
