//! [`ComposedFft`]: a transform that takes some of its bins from smaller transforms (Gardner, "Efficient Convolution without
//! Input-Output Delay", J. Audio Eng. Soc. 43(3), 1995, section 4).
//!
//! A delay line of size M has, every other period, the spectra of adjacent windows of 2M values. A delay line of size RM
//! needs the spectrum of 2RM values, which are R of those windows. Its bin Rk is the sum over all values of
//! x[n] exp(-2πi n k / 2M). These factors have period 2M, so bin Rk is the sum of bins k of the R spectra.
//!
//! ```text
//!  bins of RM       0  1  2  3  4  5  6  7  8  ...        R = 4
//!  from the sum     ×           ×           ×             bins k of four spectra of M, added
//!  row 0 (odd)         ×     ×     ×     ×                odd bins of RM
//!  row 1                  ×           ×                   twice the odd bins of RM/2 (sum of both halves of the values)
//! ```
//!
//! The rows are the odd bins of ever smaller spectra; [`odd_bins`] computes them.
//!
//! | R | values of the complex transforms | bins taken apart |
//! |---|---|---|
//! | directly | RM | RM |
//! | 2 | M | none |
//! | 4 | 2M + M | none |

mod odd_bins;

use crate::composed::odd_bins::{FOLD, MERGE, OddBins};
use crate::kernels::Kernels;
use crate::real_fft::{Packing, RealFft, SizeError};
use crate::simd::BLOCK;
use std::ops::Range;
use std::sync::Arc;

/// The greatest cost of a piece, roughly, in instructions.
const PIECE: u32 = 12_000;

/// The transform that gives the smaller spectra.
#[derive(Clone)]
pub enum SmallerFft {
    /// An ordinary transform.
    Direct(Arc<RealFft>),
    /// A composed transform, which takes from a still smaller one.
    Composed(Arc<ComposedFft>),
}

/// A transform whose every `ratio`-th bin is known from smaller spectra. Shared between threads.
///
/// All [pieces](Self::run_piece) are run in order, then all [final pieces](Self::run_final_piece), with the sums of the spectra of
/// the window's earlier and later half.
pub struct ComposedFft {
    bins: usize,
    ratio: usize,
    packing: Packing,
    kernels: Kernels,
    smaller: SmallerFft,
    /// The odd bins of all, of half, of a quarter of the bins.
    odds: Vec<OddBins>,
    pieces: Vec<(Piece, u32)>,
    last: Vec<(Piece, u32)>,
}

/// A piece of work; the number is the row of odd bins.
#[derive(Clone)]
enum Piece {
    Fold(usize, Range<usize>),
    Transform(usize, Range<usize>),
    Spread(usize, Range<usize>),
    /// Adds the given sums, in blocks.
    Fill(Range<usize>),
    Merge(usize, Range<usize>),
}

/// The parts of the scratch memory.
struct Scratch<'a> {
    /// Input of the complex transform, for one row after the other.
    z: &'a mut [f32],
    /// Its results: of all rows for one channel, of one row at a time for a batch.
    odds: &'a mut [f32],
    /// Sums of halves of the values, half as many in each row. For one channel later the spectra of as many bins.
    evens: &'a mut [f32],
    inner: &'a mut [f32],
}

impl SmallerFft {
    fn bins(&self) -> usize {
        match self {
            Self::Direct(fft) => fft.bins(),
            Self::Composed(larger) => larger.bins,
        }
    }

    fn packing(&self) -> Packing {
        match self {
            Self::Direct(fft) => fft.packing(),
            Self::Composed(larger) => larger.packing,
        }
    }

    fn scratch(&self) -> usize {
        match self {
            Self::Direct(fft) => fft.scratch_len(),
            // Its own, and two sums, one of which is being added from a spectrum.
            Self::Composed(larger) => larger.scratch_len() + larger.alone(),
        }
    }

    /// Computes the spectrum of `time` without given sums, with the same bits.
    fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        match self {
            Self::Direct(fft) => fft.forward(time, spectrum, scratch),
            Self::Composed(larger) => {
                let (own, alone) = scratch.split_at_mut(larger.scratch_len());
                larger.forward(time, spectrum, own, alone);
            }
        }
    }
}

