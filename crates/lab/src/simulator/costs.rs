//! Costs of a simulation, and its result.

use divisi::plan::{Link, TaskId};

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

/// Index of a task.
pub(super) trait At {
    fn at(self) -> usize;
}

impl At for TaskId {
    fn at(self) -> usize {
        self.0 as usize
    }
}
