//! [`FourStep`]: one large transform of one channel, cut into pieces that can be run one by one.
//!
//! The values are a table of `height` rows and `width` columns. (1) Each column is transformed, sixteen neighbouring
//! columns at a time, which is what the vertical transform does; (2) what comes out is turned by the factors that belong
//! between columns and rows; (3) blocks of sixteen by sixteen change from columns to rows; (4) each row is transformed,
//! sixteen at a time, and comes out in the order of the bins. Then the real spectrum is taken out of the complex one.
//! The way back is the same in the opposite order of the ends, with real and imaginary parts exchanged.

use crate::transform::butterflies::{From, To};
use crate::simd::form::{BLOCKED, PAIRS, SWAPPED, SWAPPED_PAIRS};
use crate::simd::{BLOCK, Complex};
use crate::kernels::Kernels;
use crate::simd::Kernel;
use crate::transform::mirror::Mirror;
use crate::real_fft::{RealFft, SizeError};
use crate::transform::twiddle::turn;
use crate::simd::{HALF, Vector};
use crate::transform::lanes::Vertical;
use std::ops::Range;

/// A real transform of one channel in pieces; the bits are those of [`RealFft`] with [`crate::Packing::Mono`] and
/// [`crate::Backend::Own`], which runs all pieces at once.
///
/// The pieces of one direction are run in order, 0 .. [`FourStep::pieces`], with the same slices, whose contents must
/// stay as they are in between.
pub(crate) struct FourStep {
    bins: usize,
    kernels: Kernels,
    columns: Vertical,
    rows: Vertical,
    height: usize,
    width: usize,
    /// How many groups of sixteen columns a piece has.
    groups: usize,
    /// For each row, a block: the factors of columns 0 .. 16.
    lanes: Vec<f32>,
    /// For each group of columns and each row, one factor: that of the group's first column.
    firsts: Vec<f32>,
    mirror: Mirror,
    /// How many pieces take the spectrum apart.
    splits: usize,
    /// Whether a piece is one step of the transform of a group of columns or rows, since a whole one would be long.
    is_fine: bool,
}

/// What a block weighs in the steps from columns to rows.
const ACROSS: u32 = 30;
/// What a pair of blocks weighs when it is taken apart.
const PAIR: u32 = 34;
/// What a block weighs that is read from values in time, or written to them: there parts are side by side.
const IN_TIME: u32 = 4;

/// From so many columns and rows on, pieces are fine.
const TALL: usize = 128;
/// How many fine pieces take a group of columns to the rows.
const CROSSINGS: usize = 4;

/// What a piece does.
enum Piece {
    Columns(usize),
    /// A step of a group of columns.
    ColumnStep(usize, usize),
    /// A part of the way of a group of columns to the rows.
    Crossing(usize, usize),
    Rows(usize),
    /// A step of a group of rows.
    RowStep(usize, usize),
    Split(usize),
}

impl FourStep {
    /// The fewest bins.
    pub(crate) const SMALLEST: usize = 256;

    /// Prepares a transform with `bins` bins, a power of two.
    ///
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Result<Self, SizeError> {
        if !bins.is_power_of_two() {
            return Err(SizeError::NotPowerOfTwo(bins));
        }
        if bins < Self::SMALLEST {
            return Err(SizeError::TooSmall(bins));
        }
        if bins > RealFft::MAX_BINS {
            return Err(SizeError::TooLarge(bins));
        }
        let height = 1 << (bins.ilog2() / 2);
        let width = bins / height;
        let mut lanes = vec![0.0; height * BLOCK];
        for (row, block) in lanes.chunks_exact_mut(BLOCK).enumerate() {
            for lane in 0..HALF {
                let (re, im) = turn(row * lane, bins);
                (block[lane], block[lane + HALF]) = (re as f32, im as f32);
            }
        }
        let first = |i: usize| {
            let (re, im) = turn(i / height * HALF * (i % height), bins);
            [re as f32, im as f32]
        };
        Ok(Self {
            bins,
            kernels,
            columns: Vertical::new(height, kernels),
            rows: Vertical::new(width, kernels),
            height,
            width,
            groups: width / height,
            lanes,
            firsts: (0..width / HALF * height).flat_map(first).collect(),
            mirror: Mirror::new(bins, kernels),
            splits: match height {
                TALL.. => 2 * height / HALF,
                _ => (height / HALF / 2).max(1),
            },
            is_fine: height >= TALL,
        })
    }

