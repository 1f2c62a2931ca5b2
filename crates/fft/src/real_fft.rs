//! [`RealFft`]: a real transform of one size, prepared.

use crate::transform::batch::Batch;
use crate::transform::four_step::FourStep;
use crate::kernels::Kernels;
use crate::transform::small::Peer;
use std::fmt;

/// How many channels a batch has, and how many bins a block of a mono spectrum.
pub const LANES: usize = 16;

/// What lies in a spectrum's lanes.
///
/// A spectrum is a row of blocks of 32 floats: 16 real parts, then 16 imaginary ones. The first bin (DC) and the one
/// after the last (Nyquist) are real; the second is kept as the imaginary part of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// One channel: block `b` holds the bins 16 `b` .. 16 `b` + 15. Only lane 0 of block 0 holds two real bins.
    Mono,
    /// Sixteen channels side by side: block `b` holds bin `b` of each, and block 0 the two real bins of each. In time,
    /// sixteen floats are a frame, one of each channel.
    Batch,
}

impl Packing {
    /// How many channels one transform does.
    pub const fn channels(self) -> usize {
        match self {
            Self::Mono => 1,
            Self::Batch => LANES,
        }
    }
}

/// Who transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// This crate, with the kernels asked for.
    Own,
    /// The `realfft` crate, converted; it chooses its instructions itself.
    RealFft,
}

impl Backend {
    /// All of them, for timing.
    pub const ALL: [Self; 2] = [Self::Own, Self::RealFft];
}

/// Why there is no transform of that size; it gives the number of bins asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeError {
    /// Not a power of two: take the next one.
    NotPowerOfTwo(usize),
    /// Fewer than [`RealFft::MIN_BINS`] bins: take that.
    TooSmall(usize),
    /// More than [`RealFft::MAX_BINS`] bins: cut the work into partitions.
    TooLarge(usize),
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPowerOfTwo(bins) => write!(f, "{bins} bins are not a power of two"),
            Self::TooSmall(bins) => {
                write!(f, "{bins} bins are fewer than {}", RealFft::MIN_BINS)
            }
            Self::TooLarge(bins) => write!(f, "{bins} bins are more than {}", RealFft::MAX_BINS),
        }
    }
}

impl std::error::Error for SizeError {}

/// A prepared real transform of 2 `M` values to `M` bins, for one channel or for sixteen at once. Shared freely: what
/// it needs to write to comes with each call.
pub struct RealFft {
    bins: usize,
    packing: Packing,
    backend: Backend,
    way: Way,
}

/// How it is done.
enum Way {
    Mono(Box<FourStep>),
    Batch(Batch),
    Peer(Peer),
}

impl RealFft {
    /// The fewest bins.
    pub const MIN_BINS: usize = 16;
    /// The most bins.
    pub const MAX_BINS: usize = 1 << 24;

    /// Prepares a transform with `bins` bins, a power of two. The bits of its results depend on these arguments only
    /// (with [`Backend::RealFft`], on the machine too).
    ///
    /// Real-time: setup.
    pub fn new(
        bins: usize,
        packing: Packing,
        kernels: Kernels,
        backend: Backend,
    ) -> Result<Self, SizeError> {
        if !bins.is_power_of_two() {
            return Err(SizeError::NotPowerOfTwo(bins));
        }
        if bins < Self::MIN_BINS {
            return Err(SizeError::TooSmall(bins));
        }
        if bins > Self::MAX_BINS {
            return Err(SizeError::TooLarge(bins));
        }
        let way = match (backend, packing) {
            (Backend::Own, Packing::Batch) => Way::Batch(Batch::new(bins, kernels)),
            (Backend::Own, Packing::Mono) if bins >= FourStep::SMALLEST => {
                Way::Mono(Box::new(FourStep::new(bins, kernels)?))
            }
            _ => Way::Peer(Peer::new(bins, packing)),
        };
        let backend = match way {
            Way::Peer(_) => Backend::RealFft,
            Way::Mono(_) | Way::Batch(_) => Backend::Own,
        };
        Ok(Self {
            bins,
            packing,
            backend,
            way,
        })
    }

    /// How many bins, `M`.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// What lies in the lanes.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Who transforms in truth: small transforms of one channel are `realfft`'s, whoever is asked for.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The length of a spectrum, and of the values in time: 2 `M` a channel.
    pub fn buffer_len(&self) -> usize {
        2 * self.bins * self.packing.channels()
    }

    /// The length of the scratch memory; it may hold anything, before and after.
    pub fn scratch_len(&self) -> usize {
        match &self.way {
            Way::Mono(mono) => mono.scratch(),
            Way::Batch(_) => 0,
            Way::Peer(peer) => peer.scratch(),
        }
    }

