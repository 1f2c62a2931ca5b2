//! The choice of a partition for an impulse response: a search over all partitions, by any measure of cost.
//!
//! | file | holds | source |
//! |---|---|---|
//! | `search.rs` | the space of partitions, and the one with the least total load | Garcia 2002: a shortest path over sizes |
//! | `cores.rs` | the one with the least load of the busiest of several cores | seed 000, section 3.5 |
//! | `gardner.rs` | the size doubles every two partitions | Gardner 1995 |
//! | `garcia.rs` | fewest operations | Garcia 2002 |
//! | `costs.rs` | measured costs of levels | seed 000, section 3.6 |
//! | `measure.rs` `preemption.rs` | measurement of those costs on this machine | seed 000, section 3.6 |
//! | `built_in.rs` | costs for machines without measured ones | |
//! | `costs_file.rs` | those costs in the user's costs file | |
//! | `choice.rs` | which of the two tables decides | |

mod built_in;
mod choice;
mod cores;
mod costs;
mod costs_file;
mod garcia;
mod gardner;
mod measure;
mod preemption;
mod search;

pub use self::costs::{CostTable, LevelCost};
pub use choice::{PartitionChoice, PartitionOrigin, choose_partition};
pub use cores::min_peak_load;
pub use costs_file::{costs_file_key, read_tuned_costs};
pub use garcia::{garcia_partition, level_operations};
pub use gardner::gardner_partition;
pub use measure::{CostMeasureOptions, CostMeasurement, measure_costs};
pub use search::{CostFn, FoundPartition, PartitionSpace, min_total_load};
