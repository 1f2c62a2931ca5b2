//! Sums of products for later periods, made ahead so that less memory is read.
//!
//! A long delay line is bound by the bytes that it reads: each output needs all inputs and all filters. But output n + 1
//! needs the same inputs as output n, each with the next filter. So the inputs of now are multiplied once for the
//! outputs of K periods, and in between only newer inputs are:
//!
//! | phase | multiplies | for the outputs of |
//! |---|---|---|
//! | 0 | all inputs | this period and the next K - 1 |
//! | p | the newest w inputs | this period and the next w - 1, where w is the lowest set bit of p |
//!
//! A spectrum is divided into K ranges of bins. In every period each range is in another phase, so that all periods have the
//! same work:
//!
//! ```text
//! K = 4         range 0   range 1   range 2   range 3
//! period 0      phase 0   phase 3   phase 2   phase 1
//! period 1      phase 1   phase 0   phase 3   phase 2
//! period 2      phase 2   phase 1   phase 0   phase 3
//! ```
//!
//! The phase of a range depends on the number of the period only, and so do the bits of the sums.
//!
//! Public for the crate `studies`, whose long level sums in the same way.

use fft::AlignedBuffer;
use std::ops::Range;

/// Most periods for which products are summed at once.
pub const MAX_PERIODS: usize = 8;
/// Fewest floats of a range, so that memory is read in long runs.
const MIN_RANGE: usize = 512;
/// A multiple of all numbers up to [`MAX_PERIODS`].
const CYCLE: u64 = 840;

/// Number of periods K for which it pays to sum at once, with `count` partitions of `len` floats that are not in a cache.
/// The sums that wait, (K - 1) / 2 spectra, should be a small part of what is read, twice `count` spectra.
fn worthwhile_periods(count: usize, len: usize) -> usize {
    let periods = match count {
        0..=2 => 1,
        3..=11 => 2,
        12..=27 => 4,
        _ => MAX_PERIODS,
    };
    periods.min((len / MIN_RANGE).max(1))
}

/// Number of periods for which a level sums at once. The level has `rows` rows of `count` spectra (one for each input and
/// each filter) of partitions of `size` frames; `len` floats are one spectrum of one channel or of sixteen, and a level of
/// at most `cached_floats` floats stays in a cache.
pub(crate) fn choose_periods(
    rows: usize,
    (size, count): (usize, usize),
    len: usize,
    cached_floats: usize,
) -> usize {
    match rows * count * 2 * size {
        all if all > cached_floats => worthwhile_periods(count, len),
        _ => 1,
    }
}

/// Number of inputs that a range multiplies in `phase` of `periods`, and of outputs it does so for.
pub fn summed(periods: usize, phase: usize) -> (usize, usize) {
    match phase {
        0 => (usize::MAX, periods),
        phase => {
            let newest = phase & phase.wrapping_neg();
            (newest, newest)
        }
    }
}

/// Number of products of an input with one of `count` filters in `phase` of `periods`.
pub fn product_count(count: usize, periods: usize, phase: usize) -> usize {
    let (inputs, outputs) = summed(periods, phase);
    let each = |output| count.saturating_sub(output).min(inputs);
    (0..outputs).map(each).sum()
}

/// Sums for later periods, of all outputs of a line.
pub struct Lookahead {
    periods: usize,
    /// Floats of a range.
    range_len: usize,
    /// For each output and each distance d from 1 to K - 1 the sums of d ranges: in each period one range writes each
    /// distance, and d periods later its sum is used.
    memory: AlignedBuffer,
    /// Sums of ranges that were in phase 0 before this period do not count; 0: all sums count.
    valid_from: u64,
    /// True if all sums that wait are silence, whatever the memory holds.
    is_silent: bool,
}

/// Sums to which a range adds products in a period.
pub struct PeriodSums<'a> {
    /// For the output of this period, of the next one, and so on.
    pub sums: [&'a mut [f32]; MAX_PERIODS],
    /// Number of outputs.
    pub outputs: usize,
    /// Number of inputs, from the newest.
    pub inputs: usize,
}

impl<'a> PeriodSums<'a> {
    /// The output of this period only, from all inputs.
    fn current_only(sum: &'a mut [f32]) -> Self {
        let mut sums: [&mut [f32]; MAX_PERIODS] = Default::default();
        sums[0] = sum;
        Self {
            sums,
            outputs: 1,
            inputs: usize::MAX,
        }
    }
}

impl Lookahead {
    /// Makes room for sums of `periods` periods, of spectra of `len` floats.
    ///
    /// Real-time: setup.
    pub fn new(periods: usize, len: usize, outputs: usize) -> Self {
        let range_len = len / periods;
        Self {
            periods,
            range_len,
            memory: AlignedBuffer::new(outputs * periods * (periods - 1) / 2 * range_len),
            valid_from: 0,
            is_silent: false,
        }
    }

    /// Floats in memory.
    pub(super) fn len(&self) -> usize {
        self.memory.len()
    }

    /// First float of the range that is in `phase` in period `now`.
    ///
    /// Real-time: hot.
    pub fn range_start(&self, now: u64, phase: usize) -> usize {
        let periods = self.periods as u64;
        ((phase as u64 + periods - now % periods) % periods) as usize * self.range_len
    }

    /// Discards all sums that were made before period `from`.
    ///
    /// Real-time: hot.
    pub(super) fn discard_before(&mut self, from: u64) {
        self.valid_from = from;
    }

    /// Makes all sums that wait silence.
    ///
    /// Real-time: hot.
    pub(super) fn silence(&mut self) {
        self.valid_from = 0;
        self.is_silent = true;
    }