    /// The length of a spectrum, and of the values in time.
    pub(crate) fn floats(&self) -> usize {
        2 * self.bins
    }

    /// The length of the scratch memory.
    pub(crate) fn scratch(&self) -> usize {
        2 * self.bins + self.width * BLOCK
    }

    /// How many pieces a transform has, forward or back.
    pub(crate) fn pieces(&self) -> usize {
        self.column_pieces() + self.row_pieces() + self.splits
    }

    fn column_pieces(&self) -> usize {
        match self.is_fine {
            true => self.width / HALF * (self.columns.steps() + CROSSINGS),
            false => self.height / HALF,
        }
    }

    fn row_pieces(&self) -> usize {
        match self.is_fine {
            true => self.height / HALF * self.rows.steps(),
            false => self.height / HALF,
        }
    }

    /// Roughly how many instructions piece `i` of a forward transform is, or of an inverse one, with a vector as wide as
    /// half a block.
    pub(crate) fn weight(&self, i: usize, forward: bool) -> u32 {
        let columns = |step| {
            let in_time = if forward { self.columns.read(step) } else { 0 };
            self.columns.weight(step) + IN_TIME * in_time
        };
        let rows = |step| {
            let in_time = if forward { 0 } else { self.rows.written(step) };
            self.rows.weight(step) + IN_TIME * in_time
        };
        match self.piece(i, forward) {
            Piece::Columns(_) => {
                let all: u32 = (0..self.columns.steps()).map(columns).sum();
                self.groups as u32 * all + ACROSS * self.width as u32
            }
            Piece::ColumnStep(_, step) => columns(step),
            Piece::Crossing(..) => ACROSS * (self.height / CROSSINGS) as u32,
            Piece::Rows(_) => (0..self.rows.steps()).map(rows).sum(),
            Piece::RowStep(_, step) => rows(step),
            Piece::Split(_) => PAIR * (self.mirror.pairs() / self.splits) as u32,
        }
    }

    fn piece(&self, i: usize, forward: bool) -> Piece {
        let (columns, rows) = (self.column_pieces(), self.row_pieces());
        let (split, i) = match forward {
            true => (i.checked_sub(columns + rows), i),
            false => ((i < self.splits).then_some(i), i.wrapping_sub(self.splits)),
        };
        if let Some(i) = split {
            return Piece::Split(i);
        }
        match i.checked_sub(columns) {
            None if !self.is_fine => Piece::Columns(i),
            None => {
                let steps = self.columns.steps();
                let (group, step) = (i / (steps + CROSSINGS), i % (steps + CROSSINGS));
                match step.checked_sub(steps) {
                    None => Piece::ColumnStep(group, step),
                    Some(part) => Piece::Crossing(group, part),
                }
            }
            Some(i) if !self.is_fine => Piece::Rows(i),
            Some(i) => Piece::RowStep(i / self.rows.steps(), i % self.rows.steps()),
        }
    }

    /// Piece `i` of the transform of `time`. All lengths are exact; with others, or without such a piece, nothing is
    /// done.
    ///
    /// Real-time: hot.
    pub(crate) fn forward_piece(&self, i: usize, time: &[f32], spectrum: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(i, time, spectrum, scratch) {
            return;
        }
        match self.piece(i, true) {
            Piece::Columns(i) => self.columns::<PAIRS>(i, time, scratch),
            Piece::ColumnStep(group, step) => {
                self.column_steps::<PAIRS>(group, step..step + 1, time, scratch);
            }
            Piece::Crossing(group, part) => self.cross(group, self.tiles(part), scratch),
            Piece::Rows(i) => self.rows::<BLOCKED>(i, 0..self.rows.steps(), scratch, spectrum),
            Piece::RowStep(i, step) => self.rows::<BLOCKED>(i, step..step + 1, scratch, spectrum),
            Piece::Split(i) => self.split::<true>(i, spectrum),
        }
    }

