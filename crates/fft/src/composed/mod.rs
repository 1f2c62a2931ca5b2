//! [`ComposedFft`]: a transform that takes the bins which smaller ones have already (Gardner).
//!
//! A delay line of size M has, every other period, the spectra of windows of 2M values that follow one another. One of
//! size RM needs that of a window of 2RM: R of those in a row. Its bin Rk is the sum over all values of
//! x[n] exp(-2πi n k / 2M), whose factors have come round after each window: so it is the sum of the R spectra's bins k.
//!
//! The other bins are the odd ones of ever smaller spectra: the odd ones of RM bins, twice those of RM/2 bins (of both
//! halves of the values, added), and so on. `odd.rs` makes them.
//!
//! | R | complex transforms of so many values | and taken apart |
//! |---|---|---|
//! | directly | RM | RM bins |
//! | 2 | M | none |
//! | 4 | 2M + M | none |

mod odd_bins;

use crate::composed::odd_bins::{FOLD, MERGE, Odd};
use crate::kernels::Kernels;
use crate::real_fft::{Packing, RealFft, SizeError};
use crate::simd::BLOCK;
use std::ops::Range;
use std::sync::Arc;

/// How heavy a piece is at most, roughly.
const PIECE: u32 = 12_000;

/// Whose spectra are taken.
#[derive(Clone)]
pub enum SmallerFft {
    /// A whole transform's.
    Direct(Arc<RealFft>),
    /// Those of one that takes from a still smaller one.
    Composed(Arc<ComposedFft>),
}

/// A transform of a window, every `ratio`-th bin of which is already known. Shared freely.
///
/// All [pieces](Self::piece) are run in order, then all [last pieces](Self::last_piece), with the sums of the spectra of
/// the window's earlier and later half.
pub struct ComposedFft {
    bins: usize,
    ratio: usize,
    packing: Packing,
    kernels: Kernels,
    smaller: SmallerFft,
    /// The odd bins of all, of half, of a quarter.
    odds: Vec<Odd>,
    pieces: Vec<(Piece, u32)>,
    last: Vec<(Piece, u32)>,
}

/// What a piece does; the first number says in which of the rows of odd bins.
#[derive(Clone)]
enum Piece {
    Fold(usize, Range<usize>),
    Transform(usize, Range<usize>),
    Spread(usize, Range<usize>),
    /// Adds up the given sums, in blocks.
    Fill(Range<usize>),
    Merge(usize, Range<usize>),
}

