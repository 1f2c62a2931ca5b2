//! Two levels without a thread, by decimation in frequency: the long level is 4, 8, 16 or 32 times as long as the short
//! one, and each callback does the same share of its work.
//!
//! A period of the long level's input goes through three phases of a period each: (1) it is taken, block by block, and the
//! first stage of the decimation done as it comes; (2) two callbacks for each leaf: the second stage for this leaf, its
//! transform and the low half of its multiply-adds; then the high half, the transform back and the second stage back (which
//! multiply-adds these are is said in `long.rs`); (3) the first stage back, block by block, as it is played. All three go on at once, for three periods.
//!
//! | times | radices | leaves |
//! |---|---|---|
//! | 4 | 2 | 2 |
//! | 8 | 4, or 2 and 2 | 4 |
//! | 16 | 4 and 2 | 8 |
//! | 32 | 4 and 4 | 16 |
//!
//! A leaf has two blocks' values, whatever the ratio: no callback does a transform of the long level. After Battenberg and
//! Avižienis, "Implementing real-time partitioned convolution algorithms on conventional operating systems" (2011), and
//! Hurchalla, "A time distributed FFT for efficient low latency convolution" (2010).

use super::decimation::{Bench, Decimation};
use super::long::{LANES, Long};
use super::ratio::LevelRatio;
use crate::{AddedLatency, Convolver, ConvolverError, ConvolverOptions, Inline, Partition, Path};
use fft::{AlignedBuffer, Kernels};
use rt::ftz::FlushToZero;

/// Channels, each through an impulse response of its own. See the module.
pub struct TwoLevelConvolver {
    short: Convolver,
    plan: Decimation,
    kernels: Kernels,
    bench: Bench,
    /// z and what comes of it, for one block; a leaf, and its spectrum.
    block: AlignedBuffer,
    leaf: AlignedBuffer,
    spectrum: AlignedBuffer,
    long: Box<[Long]>,
    size: usize,
    /// Which block of the period comes next.
    at: usize,
}