impl ComposedFft {
    /// The fewest bins of the smaller transform.
    pub const fn min_bins(packing: Packing) -> usize {
        match packing {
            Packing::Mono => 256,
            Packing::Batch => 16,
        }
    }

    /// Prepares a transform of `ratio` times the bins of `smaller`, from its spectra.
    ///
    /// Real-time: setup.
    ///
    /// # Errors
    ///
    /// `ratio` is not 2, 4 or another power of two, or there are too few bins, or too many.
    pub fn new(smaller: SmallerFft, ratio: usize, kernels: Kernels) -> Result<Self, SizeError> {
        let (packing, below) = (smaller.packing(), smaller.bins());
        let bins = below.saturating_mul(ratio);
        if !ratio.is_power_of_two() || ratio < 2 {
            return Err(SizeError::NotPowerOfTwo(bins));
        }
        if below < Self::min_bins(packing) {
            return Err(SizeError::TooSmall(below));
        }
        if bins > RealFft::MAX_BINS {
            return Err(SizeError::TooLarge(bins));
        }
        let rows = 0..ratio.ilog2();
        let odds = rows.map(|row| OddBins::new(bins >> row, packing, kernels));
        let mut larger = Self {
            bins,
            ratio,
            packing,
            kernels,
            smaller,
            odds: odds.collect(),
            pieces: Vec::new(),
            last: Vec::new(),
        };
        larger.divide();
        Ok(larger)
    }

    /// Divides the work into pieces.
    fn divide(&mut self) {
        let (mut pieces, mut last) = (Vec::new(), Vec::new());
        for (row, odd) in self.odds.iter().enumerate() {
            let blocks = odd.blocks();
            add_ranges(0..blocks, FOLD, |part| Piece::Fold(row, part), &mut pieces);
            add_transforms(row, odd, &mut pieces);
            if self.packing == Packing::Batch {
                add_ranges(
                    0..blocks / 2,
                    MERGE,
                    |part| Piece::Spread(row, part),
                    &mut pieces,
                );
            }
        }
        let blocks = self.sum_len() / BLOCK;
        add_ranges(0..blocks, MERGE / 2, Piece::Fill, &mut last);
        if self.packing == Packing::Mono {
            for (row, odd) in self.odds.iter().enumerate().rev() {
                let blocks = odd.blocks() / 2;
                add_ranges(
                    0..blocks,
                    2 * MERGE,
                    |part| Piece::Merge(row, part),
                    &mut last,
                );
            }
        }
        (self.pieces, self.last) = (pieces, last);
    }

    /// Number of bins.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Number of bins divided by that of the smaller transform.
    pub fn ratio(&self) -> usize {
        self.ratio
    }

    /// Length of a spectrum, and of the values in time.
    pub fn buffer_len(&self) -> usize {
        2 * self.bins * self.packing.channels()
    }

    /// Length of each of the two sums of smaller spectra.
    pub fn sum_len(&self) -> usize {
        self.buffer_len() / self.ratio
    }

    /// Length of the scratch memory. Its contents before the first piece do not matter.
    pub fn scratch_len(&self) -> usize {
        let half = self.buffer_len() / 2;
        let inner = self.odds.iter().map(OddBins::scratch).max().unwrap_or(0);
        half + self.odds_len() + self.evens_len() + inner
    }

    fn odds_len(&self) -> usize {
        match self.packing {
            Packing::Batch => self.buffer_len() / 2,
            Packing::Mono => self.odds.iter().map(OddBins::floats).sum(),
        }
    }

    /// A batch does not add the last row's halves. For one channel the given sums take their place later.
    fn evens_len(&self) -> usize {
        let rows = match self.packing {
            Packing::Batch => self.odds.len() - 1,
            Packing::Mono => self.odds.len(),
        };
        self.odds[..rows].iter().map(OddBins::floats).sum()
    }

    /// Number of pieces that do not need the sums.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Cost of piece `i`, roughly its instructions with vectors of sixteen floats.
    pub fn piece_cost(&self, i: usize) -> u32 {
        self.pieces[i].1
    }

