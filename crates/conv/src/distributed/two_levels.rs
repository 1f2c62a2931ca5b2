//! Two levels without a thread, by decimation in frequency: the long level is 4, 8, 16 or 32 times as long as the short
//! one, and each callback does the same share of its work.
//!
//! A period of the long level's input goes through three phases of a period each: (1) it is taken, block by block, and the
//! first stage of the decimation done as it comes; (2) two callbacks for each leaf: the second stage for this leaf, its
//! transform and the low half of its multiply-adds; then the high half, the transform back and the second stage back;
//! (3) the first stage back, block by block, as it is played. All three go on at once, for three periods.
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
use crate::{Convolver, ConvolverError, Inline, Latency, Options, Partition, Path};
use fft::{Aligned, Kernels};
use rt::ftz::FlushToZero;
use std::fmt;

/// Values in a block of a spectrum.
const LANES: usize = 16;
/// So many multiplications at once keep the sum in registers.
const AT_ONCE: usize = 8;

/// How long the long level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ratio {
    /// 4 times as long as the short one.
    Four,
    /// 8 times, by one stage of radix 4.
    Eight,
    /// 8 times, by two nested stages of radix 2.
    EightNested,
    /// 16 times.
    Sixteen,
    /// 32 times.
    ThirtyTwo,
}

impl Ratio {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Four,
        Self::Eight,
        Self::EightNested,
        Self::Sixteen,
        Self::ThirtyTwo,
    ];

    /// How many times as long.
    pub fn times(self) -> usize {
        let [a, b] = self.radix();
        2 * a * b
    }

    fn radix(self) -> [usize; 2] {
        match self {
            Self::Four => [2, 1],
            Self::Eight => [4, 1],
            Self::EightNested => [2, 2],
            Self::Sixteen => [4, 2],
            Self::ThirtyTwo => [4, 4],
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let radix = match self.radix() {
            [a, 1] => format!("radix {a}"),
            [a, b] => format!("radix {a} and {b}"),
        };
        write!(f, "{} times by {radix}", self.times())
    }
}

/// Channels, each through an impulse response of its own. See the module.
pub struct TwoLevels {
    short: Convolver,
    plan: Decimation,
    kernels: Kernels,
    bench: Bench,
    /// z and what comes of it, for one block; a leaf; a sum of spectra.
    block: Aligned,
    leaf: Aligned,
    long: Box<[Long]>,
    size: usize,
    /// Which block of the period comes next.
    at: usize,
}

/// The long level of one channel.
struct Long {
    /// The input of the last period, block by block replaced by this one's.
    past: Aligned,
    /// Subsequences that are taken, and those whose leaves are being transformed.
    taking: Aligned,
    taken: Aligned,
    /// Subsequences that come back, and those that are played.
    coming: Aligned,
    playing: Aligned,
    /// Spectra of impulse response and input, partition by partition.
    filters: Aligned,
    spectra: Aligned,
    sum: Aligned,
    /// The partition that holds the newest input.
    newest: usize,
}

