//! Fewer products: the delay line of each bin as a convolution of a convolution (Hurchalla), three periods at a time.
//!
//! For each bin a delay line is a running convolution of the last inputs x with the partitions h. Every third input makes
//! a sequence, X0, X1, X2, and so does every third partition, H0, H1, H2. The product of three and three sequences takes
//! nine convolutions, or six, with sums of two sequences:
//!
//! | period | multiplies | is heard |
//! |---|---|---|
//! | 3m | D0 = X0 H0, and (X1 + X2) (H1 + H2) up to the period before | D0 - D1 - D2 and that |
//! | 3m + 1 | D1 = X1 H1, and (X0 + X1) (H0 + H1) | D2 - D0 - D1 and that |
//! | 3m + 2 | D2 = X2 H2, and (X0 + X2) (H0 + H2) | D1 - D0 - D2 and that |
//!
//! where D1 and D2 are the newest there are: in periods 3m and 3m + 1 those of the three periods before. Each period
//! has two convolutions of a third of the partitions where it had three, one sum of inputs beforehand and one of results
//! afterwards: the same work in every period. Where the count is no multiple of three, the sequences differ by one.
//!
//! Each period's pair of inputs is kept beside its spectrum, so that what a convolution takes is three periods apart in
//! both rows. What an exchange or a gap has spoiled is made good by two periods in which all partitions are multiplied.

use fft::{AlignedBuffer, Kernels, Minuend};
use std::ops::Range;

/// So many periods make a round.
pub(crate) const ROUND: usize = 3;

/// Whose sums a period adds up: its phase, and how many periods ago the inputs of its pair came.
const PAIRS: [(usize, usize); ROUND] = [(2, 1), (1, 0), (2, 0)];
/// Which result is the one that is not taken away.
const PLUS: [Minuend; ROUND] = [Minuend::Current, Minuend::BeforePrevious, Minuend::Previous];

/// Which partitions a pair's filters add up.
pub(crate) const FILTERS: [(usize, usize); ROUND] = [(1, 2), (0, 1), (0, 2)];

/// How many partitions of `count` begin with number `first` and are three apart.
pub(crate) fn every_third(count: usize, first: usize) -> usize {
    count.saturating_sub(first).div_ceil(ROUND)
}

/// Where the filters of a phase's pair begin, counted in spectra from the first pair's, and how many there are; `ROUND`
/// gives the end of all.
pub(crate) fn pairs_of(count: usize, phase: usize) -> Range<usize> {
    let each = |phase: usize| every_third(count, FILTERS[phase].0);
    let from = (0..phase.min(ROUND)).map(each).sum();
    from..from + FILTERS.get(phase).map_or(0, |_| each(phase))
}

/// The most products of a period, for `count` partitions.
pub(crate) fn products(count: usize) -> usize {
    let of = |phase| every_third(count, phase) + pairs_of(count, phase).len();
    (0..ROUND).map(of).max().unwrap_or(0)
}

/// What a line keeps for it.
pub(crate) struct Nested {
    floats: usize,
    /// Of each output the results of the last three periods, by phase.
    results: AlignedBuffer,
    /// What was made before this period is lost.
    since: u64,
    /// What was made before this period is silence, whatever stands there.
    silent: u64,
}

/// What a period makes of a part of an output's spectrum.
pub(crate) struct Turn<'a> {
    /// Where what it makes of its own third goes.
    pub(crate) result: &'a mut [f32],
    /// The results of one period ago and of two; nothing where either is lost, and all must be multiplied.
    pub(crate) before: Option<[&'a [f32]; 2]>,
}

impl Nested {
    /// For a line of `outputs` spectra of `floats` floats; 0 where it is not used.
    ///
    /// Real-time: setup.
    pub(crate) fn new(outputs: usize, floats: usize) -> Self {
        Self {
            floats,
            results: AlignedBuffer::new(outputs * ROUND * floats),
            since: 0,
            silent: 0,
        }
    }

    /// Floats in memory.
    pub(crate) fn floats(&self) -> usize {
        self.results.len()
    }

    /// What was made before period `from` does not count.
    ///
    /// Real-time: hot.
    pub(crate) fn lose(&mut self, from: u64) {
        self.since = self.since.max(from);
    }

    /// What was made before period `from` is silence.
    ///
    /// Real-time: hot.
    pub(crate) fn forget(&mut self, from: u64) {
        (self.since, self.silent) = (0, from);
    }

    /// What period `now` makes of floats `part` of an output.
    ///
    /// Real-time: hot.
    pub(crate) fn turn(&mut self, output: usize, now: u64, part: Range<usize>) -> Turn<'_> {
        let phase = phase(now);
        let all = &mut self.results[output * ROUND * self.floats..][..ROUND * self.floats];
        let is_silent = |age: u64| now < self.silent + age;
        let is_lost = self.since > 0 && now < self.since + 2;
        let mut of = [0, 1, 2].map(|_| <&mut [f32]>::default());
        for (made, spectrum) in all.chunks_exact_mut(self.floats).enumerate() {
            let age = (phase + ROUND - made) % ROUND;
            let result = &mut spectrum[part.clone()];
            if age > 0 && is_silent(age as u64) {
                result.fill(0.0);
            }
            of[age] = result;
        }
        let [result, one, two] = of;
        Turn {
            result,
            before: (!is_lost).then_some([one, two]),
        }
    }
}