    /// Runs piece `i` of those that do not need the sums. All lengths are exact; with others, or without such a piece,
    /// nothing is done.
    ///
    /// Real-time: hot.
    pub fn run_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        let fit = time.len() == self.buffer_len() && self.fit(spectrum, scratch);
        if let Some((piece, _)) = self.pieces.get(i).filter(|_| fit) {
            self.run(piece, time, None, spectrum, scratch);
        }
    }

    /// Number of pieces that need the sums.
    pub fn final_pieces(&self) -> usize {
        self.last.len()
    }

    /// Cost of final piece `i`.
    pub fn final_piece_cost(&self, i: usize) -> u32 {
        self.last[i].1
    }

    /// Runs final piece `i`, from the sums of the smaller spectra of the window's earlier and later half.
    ///
    /// Real-time: hot.
    pub fn run_final_piece(
        &self,
        i: usize,
        (earlier, later): (&[f32], &[f32]),
        spectrum: &mut [f32],
        scratch: &mut [f32],
    ) {
        let given = self.sum_len();
        let fit = earlier.len() == given && later.len() == given && self.fit(spectrum, scratch);
        if let Some((piece, _)) = self.last.get(i).filter(|_| fit) {
            self.run(piece, &[], Some((earlier, later)), spectrum, scratch);
        }
    }

    fn fit(&self, spectrum: &[f32], scratch: &[f32]) -> bool {
        let fit = spectrum.len() == self.buffer_len() && scratch.len() == self.scratch_len();
        debug_assert!(fit, "the lengths are exact");
        fit
    }

    /// Length of the memory that [`Self::forward`] needs besides its scratch memory: two sums, and that of their addition.
    fn alone(&self) -> usize {
        2 * self.sum_len() + self.sum_scratch_len()
    }

    /// Length of the scratch memory of [`Self::sum_spectra`].
    pub fn sum_scratch_len(&self) -> usize {
        self.sum_len() + self.smaller.scratch()
    }

    /// Writes the sum of the smaller spectra of `half`, one half of the window, with the bits of a sum that is given. For
    /// the case that no sum has been given in time.
    ///
    /// Real-time: hot.
    pub fn sum_spectra(&self, half: &[f32], sum: &mut [f32], scratch: &mut [f32]) {
        let given = self.sum_len();
        let fit = 2 * half.len() == self.buffer_len() && sum.len() == given;
        debug_assert!(
            fit && scratch.len() == self.sum_scratch_len(),
            "the lengths are exact"
        );
        if !fit || scratch.len() != self.sum_scratch_len() {
            return;
        }
        let (spectrum, scratch) = scratch.split_at_mut(given);
        for (n, window) in half.chunks_exact(given).enumerate() {
            if n == 0 {
                self.smaller.forward(window, sum, scratch);
            } else {
                self.smaller.forward(window, spectrum, scratch);
                self.kernels.add_assign(sum, spectrum);
            }
        }
    }

    /// Writes the whole spectrum when no sums are given.
    fn forward(&self, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32], alone: &mut [f32]) {
        (0..self.pieces()).for_each(|i| self.run_piece(i, time, spectrum, scratch));
        let (earlier, alone) = alone.split_at_mut(self.sum_len());
        let (later, alone) = alone.split_at_mut(self.sum_len());
        let (first, second) = time.split_at(time.len() / 2);
        self.sum_spectra(first, earlier, alone);
        self.sum_spectra(second, later, alone);
        let sums = (&*earlier, &*later);
        (0..self.final_pieces()).for_each(|i| self.run_final_piece(i, sums, spectrum, scratch));
    }

    fn parts<'a>(&self, scratch: &'a mut [f32]) -> Scratch<'a> {
        let half = self.buffer_len() / 2;
        let (z, rest) = scratch.split_at_mut(half);
        let (odds, rest) = rest.split_at_mut(self.odds_len());
        let (evens, inner) = rest.split_at_mut(self.evens_len());
        Scratch {
            z,
            odds,
            evens,
            inner,
        }
    }

    fn run(
        &self,
        piece: &Piece,
        time: &[f32],
        sums: Option<(&[f32], &[f32])>,
        spectrum: &mut [f32],
        scratch: &mut [f32],
    ) {
        let parts = self.parts(scratch);
        match piece {
            Piece::Fold(row, part) => self.fold(*row, part.clone(), time, parts),
            Piece::Transform(row, pieces) => {
                let odd = &self.odds[*row];
                let to = &mut parts.odds[self.odds_at(*row)];
                let inner = &mut parts.inner[..odd.scratch()];
                for i in pieces.clone() {
                    odd.transform(i, &parts.z[..odd.floats()], to, inner);
                }
            }
            Piece::Spread(row, part) => {
                let odd = &parts.odds[self.odds_at(*row)];
                self.odds[*row].spread(part.clone(), odd, spectrum, 1 << row);
            }
            Piece::Fill(part) => {
                let Some(sums) = sums else { return };
                match self.packing {
                    Packing::Batch => self.fill(part.clone(), sums, spectrum, self.ratio),
                    Packing::Mono => {
                        let to = &mut parts.evens[self.evens_at(self.odds.len() - 1)];
                        self.fill(part.clone(), sums, to, 1);
                    }
                }
            }
            Piece::Merge(row, part) => self.merge(*row, part.clone(), parts, spectrum),
        }
    }

    /// Range of the odd bins of a row.
    fn odds_at(&self, row: usize) -> Range<usize> {
        let from = match self.packing {
            Packing::Batch => 0,
            Packing::Mono => self.odds[..row].iter().map(OddBins::floats).sum(),
        };
        from..from + self.odds[row].floats()
    }

    /// Range of the sums of a row's halves: one row after the other, each half as long.
    fn evens_at(&self, row: usize) -> Range<usize> {
        let from = self.odds[..row].iter().map(OddBins::floats).sum();
        from..from + self.odds[row].floats()
    }

    fn fold(&self, row: usize, part: Range<usize>, time: &[f32], parts: Scratch<'_>) {
        let odd = &self.odds[row];
        let z = &mut parts.z[..odd.floats()];
        let is_last = row + 1 == self.odds.len();
        let (before, own) = parts.evens.split_at_mut(self.evens_at(row).start);
        let even = (!is_last).then(|| &mut own[..odd.floats()]);
        match row.checked_sub(1) {
            None => odd.fold(part, time, z, even),
            Some(above) => odd.fold(part, &before[self.evens_at(above)], z, even),
        }
    }

    /// Adds both sums, block by block; the blocks of `to` are `step` blocks apart.
    fn fill(&self, part: Range<usize>, sums: (&[f32], &[f32]), to: &mut [f32], step: usize) {
        self.kernels.add_blocks(part, sums, to, step);
    }

    fn merge(&self, row: usize, part: Range<usize>, parts: Scratch<'_>, spectrum: &mut [f32]) {
        let odd = &parts.odds[self.odds_at(row)];
        let (above, own) = parts.evens.split_at_mut(self.evens_at(row).start);
        let even = &own[..self.odds[row].floats()];
        match row.checked_sub(1) {
            None => self.odds[row].merge(part, even, odd, spectrum),
            Some(to) => self.odds[row].merge(part, even, odd, &mut above[self.evens_at(to)]),
        }
    }
}

/// Divides `all`, where each element costs `each`, into pieces.
fn add_ranges(
    all: Range<usize>,
    each: u32,
    piece: impl Fn(Range<usize>) -> Piece,
    to: &mut Vec<(Piece, u32)>,
) {
    let at_once = ((PIECE / each).max(1) as usize).next_power_of_two() / 2;
    for from in all.clone().step_by(at_once) {
        let part = from..(from + at_once).min(all.end);
        let weight = part.len() as u32 * each;
        to.push((piece(part), weight));
    }
}

/// Adds the pieces of a row's complex transform; cheap ones are joined.
fn add_transforms(row: usize, odd: &OddBins, to: &mut Vec<(Piece, u32)>) {
    let (mut from, mut weight) = (0, 0);
    for i in 0..odd.pieces() {
        if weight > 0 && weight + odd.weight(i) > PIECE {
            to.push((Piece::Transform(row, from..i), weight));
            (from, weight) = (i, 0);
        }
        weight += odd.weight(i);
    }
    to.push((Piece::Transform(row, from..odd.pieces()), weight));
}
