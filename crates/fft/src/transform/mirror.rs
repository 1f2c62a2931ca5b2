//! The real spectrum of one channel from the complex one, and back: [`split`](super::split) sixteen bins at a time.
//!
//! The mirror image of block `b` (bins 16b ..) is block `B - 1 - b` read backwards, but one lane off: lane i meets
//! lane 16 - i, and lane 0 meets lane 0 of the block after it.
//!
//! ```text
//!  block b             16b      16b + 1  ...     16b + 15
//!  meets bin         M - 16b  M - 16b - 1 ...  M - 16b - 15
//!  which is in     block B - b └── block B - 1 - b, lanes 15 .. 1 ──┘
//!                    lane 0
//! ```

use crate::kernels::Kernels;
use crate::simd::{BLOCK, Complex, HALF, Kernel, Vector, form::BLOCKED};
use crate::transform::split::split_factor;

/// Tables for spectra of one size.
pub(crate) struct Mirror {
    /// Blocks of a spectrum: at least two.
    blocks: usize,
    kernels: Kernels,
    /// For the first half of the bins, in blocks: `-i · exp(-πi · k / M) / 2`.
    table: Vec<f32>,
}

impl Mirror {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, kernels: Kernels) -> Self {
        let mut table = vec![0.0; bins];
        for bin in 0..bins / 2 {
            let at = bin / HALF * BLOCK + bin % HALF;
            [table[at], table[at + HALF]] = split_factor(bin, bins);
        }
        Self {
            blocks: bins / HALF,
            kernels,
            table,
        }
    }

    /// Number of pairs of blocks.
    pub(crate) fn pairs(&self) -> usize {
        self.blocks / 2
    }

    /// Converts pairs `first .. first + count` of the complex spectrum to those of the real one, or back. Each pair is
    /// done once, in any order.
    ///
    /// Real-time: hot.
    pub(crate) fn run<const FORWARD: bool>(
        &self,
        spectrum: &mut [f32],
        first: usize,
        count: usize,
    ) {
        assert!(spectrum.len() == self.blocks * BLOCK && first + count <= self.pairs());
        self.kernels.run(ConvertPairs::<FORWARD> {
            plan: self,
            at: spectrum.as_mut_ptr(),
            first,
            count,
        });
    }
}

/// Some pairs; `at` is valid for all blocks.
struct ConvertPairs<'a, const FORWARD: bool> {
    plan: &'a Mirror,
    at: *mut f32,
    first: usize,
    count: usize,
}

impl<const FORWARD: bool> Kernel for ConvertPairs<'_, FORWARD> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let blocks = self.plan.blocks;
        let end = self.first + self.count;
        // SAFETY: pair `b` is blocks `b` and `blocks - 1 - b`, both valid and different; the block after the second is
        // valid too where `b` is not 0. The table has as many blocks as there are pairs. The machine has `V`.
        unsafe {
            if self.first == 0 && end > 0 {
                let ends = Complex::<V>::load::<BLOCKED>(self.at, 0).ends();
                self.pair::<V>(0, (0.0, 0.0));
                store_first(self.at, ends);
            }
            for b in self.first.max(1)..end {
                let after = self.at.add((blocks - b) * BLOCK);
                let first = self.pair::<V>(b, (after.read(), after.add(HALF).read()));
                store_first(after, first);
            }
            if end == blocks / 2 {
                let middle = self.at.add(blocks / 2 * BLOCK);
                let value = Complex::<V>::load::<BLOCKED>(middle, 0);
                store_first(middle, value.middle::<FORWARD>());
            }
        }
    }
}

/// Writes lane 0 of `value` to lane 0 of a block.
///
/// # Safety
/// The block is valid to write.
#[inline(always)]
unsafe fn store_first<V: Vector>(block: *mut f32, value: Complex<V>) {
    // SAFETY: the caller's promise.
    unsafe {
        block.write(value.re.first());
        block.add(HALF).write(value.im.first());
    }
}

impl<const FORWARD: bool> ConvertPairs<'_, FORWARD> {
    /// Converts a pair, where `after` is lane 0 of the block after the second one. Lane 0 of the second block is not
    /// touched; lane 0 of the result belongs into lane 0 of the block after it.
    ///
    /// # Safety
    /// The machine has `V`; both blocks are valid.
    #[inline(always)]
    unsafe fn pair<V: Vector>(&self, b: usize, after: (f32, f32)) -> Complex<V> {
        // SAFETY: lanes 0 .. 16 of both blocks and of block `b` of the table. Lanes `lane ..` of the first block meet
        // those of the second that end with `16 - lane`; of these, the first group takes lane 16 from `after`, and leaves
        // the lane before its own to the next group.
        unsafe {
            let (half, two) = (V::splat(0.5), V::splat(2.0));
            let low = self.at.add(b * BLOCK);
            let high = self.at.add((self.plan.blocks - 1 - b) * BLOCK);
            let table = self.plan.table.as_ptr().add(b * BLOCK);
            let work = |a: Complex<V>, m: Complex<V>, factor| match FORWARD {
                true => a.apart(m, factor, half),
                false => a.together(m, factor, two),
            };

            let kept = Complex::<V>::load::<BLOCKED>(high, HALF - V::LANES);
            let after = Complex::new(V::splat(after.0), V::splat(after.1));
            let a = Complex::load::<BLOCKED>(low, 0);
            let factor = Complex::load::<BLOCKED>(table, 0);
            let (a, first) = work(a, kept.reverse().slide(after), factor);
            a.store::<BLOCKED>(low, 0);
            first
                .reverse()
                .slide(kept)
                .store::<BLOCKED>(high, HALF - V::LANES);

            let mut lane = V::LANES;
            while lane < HALF {
                let at = HALF - lane - V::LANES + 1;
                let a = Complex::load::<BLOCKED>(low, lane);
                let m = Complex::load::<BLOCKED>(high, at).reverse();
                let factor = Complex::load::<BLOCKED>(table, lane);
                let (a, m) = work(a, m, factor);
                a.store::<BLOCKED>(low, lane);
                m.reverse().store::<BLOCKED>(high, at);
                lane += V::LANES;
            }
            first
        }
    }
}
