//! Sizes and transforms that all delay lines of a level share, and the connections between a line's channels.

use fft::{Kernels, Packing, RealFft};
use std::ops::Range;
use std::sync::Arc;

/// Sizes and transforms of a frequency-domain delay line.
///
/// All memory of a line holds one channel, or sixteen channels side by side (`width`).
#[derive(Clone)]
pub(crate) struct FdlSpec {
    /// Frames in a partition, which is also the period.
    pub(crate) size: usize,
    /// Number of partitions.
    pub(crate) count: usize,
    /// Frames in a block.
    pub(crate) block: usize,
    /// Channels side by side: 1 or 16.
    pub(crate) width: usize,
    /// Frames that a cross-fade to other filters takes.
    pub(crate) fade_frames: usize,
    /// Largest cost of a piece, where the work can be divided so far.
    pub(crate) max_piece_cost: u32,
    /// Periods for which products are summed at once: a power of two, at most [`super::lookahead::MAX_PERIODS`].
    pub(crate) lookahead_periods: usize,
    /// True if filter spectra are kept in half precision.
    pub(crate) is_half: bool,
    pub(crate) fft: Arc<RealFft>,
    pub(crate) kernels: Kernels,
    pub(crate) packing: Packing,
}

impl FdlSpec {
    /// Floats of one spectrum, and of two periods of sound.
    pub(crate) fn spectrum_len(&self) -> usize {
        2 * self.size * self.width
    }

    /// Floats of one period of sound.
    pub(crate) fn period_len(&self) -> usize {
        self.size * self.width
    }

    /// Floats from one input's period of sound to the next input's. It is no power of two: else neighbours would compete
    /// for the same sets of a cache.
    pub(crate) fn input_stride(&self) -> usize {
        self.period_len() + 16
    }

    /// Floats of one block of sound.
    pub(crate) fn block_len(&self) -> usize {
        self.block * self.width
    }
}

/// A filter from an input to an output of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LevelPath {
    pub(crate) input: usize,
    pub(crate) output: usize,
}

/// All connections of a line, sorted by output.
pub(crate) struct LevelPaths {
    all: Box<[LevelPath]>,
    /// Range in `all` for each output.
    of_output: Box<[Range<usize>]>,
}

impl LevelPaths {
    /// Sorts out which connections each output has; `all` are sorted by output.
    ///
    /// Real-time: setup.
    pub(crate) fn new(all: &[LevelPath], outputs: usize) -> Self {
        debug_assert!(all.is_sorted_by_key(|c| c.output));
        let range = |output| {
            let start = all.partition_point(|c| c.output < output);
            start..all.partition_point(|c| c.output <= output)
        };
        Self {
            of_output: (0..outputs).map(range).collect(),
            all: all.into(),
        }
    }

    /// Number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.of_output.len()
    }

    /// Places of an output's connections among all.
    pub(crate) fn range(&self, output: usize) -> Range<usize> {
        self.of_output[output].clone()
    }

    /// Connections at these places.
    pub(crate) fn get(&self, range: Range<usize>) -> &[LevelPath] {
        &self.all[range]
    }
}
