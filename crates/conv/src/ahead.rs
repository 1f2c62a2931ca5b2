//! Which sums of products a delay line makes when, and the memory for those that are heard later.
//!
//! A long line is bound by the bytes that it reads: each output takes all inputs and all filters. But output n + 1 takes
//! what output n takes, each input with the next filter. So the inputs that are there are taken once for the outputs of
//! K periods, and in between only those that have come since:
//!
//! | phase | takes | for the outputs of |
//! |---|---|---|
//! | 0 | all inputs | this period and the K - 1 to come |
//! | p | the newest w | this period and the w - 1 to come; w is the lowest bit of p |
//!
//! A spectrum is cut into K ranges of bins, of which in every period each is in another phase, so that all periods have the
//! same work. A range's phase hangs on the number of the period only, and so do the bits of the sums.

use fft::AlignedBuffer;
use std::ops::Range;

/// The most periods.
pub(crate) const MOST: usize = 8;
/// A range has no fewer floats, so that runs in memory are long.
const LEAST_SPAN: usize = 512;
/// A multiple of all numbers up to [`MOST`].
const CYCLE: u64 = 840;

/// For how many periods it is worth summing at once, with `count` partitions of `floats` floats that come from far. What
/// waits shall be a small part of what is read, in memory too: (K - 1) / 2 spectra beside twice `count`.
fn worth(count: usize, floats: usize) -> usize {
    let many = match count {
        0..=2 => 1,
        3..=11 => 2,
        12..=27 => 4,
        _ => MOST,
    };
    many.min((floats / LEAST_SPAN).max(1))
}

/// For how many periods a level sums up at once, where `spectra` lines of inputs and filters go on, its size and count are
/// these, `floats` are in a spectrum of one line, or of sixteen, and levels of up to `near` floats stay near.
pub(crate) fn chosen(
    spectra: usize,
    (size, count): (usize, usize),
    floats: usize,
    near: usize,
) -> usize {
    match spectra * count * 2 * size {
        all if all > near => worth(count, floats),
        _ => 1,
    }
}

/// How many inputs a range takes in `phase` of `many`, and for how many outputs.
pub(crate) fn takes(many: usize, phase: usize) -> (usize, usize) {
    match phase {
        0 => (usize::MAX, many),
        phase => {
            let newest = phase & phase.wrapping_neg();
            (newest, newest)
        }
    }
}

/// How many products of an input and one of `count` filters that is.
pub(crate) fn products(count: usize, many: usize, phase: usize) -> usize {
    let (inputs, outputs) = takes(many, phase);
    let each = |output| count.saturating_sub(output).min(inputs);
    (0..outputs).map(each).sum()
}

/// The sums that wait, of all outputs of a line.
pub(crate) struct Ahead {
    many: usize,
    span: usize,
    /// For each output and each distance d from 1 to K - 1 the sums of d ranges: one range reaches each distance in each
    /// period, and after d periods its sum is heard.
    memory: AlignedBuffer,
    /// What ranges have summed up that were in phase 0 before this period does not count; 0: all counts.
    since: u64,
    /// All that waits is silence, whatever stands there.
    is_silent: bool,
}

/// What a range sums up in a period.
pub(crate) struct Sums<'a> {
    /// For the output of this period, the next one, and so on.
    pub(crate) sums: [&'a mut [f32]; MOST],
    /// For how many outputs.
    pub(crate) outputs: usize,
    /// The products of how many inputs.
    pub(crate) inputs: usize,
}

impl<'a> Sums<'a> {
    /// The output of this period alone, all of it.
    ///
    /// Real-time: hot.
    pub(crate) fn one(sum: &'a mut [f32]) -> Self {
        let mut sums: [&mut [f32]; MOST] = Default::default();
        sums[0] = sum;
        Self {
            sums,
            outputs: 1,
            inputs: usize::MAX,
        }
    }
}

impl Ahead {
    /// For spectra of `floats` floats.
    ///
    /// Real-time: setup.
    pub(crate) fn new(many: usize, floats: usize, outputs: usize) -> Self {
        let span = floats / many;
        Self {
            many,
            span,
            memory: AlignedBuffer::new(outputs * many * (many - 1) / 2 * span),
            since: 0,
            is_silent: false,
        }
    }

    /// Floats in memory.
    pub(crate) fn floats(&self) -> usize {
        self.memory.len()
    }

    /// The first float of the range that is in `phase` in period `now`.
    ///
    /// Real-time: hot.
    pub(crate) fn first(&self, now: u64, phase: usize) -> usize {
        let many = self.many as u64;
        ((phase as u64 + many - now % many) % many) as usize * self.span
    }

    /// What was summed up before period `from` does not count.
    ///
    /// Real-time: hot.
    pub(crate) fn lose(&mut self, from: u64) {
        self.since = from;
    }

    /// All that waits is silence.
    ///
    /// Real-time: hot.
    pub(crate) fn forget(&mut self) {
        self.since = 0;
        self.is_silent = true;
    }

    /// A period is over.
    ///
    /// Real-time: hot.
    pub(crate) fn end_period(&mut self) {
        self.is_silent = false;
    }

