//! Costs that a simulation is given, and its result.

use divisi::plan::{Link, TaskId};

/// Costs of moving tasks and data on a machine, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveCosts {
    /// Giving one task to the worker that has it already.
    pub dispatch: f64,
    /// Cost of a cycle, whatever its number of tasks.
    pub cycle: f64,
    /// Handing data to another core.
    pub link: Link,
    /// Taking a count or a queue that another core took last.
    pub claim: f64,
    /// Taking a task out of another worker's queue.
    pub steal: f64,
    /// Taking and giving back a lock that nobody else wants.
    pub lock: f64,
    /// Cost of waking another worker for the one that wakes, and the time until the other runs; both 0 where all are awake.
    pub wake: (f64, f64),
}

/// Result of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Length of a cycle, in ns.
    pub cycle_ns: f64,
    /// Takes from what workers share.
    pub takes: u64,
    /// Share of the time of all cores that was spent in tasks.
    pub busy: f64,
}

/// A task as an index.
pub(super) trait At {
    fn at(self) -> usize;
}

impl At for TaskId {
    fn at(self) -> usize {
        self.0 as usize
    }
}
