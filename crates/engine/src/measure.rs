//! What things cost here and now: nodes, and what passes between cores.
//!
//! Other guests of the machine take time away and never give any, so a least, a quartile or a median of many repeats is
//! what is kept, never one reading.

mod costs;
mod crossing;
mod dry_run;
mod machine;
mod nodes;
mod pair;
mod readings;
mod wake;

pub use costs::{KindCost, NodeCost, NodeCosts, StepCost, StepTimes};
pub(crate) use dry_run::DryRun;
pub use machine::{machine_key, measure_machine};
pub use nodes::{MeasureOptions, measure_nodes};
