//! `noise~` (`d_osc.c`).
//!
//! A state follows from the one before by a product and a sum of whole numbers. So does the one that is any number of steps later, by
//! another product and another sum: a run of them is computed side by side.

use crate::control::{Context, Handled, Making, Message, Object, Value, words};
use crate::signal::loops::RUN;
use crate::signal::{Inlets, SignalWorld};
use crate::state::held;
use crate::whole_number::whole_number;
use rt::vectors::{WideWork, widest};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "noise~" {
        return None;
    }
    let seed = &mut making.globals.seeds.1;
    if *seed == 0 {
        *seed = 307;
    }
    *seed = seed.wrapping_mul(1319);
    let state = seed.cast_signed();
    Some(Box::new(Noise { state }))
}

struct Noise {
    state: i32,
}

/// Factors and sums of so many steps, from none to those of a run.
struct Steps {
    factors: [i32; RUN + 1],
    sums: [i32; RUN + 1],
}

static STEPS: Steps = {
    let mut steps = Steps {
        factors: [1; RUN + 1],
        sums: [0; RUN + 1],
    };
    let mut at = 0;
    while at < RUN {
        steps.factors[at + 1] = next(steps.factors[at], 0);
        steps.sums[at + 1] = next(steps.sums[at], 382_842_987);
        at += 1;
    }
    steps
};

const fn next(state: i32, sum: i32) -> i32 {
    state.wrapping_mul(435_898_247).wrapping_add(sum)
}

impl Steps {
    /// The state so many steps behind `state`.
    #[inline(always)]
    fn behind(&self, state: i32, count: usize) -> i32 {
        let product = state.wrapping_mul(self.factors[count]);
        product.wrapping_add(self.sums[count])
    }
}

/// Samples of the states from one on.
struct Whitened<'r>(i32, &'r mut [f32]);

impl WideWork for Whitened<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(first, to) = self;
        let steps = STEPS.factors.iter().zip(&STEPS.sums);
        for (to, (factor, sum)) in to.iter_mut().zip(steps) {
            let state = first.wrapping_mul(*factor).wrapping_add(*sum);
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let whole = ((state & 0x7fff_ffff) - 0x4000_0000) as f32;
            *to = whole * (1.0 / 1_073_741_824.0);
        }
    }
}

impl Object for Noise {
    held!(state);

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        for to in outlets[0].chunks_mut(RUN) {
            let first = self.state;
            self.state = STEPS.behind(first, to.len());
            widest(Whitened(first, to));
        }
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SEED, [Value::Float(seed), ..]) => self.state = whole_number((*seed).into()),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_side_by_side_are_those_one_after_the_other() {
        for (seed, count) in [(307_i32, RUN), (-1, RUN), (i32::MIN, 24), (5, 1)] {
            let mut state = seed;
            let expected = Vec::from_iter((0..count).map(|_| {
                let now = state;
                state = next(state, 382_842_987);
                ((now & 0x7fff_ffff) - 0x4000_0000) as f32 * (1.0 / 1_073_741_824.0)
            }));
            let mut found = vec![0.0; count];
            widest(Whitened(seed, &mut found));
            assert_eq!(found, expected);
            assert_eq!(STEPS.behind(seed, count), state);
        }
    }
}
