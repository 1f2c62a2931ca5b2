//! Measures costs here and now: of nodes, and of data, wakes and tasks that pass between cores.
//!
//! | file | measures |
//! |---|---|
//! | `nodes`, `readings`, `costs` | each node: the same run on one worker again and again, every step timed |
//! | `work` | deferred work of nodes, job by job, between the cycles of the same run |
//! | `dry_run` | – it plays a graph with processors of its own, for `nodes` and for the choice of a scheduler |
//! | `machine` | all of the following, as [`costs::CoreTimings`] |
//! | `crossing` | a block of data on its way to another core |
//! | `wake` | a wake, a claim, a steal |
//! | `pair` | – it runs two threads on two cores, of which one is timed |
//!
//! Other programs and guests of the machine take time away and never give any. So the result is always the minimum, a
//! quartile or the median of many repeats, never one reading.

mod costs;
mod crossing;
mod dry_run;
mod machine;
mod nodes;
mod pair;
mod readings;
mod wake;
mod work;

pub use costs::{KindCost, MeasuredWork, NodeCost, NodeCosts, StepCost, StepTimes};
pub(crate) use dry_run::DryRun;
pub use machine::{machine_key, measure_machine};
pub(crate) use machine::{quick_pair, wake_after};
pub use nodes::{MeasureOptions, measure_nodes};