    /// Ends a period.
    ///
    /// Real-time: hot.
    pub(super) fn end_period(&mut self) {
        self.is_silent = false;
    }

    /// Sums for floats `part` of the range in `phase` in period `now`. The first one is `sum`; all hold what was summed
    /// before. Phases come from K - 1 down to 0. With `is_current_only` nothing is summed for later periods.
    ///
    /// Real-time: hot.
    pub fn sums<'a>(
        &'a mut self,
        output: usize,
        (now, phase): (u64, usize),
        part: Range<usize>,
        sum: &'a mut [f32],
        is_current_only: bool,
    ) -> PeriodSums<'a> {
        let is_discarded = phase > 0 && self.valid_from > 0 && now < self.valid_from + phase as u64;
        if is_current_only || is_discarded {
            sum.fill(0.0);
            return PeriodSums::current_only(sum);
        }
        let is_silent = self.is_silent || phase == 0;
        let (inputs, outputs) = summed(self.periods, phase);
        let mut sums = self.waiting(output, now, phase, part);
        if is_silent {
            sum.fill(0.0);
            sums[1..].iter_mut().for_each(|waiting| waiting.fill(0.0));
        } else {
            sum.copy_from_slice(sums[0]);
        }
        sums[0] = sum;
        PeriodSums {
            sums,
            outputs,
            inputs,
        }
    }

    /// Sums that wait for period `now`, the next one, and so on; empty where there is none.
    fn waiting(
        &mut self,
        output: usize,
        now: u64,
        phase: usize,
        part: Range<usize>,
    ) -> [&mut [f32]; MAX_PERIODS] {
        let each = self.periods * (self.periods - 1) / 2 * self.range_len;
        let mut rest = &mut self.memory[output * each..][..each];
        let mut waiting: [&mut [f32]; MAX_PERIODS] = Default::default();
        // The period in which the range was in phase 0.
        let began = now + CYCLE - phase as u64;
        for distance in 1..self.periods {
            let (ranges, after) = std::mem::take(&mut rest).split_at_mut(distance * self.range_len);
            rest = after;
            if let Some(ahead) = distance.checked_sub(phase) {
                let at = (began % distance as u64) as usize * self.range_len;
                waiting[ahead] = &mut ranges[at..at + self.range_len][part.clone()];
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A delay line of whole numbers in place of spectra: a range is one float.
    struct NumberLine {
        lookahead: Lookahead,
        periods: usize,
        filters: Vec<f32>,
        /// The newest last.
        past: Vec<f32>,
    }

    impl NumberLine {
        fn new(periods: usize, count: usize) -> Self {
            Self {
                lookahead: Lookahead::new(periods, periods, 1),
                periods,
                filters: (0..count).map(|i| (i * i + 1) as f32).collect(),
                past: Vec::new(),
            }
        }

        fn process(&mut self, now: u64, input: f32, is_current_only: bool) {
            self.past.push(input);
            let mut spectrum = vec![f32::NAN; self.periods];
            for phase in (0..self.periods).rev() {
                let at = self.lookahead.range_start(now, phase);
                let sum = &mut spectrum[at..=at];
                let mut of = self
                    .lookahead
                    .sums(0, (now, phase), 0..1, sum, is_current_only);
                for (age, input) in self.past.iter().rev().take(of.inputs).enumerate() {
                    let filters = self.filters.iter().skip(age);
                    for (sum, filter) in of.sums[..of.outputs].iter_mut().zip(filters) {
                        sum[0] += input * filter;
                    }
                }
            }
            self.lookahead.end_period();
            let products = self.past.iter().rev().zip(&self.filters);
            let truth: f32 = products.map(|(input, filter)| input * filter).sum();
            assert_eq!(spectrum, vec![truth; self.periods], "period {now}");
        }
    }

    #[test]
    fn every_output_is_the_sum_of_its_products_from_any_period_on() {
        for periods in [1, 2, 4, 8] {
            for (count, from) in [(1, 0), (3, 1), (5, 0), (7, 1 << 40), (20, 1001)] {
                let mut line = NumberLine::new(periods, count);
                line.lookahead.silence();
                for n in 0..40 {
                    line.process(from + n, (n * 7 % 11) as f32, false);
                }
            }
        }
    }

    #[test]
    fn discarded_and_silenced_sums_leave_no_trace() {
        for periods in [2, 4, 8] {
            for at in 5..15 {
                let mut line = NumberLine::new(periods, 6);
                for n in 0..50 {
                    let now = if n < at { n } else { n + 77 };
                    if n == at {
                        line.lookahead.discard_before(now);
                    }
                    if n == at + 9 {
                        line.past.fill(0.0);
                        line.lookahead.silence();
                    }
                    let is_current_only = (at + 20..at + 23).contains(&n);
                    if is_current_only {
                        line.lookahead.discard_before(now + 1);
                    }
                    line.process(now, (n * 5 % 13) as f32, is_current_only);
                }
            }
        }
    }

    #[test]
    fn every_product_is_made_once_in_a_cycle() {
        for periods in [1, 2, 4, 8] {
            for count in [1, 3, 7, 16] {
                let all: usize = (0..periods)
                    .map(|phase| product_count(count, periods, phase))
                    .sum();
                // In a cycle each of `periods` outputs needs `count` inputs.
                assert_eq!(all, periods * count, "{count} {periods}");
            }
        }
        assert_eq!(
            (
                worthwhile_periods(2, 1 << 20),
                worthwhile_periods(7, 1 << 20)
            ),
            (1, 2)
        );
        assert_eq!(
            (
                worthwhile_periods(40, 1 << 20),
                worthwhile_periods(40, 1024),
                worthwhile_periods(40, 32)
            ),
            (8, 2, 1)
        );
    }
}
