//! Computational process networks: nodes with firing thresholds, joined by queues without copies.
//!
//! Takes nodes and queues; gives the same samples whatever the order in which the nodes fire, and says beforehand whether
//! the network can run for ever and how large its queues must be. May: allocate, start threads, use `unsafe` where nodes
//! change hands between workers (`run/on_workers.rs`). May not: open files but the session that a node names,
//! read a clock for anything that changes the sound, know a graph but as the node `network` in it.
//!
//! The model, its words and its sources are explained in the crate's `README.md`.
//!
//! | file | holds |
//! |---|---|
//! | `actor.rs` | the code of a node: input windows in, output windows out |
//! | `topology.rs` `network.rs` | a network, as plain data and with its actors |
//! | `checks` | the static checks: rates, deadlock, sizes of queues |
//! | `run` | a network while it runs: on the caller's thread or on workers |
//! | `kinds` | actors: filters, transforms, sources and sinks |
//! | `session` | a network as a section of a session |
//! | `graph_node.rs` | the node `network` of a graph |

mod actor;
pub mod checks;
mod error;
#[cfg(not(loom))]
mod graph_node;
pub mod kinds;
mod network;
mod run;
pub mod session;
mod sync;
mod topology;

pub use actor::{
    Actor, FireStatus, InputWindow, InputWindows, OutputWindow, OutputWindows, Windows,
};
pub use error::{QueueGrowth, RunError, RunOptions, RunSummary};
pub use graph::{NodeId, PortRef};
#[cfg(not(loom))]
pub use graph_node::{register, register_with};
pub use network::Network;
#[cfg(not(loom))]
pub use run::run_on_workers;
pub use run::{FiringOrder, run_on_caller};
pub use topology::{
    EndOfStream, InputPort, NodePorts, NodeSpec, OutputPort, QueueId, QueueSpec, Topology,
    WiringError,
};
