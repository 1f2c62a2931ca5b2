//! Non-uniform partitioned convolution with fewer operations, by two methods from the literature.
//!
//! [`StudyConvolver`] is a small convolver: every channel has a response of its own, and all work is done in the callback
//! in which it arrives. It cuts responses by the product's [`Partition`] and has the product's transforms and
//! multiply-adds, so that the methods can be compared with each other and nothing else differs:
//!
//! | method | transforms | products of an input spectrum |
//! |---|---|---|
//! | [`Plain`](Method::Plain) | each level its own | one for each partition |
//! | [`Composed`](Method::Composed) | of a level with 2 or 4 times the size, half or a quarter of the bins come from the smaller level (Gardner 1995, section 3) | one for each partition |
//! | [`Nested`](Method::Nested) | each level its own | two for every three partitions, by a nested acyclic convolution (Hurchalla 2008; Battenberg and Avižienis 2011, section 4.1) |
//!
//! One level of a group of channels works like the product's delay line (`conv/src/level/README.md`), without exchange,
//! jumps in time, pieces and threads.

mod fdl;
mod nested;
mod nested_products;

use conv::{ConvolverOptions, Level, Partition};
use fdl::{LevelSpec, StudyFdl};
use fft::{ComposedFft, Kernels, Packing, RealFft, SmallerFft};
use rt::ftz::FlushToZero;
use std::sync::Arc;

/// Fewest channels for which sixteen are processed side by side.
const MIN_BATCH: usize = 6;
/// Size ratios of two levels between which spectra are passed on.
const RATIOS: [usize; 2] = [2, 4];

/// Method by which a convolver computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every transform and every product by itself.
    Plain,
    /// Larger transforms from smaller ones (Gardner).
    Composed,
    /// Products of three partitions from two, nested (Hurchalla).
    Nested,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Composed, Self::Nested];
}

/// Convolver of channels that each have a response of their own.
pub struct StudyConvolver {
    block: usize,
    channels: usize,
    /// From small to large.
    levels: Vec<StudyLevel>,
}

/// One level of all channels.
struct StudyLevel {
    spec: LevelSpec,
    /// One for each sixteen channels, or for each channel.
    fdls: Vec<StudyFdl>,
}

impl StudyConvolver {
    /// Makes a convolver with one channel for each of `responses`. `None` if there is no response, if the partition has a
    /// direct head or is shorter than a response, or if it adds latency.
    ///
    /// Real-time: setup.
    pub fn new(
        responses: &[&[f32]],
        partition: &Partition,
        method: Method,
        kernels: Kernels,
    ) -> Option<Self> {
        let longest = responses.iter().map(|response| response.len()).max()?;
        let is_covered = longest <= partition.max_ir_frames();
        if partition.head() > 0 || partition.latency_frames() > 0 || !is_covered {
            return None;
        }
        let max_batch = ConvolverOptions::new(partition.clone()).max_batch_size;
        let mut levels: Vec<StudyLevel> = Vec::new();
        for level in partition.levels() {
            let is_batch = responses.len() >= MIN_BATCH && level.size() <= max_batch;
            let packing = if is_batch {
                Packing::Batch
            } else {
                Packing::Mono
            };
            let smaller = levels.last().filter(|_| method == Method::Composed);
            let spec = LevelSpec {
                level: *level,
                block: partition.block(),
                fft: Arc::new(RealFft::new(level.size(), packing, kernels).ok()?),
                composed: smaller
                    .and_then(|smaller| compose(&smaller.spec, level, packing, kernels)),
                is_nested: method == Method::Nested && nested::is_possible(level.count()),
                kernels,
            };
            let groups = responses.chunks(packing.channels());
            let fdls = groups.map(|group| StudyFdl::new(&spec, group)).collect();
            levels.push(StudyLevel { spec, fdls });
        }
        Some(Self {
            block: partition.block(),
            channels: responses.len(),
            levels,
        })
    }

    /// Frames in a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Sizes of the levels that take spectra from a smaller one, each with the size of the smaller one.
    pub fn composed_levels(&self) -> Vec<(usize, usize)> {
        let composed = self.levels.iter().filter_map(|level| {
            let ratio = level.spec.composed.as_ref()?.ratio();
            Some((level.spec.level.size(), level.spec.level.size() / ratio))
        });
        composed.collect()
    }

