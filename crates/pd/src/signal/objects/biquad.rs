//! `biquad~` (`d_filter.c`).
//!
//! A state that is too small or too large becomes silence, before the next sample is computed from it. States hardly ever are. A filter alone
//! finds a branch that is foreseen. Lanes know none: they compute all states of a run without the question, which then takes no time between
//! two samples. If the answer is yes for one, they are computed again.

use super::ramps::is_odd;
use crate::control::{Context, Handled, Making, Message, Object, Value, words};
use crate::signal::loops::map_in_turn;
use crate::signal::{Inlets, Recursion, RecursionKind, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "biquad~" {
        return None;
    }
    let mut filter = Biquad {
        coefficients: [0.0; 5],
        last: 0.0,
        before: 0.0,
    };
    let numbers: Vec<f32> = making.values.iter().map(|value| value.number()).collect();
    filter.set(&numbers);
    Some(Box::new(filter))
}

/// A sample of each of several filters.
type Lane<const L: usize> = [f32; L];

/// Two coefficients for what was, three for what comes, lane by lane.
type Coefficients<const L: usize> = [Lane<L>; 5];

/// Replaces samples of several filters by what they let through. Changes their states, the last one first.
///
/// Real-time: hot.
#[inline(always)]
pub(in super::super) fn filter_each<const L: usize, const FRAMES: usize>(
    coefficients: &Coefficients<L>,
    state: &mut [Lane<L>; 2],
    samples: &mut [Lane<L>; FRAMES],
) {
    let mut states = [[0.0; L]; FRAMES];
    let end = recur(coefficients, *state, samples, &mut states);
    if states
        .as_flattened()
        .iter()
        .fold(false, |any, x| any | is_changed(*x))
    {
        return filter_in_turn(coefficients, state, samples);
    }
    let [_, _, ff1, ff2, ff3] = *coefficients;
    let [mut last, mut before] = *state;
    for (sample, new) in samples.iter_mut().zip(&states) {
        for at in 0..L {
            sample[at] = ff1[at] * new[at] + ff2[at] * last[at] + ff3[at] * before[at];
        }
        (before, last) = (last, *new);
    }
    *state = end;
}

/// Computes the states of samples. Gives those behind them.
#[inline(always)]
fn recur<const L: usize, const FRAMES: usize>(
    coefficients: &Coefficients<L>,
    [mut last, mut before]: [Lane<L>; 2],
    samples: &[Lane<L>; FRAMES],
    states: &mut [Lane<L>; FRAMES],
) -> [Lane<L>; 2] {
    let [fb1, fb2, ..] = *coefficients;
    for (x, state) in samples.iter().zip(states) {
        let mut new = [0.0; L];
        for at in 0..L {
            new[at] = x[at] + fb1[at] * last[at] + fb2[at] * before[at];
        }
        (before, last) = (last, new);
        *state = new;
    }
    [last, before]
}

/// Returns true for a state that becomes another one.
#[inline(always)]
fn is_changed(state: f32) -> bool {
    is_odd(state) & (state.to_bits() != 0)
}

/// As [`filter_each`], with the question behind each sample.
#[inline(never)]
fn filter_in_turn<const L: usize>(
    coefficients: &Coefficients<L>,
    state: &mut [Lane<L>; 2],
    samples: &mut [Lane<L>],
) {
    let [fb1, fb2, ff1, ff2, ff3] = *coefficients;
    let [mut last, mut before] = *state;
    for sample in samples {
        let mut new = [0.0; L];
        for at in 0..L {
            let next = sample[at] + fb1[at] * last[at] + fb2[at] * before[at];
            new[at] = if is_odd(next) { 0.0 } else { next };
            sample[at] = ff1[at] * new[at] + ff2[at] * last[at] + ff3[at] * before[at];
        }
        (before, last) = (last, new);
    }
    *state = [last, before];
}

struct Biquad {
    /// Two for what was, three for what comes.
    coefficients: [f32; 5],
    last: f32,
    before: f32,
}

impl Biquad {
    /// Sets the coefficients; an unstable filter becomes silent.
    fn set(&mut self, numbers: &[f32]) {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0.0);
        let (a, b) = (number(0), number(1));
        let discriminant = a * a + 4.0 * b;
        let is_stable = if discriminant < 0.0 {
            b >= -1.0
        } else {
            (-2.0..=2.0).contains(&a) && 1.0 - a - b >= 0.0 && 1.0 + a - b >= 0.0
        };
        self.coefficients = match is_stable {
            true => [0, 1, 2, 3, 4].map(number),
            false => [0.0; 5],
        };
    }
}

impl Object for Biquad {
    held!(coefficients, last, before);

    fn may_batch(&self) -> bool {
        true
    }

    fn recursion(&self, _: f32, _: Option<f32>) -> Option<Recursion> {
        Some(Recursion {
            kind: RecursionKind::Biquad,
            coefficients: self.coefficients,
            state: [self.last, self.before],
            passes: false,
        })
    }

    fn set_recursion(&mut self, [last, before]: [f32; 2]) {
        (self.last, self.before) = (last, before);
    }

    fn takes_short_lists(&self) -> bool {
        true
    }

    fn list(&mut self, values: &[Value], _: &mut Context<'_>) -> Handled {
        let mut numbers = [0.0; 5];
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = value.number();
        }
        self.set(&numbers);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET | words::CLEAR => {
                let number = |at: usize| message.values.get(at).map_or(0.0, |value| value.number());
                (self.last, self.before) = (number(0), number(1));
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let [fb1, fb2, ff1, ff2, ff3] = self.coefficients;
        let (mut last, mut before) = (self.last, self.before);
        map_in_turn(&mut outlets[0], inlets.get(0), |x| {
            let new = x + fb1 * last + fb2 * before;
            let new = if is_odd(new) { 0.0 } else { new };
            let out = ff1 * new + ff2 * last + ff3 * before;
            (before, last) = (last, new);
            out
        });
        (self.last, self.before) = (last, before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::loops::RUN;

    /// Samples of lanes, of all sizes: silence, what is too small and too large, and numbers that are none.
    fn samples(part: usize) -> [Lane<2>; RUN] {
        let mut state = part as u32;
        let mut random = || {
            state = state.wrapping_mul(435_898_247).wrapping_add(382_842_987);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        std::array::from_fn(|at| match part % 8 {
            0..4 => [random(), random()],
            4 => [0.0, -0.0],
            5 => [random() * 1e-25, 0.0],
            6 => [random(), random() * 1e30],
            _ if at == 40 => [f32::NAN, f32::INFINITY],
            _ => [random(), random()],
        })
    }

    #[test]
    fn states_asked_once_a_run_sound_as_those_asked_one_by_one() {
        let coefficients = [
            [1.9, -1.2],
            [-0.95, -0.5],
            [1.0, 0.3],
            [-2.0, 0.7],
            [1.0, -0.1],
        ];
        let mut expected_state = [[0.0; 2]; 2];
        let mut state = expected_state;
        for part in 0..200 {
            let mut found = samples(part);
            let mut expected = found;
            filter_in_turn(&coefficients, &mut expected_state, &mut expected);
            filter_each(&coefficients, &mut state, &mut found);
            let bits =
                |all: &[Lane<2>]| Vec::from_iter(all.as_flattened().iter().map(|x| x.to_bits()));
            assert_eq!(bits(&found), bits(&expected), "{part}");
            assert_eq!(bits(&state), bits(&expected_state), "{part}");
        }
    }
}