/// The parts of the scratch memory.
struct Rooms<'a> {
    /// What is transformed, for one row of odd bins after the other.
    z: &'a mut [f32],
    /// What has come of it: all rows' of one channel, else one row's at a time.
    odds: &'a mut [f32],
    /// Halves of the values added, half as many each time; of one channel later the spectra of so many bins.
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
            // Itself, and two sums, of which one is added up from a spectrum.
            Self::Composed(larger) => larger.scratch_len() + larger.alone(),
        }
    }

    /// The spectrum of `time`, with the bits of whoever does it by itself.
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
    /// The fewest bins that those taken from may have.
    pub const fn min_bins(packing: Packing) -> usize {
        match packing {
            Packing::Mono => 256,
            Packing::Batch => 16,
        }
    }

    /// A transform of `ratio` times the bins of `smaller`, from its spectra.
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
        let odds = rows.map(|row| Odd::new(bins >> row, packing, kernels));
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
        larger.cut();
        Ok(larger)
    }

    /// Lists all pieces.
    fn cut(&mut self) {
        let (mut pieces, mut last) = (Vec::new(), Vec::new());
        for (row, odd) in self.odds.iter().enumerate() {
            let blocks = odd.blocks();
            stretches(0..blocks, FOLD, |part| Piece::Fold(row, part), &mut pieces);
            transforms(row, odd, &mut pieces);
            if self.packing == Packing::Batch {
                stretches(
                    0..blocks / 2,
                    MERGE,
                    |part| Piece::Spread(row, part),
                    &mut pieces,
                );
            }
        }
        let blocks = self.sum_len() / BLOCK;
        stretches(0..blocks, MERGE / 2, Piece::Fill, &mut last);
        if self.packing == Packing::Mono {
            for (row, odd) in self.odds.iter().enumerate().rev() {
                let blocks = odd.blocks() / 2;
                stretches(
                    0..blocks,
                    2 * MERGE,
                    |part| Piece::Merge(row, part),
                    &mut last,
                );
            }
        }
        (self.pieces, self.last) = (pieces, last);
    }

    /// How many bins.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// How many times as many as those that are taken from have.
    pub fn ratio(&self) -> usize {
        self.ratio
    }

    /// The length of a spectrum, and of the values in time.
    pub fn buffer_len(&self) -> usize {
        2 * self.bins * self.packing.channels()
    }

    /// The length of each of the sums that are taken.
    pub fn sum_len(&self) -> usize {
        self.buffer_len() / self.ratio
    }

    /// The length of the scratch memory, which may hold anything before the first piece.
    pub fn scratch_len(&self) -> usize {
        let half = self.buffer_len() / 2;
        let inner = self.odds.iter().map(Odd::scratch).max().unwrap_or(0);
        half + self.odds_room() + self.evens_room() + inner
    }

    fn odds_room(&self) -> usize {
        match self.packing {
            Packing::Batch => self.buffer_len() / 2,
            Packing::Mono => self.odds.iter().map(Odd::floats).sum(),
        }
    }

    /// Of a batch the last row's halves are not added up; of one channel they give way to the sums that are taken.
    fn evens_room(&self) -> usize {
        let rows = match self.packing {
            Packing::Batch => self.odds.len() - 1,
            Packing::Mono => self.odds.len(),
        };
        self.odds[..rows].iter().map(Odd::floats).sum()
    }

    /// How many pieces there are before the sums are needed.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Roughly how many instructions piece `i` is, with vectors of sixteen floats.
    pub fn piece_cost(&self, i: usize) -> u32 {
        self.pieces[i].1
    }

    /// Piece `i` of all that the sums are not needed for. All lengths are exact; with others, or without such a piece,
    /// nothing is done.
    ///
    /// Real-time: hot.
    pub fn run_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        let fit = time.len() == self.buffer_len() && self.fit(spectrum, scratch);
        if let Some((piece, _)) = self.pieces.get(i).filter(|_| fit) {
            self.run(piece, time, None, spectrum, scratch);
        }
    }

    /// How many pieces there are once the sums are there.
    pub fn final_pieces(&self) -> usize {
        self.last.len()
    }

    /// Roughly how many instructions last piece `i` is.
    pub fn final_piece_cost(&self, i: usize) -> u32 {
        self.last[i].1
    }

    /// Last piece `i`, from the sums of the smaller spectra of the window's earlier and later half.
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

    /// The length of the memory that [`Self::sum`] needs, and twice as much as [`Self::forward`] does beside its own.
    fn alone(&self) -> usize {
        2 * self.sum_len() + self.sum_scratch_len()
    }

    /// The length of the scratch memory of [`Self::sum`].
    pub fn sum_scratch_len(&self) -> usize {
        self.sum_len() + self.smaller.scratch()
    }

    /// What a half of the window would be given as, made here: the smaller spectra of `half` added up, with the same
    /// bits. For when nobody gives it.
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

    /// The whole spectrum, when nobody has given anything.
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

    fn rooms<'a>(&self, scratch: &'a mut [f32]) -> Rooms<'a> {
        let half = self.buffer_len() / 2;
        let (z, rest) = scratch.split_at_mut(half);
        let (odds, rest) = rest.split_at_mut(self.odds_room());
        let (evens, inner) = rest.split_at_mut(self.evens_room());
        Rooms {
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
        let rooms = self.rooms(scratch);
        match piece {
            Piece::Fold(row, part) => self.fold(*row, part.clone(), time, rooms),
            Piece::Transform(row, pieces) => {
                let odd = &self.odds[*row];
                let to = &mut rooms.odds[self.odds_at(*row)];
                let inner = &mut rooms.inner[..odd.scratch()];
                for i in pieces.clone() {
                    odd.transform(i, &rooms.z[..odd.floats()], to, inner);
                }
            }
            Piece::Spread(row, part) => {
                let odd = &rooms.odds[self.odds_at(*row)];
                self.odds[*row].spread(part.clone(), odd, spectrum, 1 << row);
            }
            Piece::Fill(part) => {
                let Some(sums) = sums else { return };
                match self.packing {
                    Packing::Batch => self.fill(part.clone(), sums, spectrum, self.ratio),
                    Packing::Mono => {
                        let to = &mut rooms.evens[self.evens_at(self.odds.len() - 1)];
                        self.fill(part.clone(), sums, to, 1);
                    }
                }
            }
            Piece::Merge(row, part) => self.merge(*row, part.clone(), rooms, spectrum),
        }
    }

    /// Where the odd bins of a row are.
    fn odds_at(&self, row: usize) -> Range<usize> {
        let from = match self.packing {
            Packing::Batch => 0,
            Packing::Mono => self.odds[..row].iter().map(Odd::floats).sum(),
        };
        from..from + self.odds[row].floats()
    }

    /// Where a row's halves are added up; behind one another, each half as long.
    fn evens_at(&self, row: usize) -> Range<usize> {
        let from = self.odds[..row].iter().map(Odd::floats).sum();
        from..from + self.odds[row].floats()
    }

    fn fold(&self, row: usize, part: Range<usize>, time: &[f32], rooms: Rooms<'_>) {
        let odd = &self.odds[row];
        let z = &mut rooms.z[..odd.floats()];
        let is_last = row + 1 == self.odds.len();
        let (before, own) = rooms.evens.split_at_mut(self.evens_at(row).start);
        let even = (!is_last).then(|| &mut own[..odd.floats()]);
        match row.checked_sub(1) {
            None => odd.fold(part, time, z, even),
            Some(above) => odd.fold(part, &before[self.evens_at(above)], z, even),
        }
    }

    /// Adds up the sums, block by block; blocks of `to` stand `step` blocks apart.
    fn fill(&self, part: Range<usize>, sums: (&[f32], &[f32]), to: &mut [f32], step: usize) {
        self.kernels.add_blocks(part, sums, to, step);
    }

    fn merge(&self, row: usize, part: Range<usize>, rooms: Rooms<'_>, spectrum: &mut [f32]) {
        let odd = &rooms.odds[self.odds_at(row)];
        let (above, own) = rooms.evens.split_at_mut(self.evens_at(row).start);
        let even = &own[..self.odds[row].floats()];
        match row.checked_sub(1) {
            None => self.odds[row].merge(part, even, odd, spectrum),
            Some(to) => self.odds[row].merge(part, even, odd, &mut above[self.evens_at(to)]),
        }
    }
}

/// Stretches of `all`, where each one weighs `each`, as pieces.
fn stretches(
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

/// The pieces of a row's complex transform, light ones together.
fn transforms(row: usize, odd: &Odd, to: &mut Vec<(Piece, u32)>) {
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
