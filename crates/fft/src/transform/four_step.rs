//! [`FourStep`]: one large transform of one channel, in pieces that run one by one.
//!
//! The complex transform of `M` values is done as a table of `height` rows and `width` columns (Bailey, "FFTs in External
//! or Hierarchical Memory", J. Supercomputing 4(1), 1990):
//!
//! ```text
//!  values, M = height x width                        bins
//!  ┌──16──┬──16──┬─ ─┐   1 columns   ┌──────────┐   4 rows     ┌──16──┬─ ─┐
//!  │      │      │   │   2 factors   │ 16 rows  │              │      │   │
//!  │      │      │   ├──────────────▶├──────────┤─────────────▶│      │   │
//!  │      │      │   │   3 transpose │ 16 rows  │              │      │   │
//!  └──────┴──────┴─ ─┘               └──────────┘              └──────┴─ ─┘
//!    from (or time)     via `local`     scratch                    to
//! ```
//!
//! 1. Transform each column. Sixteen neighbouring columns are one [`LaneFft`], a lane for each.
//! 2. Multiply value (row, column) by exp(-2πi · row · column / M).
//! 3. Transpose tiles of sixteen by sixteen, so that rows take the place of columns.
//! 4. Transform each row, sixteen rows at a time. The results are in the order of the bins.
//!
//! Then [`Mirror`] takes the real spectrum out of the complex one. The inverse puts the complex spectrum together first,
//! and does the same four steps with real and imaginary parts exchanged at both ends.
//!
//! Large transforms have fine pieces: one step of a group of columns or rows. Small ones have coarse pieces: whole groups.

use crate::kernels::Kernels;
use crate::simd::form::{BLOCKED, PAIRS, SWAPPED, SWAPPED_PAIRS};
use crate::simd::{BLOCK, Complex, HALF, Kernel, Vector};
use crate::transform::butterflies::{BlockSource, BlockTarget};
use crate::transform::lanes::LaneFft;
use crate::transform::mirror::Mirror;
use crate::transform::twiddle::twiddle;
use std::ops::Range;

/// A real transform of one channel. The pieces of one direction are run in order with the same slices, whose contents
/// stay as they are in between.
pub(crate) struct FourStep {
    bins: usize,
    kernels: Kernels,
    columns: LaneFft,
    rows: LaneFft,
    height: usize,
    width: usize,
    /// Groups of sixteen columns in a coarse piece.
    groups: usize,
    /// For each row, a block: the factors of columns 0 .. 16.
    lane_factors: Vec<f32>,
    /// For each group of columns and each row, one factor: that of the group's first column.
    group_factors: Vec<f32>,
    mirror: Mirror,
    /// Pieces that take the spectrum apart.
    splits: usize,
    /// True if a piece is one step of a group, since a whole group would be long.
    is_fine: bool,
}

/// Instructions per block of steps 2 and 3.
const TRANSPOSE_COST: u32 = 30;
/// Instructions per pair of blocks that is taken apart.
const PAIR_COST: u32 = 34;
/// Instructions per block of time values that is read or written, beyond those of a block of a spectrum: its parts have
/// to be separated.
const TIME_COST: u32 = 4;

/// The number of columns and rows from which on pieces are fine.
const FINE_HEIGHT: usize = 128;
/// Fine pieces of steps 2 and 3 of a group of columns.
const TRANSPOSES: usize = 4;

/// A piece of work.
enum Piece {
    /// Steps 1 to 3 of some groups of columns.
    Columns(Range<usize>),
    /// Part of step 1 of a group of columns.
    ColumnStep(usize, usize),
    /// Steps 2 and 3 of some tiles of a group of columns.
    Transpose(usize, Range<usize>),
    /// Some parts of step 4 of a group of rows.
    Rows(usize, Range<usize>),
    /// Part of the passage between real and complex spectrum.
    Split(usize),
}

