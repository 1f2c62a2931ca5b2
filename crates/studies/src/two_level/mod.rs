//! Two levels without a thread, by decimation in frequency.
//!
//! The long level is 4, 8, 16 or 32 times as long as the short one, and each callback does the same share of its work.
//! This is the time-distributed method of Battenberg and Avižienis (2011, section 4) after Hurchalla, "A time
//! distributed FFT for efficient low latency convolution" (AES 129, 2010). It has the lowest peak load of all methods
//! without threads, and exactly two levels: with long responses the product's [`conv::TimeDistributed`] does less work.
//!
//! One period of the long level's input passes through three phases of one period each, and three periods are in
//! progress at any time:
//!
//! ```text
//! period        k              k + 1                        k + 2
//! input k       split          transform, multiply, back    merge to output
//! input k + 1                  split                        transform, multiply, back
//! input k + 2                                               split
//! ```
//!
//! 1. *Split*: each block goes through the first stage of the decimation when it comes.
//! 2. *Transform*: two callbacks for each leaf (a shortest subsequence). The first does the second stage for this leaf, its
//!    transform and the low half of its products; the second the high half, the inverse transform and the second stage
//!    back. `long_level.rs` says which products.
//! 3. *Merge*: the first stage back, block by block, into the output.
//!
//! | factor | radices | leaves |
//! |---|---|---|
//! | 4 | 2 | 2 |
//! | 8 | 4, or 2 and 2 | 4 |
//! | 16 | 4 and 2 | 8 |
//! | 32 | 4 and 4 | 16 |
//!
//! A leaf has as many values as two blocks, for every factor: no callback does a transform of the long level.
//!
//! | file | holds |
//! |---|---|
//! | `ratio.rs` | the factors and their radices |
//! | `decimation.rs` | a long transform as several short ones |
//! | `long_level.rs` | one channel's memory and products |

mod decimation;
mod long_level;
mod ratio;

pub use ratio::LevelRatio;

use conv::{AddedLatency, Convolver, ConvolverError, ConvolverOptions, Inline, Partition, Path};
use decimation::{Decimation, LeafBuffers};
use fft::{AlignedBuffer, Kernels};
use long_level::{LANES, LongLevel};
use rt::ftz::FlushToZero;

/// Channels with two levels each; every channel has an impulse response of its own.
pub struct TwoLevelConvolver {
    short: Convolver,
    plan: Decimation,
    kernels: Kernels,
    buffers: LeafBuffers,
    /// One block of complex values; one leaf; the spectrum of one leaf.
    block: AlignedBuffer,
    leaf: AlignedBuffer,
    spectrum: AlignedBuffer,
    long: Box<[LongLevel]>,
    size: usize,
    /// Number of the next block within the period.
    next_block: usize,
}

impl TwoLevelConvolver {
    /// Makes one channel for each of `responses`, in blocks of `block` frames: a power of two from 16 to 4096.
    ///
    /// # Errors
    ///
    /// The block is no such number, or a response is empty or not finite.
    ///
    /// Real-time: setup.
    pub fn new(
        responses: &[&[f32]],
        block: usize,
        ratio: LevelRatio,
        kernels: Kernels,
    ) -> Result<Self, ConvolverError> {
        for (path, response) in responses.iter().enumerate() {
            if let Some(frame) = response.iter().position(|x| !x.is_finite()) {
                let frame = Some(frame);
                return Err(ConvolverError::NotFinite { path, frame });
            }
        }
        let size = block.saturating_mul(ratio.factor());
        let plan = Decimation::new(size, ratio.radix(), kernels)?;
        // The first frame of the response that the long level has.
        let head = 2 * size - block;
        let short = |(channel, response): (usize, &&'_ [f32])| {
            Path::new(channel, channel, &response[..head.min(response.len())])
        };
        let paths: Vec<_> = responses.iter().enumerate().map(short).collect();
        let longest = paths.iter().map(|path| path.ir.len()).max().unwrap_or(1);
        let levels = [(block, longest.div_ceil(block).max(1))];
        let partition = Partition::new(block, AddedLatency::None, 0, &levels);
        let partition = partition.map_err(|_| ConvolverError::NoPaths)?;
        let mut options = ConvolverOptions::new(partition);
        options.kernels = kernels;
        let long = responses
            .iter()
            .map(|response| LongLevel::new(&plan, response.get(head..).unwrap_or(&[])));
        Ok(Self {
            short: Convolver::new(responses.len(), responses.len(), &paths, &options)?,
            buffers: plan.leaf_buffers(),
            block: AlignedBuffer::new(2 * block),
            leaf: AlignedBuffer::new(2 * plan.leaf()),
            spectrum: AlignedBuffer::new(2 * plan.leaf()),
            long: long.collect(),
            plan,
            kernels,
            size,
            next_block: 0,
        })
    }