impl TwoLevels {
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
        ratio: Ratio,
        kernels: Kernels,
    ) -> Result<Self, ConvolverError> {
        let size = block * ratio.times();
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
            Latency::None,
            0,
            &[(block, longest.div_ceil(block).max(1))],
        )
        .map_err(|_| ConvolverError::NoPaths)?;
        let mut options = Options::new(partition);
        options.kernels = kernels;
        let long = responses
            .iter()
            .map(|response| Long::new(&plan, response.get(head..).unwrap_or(&[])));
        Ok(Self {
            short: Convolver::new(responses.len(), responses.len(), &paths, &options)?,
            bench: plan.bench(),
            block: Aligned::new(2 * block),
            leaf: Aligned::new(2 * plan.leaf()),
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
        let counts = self.long.iter().map(|long| long.count(self.size));
        [
            (short.size(), short.count()),
            (self.size, counts.max().unwrap_or(0)),
        ]
    }

    /// Plays one block of every channel.
    ///
    /// Real-time: hot.
    pub fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let _floats = FlushToZero::on();
        self.short.process(inputs, outputs, &mut Inline);
        let channels = self.long.len().min(inputs.len()).min(outputs.len());
        let period = self.size / self.block();
        let is_last = self.at + 1 == period;
        for channel in 0..channels {
            self.take(channel, inputs[channel]);
            if is_last {
                self.long[channel].next_period(self.size);
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
        let len = self.leaf.len();
        let slot = (long.newest * self.plan.leaves() + number) * len;
        let spectrum = &mut long.spectra[slot..][..len];
        self.plan.forward(&self.leaf, spectrum, &mut self.bench);
        long.multiply(self.kernels, number, self.plan.leaves(), 0..len / 2);
    }

    /// Phase 2, second callback of a leaf.
    fn second_half(&mut self, channel: usize, number: usize) {
        let long = &mut self.long[channel];
        let len = self.leaf.len();
        long.multiply(self.kernels, number, self.plan.leaves(), len / 2..len);
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

impl Long {
    fn new(plan: &Decimation, response: &[f32]) -> Self {
        let size = plan.size;
        let count = response.len().div_ceil(size).max(1);
        let memory = || Aligned::new(2 * size);
        let mut long = Self {
            past: Aligned::new(size),
            taking: memory(),
            taken: memory(),
            coming: memory(),
            playing: memory(),
            filters: Aligned::new(2 * size * count),
            spectra: Aligned::new(2 * size * count),
            sum: Aligned::new(2 * plan.leaf()),
            newest: 0,
        };
        let (mut z, mut leaf) = (memory(), Aligned::new(2 * plan.leaf()));
        let mut bench = plan.bench();
        let filters = long.filters.chunks_exact_mut(2 * size);
        for (partition, spectra) in response.chunks(size).zip(filters) {
            z.fill(0.0);
            for (n, x) in partition.iter().enumerate() {
                z[2 * (n / LANES * LANES) + n % LANES] = x / size as f32;
            }
            for at in (0..size).step_by(LANES) {
                plan.take(at, &z[2 * at..][..2 * LANES], &mut long.taken);
            }
            for (number, spectrum) in spectra.chunks_exact_mut(leaf.len()).enumerate() {
                plan.take_leaf(number, &long.taken, &mut leaf);
                plan.forward(&leaf, spectrum, &mut bench);
            }
        }
        long.taken.fill(0.0);
        long
    }

    fn count(&self, size: usize) -> usize {
        self.filters.len() / (2 * size)
    }

    /// A period's input is complete, and what came of the one before is.
    fn next_period(&mut self, size: usize) {
        std::mem::swap(&mut self.taking, &mut self.taken);
        std::mem::swap(&mut self.coming, &mut self.playing);
        self.newest = (self.newest + 1) % self.count(size);
    }

    /// Floats `range` of a leaf's spectra, all partitions.
    fn multiply(
        &mut self,
        kernels: Kernels,
        number: usize,
        leaves: usize,
        range: std::ops::Range<usize>,
    ) {
        let len = self.sum.len();
        let count = self.filters.len() / (leaves * len);
        let sum = &mut self.sum[range.clone()];
        sum.fill(0.0);
        let mut pairs: [(&[f32], &[f32]); AT_ONCE] = [(&[], &[]); AT_ONCE];
        for first in (0..count).step_by(AT_ONCE) {
            let some = AT_ONCE.min(count - first);
            for (i, pair) in pairs[..some].iter_mut().enumerate() {
                let slot = (self.newest + count - first - i) % count;
                let input = &self.spectra[(slot * leaves + number) * len..][..len];
                let filter = &self.filters[((first + i) * leaves + number) * len..][..len];
                *pair = (&input[range.clone()], &filter[range.clone()]);
            }
            kernels.multiply_add_within(sum, &pairs[..some], None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for ratio in Ratio::ALL {
            let block = 32;
            let size = block * ratio.times();
            let lengths = [5 * size + 17, size + 3];
            let responses = [noise(lengths[0], 1), noise(lengths[1], 2)];
            let slices: Vec<&[f32]> = responses.iter().map(|r| &r[..]).collect();
            let mut two = TwoLevels::new(&slices, block, ratio, Kernels::best()).unwrap();
            let frames = 8 * size;
            let inputs = [noise(frames, 3), noise(frames, 4)];
            let mut outputs = [vec![0.0; frames], vec![0.0; frames]];
            for at in (0..frames).step_by(block) {
                let heard = inputs.each_ref().map(|x| &x[at..at + block]);
                let mut played = outputs.each_mut().map(|y| &mut y[at..at + block]);
                two.process(&heard, &mut played);
            }
            for channel in 0..2 {
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

    #[test]
    fn a_leaf_has_two_blocks_whatever_the_ratio() {
        for ratio in Ratio::ALL {
            let two = TwoLevels::new(&[&[1.0; 9000]], 64, ratio, Kernels::best()).unwrap();
            assert_eq!(two.plan.leaf(), 128);
            assert_eq!(two.levels()[0], (64, 2 * ratio.times() - 1));
        }
    }

    #[test]
    fn odd_blocks_and_empty_responses_are_refused() {
        for block in [0, 8, 48] {
            assert!(TwoLevels::new(&[&[1.0; 9]], block, Ratio::Four, Kernels::best()).is_err());
        }
        assert!(TwoLevels::new(&[&[]], 64, Ratio::Four, Kernels::best()).is_err());
        assert!(TwoLevels::new(&[], 64, Ratio::Four, Kernels::best()).is_err());
    }
}