impl TwoLevelConvolver {
    /// One channel for each of `responses`, in blocks of `block` frames, a power of two from 16 to 4096.
    ///
    /// # Errors
    ///
    /// The block, or a response that cannot be played.
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
        // Where the long level begins to be heard.
        let head = 2 * size - block;
        let short = |channel: usize| {
            Path::new(
                channel,
                channel,
                &responses[channel][..head.min(responses[channel].len())],
            )
        };
        let paths: Vec<_> = (0..responses.len()).map(short).collect();
        let longest = paths.iter().map(|path| path.ir.len()).max().unwrap_or(1);
        let partition = Partition::new(
            block,
            AddedLatency::None,
            0,
            &[(block, longest.div_ceil(block).max(1))],
        )
        .map_err(|_| ConvolverError::NoPaths)?;
        let mut options = ConvolverOptions::new(partition);
        options.kernels = kernels;
        let long = responses
            .iter()
            .map(|response| Long::new(&plan, response.get(head..).unwrap_or(&[])));
        Ok(Self {
            short: Convolver::new(responses.len(), responses.len(), &paths, &options)?,
            bench: plan.bench(),
            block: AlignedBuffer::new(2 * block),
            leaf: AlignedBuffer::new(2 * plan.leaf()),
            spectrum: AlignedBuffer::new(2 * plan.leaf()),
            long: long.collect(),
            plan,
            kernels,
            size,
            at: 0,
        })
    }

    /// Frames in a block.
    ///
    /// Real-time: hot.
    pub fn block(&self) -> usize {
        self.short.block()
    }

    /// How many partitions of which size: the short level's, then the long one's.
    pub fn levels(&self) -> [(usize, usize); 2] {
        let short = self.short.partition().levels()[0];
        let counts = self.long.iter().map(Long::count);
        [
            (short.size(), short.count()),
            (self.size, counts.max().unwrap_or(0)),
        ]
    }

    /// Roughly how many vector instructions each callback of a period has, by what the parts of its work weigh.
    ///
    /// Real-time: setup.
    pub fn callback_costs(&mut self) -> Vec<u64> {
        let lines = self.short.fdls().len();
        let short: u64 = (0..lines)
            .flat_map(|line| self.short.piece_costs(line))
            .sum();
        let channels = self.long.len() as u64;
        let stages = 2 * self.plan.stage_weight(self.block());
        let halves = [true, false].map(|forward| {
            let long = self.products() + self.plan.leaf_weight(forward);
            short + channels * (stages + long)
        });
        let callbacks = 0..self.size / self.block();
        callbacks.map(|callback| halves[callback % 2]).collect()
    }

    /// What half the products of a leaf weigh, in the channel that has most.
    fn products(&self) -> u64 {
        self.long.iter().map(Long::weight).max().unwrap_or(0)
    }

    /// Plays one block of every channel.
    ///
    /// Real-time: hot.
    pub fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let _floats = FlushToZero::enable();
        self.short.process(inputs, outputs, &mut Inline);
        let channels = self.long.len().min(inputs.len()).min(outputs.len());
        let period = self.size / self.block();
        let is_last = self.at + 1 == period;
        for channel in 0..channels {
            self.take(channel, inputs[channel]);
            if is_last {
                self.long[channel].next_period();
            }
            let step = (self.at + 1) % period;
            match step % 2 {
                0 => self.first_half(channel, step / 2),
                _ => self.second_half(channel, step / 2),
            }
            self.play(channel, step, outputs[channel]);
        }
        self.at = (self.at + 1) % period;
    }

    /// Phase 1: z is made of the block before and this one, and decimated.
    fn take(&mut self, channel: usize, input: &[f32]) {
        let long = &mut self.long[channel];
        let at = self.at * input.len();
        let past = &mut long.past[at..][..input.len()];
        let frames = input.chunks_exact(LANES).zip(past.chunks_exact(LANES));
        for (z, (new, old)) in self.block.chunks_exact_mut(2 * LANES).zip(frames) {
            z[..LANES].copy_from_slice(old);
            for (im, x) in z[LANES..].iter_mut().zip(new) {
                *im = -x;
            }
        }
        past.copy_from_slice(input);
        self.plan.take(at, &self.block, &mut long.taking);
    }

    /// Phase 2, first callback of a leaf.
    fn first_half(&mut self, channel: usize, number: usize) {
        let long = &mut self.long[channel];
        self.plan.take_leaf(number, &long.taken, &mut self.leaf);
        self.plan
            .forward(&self.leaf, &mut self.spectrum, &mut self.bench);
        long.hear(number, &self.spectrum);
        long.multiply(self.kernels, number, 0);
    }

    /// Phase 2, second callback of a leaf.
    fn second_half(&mut self, channel: usize, number: usize) {
        let long = &mut self.long[channel];
        long.multiply(self.kernels, number, 1);
        self.plan
            .inverse(&long.sum, &mut self.leaf, &mut self.bench);
        self.plan.give_leaf(number, &self.leaf, &mut long.coming);
    }

    /// Phase 3: what has come back is played.
    fn play(&mut self, channel: usize, step: usize, output: &mut [f32]) {
        let long = &self.long[channel];
        self.plan
            .give(step * output.len(), &long.playing, &mut self.block);
        // It is conjugated, and what is sought is the imaginary part's negative.
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
    use fft::{Backend, Packing, RealFft};

    fn noise(frames: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(977).wrapping_add(1);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..frames).map(|_| next()).collect()
    }

    fn truth(input: &[f32], response: &[f32], n: usize) -> f64 {
        let from = (n + 1).saturating_sub(response.len());
        let product = |i: usize| f64::from(input[i]) * f64::from(response[n - i]);
        (from..=n).map(product).sum()
    }

    #[test]
    fn what_is_played_is_the_convolution_at_every_ratio() {
        for ratio in LevelRatio::ALL {
            let block = 64;
            let size = block * ratio.factor();
            // As long as it takes for sums of one period, of two, and once of four.
            let long = if ratio == LevelRatio::Four { 68 } else { 5 };
            let lengths = [long * size + 17, 5 * size - 1, size + 3];
            let responses = lengths.map(|frames| noise(frames, frames as u32));
            let slices: Vec<&[f32]> = responses.iter().map(|r| &r[..]).collect();
            let mut two = TwoLevelConvolver::new(&slices, block, ratio, Kernels::best()).unwrap();
            let frames = (long + 3) * size;
            let inputs = [noise(frames, 3), noise(frames, 4), noise(frames, 5)];
            let mut outputs = [(); 3].map(|()| vec![0.0; frames]);
            for at in (0..frames).step_by(block) {
                let heard = inputs.each_ref().map(|x| &x[at..at + block]);
                let mut played = outputs.each_mut().map(|y| &mut y[at..at + block]);
                two.process(&heard, &mut played);
            }
            for channel in 0..3 {
                let (mut error, mut power) = (0.0, 0.0);
                for n in (0..frames).step_by(97) {
                    let truth = truth(&inputs[channel], &responses[channel], n);
                    error += (f64::from(outputs[channel][n]) - truth).powi(2);
                    power += truth * truth;
                }
                let db = 10.0 * (error / power).log10();
                assert!(db < -120.0, "{ratio}, channel {channel}: {db:.1} dB");
            }
        }
    }

    /// The most that a callback has more, or less, than the mean.
    fn unevenness(weights: &[u64]) -> f64 {
        let mean = weights.iter().sum::<u64>() as f64 / weights.len() as f64;
        let off = weights.iter().map(|w| (*w as f64 / mean - 1.0).abs());
        off.fold(0.0, f64::max)
    }

    #[test]
    fn callbacks_are_loaded_alike() {
        for (ratio, frames, most) in [
            (LevelRatio::ThirtyTwo, 65_536, 0.05),
            (LevelRatio::ThirtyTwo, 524_288, 0.05),
            (LevelRatio::Sixteen, 32_768, 0.05),
            (LevelRatio::Eight, 16_384, 0.05),
            (LevelRatio::EightNested, 16_384, 0.05),
            (LevelRatio::Four, 16_384, 0.05),
        ] {
            let response = vec![1.0; frames];
            let mut two = TwoLevelConvolver::new(&[&response], 64, ratio, Kernels::best()).unwrap();
            let weights = two.callback_costs();
            assert_eq!(weights.len(), ratio.factor());
            let off = unevenness(&weights);
            assert!(off <= most, "{ratio}: {off}");
        }
    }

    #[test]
    fn no_callback_does_a_transform_of_the_long_level() {
        for ratio in LevelRatio::ALL {
            let response = vec![1.0; 32_768];
            let two = TwoLevelConvolver::new(&[&response], 64, ratio, Kernels::best()).unwrap();
            let leaf = two.plan.leaf_weight(true).max(two.plan.leaf_weight(false));
            let whole = RealFft::new(two.size, Packing::Mono, Kernels::best(), Backend::Own);
            let whole = whole.unwrap();
            let weight = |i| u64::from(whole.piece_cost(i, true));
            let whole: u64 = (0..whole.pieces()).map(weight).sum();
            assert!(leaf < whole, "{ratio}: {leaf} of {whole}");
        }
    }

    #[test]
    fn a_leaf_has_two_blocks_whatever_the_ratio() {
        for ratio in LevelRatio::ALL {
            let two = TwoLevelConvolver::new(&[&[1.0; 9000]], 64, ratio, Kernels::best()).unwrap();
            assert_eq!(two.plan.leaf(), 128);
            assert_eq!(two.levels()[0], (64, 2 * ratio.factor() - 1));
        }
    }

    #[test]
    fn odd_blocks_and_empty_responses_are_refused() {
        for block in [0, 8, 48] {
            assert!(
                TwoLevelConvolver::new(&[&[1.0; 9]], block, LevelRatio::Four, Kernels::best())
                    .is_err()
            );
        }
        assert!(TwoLevelConvolver::new(&[&[]], 64, LevelRatio::Four, Kernels::best()).is_err());
        assert!(TwoLevelConvolver::new(&[], 64, LevelRatio::Four, Kernels::best()).is_err());
        assert!(
            TwoLevelConvolver::new(&[&[1.0]], 1 << 62, LevelRatio::Four, Kernels::best()).is_err()
        );
    }

    #[test]
    fn what_is_no_number_is_refused_in_the_long_level_too() {
        let mut response = vec![0.5; 9000];
        response[8000] = f32::INFINITY;
        let refused =
            TwoLevelConvolver::new(&[&[1.0], &response], 64, LevelRatio::Four, Kernels::best())
                .err();
        let (path, frame) = (1, Some(8000));
        assert_eq!(refused, Some(ConvolverError::NotFinite { path, frame }));
    }
}
