//! Computational process networks: nodes with firing thresholds, joined by queues without copies.
//!
//! Takes nodes and queues, gives the same samples whatever the order in which the nodes fire; and says beforehand whether
//! they fit and how large the queues must be. May: allocate, start threads, use `unsafe` where nodes change hands
//! (`run/crew.rs`). May not: open files, read a clock for anything that is heard, know a graph but as its node.
//!
//! | file | holds |
//! |---|---|
//! | `shape.rs` `network.rs` | a network, as data and with what its nodes do |
//! | `fire.rs` | what a node does: windows in, rooms out |
//! | `checks` | what can be known before it runs |
//! | `ends.rs` `live.rs` `started.rs` | a node and its queues while it runs |
//! | `run` | the ways to run it |
//! | `kinds` | kinds of nodes |
//! | `session` | a network as a session has it |
//! | `unit` | the node `network` of a graph |
//! | `stuck.rs` | all nodes wait: a queue grows, or it is a deadlock |

pub mod checks;
mod ends;
mod error;
mod fire;
pub mod kinds;
mod live;
mod network;
mod run;
pub mod session;
mod shape;
mod started;
mod stuck;
mod sync;
#[cfg(not(loom))]
mod unit;

pub use error::{QueueGrowth, RunError, RunOptions, RunSummary};
pub use fire::{Actor, FireStatus, InputWindow, InputWindows, OutputWindow, OutputWindows};
pub use network::Network;
pub use run::{FiringOrder, run_on_caller};
#[cfg(not(loom))]
pub use run::{run_on_workers, run_threads};
pub use shape::{
    EndOfStream, InputPort, NodeId, NodeSpec, OutputPort, Ports, QueueId, QueueSpec, Topology,
    WiringError,
};
#[cfg(not(loom))]
pub use unit::{register, register_with};