    /// Processes one block: `inputs` and `outputs` are one block for each channel.
    ///
    /// Real-time: hot.
    pub fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let _floats = FlushToZero::enable();
        debug_assert!(inputs.len() == self.channels && outputs.len() == self.channels);
        outputs.iter_mut().for_each(|output| output.fill(0.0));
        for index in 0..self.levels.len() {
            let (done, larger) = self.levels.split_at_mut(index + 1);
            let StudyLevel { spec, fdls } = &mut done[index];
            let mut larger = larger.first_mut().filter(|l| l.spec.composed.is_some());
            let width = spec.width();
            let channels = inputs.chunks(width).zip(outputs.chunks_mut(width));
            for (group, (fdl, (inputs, outputs))) in fdls.iter_mut().zip(channels).enumerate() {
                fdl.write_input(spec, inputs);
                if fdl.is_period_end(spec) {
                    fdl.transform(spec);
                    if let Some(larger) = &mut larger {
                        let (period, spectrum) = fdl.newest_spectrum(spec);
                        larger.fdls[group].add_smaller(&larger.spec, period, spectrum);
                    }
                    fdl.multiply(spec);
                }
                fdl.add_output(spec, outputs);
            }
        }
    }
}

/// Transform of a level from the spectra of the level before, where their sizes and packings allow it.
fn compose(
    smaller: &LevelSpec,
    level: &Level,
    packing: Packing,
    kernels: Kernels,
) -> Option<Arc<ComposedFft>> {
    let ratio = level.size() / smaller.level.size();
    let is_possible = RATIOS.contains(&ratio)
        && smaller.fft.packing() == packing
        && smaller.level.size() >= ComposedFft::min_bins(packing);
    let source = match &smaller.composed {
        Some(composed) => SmallerFft::Composed(composed.clone()),
        None => SmallerFft::Direct(smaller.fft.clone()),
    };
    let composed = is_possible.then(|| ComposedFft::new(source, ratio, kernels));
    composed?.ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{db, error_and_power, noise};
    use conv::AddedLatency;

    const PARTITIONS: [&str; 5] = [
        "17x64 5x512",
        "3x64 4x128 4x256 5x512",
        "7x64 6x256 3x1024",
        "3x64 16x128 3x1024",
        "7x64 6x256 7x1024 4x4096",
    ];

    fn partition(text: &str) -> Partition {
        Partition::parse(64, AddedLatency::None, text).unwrap()
    }

    /// Power of the difference from the convolution in double precision, in dB of the output.
    fn error_db(text: &str, method: Method, channels: usize, kernels: Kernels) -> f64 {
        let partition = partition(text);
        let response = |channel| noise(partition.max_ir_frames() - 100 * channel, channel as u32);
        let responses: Vec<Vec<f32>> = (0..channels).map(response).collect();
        let slices: Vec<&[f32]> = responses.iter().map(|r| &r[..]).collect();
        let mut convolver = StudyConvolver::new(&slices, &partition, method, kernels).unwrap();
        let frames = 2 * partition.max_ir_frames().next_multiple_of(64);
        let input = noise(frames, 99);
        let mut outputs = vec![vec![0.0; frames]; channels];
        for at in (0..frames).step_by(64) {
            let inputs = vec![&input[at..at + 64]; channels];
            let mut blocks: Vec<_> = outputs.iter_mut().map(|y| &mut y[at..at + 64]).collect();
            convolver.process(&inputs, &mut blocks);
        }
        let channels = outputs.iter().zip(&responses);
        let errors = channels.map(|(y, response)| error_and_power(y, &input, response, 211));
        db(errors.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    }

    #[test]
    fn every_method_gives_the_convolution() {
        for text in PARTITIONS {
            for method in Method::ALL {
                for channels in [1, 17] {
                    let db = error_db(text, method, channels, Kernels::best());
                    assert!(db < -120.0, "{text}, {method:?}, {channels}: {db:.1} dB");
                }
            }
        }
        for kernels in Kernels::available() {
            for method in Method::ALL {
                let db = error_db(PARTITIONS[1], method, 1, kernels);
                assert!(db < -120.0, "{kernels:?}, {method:?}: {db:.1} dB");
            }
        }
    }

    #[test]
    fn levels_of_twice_and_four_times_the_size_take_spectra_from_the_smaller_one() {
        let composed = |text, channels| {
            let responses = vec![&[1.0][..]; channels];
            let partition = partition(text);
            let made =
                StudyConvolver::new(&responses, &partition, Method::Composed, Kernels::best());
            made.unwrap().composed_levels()
        };
        assert_eq!(composed("17x64 5x512", 16), []);
        assert_eq!(composed("7x64 6x256 3x1024", 16), [(256, 64), (1024, 256)]);
        // Transforms of one channel are composed from 256 bins on.
        assert_eq!(composed("7x64 6x256 3x1024", 1), [(1024, 256)]);
    }

    #[test]
    fn partitions_that_it_cannot_have_are_refused() {
        let make = |partition: &Partition| {
            let responses = [&[1.0; 700][..]];
            StudyConvolver::new(&responses, partition, Method::Plain, Kernels::best())
        };
        let with_head = Partition::parse(64, AddedLatency::None, "64 + 20x64").unwrap();
        let with_latency = Partition::parse(64, AddedLatency::OneBlock, "20x64").unwrap();
        assert!(make(&with_head).is_none() && make(&with_latency).is_none());
        assert!(make(&partition("9x64")).is_none());
        assert!(make(&partition("20x64")).is_some());
    }
}
