//! [`OddBins`]: the odd bins of a real spectrum, without the even ones.
//!
//! The even bins of 2N values are the bins of N values, the sum of both halves: x[n] + x[n + N]. The odd ones follow from
//! the difference d[n] = x[n] - x[n + N]. Bin 4k + 1 is the sum over n < N of d[n] exp(-2πi n (4k + 1) / 2N); the
//! values n and n + N/2 have factors that differ by -i, so it is bin k of the complex transform of
//!
//! z[n] = (d[n] - i d[n + N/2]) exp(-2πi n / 2N), n < N/2.
//!
//! Its upper half has bins 4k + 1 > N, which are the conjugates of bins 2N - (4k + 1). So bin 4k + 3 is the conjugate of
//! z's bin N/2 - 1 - k. One complex transform of N/2 values gives every odd bin once.
//!
//! ```text
//!  x, 2N values ─┬─ sum of halves ──────────▶ N values: even bins, by the next smaller transform
//!                └─ difference, factors ─ z ─ complex transform of N/2 ─▶ bins 1, 5, 9, ... and the conjugates of 3, 7, 11, ...
//! ```

use crate::kernels::Kernels;
use crate::real_fft::Packing;
use crate::simd::{BLOCK, Complex, HALF, Kernel, Vector, form::BLOCKED};
use crate::transform::butterflies::{BlockSource, BlockTarget};
use crate::transform::four_step::FourStep;
use crate::transform::lanes::LaneFft;
use crate::transform::twiddle::twiddle;
use std::ops::Range;

/// The complex transform.
enum Inner {
    Batch(LaneFft),
    Mono(Box<FourStep>),
}

/// The odd bins of a spectrum of `bins` bins.
pub(crate) struct OddBins {
    bins: usize,
    packing: Packing,
    kernels: Kernels,
    inner: Inner,
    /// Factors of z: two floats each for a batch, in blocks for one channel.
    table: Vec<f32>,
}

/// Instructions for sixteen values of z; and for sixteen odd bins with their even neighbours.
pub(crate) const FOLD: u32 = 22;
pub(crate) const MERGE: u32 = 20;

impl OddBins {
    /// Real-time: setup.
    pub(crate) fn new(bins: usize, packing: Packing, kernels: Kernels) -> Self {
        let half = bins / 2;
        let inner = match packing {
            Packing::Batch => Inner::Batch(LaneFft::new(half, kernels)),
            Packing::Mono => Inner::Mono(Box::new(FourStep::new(half, kernels))),
        };
        let factor = |n| {
            let (re, im) = twiddle(n, 2 * bins);
            (re as f32, im as f32)
        };
        let mut table = vec![0.0; 2 * half];
        for n in 0..half {
            let at = match packing {
                Packing::Batch => [2 * n, 2 * n + 1],
                Packing::Mono => {
                    let re = n / HALF * BLOCK + n % HALF;
                    [re, re + HALF]
                }
            };
            (table[at[0]], table[at[1]]) = factor(n);
        }
        Self {
            bins,
            packing,
            kernels,
            inner,
            table,
        }
    }

    /// Floats of z, and of half of the values.
    pub(crate) fn floats(&self) -> usize {
        self.bins * self.packing.channels()
    }

    /// Blocks of z.
    pub(crate) fn blocks(&self) -> usize {
        self.floats() / BLOCK
    }

    /// Length of the scratch memory of the complex transform.
    pub(crate) fn scratch(&self) -> usize {
        match &self.inner {
            Inner::Batch(_) => 0,
            Inner::Mono(inner) => inner.scratch_len(),
        }
    }

    /// Number of pieces of the complex transform.
    pub(crate) fn pieces(&self) -> usize {
        match &self.inner {
            Inner::Batch(inner) => inner.steps(),
            Inner::Mono(inner) => inner.complex_pieces(),
        }
    }

    /// Cost of a piece in instructions.
    pub(crate) fn weight(&self, i: usize) -> u32 {
        match &self.inner {
            Inner::Batch(inner) => inner.cost(i),
            Inner::Mono(inner) => inner.piece_cost(i, true),
        }
    }

    /// Writes blocks `part` of z from the values; and the same blocks of the sum of both halves of the values to `even`.
    ///
    /// Real-time: hot.
    pub(crate) fn fold(
        &self,
        part: Range<usize>,
        time: &[f32],
        z: &mut [f32],
        even: Option<&mut [f32]>,
    ) {
        let floats = self.floats();
        assert!(time.len() == 2 * floats && z.len() == floats && part.end <= self.blocks());
        assert!(even.as_ref().is_none_or(|even| even.len() == floats));
        self.kernels.run(Fold {
            plan: self,
            part,
            time: time.as_ptr(),
            z: z.as_mut_ptr(),
            even: even.map(|even| even.as_mut_ptr()),
        });
    }

    /// Runs piece `i` of the complex transform of `z`.
    ///
    /// Real-time: hot.
    pub(crate) fn transform(&self, i: usize, z: &[f32], to: &mut [f32], scratch: &mut [f32]) {
        assert!(z.len() == self.floats() && to.len() == self.floats() && i < self.pieces());
        match &self.inner {
            Inner::Batch(inner) => {
                let from = BlockSource::new(z.as_ptr(), BLOCK);
                let at = to.as_mut_ptr();
                let to = BlockTarget::new(at, BLOCK);
                // SAFETY: both slices have as many blocks as the plan, and are different ones.
                unsafe { inner.run::<BLOCKED, BLOCKED>(i..i + 1, from, at, to) };
            }
            Inner::Mono(inner) => inner.complex_piece(i, z, to, scratch),
        }
    }

