//! [`Readings`]: the times of a plan's steps, from many repeats of one run.

use super::costs::StepTimes;
use plan::{TraceEvent, TraceRecord};
use rt::stamp::TickScale;
use units::Nanos;

/// Times of a plan's steps and of whole cycles, in ticks.
pub(super) struct Readings {
    /// All readings, by step and by cycle of the run. The last entry is the cycle as a whole.
    entries: Vec<Vec<Vec<u32>>>,
    /// Stamp of the record before this one, and of the cycle's first.
    last: u64,
    first: u64,
    steps: u64,
}

impl Readings {
    pub(super) fn new(steps: usize, cycles: usize) -> Self {
        Self {
            entries: vec![vec![Vec::new(); cycles]; steps + 1],
            last: 0,
            first: 0,
            steps: 0,
        }
    }

    /// Adds a record of cycle `cycle` of the run. One worker alone makes them.
    pub(super) fn feed(&mut self, cycle: usize, record: TraceRecord) {
        match record.event {
            TraceEvent::CycleBegin => (self.first, self.steps) = (record.stamp, 0),
            TraceEvent::Step => {
                self.steps += 1;
                self.add(
                    record.index as usize,
                    cycle,
                    record.stamp.saturating_sub(self.last),
                );
            }
            TraceEvent::CycleEnd => {
                let whole = record.stamp.saturating_sub(self.first);
                self.add(self.entries.len() - 1, cycle, whole);
            }
            _ => {}
        }
        self.last = record.stamp;
    }

    fn add(&mut self, entry: usize, cycle: usize, ticks: u64) {
        let place = self.entries.get_mut(entry).and_then(|t| t.get_mut(cycle));
        if let Some(all) = place {
            all.push(u32::try_from(ticks).unwrap_or(u32::MAX));
        }
    }

    /// Times of step `step` in the cycles in which it `is_due`, less `mark_ns`.
    pub(super) fn step(
        &self,
        step: usize,
        scale: TickScale,
        mark_ns: f64,
        is_due: impl Fn(usize) -> bool,
    ) -> StepTimes {
        times(&self.entries[step], scale, mark_ns, is_due)
    }

    /// Times of a whole cycle of `steps` steps, less `mark_ns` for each and for its end.
    pub(super) fn cycle(&self, scale: TickScale, mark_ns: f64) -> StepTimes {
        let steps = self.entries.len();
        times(
            &self.entries[steps - 1],
            scale,
            mark_ns * steps as f64,
            |_| true,
        )
    }
}

/// Times of what ran in each of `cycles` that `is_due`, in all of its readings.
pub(super) fn times(
    cycles: &[Vec<u32>],
    scale: TickScale,
    less_ns: f64,
    is_due: impl Fn(usize) -> bool,
) -> StepTimes {
    let due = || {
        (cycles.iter().enumerate())
            .filter(|(cycle, _)| is_due(*cycle))
            .map(|(_, all)| all)
    };
    let worst = due().filter_map(|all| all.iter().min()).max();
    let mut all: Vec<u32> = due().flatten().copied().collect();
    let middle = all.len() / 2;
    let typical = match all.is_empty() {
        true => 0,
        false => *all.select_nth_unstable(middle).1,
    };
    let ns = |ticks: u32| {
        let ns = f64::from(ticks) * super::crossing::nanos_per_tick(scale) - less_ns;
        Nanos(ns.round().max(0.0) as u64)
    };
    StepTimes {
        typical: ns(typical),
        worst: ns(worst.copied().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(mark: TraceEvent, index: u32, stamp: u64) -> TraceRecord {
        TraceRecord {
            stamp,
            cycle: 0,
            index,
            worker: 0,
            event: mark,
        }
    }

    #[test]
    fn the_worst_is_the_longest_cycle_at_its_shortest() {
        let mut readings = Readings::new(1, 2);
        for (cycle, took) in [(0, 100), (1, 30), (0, 900), (1, 40), (0, 110), (1, 31)] {
            readings.feed(cycle, record(TraceEvent::CycleBegin, 0, 1000));
            readings.feed(cycle, record(TraceEvent::Enter, 0, 1010));
            readings.feed(cycle, record(TraceEvent::Step, 0, 1010 + took));
            readings.feed(cycle, record(TraceEvent::CycleEnd, 0, 1020 + took));
        }
        let scale = TickScale::new(1_000_000_000).unwrap();
        let step = readings.step(0, scale, 5.0, |_| true);
        assert_eq!((step.typical, step.worst), (Nanos(95), Nanos(95)));
        let second = readings.step(0, scale, 5.0, |cycle| cycle == 1);
        assert_eq!((second.typical, second.worst), (Nanos(26), Nanos(25)));
        assert_eq!(readings.cycle(scale, 5.0).worst, Nanos(110));
        assert_eq!(
            readings.step(0, scale, 5.0, |_| false),
            StepTimes::default()
        );
    }
}
