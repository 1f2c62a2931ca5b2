//! Partitioned convolution: long impulse responses without latency, for many channels.
//!
//! Takes impulse responses and a [`Partition`], gives a [`Convolver`] that plays blocks. May: allocate, transform and
//! start threads when something is made. May not: do any of that in a callback, or know graphs outside `unit.rs`.
//!
//! ```
//! use divisi_conv::{Convolver, Inline, Latency, Options, Partition, Path};
//!
//! let response: Vec<f32> = (0..30_000).map(|n| 0.9998f32.powi(n) / 50.0).collect();
//! let partition = Partition::typical(64, Latency::None, response.len())?;
//! let path = Path::new(0, 0, response);
//! let mut convolver = Convolver::new(1, 1, &[path], &Options::new(partition))?;
//! let (input, mut output) = ([0.5; 64], [0.0; 64]);
//! convolver.process(&[&input], &mut [&mut output], &mut Inline);
//! assert!((output[0] - 0.01).abs() < 1e-6); // in the same block: no latency
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `gardner.rs` `garcia.rs` `search.rs` | which levels: doubling, the fewest operations, the least measured load |
//! | `costs.rs` `table.rs` | what levels cost here; a built-in table |
//! | `choice.rs` | by which of the two a partition is chosen |
//! | `backends.rs` | who transforms levels of which size |
//! | `distributed` | the work of long levels spread over the callbacks of their periods, without a thread |
//! | `ir.rs` | impulse responses from files and memory, and the paths between inputs and outputs |
//! | `jconvolver.rs` | jconvolver's configuration files |
//! | `partition.rs` | how an impulse response is cut: a direct head, then levels |
//! | `convolver.rs` | all of it, a block at a time |
//! | `recipe.rs` `group.rs` | what it is made by: which channels together, which levels how many at a time |
//! | `line.rs` | the callback's side of a level of a group of channels |
//! | `shape.rs` `fdl.rs` `pieces.rs` | its work, in pieces |
//! | `past.rs` `ahead.rs` | its products; which of them long lines sum up for periods to come |
//! | `nested.rs` | the same from fewer products |
//! | `handed.rs` | spectra handed on to the next larger level |
//! | `head.rs` `direct.rs` | what is convolved directly |
//! | `ir_set.rs` | spectra of impulse responses |
//! | `exchange.rs` | other impulse responses while it plays |
//! | `hands.rs` | who does the work |
//! | `preemptive.rs` | threads that do it |
//! | `adapter.rs` | host blocks of any length |
//! | `unit` | the node `convolver` |

mod adapter;
mod ahead;
mod backends;
mod choice;
mod convolver;
mod costs;
mod direct;
pub mod distributed;
mod exchange;
mod fdl;
mod garcia;
mod gardner;
mod group;
mod handed;
mod hands;
mod head;
pub mod ir;
mod ir_set;
pub mod jconvolver;
mod line;
mod nested;
mod partition;
mod past;
mod pieces;
mod preemptive;
mod recipe;
mod search;
mod shape;
mod table;
mod unit;

pub use adapter::ConvolverAdapter;
pub use backends::Backends;
pub use choice::{PartitionChoice, PartitionOrigin, choose_partition};
pub use convolver::Convolver;
pub use costs::{
    CostMeasureOptions, CostMeasurement, CostTable, LevelCost, TransformCost, backend_name,
    backend_named, measure_costs,
};
pub use exchange::{Exchange, Preparer};
pub use fdl::Fdl;
pub use garcia::{garcia_partition, level_operations};
pub use gardner::gardner_partition;
pub use hands::{FdlInfo, Inline, LevelScheduler};
pub use partition::{
    AddedLatency, Level, MAX_BLOCK, MAX_IR_FRAMES, MAX_PARTITION_SIZE, MIN_PARTITION_SIZE,
    Partition, PartitionError,
};
pub use preemptive::{LevelThreads, LevelThreadsOptions, Pinning};
pub use recipe::{ConvolverError, ConvolverOptions, Path};
pub use search::{CostFn, FoundPartition, PartitionSpace, min_peak_load, min_total_load};
pub use unit::{register, register_with};
