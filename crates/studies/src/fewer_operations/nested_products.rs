//! The kernel of nested convolution: the products of one period with a third of the partitions and with their pairwise
//! sums, combined with the results of the two periods before, in one pass over memory (`nested.rs` has the formula).

use fft::simd::{BLOCK, Complex, HALF, Kernel, Vector, form::BLOCKED};
use fft::{Kernels, Packing};

/// Factors of products that are added up: the spectrum of an input and of a filter each.
pub(super) type SpectrumPairs<'a> = &'a [(&'a [f32], &'a [f32])];

/// The one of three results that the other two are subtracted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Minuend {
    /// The result of this period.
    Current,
    /// The result of the period before.
    Previous,
    /// The result of the period before that.
    BeforePrevious,
}

/// Writes the sum of the `own` products to `result`. Writes to `sum` one of the three results less the other two, as
/// `minuend` says, plus the products of `pairs`. `before` are the results of the last two periods, the later one first.
/// All spectra have one length, a whole number of blocks; `packing` as for [`Kernels::multiply_add_blocks`].
///
/// Real-time: hot.
pub(super) fn nested_products(
    kernels: Kernels,
    (result, sum): (&mut [f32], &mut [f32]),
    (own, pairs): (SpectrumPairs<'_>, SpectrumPairs<'_>),
    before: [&[f32]; 2],
    minuend: Minuend,
    packing: Option<Packing>,
) {
    let len = result.len().min(sum.len());
    let len = before.iter().fold(len, |len, b| len.min(b.len()));
    let products = own.iter().chain(pairs);
    let len = products.fold(len, |len, (a, b)| len.min(a.len()).min(b.len()));
    debug_assert!(len == sum.len() && len.is_multiple_of(BLOCK), "one length");
    kernels.run(NestedProducts {
        blocks: len / BLOCK,
        result: result.as_mut_ptr(),
        sum: sum.as_mut_ptr(),
        own,
        pairs,
        before: before.map(<[f32]>::as_ptr),
        minuend,
        packing,
    });
}

/// All slices and pointers are valid for `blocks` blocks; `result` and `sum` are borrowed exclusively.
struct NestedProducts<'a> {
    blocks: usize,
    result: *mut f32,
    sum: *mut f32,
    own: SpectrumPairs<'a>,
    pairs: SpectrumPairs<'a>,
    before: [*const f32; 2],
    minuend: Minuend,
    packing: Option<Packing>,
}

impl Kernel for NestedProducts<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the pointers are valid for all blocks; the machine has `V`.
        unsafe {
            let mut block = 0;
            while block + 4 <= self.blocks {
                self.some::<V, 4>(block * BLOCK);
                block += 4;
            }
            while block < self.blocks {
                self.some::<V, 1>(block * BLOCK);
                block += 1;
            }
            match self.packing.filter(|_| self.blocks > 0) {
                Some(Packing::Batch) => {
                    for at in (0..BLOCK).step_by(V::LANES) {
                        let (result, sum) = self.real::<V>(at);
                        result.store(self.result.add(at));
                        sum.store(self.sum.add(at));
                    }
                }
                Some(Packing::Mono) => {
                    for at in [0, HALF] {
                        let (result, sum) = self.real::<V>(at);
                        self.result.add(at).write(result.first());
                        self.sum.add(at).write(sum.first());
                    }
                }
                None => {}
            }
        }
    }
}

