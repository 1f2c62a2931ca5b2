//! The ways to run a network: on one thread, with a thread for each node, on a crew of workers. All give the same samples.

mod alone;
#[cfg(not(loom))]
mod crew;
mod ready;
#[cfg(not(loom))]
mod threads;

pub use alone::{FiringOrder, run_on_caller};
#[cfg(not(loom))]
pub use crew::run_on_workers;
#[cfg(not(loom))]
pub use threads::run_threads;