    /// Piece `i` of the way back; the spectrum is destroyed. All lengths are exact; with others, or without such a
    /// piece, nothing is done.
    ///
    /// Real-time: hot.
    pub(crate) fn inverse_piece(
        &self,
        i: usize,
        spectrum: &mut [f32],
        time: &mut [f32],
        scratch: &mut [f32],
    ) {
        if !self.fit(i, time, spectrum, scratch) {
            return;
        }
        match self.piece(i, false) {
            Piece::Columns(i) => self.columns::<SWAPPED>(i, spectrum, scratch),
            Piece::ColumnStep(group, step) => {
                self.column_steps::<SWAPPED>(group, step..step + 1, spectrum, scratch);
            }
            Piece::Crossing(group, part) => self.cross(group, self.tiles(part), scratch),
            Piece::Rows(i) => self.rows::<SWAPPED_PAIRS>(i, 0..self.rows.steps(), scratch, time),
            Piece::RowStep(i, step) => self.rows::<SWAPPED_PAIRS>(i, step..step + 1, scratch, time),
            Piece::Split(i) => self.split::<false>(i, spectrum),
        }
    }

    /// Piece `i` of the way back of `data`, a spectrum before the first piece and values in time after the last; with the
    /// bits of [`FourStep::inverse_piece`]. All lengths are exact; with others, or without such a piece, nothing is done.
    ///
    /// Real-time: hot.
    pub(crate) fn inverse_piece_in_place(&self, i: usize, data: &mut [f32], scratch: &mut [f32]) {
        if !self.fit(i, data, data, scratch) {
            return;
        }
        // Before the first rows all columns have left for the scratch memory.
        match self.piece(i, false) {
            Piece::Columns(i) => self.columns::<SWAPPED>(i, data, scratch),
            Piece::ColumnStep(group, step) => {
                self.column_steps::<SWAPPED>(group, step..step + 1, data, scratch);
            }
            Piece::Crossing(group, part) => self.cross(group, self.tiles(part), scratch),
            Piece::Rows(i) => self.rows::<SWAPPED_PAIRS>(i, 0..self.rows.steps(), scratch, data),
            Piece::RowStep(i, step) => self.rows::<SWAPPED_PAIRS>(i, step..step + 1, scratch, data),
            Piece::Split(i) => self.split::<false>(i, data),
        }
    }

    /// How many pieces the complex transform has.
    pub(crate) fn complex_pieces(&self) -> usize {
        self.column_pieces() + self.row_pieces()
    }

    /// Piece `i` of the complex transform of as many values as there are bins, in blocks, as a forward one begins with.
    ///
    /// Real-time: hot.
    pub(crate) fn complex_piece(
        &self,
        i: usize,
        from: &[f32],
        to: &mut [f32],
        scratch: &mut [f32],
    ) {
        if !self.fit(i, from, to, scratch) || i >= self.complex_pieces() {
            return;
        }
        match self.piece(i, true) {
            Piece::Columns(i) => self.columns::<BLOCKED>(i, from, scratch),
            Piece::ColumnStep(group, step) => {
                self.column_steps::<BLOCKED>(group, step..step + 1, from, scratch);
            }
            Piece::Crossing(group, part) => self.cross(group, self.tiles(part), scratch),
            Piece::Rows(i) => self.rows::<BLOCKED>(i, 0..self.rows.steps(), scratch, to),
            Piece::RowStep(i, step) => self.rows::<BLOCKED>(i, step..step + 1, scratch, to),
            Piece::Split(_) => {}
        }
    }

    fn fit(&self, i: usize, time: &[f32], spectrum: &[f32], scratch: &[f32]) -> bool {
        let fit = time.len() == self.floats()
            && spectrum.len() == self.floats()
            && scratch.len() == self.scratch()
            && i < self.pieces();
        debug_assert!(fit, "the lengths are exact, and there is such a piece");
        fit
    }

    /// Transforms some groups of columns into the rows' memory.
    fn columns<const IN: u8>(&self, piece: usize, from: &[f32], scratch: &mut [f32]) {
        for group in piece * self.groups..(piece + 1) * self.groups {
            self.column_steps::<IN>(group, 0..self.columns.steps(), from, scratch);
            self.cross(group, 0..self.height / HALF, scratch);
        }
    }