/// Which of a round's periods `now` is.
pub(crate) fn phase(now: u64) -> usize {
    (now % ROUND as u64) as usize
}

/// How many periods ago the two inputs came that are added up in period `now`.
pub(crate) fn pair(now: u64) -> (usize, usize) {
    PAIRS[phase(now)]
}

/// Which result is not taken away in period `now`.
pub(crate) fn plus(now: u64) -> Minuend {
    PLUS[phase(now)]
}

impl Turn<'_> {
    /// What the results give to `sum`, in period `now`; false where they are lost.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(&self, sum: &mut [f32], now: u64, kernels: Kernels) -> bool {
        let Some([one, two]) = self.before else {
            sum.fill(0.0);
            return false;
        };
        let (plus, others) = match plus(now) {
            Minuend::Current => (&*self.result, [one, two]),
            Minuend::Previous => (one, [&*self.result, two]),
            Minuend::BeforePrevious => (two, [&*self.result, one]),
        };
        kernels.subtract_two(sum, plus, others[0], others[1]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: usize = 16;

    /// A line of whole numbers in place of spectra.
    struct Numbers {
        nested: Nested,
        filters: Vec<f32>,
        /// The newest last, and what was added up beside each.
        past: Vec<(f32, f32)>,
        made: usize,
    }

    impl Numbers {
        fn new(count: usize) -> Self {
            Self {
                nested: Nested::new(1, FLOATS),
                filters: (0..count).map(|i| (i * i + 1) as f32).collect(),
                past: vec![(0.0, 0.0); 2 * count],
                made: 0,
            }
        }

        fn ages(&self) -> impl Iterator<Item = (f32, f32)> {
            self.past.iter().rev().copied()
        }

        fn play(&mut self, now: u64, input: f32) {
            self.past.push((input, 0.0));
            let (a, b) = pair(now);
            let sum = self.ages().nth(a).unwrap().0 + self.ages().nth(b).unwrap().0;
            self.past.last_mut().unwrap().1 = sum;
            let (at, count) = (phase(now), self.filters.len());
            let third = self
                .ages()
                .step_by(ROUND)
                .zip(self.filters.iter().skip(at).step_by(ROUND));
            let third: f32 = third.map(|((x, _), h)| x * h).sum();
            let (first, second) = FILTERS[at];
            let filter = |n: usize| self.filters.get(n).copied().unwrap_or(0.0);
            let filters = (0..pairs_of(count, at).len())
                .map(|q| filter(3 * q + first) + filter(3 * q + second));
            let pairs: f32 = self
                .ages()
                .step_by(ROUND)
                .zip(filters)
                .map(|((_, x), h)| x * h)
                .sum();
            let heard = self.ages().zip(&self.filters);
            let truth: f32 = heard.map(|((x, _), h)| x * h).sum();
            let mut sum = [f32::NAN; FLOATS];
            let turn = self.nested.turn(0, now, 0..FLOATS);
            turn.result.fill(third);
            if turn.begin(&mut sum, now, Kernels::best()) {
                self.made += 1;
                assert_eq!(sum[0] + pairs, truth, "period {now} of {count}");
            } else {
                assert_eq!(sum, [0.0; FLOATS]);
            }
        }
    }

    #[test]
    fn every_output_is_the_sum_of_its_products_from_any_period_on() {
        for count in 3..20 {
            for from in [0, 1, 2, 1 << 40] {
                let mut numbers = Numbers::new(count);
                numbers.nested.results.fill(7.0);
                numbers.nested.forget(from);
                (0..40).for_each(|n| numbers.play(from + n, (n * 7 % 11) as f32));
                assert_eq!(numbers.made, 40);
            }
        }
    }

    #[test]
    fn what_is_lost_is_made_good_in_two_periods() {
        let mut numbers = Numbers::new(7);
        for n in 0..45 {
            if n % 10 == 9 {
                numbers.nested.results.fill(f32::NAN);
                numbers.nested.lose(n);
            }
            numbers.play(n, (n * 5 % 13) as f32);
        }
        assert_eq!(numbers.made, 45 - 2 * 4);
    }

    #[test]
    fn products_are_two_thirds_and_alike_in_all_periods() {
        for count in 3..40 {
            let of = |phase| every_third(count, phase) + pairs_of(count, phase).len();
            let all = [0, 1, 2].map(of);
            let most = all.into_iter().max().unwrap();
            assert_eq!(most, products(count));
            assert!(all.iter().all(|n| most - n <= 1), "{all:?}");
            assert!(
                most <= 2 * count.div_ceil(3) && most < count,
                "{count}: {most}"
            );
        }
    }
}
