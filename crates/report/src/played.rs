//! What the steps of one plan took, and which of them was late.

use crate::StepNames;
use crate::cycle::Cycle;
use std::sync::Arc;
use units::Nanos;

/// One plan's steps and what they took.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) steps: Arc<StepNames>,
    pub(crate) times: Vec<Times>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) usual: Usual,
    pub(crate) late: u64,
    /// Cycles that were given up because it did not return.
    pub(crate) stuck: u64,
}

impl Played {
    /// Nothing yet.
    pub(crate) fn new(steps: StepNames) -> Self {
        let times = vec![Times::default(); steps.len()];
        Self {
            steps: Arc::new(steps),
            times,
        }
    }

    /// Counts every step of a cycle. The one that most exceeded its usual time, if that was `enough` to be blamed.
    pub(crate) fn learn(
        &mut self,
        (number, cycle): (u32, &Cycle),
        nanos: &dyn Fn(u64) -> Nanos,
        enough: u64,
    ) -> Option<usize> {
        let mut worst = (0, None);
        for (step, ticks) in cycle.steps() {
            let (Some(times), Some(ticks)) = (self.times.get_mut(step), ticks) else {
                continue;
            };
            // A step that is not due only holds its outputs: that says nothing of what it takes.
            if !self.steps.is_due(step, number) {
                continue;
            }
            let time = nanos(ticks).0;
            let excess = time.saturating_sub(times.usual.or(0));
            if excess > worst.0 && excess >= enough {
                worst = (excess, Some(step));
            }
            times.add(time);
        }
        worst.1
    }
}

impl Times {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
        self.usual.add(ns);
    }
}

/// A running median: each value pulls it by a 32nd of itself, however far off that value is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usual(Option<u64>);

impl Usual {
    /// It, or `first` where there was no value yet.
    pub(crate) fn or(self, first: u64) -> u64 {
        self.0.unwrap_or(first)
    }

    /// One more value.
    pub(crate) fn add(&mut self, value: u64) {
        let Some(usual) = &mut self.0 else {
            self.0 = Some(value);
            return;
        };
        let pull = *usual / 32 + 1;
        *usual = value.clamp(usual.saturating_sub(pull), *usual + pull);
    }
}
