//! Partitioned convolution: long impulse responses without latency, for many channels.
//!
//! Takes impulse responses and a [`Partition`], gives a [`Convolver`] that processes blocks. May: allocate, transform and
//! start threads when something is made. May not: do any of that in a callback, or know graphs outside `node/`.
//!
//! ```
//! use divisi_conv::{AddedLatency, Convolver, ConvolverOptions, Inline, Partition, Path};
//!
//! let response: Vec<f32> = (0..30_000).map(|n| 0.9998f32.powi(n) / 50.0).collect();
//! let partition = Partition::typical(64, AddedLatency::None, response.len())?;
//! let path = Path::new(0, 0, response);
//! let mut convolver = Convolver::new(1, 1, &[path], &ConvolverOptions::new(partition))?;
//! let (input, mut output) = ([0.5; 64], [0.0; 64]);
//! convolver.process(&[&input], &mut [&mut output], &mut Inline);
//! assert!((output[0] - 0.01).abs() < 1e-6); // in the same block: no latency
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Begin with `level/README.md`: what a level is, and how a block goes through the convolver.
//!
//! | folder | holds |
//! |---|---|
//! | `convolver/` | [`Convolver`]: all channels and levels, a block at a time |
//! | `level/` | one level: the frequency-domain delay line, and the callback's side of it |
//! | `direct/` | the head, which is convolved directly |
//! | `schedule/` | who does the work of the levels, and by when |
//! | `partition/` | [`Partition`]: a head, then levels |
//! | `tuning/` | which partition: search, costs, measurement |
//! | `response/` | impulse responses from files and memory, jconvolver's configurations, exchange while it runs |
//! | `node/` | the node `convolver` |

mod convolver;
mod direct;
mod level;
mod node;
mod partition;
mod response;
mod schedule;
mod tuning;

pub use convolver::{Convolver, ConvolverAdapter, ConvolverError, ConvolverOptions, Path};
pub use level::{Fdl, FdlInfo, lookahead};
pub use node::{register, register_tuned, register_with};
pub use partition::{
    AddedLatency, Level, MAX_BLOCK, MAX_IR_FRAMES, MAX_PARTITION_SIZE, MIN_PARTITION_SIZE,
    Partition, PartitionError,
};
pub use response::exchange::{Exchange, Preparer};
pub use response::{ir, jconvolver};
pub use schedule::{
    CallbackSchedule, Inline, LevelScheduler, LevelThreads, LevelThreadsOptions, PeriodicJob,
    PieceRun, Pinning, TimeDistributed,
};
pub use tuning::{
    CostFn, CostMeasureOptions, CostMeasurement, CostTable, FoundPartition, LevelCost,
    PartitionChoice, PartitionOrigin, PartitionSpace, choose_partition, costs_file_key,
    garcia_partition, gardner_partition, level_operations, measure_costs, min_peak_load,
    min_total_load, read_tuned_costs,
};