    /// What floats `part` of the range in `phase` sum up in period `now`; the first sum is `sum`, and all hold what was
    /// summed up before. Phases come from K - 1 down to 0. `is_alone`: for no output to come.
    ///
    /// Real-time: hot.
    pub(crate) fn sums<'a>(
        &'a mut self,
        output: usize,
        (now, phase): (u64, usize),
        part: Range<usize>,
        sum: &'a mut [f32],
        is_alone: bool,
    ) -> Sums<'a> {
        let is_lost = phase > 0 && self.since > 0 && now < self.since + phase as u64;
        if is_alone || is_lost {
            sum.fill(0.0);
            return Sums::one(sum);
        }
        let is_silent = self.is_silent || phase == 0;
        let (inputs, outputs) = takes(self.many, phase);
        let mut sums = self.waiting(output, now, phase, part);
        if is_silent {
            sum.fill(0.0);
            sums[1..].iter_mut().for_each(|waiting| waiting.fill(0.0));
        } else {
            sum.copy_from_slice(sums[0]);
        }
        sums[0] = sum;
        Sums {
            sums,
            outputs,
            inputs,
        }
    }

    /// What waits for period `now`, the next one, and so on; empty where nothing does.
    fn waiting(
        &mut self,
        output: usize,
        now: u64,
        phase: usize,
        part: Range<usize>,
    ) -> [&mut [f32]; MOST] {
        let each = self.many * (self.many - 1) / 2 * self.span;
        let mut rest = &mut self.memory[output * each..][..each];
        let mut waiting: [&mut [f32]; MOST] = Default::default();
        // The period in which the range was in phase 0.
        let began = now + CYCLE - phase as u64;
        for distance in 1..self.many {
            let (ranges, after) = std::mem::take(&mut rest).split_at_mut(distance * self.span);
            rest = after;
            if let Some(ahead) = distance.checked_sub(phase) {
                let at = (began % distance as u64) as usize * self.span;
                waiting[ahead] = &mut ranges[at..at + self.span][part.clone()];
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of whole numbers in place of spectra: a range is one float.
    struct Numbers {
        ahead: Ahead,
        many: usize,
        filters: Vec<f32>,
        /// The newest last.
        past: Vec<f32>,
    }

    impl Numbers {
        fn new(many: usize, count: usize) -> Self {
            Self {
                ahead: Ahead::new(many, many, 1),
                many,
                filters: (0..count).map(|i| (i * i + 1) as f32).collect(),
                past: Vec::new(),
            }
        }

        fn play(&mut self, now: u64, input: f32, is_alone: bool) {
            self.past.push(input);
            let mut spectrum = vec![f32::NAN; self.many];
            for phase in (0..self.many).rev() {
                let at = self.ahead.first(now, phase);
                let sum = &mut spectrum[at..=at];
                let mut of = self.ahead.sums(0, (now, phase), 0..1, sum, is_alone);
                for (age, input) in self.past.iter().rev().take(of.inputs).enumerate() {
                    let filters = self.filters.iter().skip(age);
                    for (sum, filter) in of.sums[..of.outputs].iter_mut().zip(filters) {
                        sum[0] += input * filter;
                    }
                }
            }
            self.ahead.end_period();
            let heard = self.past.iter().rev().zip(&self.filters);
            let truth: f32 = heard.map(|(input, filter)| input * filter).sum();
            assert_eq!(spectrum, vec![truth; self.many], "period {now}");
        }
    }

    #[test]
    fn every_output_is_the_sum_of_its_products_from_any_period_on() {
        for many in [1, 2, 4, 8] {
            for (count, from) in [(1, 0), (3, 1), (5, 0), (7, 1 << 40), (20, 1001)] {
                let mut numbers = Numbers::new(many, count);
                numbers.ahead.forget();
                for n in 0..40 {
                    numbers.play(from + n, (n * 7 % 11) as f32, false);
                }
            }
        }
    }

    #[test]
    fn what_is_lost_forgotten_or_alone_on_the_way_leaves_no_trace() {
        for many in [2, 4, 8] {
            for at in 5..15 {
                let mut numbers = Numbers::new(many, 6);
                for n in 0..50 {
                    let now = if n < at { n } else { n + 77 };
                    if n == at {
                        numbers.ahead.lose(now);
                    }
                    if n == at + 9 {
                        numbers.past.fill(0.0);
                        numbers.ahead.forget();
                    }
                    let is_alone = (at + 20..at + 23).contains(&n);
                    if is_alone {
                        numbers.ahead.lose(now + 1);
                    }
                    numbers.play(now, (n * 5 % 13) as f32, is_alone);
                }
            }
        }
    }

    #[test]
    fn products_are_counted_and_each_is_made_once_in_a_cycle() {
        for many in [1, 2, 4, 8] {
            for count in [1, 3, 7, 16] {
                let all: usize = (0..many).map(|phase| products(count, many, phase)).sum();
                // In a cycle each of `many` outputs takes `count` inputs.
                assert_eq!(all, many * count, "{count} {many}");
            }
        }
        assert_eq!((worth(2, 1 << 20), worth(7, 1 << 20)), (1, 2));
        assert_eq!(
            (worth(40, 1 << 20), worth(40, 1024), worth(40, 32)),
            (8, 2, 1)
        );
    }
}
