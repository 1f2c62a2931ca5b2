//! Nested convolution of spectra, three periods at a time.
//!
//! For each bin a delay line is a running convolution of the last inputs x with the partitions h. Every third input makes
//! a sequence, X0, X1, X2, and so does every third partition, H0, H1, H2. The product of three by three sequences takes
//! nine convolutions, or six with sums of two sequences (Hurchalla, "Low latency convolution in one dimension via two
//! dimensional convolutions", AES 125, 2008):
//!
//! | period | multiplies | output |
//! |---|---|---|
//! | 3m | D0 = X0 H0, and (X1 + X2) (H1 + H2) up to the period before | D0 - D1 - D2 and that |
//! | 3m + 1 | D1 = X1 H1, and (X0 + X1) (H0 + H1) | D2 - D0 - D1 and that |
//! | 3m + 2 | D2 = X2 H2, and (X0 + X2) (H0 + H2) | D1 - D0 - D2 and that |
//!
//! D1 and D2 are the newest there are: in periods 3m and 3m + 1 those of the three periods before. Each period has two
//! convolutions of a third of the partitions instead of three, one sum of inputs before and one of results after: every
//! period has the same work. Where the count is no multiple of three, the sequences differ by one.

use super::nested_products::Minuend;
use fft::AlignedBuffer;
use std::ops::Range;

/// Periods after which the table begins again.
pub(super) const PERIODS: usize = 3;
/// Most products of one kind in a period.
pub(super) const MAX_PRODUCTS: usize = 32;

/// Ages of the two inputs that a phase adds.
const PAIR_AGES: [(usize, usize); PERIODS] = [(2, 1), (1, 0), (2, 0)];
/// The result of a phase from which the other two are subtracted.
const MINUENDS: [Minuend; PERIODS] = [Minuend::Current, Minuend::BeforePrevious, Minuend::Previous];
/// The two sequences of partitions that a phase adds.
const FILTER_PAIRS: [(usize, usize); PERIODS] = [(1, 2), (0, 1), (0, 2)];

/// Returns true if a level of `count` partitions can have nested products.
pub(super) fn is_possible(count: usize) -> bool {
    (PERIODS..=PERIODS * MAX_PRODUCTS).contains(&count)
}

/// Row of the table for a period.
pub(super) fn phase(period: u64) -> usize {
    (period % PERIODS as u64) as usize
}

/// Ages in periods of the two inputs that are added in a period.
pub(super) fn pair_ages(period: u64) -> (usize, usize) {
    PAIR_AGES[phase(period)]
}

/// The result from which the other two are subtracted in a period.
pub(super) fn minuend(period: u64) -> Minuend {
    MINUENDS[phase(period)]
}

/// Number of partitions `first`, `first + 3`, ... of `count`.
pub(super) fn every_third(count: usize, first: usize) -> usize {
    count.saturating_sub(first).div_ceil(PERIODS)
}

/// Place of a phase's sums of partitions among those of all phases.
pub(super) fn pair_range(count: usize, phase: usize) -> Range<usize> {
    let len = |phase: usize| every_third(count, FILTER_PAIRS[phase].0);
    let start = (0..phase).map(len).sum();
    start..start + len(phase)
}

/// Sums of two partitions' spectra, phase by phase.
///
/// Real-time: setup.
pub(super) fn filter_pairs(filters: &[f32], floats: usize) -> AlignedBuffer {
    let count = filters.len() / floats;
    let mut sums = AlignedBuffer::new(pair_range(count, PERIODS - 1).end * floats);
    let mut to = sums.chunks_exact_mut(floats);
    for (first, second) in FILTER_PAIRS {
        let firsts = filters.chunks_exact(floats).skip(first).step_by(PERIODS);
        let mut seconds = filters.chunks_exact(floats).skip(second).step_by(PERIODS);
        for (first, sum) in firsts.zip(&mut to) {
            sum.copy_from_slice(first);
            for (sum, x) in sum.iter_mut().zip(seconds.next().unwrap_or_default()) {
                *sum += x;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_thirds_of_the_products_and_as_many_in_every_period() {
        for count in 3..40 {
            let products = |phase| every_third(count, phase) + pair_range(count, phase).len();
            let all = [0, 1, 2].map(products);
            let max = all.into_iter().max().unwrap();
            assert!(all.iter().all(|n| max - n <= 1), "{all:?}");
            assert!(
                max <= 2 * count.div_ceil(3) && max < count,
                "{count}: {max}"
            );
        }
    }
}