    /// The spectrum of `time`, not normalised: a bin is the plain sum of the values times `exp(-2 pi i n k / 2M)`. All
    /// lengths are exact; with others, nothing is done.
    ///
    /// Real-time: hot.
    pub fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(time, spectrum, scratch) {
            return;
        }
        match &self.way {
            Way::Mono(mono) => {
                (0..mono.pieces()).for_each(|i| mono.forward_piece(i, time, spectrum, scratch));
            }
            Way::Batch(batch) => batch.forward(time, spectrum),
            Way::Peer(peer) => peer.forward(time, spectrum, scratch),
        }
    }

    /// The values whose spectrum this is, times 2 `M`. The spectrum is destroyed. All lengths are exact;
    /// with others, nothing is done.
    ///
    /// Real-time: hot.
    pub fn inverse(&self, spectrum: &mut [f32], time: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(time, spectrum, scratch) {
            return;
        }
        match &self.way {
            Way::Mono(mono) => {
                (0..mono.pieces()).for_each(|i| mono.inverse_piece(i, spectrum, time, scratch));
            }
            Way::Batch(batch) => batch.inverse(spectrum, time),
            Way::Peer(peer) => peer.inverse(spectrum, time, scratch),
        }
    }

    /// How many pieces a transform has, forward or back: several, if it is a large one of this crate's.
    pub fn pieces(&self) -> usize {
        match &self.way {
            Way::Mono(mono) => mono.pieces(),
            Way::Batch(batch) => batch.pieces(),
            Way::Peer(_) => 1,
        }
    }

    /// Roughly how many instructions piece `i` of a forward transform is, or of an inverse one, with vectors of sixteen
    /// floats.
    pub fn piece_cost(&self, i: usize, forward: bool) -> u32 {
        match &self.way {
            Way::Mono(mono) => mono.weight(i, forward),
            Way::Batch(batch) => batch.weight(i, forward),
            Way::Peer(_) => (self.buffer_len() / LANES) as u32 * (4 * self.bins.ilog2() + 16),
        }
    }

    /// Piece `i` of [`RealFft::forward`]: all are run in order with the same slices, whose contents must stay as they are
    /// in between. All lengths are exact; with others, or without such a piece, nothing is done.
    ///
    /// Real-time: hot.
    pub fn forward_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(time, spectrum, scratch) || i >= self.pieces() {
            return;
        }
        match &self.way {
            Way::Mono(mono) => mono.forward_piece(i, time, spectrum, scratch),
            Way::Batch(batch) => batch.forward_piece(i, time, spectrum),
            Way::Peer(peer) => peer.forward(time, spectrum, scratch),
        }
    }

    /// Piece `i` of [`RealFft::inverse`], likewise.
    ///
    /// Real-time: hot.
    pub fn inverse_piece(
        &self,
        i: usize,
        spectrum: &mut [f32],
        time: &mut [f32],
        scratch: &mut [f32],
    ) {
        if !self.fit(time, spectrum, scratch) || i >= self.pieces() {
            return;
        }
        match &self.way {
            Way::Mono(mono) => mono.inverse_piece(i, spectrum, time, scratch),
            Way::Batch(batch) => batch.inverse_piece(i, spectrum, time),
            Way::Peer(peer) => peer.inverse(spectrum, time, scratch),
        }
    }

    /// Whether an inverse transform can be done in place.
    pub fn has_in_place_inverse(&self) -> bool {
        matches!(self.way, Way::Mono(_))
    }

    /// Piece `i` of [`RealFft::inverse`] in place, where that can be done: a spectrum becomes values in time, with the same
    /// bits. All lengths are exact; with others, without such a piece, or where it cannot be done, nothing is done.
    ///
    /// Real-time: hot.
    pub fn inverse_piece_in_place(&self, i: usize, data: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(data, data, scratch) || i >= self.pieces() {
            return;
        }
        debug_assert!(self.has_in_place_inverse());
        if let Way::Mono(mono) = &self.way {
            mono.inverse_piece_in_place(i, data, scratch);
        }
    }

    /// Whether the lengths are the plan's; all that follows relies on it.
    fn fit(&self, time: &[f32], spectrum: &[f32], scratch: &[f32]) -> bool {
        debug_assert_eq!(time.len(), self.buffer_len(), "the length of the time values");
        debug_assert_eq!(spectrum.len(), self.buffer_len(), "the length of the spectrum");
        debug_assert_eq!(
            scratch.len(),
            self.scratch_len(),
            "the length of the scratch memory"
        );
        time.len() == self.buffer_len()
            && spectrum.len() == self.buffer_len()
            && scratch.len() == self.scratch_len()
    }
}

impl fmt::Debug for RealFft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RealFft")
            .field("bins", &self.bins)
            .field("packing", &self.packing)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedBuffer;

    #[test]
    fn all_pieces_in_order_are_the_whole() {
        for (bins, packing, backend) in [
            (64, Packing::Mono, Backend::Own),
            (1024, Packing::Mono, Backend::Own),
            (32768, Packing::Mono, Backend::Own),
            (64, Packing::Batch, Backend::Own),
            (64, Packing::Mono, Backend::RealFft),
        ] {
            let fft = RealFft::new(bins, packing, Kernels::best(), backend).unwrap();
            let mut time = AlignedBuffer::new(fft.buffer_len());
            for (i, x) in time.iter_mut().enumerate() {
                *x = (i * 7919 % 1000) as f32 / 500.0 - 1.0;
            }
            let mut scratch = AlignedBuffer::new(fft.scratch_len());
            let (mut whole, mut parts) = (AlignedBuffer::new(time.len()), AlignedBuffer::new(time.len()));
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
                packing == Packing::Mono && backend == Backend::Own && bins >= 256
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
