//! What all lines of a level have in common, and how a line's channels hang together.

use fft::{ComposedFft, Kernels, Packing, RealFft};
use std::sync::Arc;

/// What all lines of a level have in common.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) size: usize,
    pub(crate) count: usize,
    pub(crate) block: usize,
    /// Channels side by side in all memory: 1 or 16.
    pub(crate) width: usize,
    /// How many frames an exchange of impulse responses takes.
    pub(crate) fade: usize,
    /// How many vector instructions a piece has at most, roughly and where it can be.
    pub(crate) piece: u32,
    /// For how many periods products are summed at once: a power of two, up to [`crate::ahead::MOST`].
    pub(crate) ahead: usize,
    /// Whether products are made three periods at a time ([`crate::nested`]).
    pub(crate) is_nested: bool,
    /// Whether spectra of impulse responses are kept in half precision.
    pub(crate) is_half: bool,
    pub(crate) fft: Arc<RealFft>,
    /// How spectra are made from those of the next smaller level, where they are.
    pub(crate) larger: Option<Arc<ComposedFft>>,
    /// Whether spectra are handed on to the next larger level.
    pub(crate) gives: bool,
    pub(crate) kernels: Kernels,
    pub(crate) packing: Packing,
}

impl Shape {
    /// Floats of one spectrum, or of two periods of sound.
    pub(crate) fn floats(&self) -> usize {
        2 * self.size * self.width
    }

    /// Floats of one period of sound.
    pub(crate) fn half(&self) -> usize {
        self.size * self.width
    }

    /// Floats from one input's period of sound to the next one's: not a power of two, so that neighbours do not crowd into
    /// the same places of a cache.
    pub(crate) fn stride(&self) -> usize {
        self.half() + 16
    }

    /// Floats of one channel in one block.
    pub(crate) fn run(&self) -> usize {
        self.block * self.width
    }
}

/// From which input to which output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) input: usize,
    pub(crate) output: usize,
}