impl NestedProducts<'_> {
    /// `N` blocks from `at` on.
    ///
    /// # Safety
    /// The machine has `V`; as many blocks begin at `at`.
    #[inline(always)]
    unsafe fn some<V: Vector, const N: usize>(&self, at: usize) {
        let mut lane = 0;
        while lane < HALF {
            // SAFETY: the caller's promise.
            unsafe {
                let load = |from: *const f32, n: usize| {
                    Complex::<V>::load::<BLOCKED>(from.add(at + n * BLOCK), lane)
                };
                let mut sums = [Complex::<V>::zero(); N];
                self.add::<V, N>(self.own, at, lane, &mut sums);
                for (n, sum) in sums.iter_mut().enumerate() {
                    sum.store::<BLOCKED>(self.result.add(at + n * BLOCK), lane);
                    let (one, two) = (load(self.before[0], n), load(self.before[1], n));
                    *sum = match self.minuend {
                        Minuend::Current => *sum - one - two,
                        Minuend::Previous => one - *sum - two,
                        Minuend::BeforePrevious => two - *sum - one,
                    };
                }
                self.add::<V, N>(self.pairs, at, lane, &mut sums);
                for (n, sum) in sums.iter().enumerate() {
                    sum.store::<BLOCKED>(self.sum.add(at + n * BLOCK), lane);
                }
            }
            lane += V::LANES;
        }
    }

    /// Adds products to the sums of `N` blocks.
    ///
    /// # Safety
    /// As for [`Self::some`]; there is such a lane.
    #[inline(always)]
    unsafe fn add<V: Vector, const N: usize>(
        &self,
        products: SpectrumPairs<'_>,
        at: usize,
        lane: usize,
        sums: &mut [Complex<V>; N],
    ) {
        for (a, b) in products {
            // SAFETY: the caller's promise.
            unsafe {
                let (a, b) = (a.as_ptr().add(at), b.as_ptr().add(at));
                for (n, sum) in sums.iter_mut().enumerate() {
                    let a = Complex::<V>::load::<BLOCKED>(a.add(n * BLOCK), lane);
                    let b = Complex::<V>::load::<BLOCKED>(b.add(n * BLOCK), lane);
                    *sum = sum.add_product(a, b);
                }
            }
        }
    }

    /// Result and sum of real numbers.
    ///
    /// # Safety
    /// The machine has `V`; `at` and a vector's lanes behind it are in the first block.
    #[inline(always)]
    unsafe fn real<V: Vector>(&self, at: usize) -> (V, V) {
        // SAFETY: the caller's promise.
        unsafe {
            let add = |products: SpectrumPairs<'_>, mut sum: V| {
                for (a, b) in products {
                    sum = V::load(a.as_ptr().add(at)).fma(V::load(b.as_ptr().add(at)), sum);
                }
                sum
            };
            let result = add(self.own, V::splat(0.0));
            let [one, two] = self.before.map(|before| V::load(before.add(at)));
            let rest = match self.minuend {
                Minuend::Current => result - one - two,
                Minuend::Previous => one - result - two,
                Minuend::BeforePrevious => two - result - one,
            };
            (result, add(self.pairs, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers, so that sums are exact.
    fn spectrum(seed: usize, len: usize) -> Vec<f32> {
        (0..len)
            .map(|i| ((i * 31 + seed * 17) % 13) as f32 - 6.0)
            .collect()
    }

    #[test]
    fn a_pass_equals_separate_products_sums_and_differences_on_all_kernels() {
        for kernels in Kernels::available() {
            for (blocks, own, pairs) in [(1, 1, 1), (2, 0, 2), (5, 3, 4), (32, 9, 10)] {
                for packing in [None, Some(Packing::Mono), Some(Packing::Batch)] {
                    for minuend in [Minuend::Current, Minuend::Previous, Minuend::BeforePrevious] {
                        check(kernels, blocks * BLOCK, (own, pairs), minuend, packing);
                    }
                }
            }
        }
    }

    fn check(
        kernels: Kernels,
        len: usize,
        (own, pairs): (usize, usize),
        minuend: Minuend,
        packing: Option<Packing>,
    ) {
        let all: Vec<_> = (0..2 * (own + pairs) + 2)
            .map(|i| spectrum(i, len))
            .collect();
        let product = |i: usize| (&all[2 * i][..], &all[2 * i + 1][..]);
        let first: Vec<_> = (0..own).map(product).collect();
        let second: Vec<_> = (own..own + pairs).map(product).collect();
        let before = [&all[2 * (own + pairs)][..], &all[2 * (own + pairs) + 1]];
        let (mut result, mut sum) = (vec![f32::NAN; len], vec![f32::NAN; len]);
        nested_products(
            kernels,
            (&mut result, &mut sum),
            (&first, &second),
            before,
            minuend,
            packing,
        );

        let mut slow = vec![0.0; len];
        kernels.multiply_add_blocks(&mut slow, &first, packing);
        assert_eq!(result, slow);
        let three = match minuend {
            Minuend::Current => [&slow[..], before[0], before[1]],
            Minuend::Previous => [before[0], &slow, before[1]],
            Minuend::BeforePrevious => [before[1], &slow, before[0]],
        };
        let mut whole: Vec<f32> = (0..len)
            .map(|i| three[0][i] - three[1][i] - three[2][i])
            .collect();
        kernels.multiply_add_blocks(&mut whole, &second, packing);
        assert_eq!(sum, whole, "{kernels:?} {minuend:?} {packing:?}");
    }
}
