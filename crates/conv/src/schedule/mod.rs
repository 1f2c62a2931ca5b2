//! Schedulers of the levels' jobs, and their deadlines.
//!
//! `README.md` in this folder compares the schedulers and explains their deadlines.
//!
//! | file | holds |
//! |---|---|
//! | `scheduler.rs` | the trait that all schedulers have, and [`Inline`] |
//! | `threads.rs` | threads of the convolver's own, one a level |
//! | `distributed.rs` | some pieces of every level in each callback |
//! | `callback_schedule.rs` | which pieces in which callback |

mod callback_schedule;
mod distributed;
mod scheduler;
mod threads;

pub use callback_schedule::{CallbackSchedule, PeriodicJob, PieceRun};
pub use distributed::TimeDistributed;
pub use scheduler::{Inline, LevelScheduler};
pub use threads::{LevelThreads, LevelThreadsOptions, Pinning};
