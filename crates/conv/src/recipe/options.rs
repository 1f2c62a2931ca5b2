//! What a convolver is made by: the ways through it, and how it is to be.

use crate::backends::Backends;
use crate::partition::Partition;
use fft::Kernels;
use std::sync::Arc;

/// Levels up to this size usually do sixteen straight channels at a time.
pub(crate) const SIDE_BY_SIDE: usize = 16384;
/// Up to so many floats usually stay near the processor: what no other level is likely to push out of a second-level cache.
pub(crate) const NEAR: usize = 1 << 16;

/// One way from an input to an output.
#[derive(Clone, Debug)]
pub struct Path {
    /// The input, counted from 0.
    pub input: usize,
    /// The output, counted from 0.
    pub output: usize,
    /// The impulse response. Paths that share one share its memory.
    pub ir: Arc<[f32]>,
    /// What it is multiplied by.
    pub gain: f32,
}

impl Path {
    /// A way through `ir` as it is.
    pub fn new(input: usize, output: usize, ir: impl Into<Arc<[f32]>>) -> Self {
        Self {
            input,
            output,
            ir: ir.into(),
            gain: 1.0,
        }
    }
}

/// How a convolver is to be.
#[derive(Clone, Debug)]
pub struct ConvolverOptions {
    /// How impulse responses are cut.
    pub partition: Partition,
    /// Which instructions.
    pub kernels: Kernels,
    /// Who transforms levels of which size.
    pub backends: Backends,
    /// Levels up to this size do sixteen straight channels at a time.
    pub max_batch_size: usize,
    /// How many frames an exchange of impulse responses takes.
    pub fade_frames: usize,
    /// Whether periods of groups and levels end at different times, as far as they can.
    pub stagger: bool,
    /// How many instructions (with vectors of eight) a piece of a level's work has at most, roughly and where it can be.
    /// Less where the callback does some pieces each time, and loads shall be even.
    pub max_piece_cost: u32,
    /// Up to so many floats, the spectra of a level (of all its impulse responses and inputs) stay near the processor. Of
    /// larger levels products are summed up for several periods at once, so that less is read; the sums round otherwise.
    pub cached_floats: usize,
    /// Levels from this size on keep the spectra of impulse responses, not of inputs, in half precision: a quarter less to
    /// keep and to read. What such a level gives is then within -70 dB of what it should be.
    pub half_precision_from: Option<usize>,
    /// Whether levels of three partitions and more make their products three periods at a time, by Hurchalla's nested
    /// convolution: a third fewer, from twice the spectra. Not those in half precision, nor those that sum up for periods to
    /// come.
    pub nested: bool,
    /// Whether levels of two or four times the size of the one before make their transforms from that one's, as Gardner
    /// says. Not where periods end at different times ([`Self::stagger`]), nor levels of sixteen channels at a time from
    /// such as are not.
    pub larger_from_smaller: bool,
}

impl ConvolverOptions {
    /// The usual ones, for this partition.
    ///
    /// Real-time: setup.
    pub fn new(partition: Partition) -> Self {
        Self {
            partition,
            kernels: Kernels::best(),
            backends: Backends::default(),
            max_batch_size: SIDE_BY_SIDE,
            fade_frames: 1024,
            stagger: false,
            max_piece_cost: 16384,
            cached_floats: NEAR,
            half_precision_from: None,
            nested: false,
            larger_from_smaller: false,
        }
    }
}
