//! The two-stage FFTConvolver of HiFi-LoFi, as the crate `fft-convolver` has it: one thread, two block sizes.
//!
//! It computes its tail in one call as soon as a block is full. That is not possible in real time for long tails, but its
//! total work can be compared.

use crate::BLOCK;
use crate::engine::{Engine, Late, Workload};
use fft_convolver::{TwoStageFFTConvolver, compute_tail_block_size};
use std::error::Error;

/// One convolver for each channel.
pub struct TwoStage {
    channels: Vec<TwoStageFFTConvolver<f32>>,
    tail: usize,
}

impl TwoStage {
    /// With the tail's block as the crate chooses it.
    pub fn new(workload: &Workload<'_>) -> Result<Self, Box<dyn Error>> {
        let tail = compute_tail_block_size(BLOCK, workload.length);
        let mut channels = Vec::new();
        for channel in 0..workload.channels {
            let mut one = TwoStageFFTConvolver::default();
            one.init(BLOCK, tail, &(workload.response)(channel))?;
            channels.push(one);
        }
        Ok(Self { channels, tail })
    }
}

impl Engine for TwoStage {
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
