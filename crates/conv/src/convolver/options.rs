//! Paths and options, from which a convolver is made.

use crate::partition::Partition;
use fft::Kernels;
use std::sync::Arc;

/// Default of [`ConvolverOptions::max_batch_size`].
pub(crate) const MAX_BATCH_SIZE: usize = 16384;
/// Default of [`ConvolverOptions::cached_floats`]: what usually stays in a second-level cache beside the other levels.
pub(crate) const CACHED_FLOATS: usize = 1 << 16;

/// Impulse response from an input to an output.
#[derive(Clone, Debug)]
pub struct Path {
    /// Input, from 0.
    pub input: usize,
    /// Output, from 0.
    pub output: usize,
    /// Impulse response. Paths can share its memory, and then share its spectra too.
    pub ir: Arc<[f32]>,
    /// Linear gain of the response.
    pub gain: f32,
}

impl Path {
    /// A path through `ir` with gain 1.
    pub fn new(input: usize, output: usize, ir: impl Into<Arc<[f32]>>) -> Self {
        Self {
            input,
            output,
            ir: ir.into(),
            gain: 1.0,
        }
    }
}

/// Options of a convolver.
#[derive(Clone, Debug)]
pub struct ConvolverOptions {
    /// Partition of the impulse responses.
    pub partition: Partition,
    /// Vector instructions.
    pub kernels: Kernels,
    /// Largest size of a level that processes sixteen straight channels side by side.
    pub max_batch_size: usize,
    /// Frames that the cross-fade of an exchange takes.
    pub fade_frames: usize,
    /// True to let the periods of groups and levels end at different times, as far as they can.
    pub stagger: bool,
    /// Largest estimated cost of a piece of a level's work, in instructions on vectors of eight floats. A scheduler that does
    /// some pieces in each callback needs small pieces for an even load.
    pub max_piece_cost: u32,
    /// Floats that stay in a cache. A level with more spectra than that (of all its filters and inputs) sums products for
    /// several periods at once, so that it reads less memory; its sums round differently.
    pub cached_floats: usize,
    /// Size from which on levels keep filter spectra in half precision, if any: a quarter less memory to keep and to read, and
    /// an error of -70 dB of such a level's output.
    pub half_precision_from: Option<usize>,
}

impl ConvolverOptions {
    /// Default options for a partition.
    ///
    /// Real-time: setup.
    pub fn new(partition: Partition) -> Self {
        Self {
            partition,
            kernels: Kernels::best(),
            max_batch_size: MAX_BATCH_SIZE,
            fade_frames: 1024,
            stagger: false,
            max_piece_cost: 16384,
            cached_floats: CACHED_FLOATS,
            half_precision_from: None,
        }
    }
}