/// The memory that a complex transform reads and writes.
enum Ends<'a> {
    Apart(&'a [f32], &'a mut [f32]),
    /// The same: all columns have been read before the first row is written.
    InPlace(&'a mut [f32]),
}

impl Ends<'_> {
    fn input(&self) -> &[f32] {
        match self {
            Self::Apart(input, _) => input,
            Self::InPlace(data) => data,
        }
    }

    fn output(&mut self) -> &mut [f32] {
        match self {
            Self::Apart(_, output) => output,
            Self::InPlace(data) => data,
        }
    }
}

impl FourStep {
    /// The fewest bins.
    pub(crate) const MIN_BINS: usize = 256;

    /// Prepares a transform with `bins` bins, a power of two from [`FourStep::MIN_BINS`] on.
    ///
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        debug_assert!(bins.is_power_of_two() && bins >= Self::MIN_BINS);
        let height = 1 << (bins.ilog2() / 2);
        let width = bins / height;
        let mut lane_factors = vec![0.0; height * BLOCK];
        for (row, block) in lane_factors.chunks_exact_mut(BLOCK).enumerate() {
            for lane in 0..HALF {
                let (re, im) = twiddle(row * lane, bins);
                (block[lane], block[lane + HALF]) = (re as f32, im as f32);
            }
        }
        let group_factor = |i: usize| {
            let (re, im) = twiddle(i / height * HALF * (i % height), bins);
            [re as f32, im as f32]
        };
        Self {
            bins,
            kernels,
            columns: LaneFft::new(height, kernels),
            rows: LaneFft::new(width, kernels),
            height,
            width,
            groups: width / height,
            lane_factors,
            group_factors: (0..width / HALF * height).flat_map(group_factor).collect(),
            mirror: Mirror::new(bins, kernels),
            splits: match height {
                FINE_HEIGHT.. => 2 * height / HALF,
                _ => (height / HALF / 2).max(1),
            },
            is_fine: height >= FINE_HEIGHT,
        }
    }

    /// Length of a spectrum, and of the values in time.
    fn buffer_len(&self) -> usize {
        2 * self.bins
    }

    /// Length of the scratch memory: all rows, and the blocks of one group.
    pub(crate) fn scratch_len(&self) -> usize {
        2 * self.bins + self.width * BLOCK
    }

    /// Number of pieces of a transform in either direction.
    pub(crate) fn pieces(&self) -> usize {
        self.complex_pieces() + self.splits
    }

    /// Number of pieces of the complex transform alone.
    pub(crate) fn complex_pieces(&self) -> usize {
        self.column_pieces() + self.row_pieces()
    }

    fn column_pieces(&self) -> usize {
        match self.is_fine {
            true => self.width / HALF * (self.columns.steps() + TRANSPOSES),
            false => self.height / HALF,
        }
    }

    fn row_pieces(&self) -> usize {
        match self.is_fine {
            true => self.height / HALF * self.rows.steps(),
            false => self.height / HALF,
        }
    }

    /// Cost of piece `i`, roughly its instructions with vectors of sixteen floats.
    pub(crate) fn piece_cost(&self, i: usize, forward: bool) -> u32 {
        let columns = |step| {
            let in_time = if forward {
                self.columns.blocks_read(step)
            } else {
                0
            };
            self.columns.cost(step) + TIME_COST * in_time
        };
        let rows = |step| {
            let in_time = if forward {
                0
            } else {
                self.rows.blocks_written(step)
            };
            self.rows.cost(step) + TIME_COST * in_time
        };
        match self.piece(i, forward) {
            Piece::Columns(groups) => {
                let all: u32 = (0..self.columns.steps()).map(columns).sum();
                groups.len() as u32 * all + TRANSPOSE_COST * self.width as u32
            }
            Piece::ColumnStep(_, step) => columns(step),
            Piece::Transpose(..) => TRANSPOSE_COST * (self.height / TRANSPOSES) as u32,
            Piece::Rows(_, steps) => steps.map(rows).sum(),
            Piece::Split(_) => PAIR_COST * (self.mirror.pairs() / self.splits) as u32,
        }
    }

    /// Piece `i`: columns, rows, splits if forward; splits, columns, rows if not.
    fn piece(&self, i: usize, forward: bool) -> Piece {
        let columns = self.column_pieces();
        let (split, i) = match forward {
            true => (i.checked_sub(self.complex_pieces()), i),
            false => ((i < self.splits).then_some(i), i.wrapping_sub(self.splits)),
        };
        if let Some(i) = split {
            return Piece::Split(i);
        }
        match i.checked_sub(columns) {
            None if !self.is_fine => Piece::Columns(i * self.groups..(i + 1) * self.groups),
            None => {
                let steps = self.columns.steps();
                let (group, step) = (i / (steps + TRANSPOSES), i % (steps + TRANSPOSES));
                match step.checked_sub(steps) {
                    None => Piece::ColumnStep(group, step),
                    Some(part) => Piece::Transpose(group, self.tiles(part)),
                }
            }
            Some(i) if !self.is_fine => Piece::Rows(i, 0..self.rows.steps()),
            Some(i) => {
                let step = i % self.rows.steps();
                Piece::Rows(i / self.rows.steps(), step..step + 1)
            }
        }
    }

    /// Tiles of a group of columns that belong to part `part` of its transposition.
    fn tiles(&self, part: usize) -> Range<usize> {
        let tiles = self.height / HALF;
        part * tiles / TRANSPOSES..(part + 1) * tiles / TRANSPOSES
    }

    /// Piece `i` of the transform of `time`.
    ///
    /// Real-time: hot.
    pub(crate) fn forward_piece(
        &self,
        i: usize,
        time: &[f32],
        spectrum: &mut [f32],
        scratch: &mut [f32],
    ) {
        match self.piece(i, true) {
            Piece::Split(i) => self.split::<true>(i, spectrum),
            piece => self.complex::<PAIRS, BLOCKED>(piece, Ends::Apart(time, spectrum), scratch),
        }
    }

    /// Piece `i` of the inverse transform; the spectrum is destroyed.
    ///
    /// Real-time: hot.
    pub(crate) fn inverse_piece(
        &self,
        i: usize,
        spectrum: &mut [f32],
        time: &mut [f32],
        scratch: &mut [f32],
    ) {
        match self.piece(i, false) {
            Piece::Split(i) => self.split::<false>(i, spectrum),
            piece => {
                let ends = Ends::Apart(spectrum, time);
                self.complex::<SWAPPED, SWAPPED_PAIRS>(piece, ends, scratch);
            }
        }
    }

    /// Piece `i` of the inverse transform of `data` in place, with the bits of [`FourStep::inverse_piece`].
    ///
    /// Real-time: hot.
    pub(crate) fn inverse_piece_in_place(&self, i: usize, data: &mut [f32], scratch: &mut [f32]) {
        match self.piece(i, false) {
            Piece::Split(i) => self.split::<false>(i, data),
            piece => self.complex::<SWAPPED, SWAPPED_PAIRS>(piece, Ends::InPlace(data), scratch),
        }
    }

    /// Piece `i` of the complex transform of as many values as there are bins, in blocks.
    ///
    /// Real-time: hot.
    pub(crate) fn complex_piece(
        &self,
        i: usize,
        from: &[f32],
        to: &mut [f32],
        scratch: &mut [f32],
    ) {
        if i < self.complex_pieces() {
            let ends = Ends::Apart(from, to);
            self.complex::<BLOCKED, BLOCKED>(self.piece(i, true), ends, scratch);
        }
    }

    /// A piece of the complex transform, from blocks of form `IN` to blocks of form `OUT`.
    fn complex<const IN: u8, const OUT: u8>(
        &self,
        piece: Piece,
        mut ends: Ends<'_>,
        scratch: &mut [f32],
    ) {
        match piece {
            Piece::Columns(groups) => {
                for group in groups {
                    let steps = 0..self.columns.steps();
                    self.column_steps::<IN>(group, steps, ends.input(), scratch);
                    self.transpose(group, 0..self.height / HALF, scratch);
                }
            }
            Piece::ColumnStep(group, step) => {
                self.column_steps::<IN>(group, step..step + 1, ends.input(), scratch);
            }
            Piece::Transpose(group, tiles) => self.transpose(group, tiles, scratch),
            Piece::Rows(group, steps) => {
                self.row_steps::<OUT>(group, steps, scratch, ends.output());
            }
            Piece::Split(_) => {}
        }
    }

    /// Some steps of the transform of a group of columns, into the memory behind the rows.
    fn column_steps<const IN: u8>(
        &self,
        group: usize,
        steps: Range<usize>,
        from: &[f32],
        scratch: &mut [f32],
    ) {
        assert!(from.len() == self.buffer_len() && scratch.len() == self.scratch_len());
        let (_, local) = scratch.split_at_mut(2 * self.bins);
        let to = BlockTarget::new(local.as_mut_ptr(), BLOCK);
        let from = BlockSource::new(from[group * BLOCK..].as_ptr(), 2 * self.width);
        // SAFETY: row i of the group is block `group` of the `width / 16` blocks of row i of `from`, and `from` has
        // `height` of these rows; `local` has at least `height` blocks, and the two are different slices.
        unsafe {
            self.columns.run::<IN, BLOCKED>(steps, from, to.at, to);
        }
    }

    /// Multiplies some tiles of a group of columns by their factors and writes them as rows.
    fn transpose(&self, group: usize, tiles: Range<usize>, scratch: &mut [f32]) {
        assert!(scratch.len() == self.scratch_len());
        let (rows, local) = scratch.split_at_mut(2 * self.bins);
        self.kernels.run(TransposeTiles {
            plan: self,
            group,
            tiles,
            local: local.as_mut_ptr(),
            rows: rows.as_mut_ptr(),
        });
    }

    /// Some steps of the transform of a group of rows, into its places in `to`.
    fn row_steps<const OUT: u8>(
        &self,
        group: usize,
        steps: Range<usize>,
        scratch: &mut [f32],
        to: &mut [f32],
    ) {
        assert!(to.len() == self.buffer_len() && scratch.len() == self.scratch_len());
        let (rows, local) = scratch.split_at_mut(2 * self.bins);
        let from = BlockSource::new(rows[group * self.width * BLOCK..].as_ptr(), BLOCK);
        let to = BlockTarget::new(to[group * BLOCK..].as_mut_ptr(), 2 * self.height);
        // SAFETY: a group of rows has `width` blocks side by side; its results go to block `group` of each of
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
struct TransposeTiles<'a> {
    plan: &'a FourStep,
    group: usize,
    tiles: Range<usize>,
    local: *mut f32,
    rows: *mut f32,
}

impl Kernel for TransposeTiles<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let FourStep { height, width, .. } = *self.plan;
        let group_factors = &self.plan.group_factors[2 * self.group * height..][..2 * height];
        // SAFETY: `local` and `lane_factors` have `height` blocks; sixteen of them at a time become blocks
        // `tile * width + group * 16 ..` of `rows`, which has `height / 16 * width`; the machine has `V`.
        unsafe {
            for tile in self.tiles {
                for row in tile * HALF..(tile + 1) * HALF {
                    let block = self.local.add(row * BLOCK);
                    let group_factor = Complex::<V>::splat(group_factors.as_ptr().add(2 * row));
                    let mut lane = 0;
                    while lane < HALF {
                        let factors = self.plan.lane_factors.as_ptr().add(row * BLOCK);
                        let factor = Complex::<V>::load::<BLOCKED>(factors, lane).mul(group_factor);
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
