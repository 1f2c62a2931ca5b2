//! The two-stage FFTConvolver of HiFi-LoFi, as the crate `fft-convolver` has it: one thread, two block sizes.
//!
//! Its tail is computed within one call as soon as its block is full: no real-time program for long tails, but the
//! sum of its work is what is compared.

use crate::BLOCK;
use crate::contestant::{Contestant, Hall, Late};
use fft_convolver::{TwoStageFFTConvolver, compute_tail_block_size};
use std::error::Error;

/// One convolver a channel.
pub struct TwoStage {
    channels: Vec<TwoStageFFTConvolver<f32>>,
    tail: usize,
}

impl TwoStage {
    /// With the tail's block as the crate chooses it.
    pub fn new(hall: &Hall<'_>) -> Result<Self, Box<dyn Error>> {
        let tail = compute_tail_block_size(BLOCK, hall.length);
        let mut channels = Vec::new();
        for channel in 0..hall.channels {
            let mut one = TwoStageFFTConvolver::default();
            one.init(BLOCK, tail, &(hall.response)(channel))?;
            channels.push(one);
        }
        Ok(Self { channels, tail })
    }
}

impl Contestant for TwoStage {
    fn setting(&self) -> String {
        format!("head {BLOCK}, tail {}", self.tail)
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        let outputs = output.chunks_exact_mut(BLOCK);
        for ((channel, input), output) in self.channels.iter_mut().zip(inputs).zip(outputs) {
            channel
                .process(input, output)
                .expect("its blocks have its size");
        }
        Late::default()
    }
}