    /// For a batch: writes blocks 4k + 1 and 4k + 3 of a spectrum, whose blocks are `step` blocks apart, for the blocks k
    /// of `part`, which is in the lower half.
    ///
    /// Real-time: hot.
    pub(crate) fn spread(&self, part: Range<usize>, odd: &[f32], to: &mut [f32], step: usize) {
        let blocks = self.blocks();
        assert!(self.packing == Packing::Batch && part.end <= blocks / 2);
        assert!(odd.len() == self.floats() && to.len() == 2 * step * self.floats());
        self.kernels.run(Spread {
            blocks,
            part,
            odd: odd.as_ptr(),
            to: to.as_mut_ptr(),
            step,
        });
    }

    /// For one channel: writes the spectrum `to` from the even bins and the results of the complex transform; four blocks
    /// for each block of `part`, which is in the lower half. The last bin is even: it is the imaginary part of the first.
    ///
    /// Real-time: hot.
    pub(crate) fn merge(&self, part: Range<usize>, even: &[f32], odd: &[f32], to: &mut [f32]) {
        let floats = self.floats();
        assert!(self.packing == Packing::Mono && part.end <= self.blocks() / 2);
        assert!(even.len() == floats && odd.len() == floats && to.len() == 2 * floats);
        self.kernels.run(Merge {
            blocks: self.blocks(),
            part,
            even: even.as_ptr(),
            odd: odd.as_ptr(),
            to: to.as_mut_ptr(),
        });
    }
}

/// Some blocks of z. `time` is valid for twice as many floats as z has, `z` and `even` for as many.
struct Fold<'a> {
    plan: &'a OddBins,
    part: Range<usize>,
    time: *const f32,
    z: *mut f32,
    even: Option<*mut f32>,
}

impl Kernel for Fold<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let floats = self.plan.floats();
        for block in self.part.clone() {
            let mut lane = 0;
            while lane < HALF {
                let at = block * HALF + lane;
                // SAFETY: `at` and a vector's lanes behind it are in the first quarter of the values, and of each half of
                // `even`; the table has a factor for each block of a batch, or a block for each; the machine has `V`.
                unsafe {
                    let quarter = |i: usize| V::load(self.time.add(at + i * (floats / 2)));
                    let (a, b, c, d) = (quarter(0), quarter(1), quarter(2), quarter(3));
                    if let Some(even) = self.even {
                        (a + c).store(even.add(at));
                        (b + d).store(even.add(at + floats / 2));
                    }
                    let factor = match self.plan.packing {
                        Packing::Batch => Complex::splat(self.plan.table.as_ptr().add(2 * block)),
                        Packing::Mono => {
                            let table = self.plan.table.as_ptr().add(block * BLOCK);
                            Complex::load::<BLOCKED>(table, lane)
                        }
                    };
                    let value = Complex::new(a - c, d - b);
                    value
                        .mul(factor)
                        .store::<BLOCKED>(self.z.add(block * BLOCK), lane);
                }
                lane += V::LANES;
            }
        }
    }
}

/// Some blocks of z's spectrum, of `blocks`, to blocks of a spectrum of four times as many times `step`.
struct Spread {
    blocks: usize,
    part: Range<usize>,
    odd: *const f32,
    to: *mut f32,
    step: usize,
}

impl Kernel for Spread {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for k in self.part.clone() {
            let mut lane = 0;
            while lane < HALF {
                // SAFETY: `k` is below half of `blocks`, so all blocks are valid; the machine has `V`.
                unsafe {
                    let low = Complex::<V>::load::<BLOCKED>(self.odd.add(k * BLOCK), lane);
                    let mirror = self.odd.add((self.blocks - 1 - k) * BLOCK);
                    let high = Complex::<V>::load::<BLOCKED>(mirror, lane).conjugate();
                    low.store::<BLOCKED>(self.to.add((4 * k + 1) * self.step * BLOCK), lane);
                    high.store::<BLOCKED>(self.to.add((4 * k + 3) * self.step * BLOCK), lane);
                }
                lane += V::LANES;
            }
        }
    }
}

/// Some blocks of z's spectrum and twice as many of even bins to four times as many of a spectrum.
struct Merge {
    blocks: usize,
    part: Range<usize>,
    even: *const f32,
    odd: *const f32,
    to: *mut f32,
}

impl Kernel for Merge {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for block in self.part.clone() {
            let mut lane = 0;
            while lane < HALF {
                // SAFETY: `block` is below half of `blocks`, `even` has as many as there are and `to` twice as many; a
                // vector's lanes divide a block; the machine has `V`.
                unsafe {
                    let low = Complex::<V>::load::<BLOCKED>(self.odd.add(block * BLOCK), lane);
                    let mirror = self.odd.add((self.blocks - 1 - block) * BLOCK);
                    let high = Complex::<V>::load::<BLOCKED>(mirror, HALF - lane - V::LANES);
                    let odds = zip(low, high.reverse().conjugate());
                    for (i, odd) in odds.into_iter().enumerate() {
                        let at = block * BLOCK + 2 * lane + i * V::LANES;
                        let even = Complex::<V>::load::<BLOCKED>(
                            self.even.add(at / HALF * BLOCK),
                            at % HALF,
                        );
                        for (j, bins) in zip(even, odd).into_iter().enumerate() {
                            let at = 2 * at + j * V::LANES;
                            bins.store::<BLOCKED>(self.to.add(at / HALF * BLOCK), at % HALF);
                        }
                    }
                }
                lane += V::LANES;
            }
        }
    }
}

/// The numbers of both, alternating.
#[inline(always)]
fn zip<V: Vector>(first: Complex<V>, second: Complex<V>) -> [Complex<V>; 2] {
    let (re, im) = (first.re.zip(second.re), first.im.zip(second.im));
    [(re.0, im.0), (re.1, im.1)].map(|(re, im)| Complex::new(re, im))
}