    /// Frames in a block.
    ///
    /// Real-time: hot.
    pub fn block(&self) -> usize {
        self.short.block()
    }

    /// Size and number of partitions of the short level, then of the long level.
    pub fn levels(&self) -> [(usize, usize); 2] {
        let short = self.short.partition().levels()[0];
        let counts = self.long.iter().map(LongLevel::count);
        [
            (short.size(), short.count()),
            (self.size, counts.max().unwrap_or(0)),
        ]
    }

    /// Estimated vector instructions of each callback of a period.
    ///
    /// Real-time: setup.
    pub fn callback_costs(&mut self) -> Vec<u64> {
        let lines = self.short.fdls().len();
        let short: u64 = (0..lines)
            .flat_map(|line| self.short.piece_costs(line))
            .sum();
        let channels = self.long.len() as u64;
        let stages = 2 * self.plan.stage_cost(self.block());
        let halves = [true, false].map(|forward| {
            let leaf = self.product_cost() + self.plan.leaf_cost(forward);
            short + channels * (stages + leaf)
        });
        let callbacks = 0..self.size / self.block();
        callbacks.map(|callback| halves[callback % 2]).collect()
    }

    /// Cost of half the products of a leaf, in the channel that has most of them.
    fn product_cost(&self) -> u64 {
        self.long.iter().map(LongLevel::cost).max().unwrap_or(0)
    }

