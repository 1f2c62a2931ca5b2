//! Times of the steps of one plan, and the step that made a cycle late.
//!
//! The late step is the one that exceeded its own usual time most. A step's usual time is a running median: each value
//! moves it by a 32nd of itself, however far off that value is. So a few late cycles do not change it.

use crate::StepNames;
use crate::open_cycle::OpenCycle;
use std::sync::Arc;
use units::Nanos;

/// Steps of one plan and their times.
#[derive(Debug)]
pub(crate) struct PlanTimes {
    pub(crate) steps: Arc<StepNames>,
    pub(crate) times: Vec<StepTimes>,
}

/// Times of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepTimes {
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) usual: RunningMedian,
    pub(crate) late: u64,
    /// Number of cycles that were abandoned because it did not return.
    pub(crate) stuck: u64,
}

impl PlanTimes {
    /// Steps without times.
    pub(crate) fn new(steps: StepNames) -> Self {
        let times = vec![StepTimes::default(); steps.len()];
        Self {
            steps: Arc::new(steps),
            times,
        }
    }

    /// Adds the times of a cycle's steps. Returns the step that exceeded its usual time most, if by at least
    /// `min_excess_ns`.
    pub(crate) fn add_cycle(
        &mut self,
        (number, cycle): (u32, &OpenCycle),
        nanos: &dyn Fn(u64) -> Nanos,
        min_excess_ns: u64,
    ) -> Option<usize> {
        let mut worst = (0, None);
        for (step, ticks) in cycle.steps() {
            let (Some(times), Some(ticks)) = (self.times.get_mut(step), ticks) else {
                continue;
            };
            // A step that is not due only holds its outputs: that is not its usual work.
            if !self.steps.is_due(step, number) {
                continue;
            }
            let time = nanos(ticks).0;
            let excess = time.saturating_sub(times.usual.get_or(0));
            if excess > worst.0 && excess >= min_excess_ns {
                worst = (excess, Some(step));
            }
            times.add(time);
        }
        worst.1
    }
}

impl StepTimes {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
        self.usual.add(ns);
    }
}

/// A running median; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunningMedian(Option<u64>);

impl RunningMedian {
    /// The median, or `first` before the first value.
    pub(crate) fn get_or(self, first: u64) -> u64 {
        self.0.unwrap_or(first)
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, value: u64) {
        let Some(usual) = &mut self.0 else {
            self.0 = Some(value);
            return;
        };
        let step = *usual / 32 + 1;
        *usual = value.clamp(usual.saturating_sub(step), *usual + step);
    }
}
