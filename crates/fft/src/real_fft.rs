//! [`RealFft`]: a real transform of one size, prepared.

use crate::kernels::Kernels;
use crate::transform::batch::BatchFft;
use crate::transform::four_step::FourStep;
use crate::transform::small::SmallFft;
use std::fmt;

/// Channels of a batch, and bins of a block of a mono spectrum.
pub const LANES: usize = 16;

/// Assignment of channels and bins to the lanes of a spectrum.
///
/// A spectrum is *blocked*: a row of blocks of 32 floats, each with sixteen real parts and then sixteen imaginary ones.
/// The first bin (DC) and the one after the last (Nyquist) are real, so the second is kept as the imaginary part of the
/// first. One multiply-add serves both packings:
///
/// ```text
///            lane   0     1    ...  15    │   0     1    ...  15
///  Mono   block 0  re X0  re X1 ... re X15 │ re XM  im X1 ... im X15     one channel
///         block 1  re X16 re X17 ...       │ im X16 im X17 ...
///
///  Batch  block 0  re X0 of channels 0..15 │ re XM of channels 0..15     sixteen channels side by side
///         block 1  re X1 of channels 0..15 │ im X1 of channels 0..15
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// One channel: block `b` holds the bins 16 `b` .. 16 `b` + 15.
    Mono,
    /// Sixteen channels side by side: block `b` holds bin `b` of each. In time, sixteen floats are a frame, one of each
    /// channel.
    Batch,
}

impl Packing {
    /// Channels of one transform.
    pub const fn channels(self) -> usize {
        match self {
            Self::Mono => 1,
            Self::Batch => LANES,
        }
    }
}

/// Reason why there is no transform of a size, with the number of bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// Not a power of two: take the next one.
    #[error("{0} bins are not a power of two")]
    NotPowerOfTwo(usize),
    /// Fewer than [`RealFft::MIN_BINS`] bins: take as many.
    #[error("{0} bins are fewer than {min}", min = RealFft::MIN_BINS)]
    TooSmall(usize),
    /// More than [`RealFft::MAX_BINS`] bins: divide the work into partitions.
    #[error("{0} bins are more than {max}", max = RealFft::MAX_BINS)]
    TooLarge(usize),
}

/// A prepared real transform of 2 `M` values to `M` bins, for one channel or for sixteen at once. It is shared between
/// threads: the memory that it writes comes with each call.
pub struct RealFft {
    bins: usize,
    packing: Packing,
    algorithm: Algorithm,
}

/// The algorithm for a size and a packing.
enum Algorithm {
    Mono(Box<FourStep>),
    Batch(BatchFft),
    Small(SmallFft),
}

impl RealFft {
    /// The fewest bins.
    pub const MIN_BINS: usize = 16;
    /// The most bins.
    pub const MAX_BINS: usize = 1 << 24;

    /// Prepares a transform with `bins` bins, a power of two.
    ///
    /// The bits of its results depend on these arguments only. Transforms of one channel with fewer than 256 bins are the
    /// exception: the crate `realfft` does them, with the instructions of this machine whatever the kernels are.
    ///
    /// Real-time: setup.
    ///
    /// # Errors
    ///
    /// There is no transform of that size.
    pub fn new(bins: usize, packing: Packing, kernels: Kernels) -> Result<Self, SizeError> {
        if !bins.is_power_of_two() {
            return Err(SizeError::NotPowerOfTwo(bins));
        }
        if bins < Self::MIN_BINS {
            return Err(SizeError::TooSmall(bins));
        }
        if bins > Self::MAX_BINS {
            return Err(SizeError::TooLarge(bins));
        }
        let algorithm = match packing {
            Packing::Batch => Algorithm::Batch(BatchFft::new(bins, kernels)),
            Packing::Mono if bins >= FourStep::MIN_BINS => {
                Algorithm::Mono(Box::new(FourStep::new(bins, kernels)))
            }
            Packing::Mono => Algorithm::Small(SmallFft::new(bins)),
        };
        Ok(Self {
            bins,
            packing,
            algorithm,
        })
    }

    /// Number of bins, `M`.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Assignment of channels and bins to lanes.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Length of a spectrum, and of the values in time: 2 `M` floats a channel.
    pub fn buffer_len(&self) -> usize {
        2 * self.bins * self.packing.channels()
    }

    /// Length of the scratch memory, in floats. Its contents do not matter, before and after.
    pub fn scratch_len(&self) -> usize {
        match &self.algorithm {
            Algorithm::Mono(mono) => mono.scratch_len(),
            Algorithm::Batch(_) => 0,
            Algorithm::Small(small) => small.scratch_len(),
        }
    }

