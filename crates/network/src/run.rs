//! Networks while they run, on the caller's thread or on a pool of workers. Both give the same samples.
//!
//! ```text
//!  on_caller ─┐                                   ┌─ queue_ends: is there a window, is there room
//!             ├─▶ instance: nodes and queues ─▶ node: fires, or says what it waits for
//!  on_workers ┘      │          ▲
//!   ready_set        └─ all wait: deadlock ─ a queue grows, or the run ends
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `queue_ends.rs` | the two ends of a queue, as its nodes hold them |
//! | `node.rs` | a running node: whether it can fire, and its firing |
//! | `instance.rs` `queues.rs` | a network with its queues in memory |
//! | `deadlock.rs` | all nodes wait: a queue grows, or it is a deadlock |
//! | `on_caller.rs` | one thread |
//! | `on_workers.rs` `ready_set.rs` | a pool of workers, and the set of nodes that may fire |

mod deadlock;
pub(crate) mod instance;
pub(crate) mod node;
mod on_caller;
#[cfg(not(loom))]
mod on_workers;
pub(crate) mod queue_ends;
pub(crate) mod queues;
mod ready_set;

pub use on_caller::{FiringOrder, run_on_caller};
#[cfg(not(loom))]
pub use on_workers::run_on_workers;
