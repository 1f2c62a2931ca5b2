//! Costs of a simulation, and its result.

use divisi::plan::{Dag, Link, TaskId};

/// Costs of moves on a machine, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveCosts {
    /// Dispatch of a task that the worker already has.
    pub dispatch: f64,
    /// Cost of a cycle besides its tasks.
    pub cycle: f64,
    /// Transfer of data to another core.
    pub link: Link,
    /// Change of a count or a queue that another core changed last.
    pub claim: f64,
    /// Steal of a task from another worker's queue.
    pub steal: f64,
    /// Acquisition and release of a lock without contention.
    pub lock: f64,
    /// Cost of a wake call for the waker, and the time until the woken worker runs; both 0 if all are awake.
    pub wake: (f64, f64),
}

impl MoveCosts {
    /// Time of a transfer of this many bytes to another core.
    pub(super) fn transfer_time(&self, bytes: u32) -> Time {
        time(self.link.transfer_time(bytes).0 as f64)
    }

    /// Time until worker 0 sees what `worker` has done.
    pub(super) fn time_to_first(&self, worker: usize) -> Time {
        if worker == 0 {
            0
        } else {
            self.transfer_time(0)
        }
    }

    /// Start of one of `workers`: the first wakes the others, one after another.
    pub(super) fn start_time(&self, workers: usize, worker: usize) -> Time {
        let (wake, woken) = self.wake;
        match worker {
            0 => time(wake) * (workers as u64 - 1),
            _ if woken > 0.0 => time(wake) * worker as u64 + time(woken),
            _ => self.transfer_time(0),
        }
    }

    /// The result of a cycle whose last task ended at `end`.
    pub(super) fn prediction(&self, dag: &Dag, cores: usize, end: Time, takes: u64) -> Prediction {
        let all = end as f64 / 1000.0;
        let busy = dag.total_cost().0 as f64;
        Prediction {
            cycle_ns: all + self.cycle,
            takes,
            busy: busy / (all * cores as f64).max(1.0),
        }
    }
}

/// Result of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Duration of a cycle.
    pub cycle_ns: f64,
    /// Number of takes from shared structures.
    pub takes: u64,
    /// Time in tasks as a share of the time of all cores, 0 to 1.
    pub busy: f64,
}

/// A time, in thousandths of a nanosecond.
pub(super) type Time = u64;

/// Nanoseconds as a time.
pub(super) fn time(ns: f64) -> Time {
    (ns.max(0.0) * 1000.0) as Time
}

/// Index of a task.
pub(super) trait At {
    fn at(self) -> usize;
}

impl At for TaskId {
    fn at(self) -> usize {
        self.0 as usize
    }
}