    /// Processes one block of every channel.
    ///
    /// Real-time: hot.
    pub fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let _floats = FlushToZero::enable();
        self.short.process(inputs, outputs, &mut Inline);
        let channels = self.long.len().min(inputs.len()).min(outputs.len());
        let period = self.size / self.block();
        let is_period_end = self.next_block + 1 == period;
        for channel in 0..channels {
            self.split_input(channel, inputs[channel]);
            if is_period_end {
                self.long[channel].next_period();
            }
            let step = (self.next_block + 1) % period;
            match step % 2 {
                0 => self.first_callback(channel, step / 2),
                _ => self.second_callback(channel, step / 2),
            }
            self.merge_output(channel, step, outputs[channel]);
        }
        self.next_block = (self.next_block + 1) % period;
    }

    /// Phase 1: makes complex values of the block one period ago and this block, and splits them.
    fn split_input(&mut self, channel: usize, input: &[f32]) {
        let long = &mut self.long[channel];
        let at = self.next_block * input.len();
        let past = &mut long.past[at..][..input.len()];
        let frames = input.chunks_exact(LANES).zip(past.chunks_exact(LANES));
        for (z, (new, old)) in self.block.chunks_exact_mut(2 * LANES).zip(frames) {
            z[..LANES].copy_from_slice(old);
            for (im, x) in z[LANES..].iter_mut().zip(new) {
                *im = -x;
            }
        }
        past.copy_from_slice(input);
        self.plan.split(at, &self.block, &mut long.splitting);
    }

    /// Phase 2, first callback of a leaf.
    fn first_callback(&mut self, channel: usize, number: usize) {
        let long = &mut self.long[channel];
        self.plan.split_leaf(number, &long.split, &mut self.leaf);
        self.plan
            .forward(&self.leaf, &mut self.spectrum, &mut self.buffers);
        long.write_input(number, &self.spectrum);
        long.multiply(self.kernels, number, 0);
    }

    /// Phase 2, second callback of a leaf.
    fn second_callback(&mut self, channel: usize, number: usize) {
        let long = &mut self.long[channel];
        long.multiply(self.kernels, number, 1);
        self.plan
            .inverse(&long.sum, &mut self.leaf, &mut self.buffers);
        self.plan.merge_leaf(number, &self.leaf, &mut long.merging);
    }

    /// Phase 3: merges the subsequences into a block of output.
    fn merge_output(&mut self, channel: usize, step: usize, output: &mut [f32]) {
        let long = &self.long[channel];
        self.plan
            .merge(step * output.len(), &long.merged, &mut self.block);
        // The values are conjugated, and the output is the negative imaginary part.
        let blocks = self.block.chunks_exact(2 * LANES);
        for (y, z) in output.chunks_exact_mut(LANES).zip(blocks) {
            for (y, im) in y.iter_mut().zip(&z[LANES..]) {
                *y += im;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{db, error_and_power, noise};
    use fft::{Packing, RealFft};

    fn two(responses: &[&[f32]], ratio: LevelRatio) -> TwoLevelConvolver {
        TwoLevelConvolver::new(responses, 64, ratio, Kernels::best()).unwrap()
    }

    /// Reason for which a convolver is refused.
    fn refused(responses: &[&[f32]], block: usize) -> ConvolverError {
        let made = TwoLevelConvolver::new(responses, block, LevelRatio::Four, Kernels::best());
        made.err().expect("it is refused")
    }

    #[test]
    fn the_output_is_the_convolution_at_every_ratio() {
        for ratio in LevelRatio::ALL {
            let block = 64;
            let size = block * ratio.factor();
            // Long enough for products summed one, two and, once, four periods ahead.
            let long = if ratio == LevelRatio::Four { 68 } else { 5 };
            let lengths = [long * size + 17, 5 * size - 1, size + 3];
            let responses = lengths.map(|frames| noise(frames, frames as u32));
            let slices: Vec<&[f32]> = responses.iter().map(|r| &r[..]).collect();
            let mut two = two(&slices, ratio);
            let frames = (long + 3) * size;
            let inputs = [noise(frames, 3), noise(frames, 4), noise(frames, 5)];
            let mut outputs = [(); 3].map(|()| vec![0.0; frames]);
            for at in (0..frames).step_by(block) {
                let input = inputs.each_ref().map(|x| &x[at..at + block]);
                let mut output = outputs.each_mut().map(|y| &mut y[at..at + block]);
                two.process(&input, &mut output);
            }
            for channel in 0..3 {
                let (output, input) = (&outputs[channel], &inputs[channel]);
                let db = db(error_and_power(output, input, &responses[channel], 97));
                assert!(db < -120.0, "{ratio}, channel {channel}: {db:.1} dB");
            }
        }
    }

    /// Largest relative difference between a callback and the mean.
    fn unevenness(costs: &[u64]) -> f64 {
        let mean = costs.iter().sum::<u64>() as f64 / costs.len() as f64;
        let off = costs.iter().map(|cost| (*cost as f64 / mean - 1.0).abs());
        off.fold(0.0, f64::max)
    }

    #[test]
    fn all_callbacks_have_about_the_same_cost() {
        for (ratio, frames, max) in [
            (LevelRatio::ThirtyTwo, 65_536, 0.05),
            (LevelRatio::ThirtyTwo, 524_288, 0.05),
            (LevelRatio::Sixteen, 32_768, 0.05),
            (LevelRatio::Eight, 16_384, 0.05),
            (LevelRatio::EightNested, 16_384, 0.05),
            (LevelRatio::Four, 16_384, 0.05),
        ] {
            let response = vec![1.0; frames];
            let costs = two(&[&response], ratio).callback_costs();
            assert_eq!(costs.len(), ratio.factor());
            let off = unevenness(&costs);
            assert!(off <= max, "{ratio}: {off}");
        }
    }

    #[test]
    fn no_callback_does_a_transform_of_the_long_level() {
        for ratio in LevelRatio::ALL {
            let response = vec![1.0; 32_768];
            let two = two(&[&response], ratio);
            let leaf = two.plan.leaf_cost(true).max(two.plan.leaf_cost(false));
            let whole = RealFft::new(two.size, Packing::Mono, Kernels::best());
            let whole = whole.unwrap();
            let cost = |i| u64::from(whole.piece_cost(i, true));
            let whole: u64 = (0..whole.pieces()).map(cost).sum();
            assert!(leaf < whole, "{ratio}: {leaf} of {whole}");
        }
    }

    #[test]
    fn a_leaf_has_two_blocks_at_every_ratio() {
        for ratio in LevelRatio::ALL {
            let two = two(&[&[1.0; 9000]], ratio);
            assert_eq!(two.plan.leaf(), 128);
            assert_eq!(two.levels()[0], (64, 2 * ratio.factor() - 1));
        }
    }

    #[test]
    fn odd_blocks_and_empty_responses_are_refused() {
        for block in [0, 8, 48, 1 << 62] {
            refused(&[&[1.0; 9]], block);
        }
        refused(&[&[]], 64);
        refused(&[], 64);
    }

    #[test]
    fn a_response_that_is_not_finite_in_the_long_level_is_refused() {
        let mut response = vec![0.5; 9000];
        response[8000] = f32::INFINITY;
        let (path, frame) = (1, Some(8000));
        let why = ConvolverError::NotFinite { path, frame };
        assert_eq!(refused(&[&[1.0], &response], 64), why);
    }
}
