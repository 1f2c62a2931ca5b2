//! Long levels without a thread: their work is spread over the callbacks of their periods.
//!
//! | file | holds |
//! |---|---|
//! | `evenly.rs` | any number of levels: some pieces of each in every callback |
//! | `spread.rs` | which piece in which callback |
//! | `two_levels.rs` | exactly two levels, by decimation in frequency: as even as can be |
//! | `ratio.rs` `long.rs` | how long the second one is; its memory |
//! | `decimation.rs` | a long transform as several short ones |

mod decimation;
mod evenly;
mod long;
mod ratio;
mod spread;
mod two_levels;

pub use evenly::TimeDistributed;
pub use ratio::LevelRatio;
pub use spread::{CallbackSchedule, PeriodicJob, PieceRun};
pub use two_levels::TwoLevelConvolver;