    /// Writes the spectrum of `time`, not normalised: bin k is the sum of `time[n] · exp(-2πi · n · k / 2M)`. All
    /// lengths are exact; with others, nothing is done.
    ///
    /// Real-time: hot.
    pub fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        (0..self.pieces()).for_each(|i| self.forward_piece(i, time, spectrum, scratch));
    }

    /// Writes the values whose spectrum this is, times 2 `M`. The spectrum is destroyed. All lengths are exact; with
    /// others, nothing is done.
    ///
    /// Real-time: hot.
    pub fn inverse(&self, spectrum: &mut [f32], time: &mut [f32], scratch: &mut [f32]) {
        (0..self.pieces()).for_each(|i| self.inverse_piece(i, spectrum, time, scratch));
    }

    /// Number of pieces of a transform, forward or inverse. A scheduler spreads them over several callbacks.
    pub fn pieces(&self) -> usize {
        match &self.algorithm {
            Algorithm::Mono(mono) => mono.pieces(),
            Algorithm::Batch(batch) => batch.pieces(),
            Algorithm::Small(_) => 1,
        }
    }

    /// Cost of piece `i` of a forward transform, or of an inverse one: roughly its instructions with vectors of sixteen
    /// floats.
    pub fn piece_cost(&self, i: usize, forward: bool) -> u32 {
        match &self.algorithm {
            Algorithm::Mono(mono) => mono.piece_cost(i, forward),
            Algorithm::Batch(batch) => batch.piece_cost(i, forward),
            Algorithm::Small(_) => {
                (self.buffer_len() / LANES) as u32 * (4 * self.bins.ilog2() + 16)
            }
        }
    }

    /// Runs piece `i` of [`RealFft::forward`]. All pieces are run in order with the same slices, whose contents stay as
    /// they are in between. All lengths are exact; with others, or without such a piece, nothing is done.
    ///
    /// Real-time: hot.
    pub fn forward_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        if !self.fits(i, time, spectrum, scratch) {
            return;
        }
        match &self.algorithm {
            Algorithm::Mono(mono) => mono.forward_piece(i, time, spectrum, scratch),
            Algorithm::Batch(batch) => batch.forward_piece(i, time, spectrum),
            Algorithm::Small(small) => small.forward(time, spectrum, scratch),
        }
    }

    /// Runs piece `i` of [`RealFft::inverse`], likewise.
    ///
    /// Real-time: hot.
    pub fn inverse_piece(
        &self,
        i: usize,
        spectrum: &mut [f32],
        time: &mut [f32],
        scratch: &mut [f32],
    ) {
        if !self.fits(i, time, spectrum, scratch) {
            return;
        }
        match &self.algorithm {
            Algorithm::Mono(mono) => mono.inverse_piece(i, spectrum, time, scratch),
            Algorithm::Batch(batch) => batch.inverse_piece(i, spectrum, time),
            Algorithm::Small(small) => small.inverse(spectrum, time, scratch),
        }
    }

    /// Returns true if an inverse transform can be done in place.
    pub fn has_in_place_inverse(&self) -> bool {
        matches!(self.algorithm, Algorithm::Mono(_))
    }

    /// Runs piece `i` of [`RealFft::inverse`] in place, if [`RealFft::has_in_place_inverse`]: a spectrum becomes values
    /// in time, with the same bits. All lengths are exact; with others, or without such a piece, nothing is done.
    ///
    /// Real-time: hot.
    pub fn inverse_piece_in_place(&self, i: usize, data: &mut [f32], scratch: &mut [f32]) {
        if !self.fits(i, data, data, scratch) {
            return;
        }
        debug_assert!(self.has_in_place_inverse());
        if let Algorithm::Mono(mono) = &self.algorithm {
            mono.inverse_piece_in_place(i, data, scratch);
        }
    }

    /// Returns true if the lengths are this transform's and there is such a piece. The code beneath relies on it.
    fn fits(&self, i: usize, time: &[f32], spectrum: &[f32], scratch: &[f32]) -> bool {
        debug_assert_eq!(time.len(), self.buffer_len(), "length of the time values");
        debug_assert_eq!(spectrum.len(), self.buffer_len(), "length of the spectrum");
        debug_assert_eq!(scratch.len(), self.scratch_len(), "length of the scratch");
        time.len() == self.buffer_len()
            && spectrum.len() == self.buffer_len()
            && scratch.len() == self.scratch_len()
            && i < self.pieces()
    }
}

impl fmt::Debug for RealFft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RealFft")
            .field("bins", &self.bins)
            .field("packing", &self.packing)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedBuffer;

    #[test]
    fn all_pieces_in_order_are_the_whole_transform() {
        // Miri is some thousand times slower.
        let large = if cfg!(miri) { 2048 } else { 32768 };
        for (bins, packing) in [
            (64, Packing::Mono),
            (1024, Packing::Mono),
            (large, Packing::Mono),
            (64, Packing::Batch),
        ] {
            let fft = RealFft::new(bins, packing, Kernels::best()).unwrap();
            let mut time = AlignedBuffer::new(fft.buffer_len());
            for (i, x) in time.iter_mut().enumerate() {
                *x = (i * 7919 % 1000) as f32 / 500.0 - 1.0;
            }
            let mut scratch = AlignedBuffer::new(fft.scratch_len());
            let (mut whole, mut parts) = (
                AlignedBuffer::new(time.len()),
                AlignedBuffer::new(time.len()),
            );
            fft.forward(&time, &mut whole, &mut scratch);
            for i in 0..fft.pieces() {
                fft.forward_piece(i, &time, &mut parts, &mut scratch);
                assert!(fft.piece_cost(i, true) > 0 && fft.piece_cost(i, false) > 0);
            }
            assert_eq!(*whole, *parts);
            let mut back = AlignedBuffer::new(time.len());
            let mut in_place = whole.clone();
            fft.inverse(&mut whole, &mut time, &mut scratch);
            assert_eq!(
                fft.has_in_place_inverse(),
                packing == Packing::Mono && bins >= 256
            );
            if fft.has_in_place_inverse() {
                for i in 0..fft.pieces() {
                    fft.inverse_piece_in_place(i, &mut in_place, &mut scratch);
                }
                assert_eq!(*time, *in_place);
            }
            for i in 0..fft.pieces() {
                fft.inverse_piece(i, &mut parts, &mut back, &mut scratch);
            }
            assert_eq!(*time, *back);
        }
    }
}