    /// Some steps of a group of columns, which stay beside the rows.
    fn column_steps<const IN: u8>(
        &self,
        group: usize,
        steps: Range<usize>,
        from: &[f32],
        scratch: &mut [f32],
    ) {
        let (_, local) = scratch.split_at_mut(2 * self.bins);
        let to = To {
            at: local.as_mut_ptr(),
            step: BLOCK,
        };
        let from = From {
            at: from[group * BLOCK..].as_ptr(),
            step: 2 * self.width,
        };
        // SAFETY: row i of the group is block `group` of the `width / 16` blocks of row i of `from`, and `from` has
        // `height` of these rows; `local` has at least `height` blocks, and the three are different slices.
        unsafe {
            self.columns.run::<IN, BLOCKED>(steps, from, to.at, to);
        }
    }

    /// Which tiles of a group of columns a part of its way to the rows has.
    fn tiles(&self, part: usize) -> Range<usize> {
        let tiles = self.height / HALF;
        part * tiles / CROSSINGS..(part + 1) * tiles / CROSSINGS
    }

    /// Takes some tiles of a group of columns to the rows.
    fn cross(&self, group: usize, tiles: Range<usize>, scratch: &mut [f32]) {
        let (rows, local) = scratch.split_at_mut(2 * self.bins);
        self.kernels.run(Across {
            plan: self,
            group,
            tiles,
            local: local.as_mut_ptr(),
            rows: rows.as_mut_ptr(),
        });
    }

    /// Transforms a group of rows into its places in `to`.
    fn rows<const OUT: u8>(
        &self,
        group: usize,
        steps: Range<usize>,
        scratch: &mut [f32],
        to: &mut [f32],
    ) {
        let (rows, local) = scratch.split_at_mut(2 * self.bins);
        let from = From {
            at: rows[group * self.width * BLOCK..].as_ptr(),
            step: BLOCK,
        };
        let to = To {
            at: to[group * BLOCK..].as_mut_ptr(),
            step: 2 * self.height,
        };
        // SAFETY: a group of rows has `width` blocks side by side; what comes out goes to block `group` of each of
        // `width` rows of `height / 16` blocks; `local` has `width` blocks, and the three are different slices.
        unsafe {
            self.rows
                .run::<BLOCKED, OUT>(steps, from, local.as_mut_ptr(), to)
        };
    }

    fn split<const FORWARD: bool>(&self, i: usize, spectrum: &mut [f32]) {
        let each = self.mirror.pairs() / self.splits;
        self.mirror.run::<FORWARD>(spectrum, i * each, each);
    }
}

/// Steps 2 and 3 for some tiles of a group of columns: from `local` (`height` blocks) to `rows` (all blocks).
struct Across<'a> {
    plan: &'a FourStep,
    group: usize,
    tiles: Range<usize>,
    local: *mut f32,
    rows: *mut f32,
}

impl Kernel for Across<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let FourStep { height, width, .. } = *self.plan;
        let firsts = &self.plan.firsts[2 * self.group * height..][..2 * height];
        // SAFETY: `local` and `lanes` have `height` blocks; sixteen of them at a time become blocks
        // `tile * width + group * 16 ..` of `rows`, which has `height / 16 * width`; the machine has `V`.
        unsafe {
            for tile in self.tiles {
                for row in tile * HALF..(tile + 1) * HALF {
                    let block = self.local.add(row * BLOCK);
                    let first = Complex::<V>::splat(firsts.as_ptr().add(2 * row));
                    let mut lane = 0;
                    while lane < HALF {
                        let lanes = self.plan.lanes.as_ptr().add(row * BLOCK);
                        let factor = Complex::<V>::load::<BLOCKED>(lanes, lane).mul(first);
                        let value = Complex::<V>::load::<BLOCKED>(block, lane).mul(factor);
                        value.store::<BLOCKED>(block, lane);
                        lane += V::LANES;
                    }
                }
                let from = self.local.add(tile * HALF * BLOCK);
                let to = self.rows.add((tile * width + self.group * HALF) * BLOCK);
                V::transpose(from, BLOCK, to, BLOCK);
                V::transpose(from.add(HALF), BLOCK, to.add(HALF), BLOCK);
            }
        }
    }
}
