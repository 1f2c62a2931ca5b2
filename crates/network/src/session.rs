//! The section `[network]` of a session: a network as text.
//!
//! ```toml
//! [network]
//! edges = ["in -> low -> half -> out"]
//! channels = 2          # of nodes that do not set it; 1 by default
//! piece = 256           # frames that a firing moves; likewise
//!
//! [network.nodes]
//! in = { kind = "input" }
//! low = { kind = "overlap_save", taps = 511, cutoff = 0.1, size = 4096 }
//! half = { kind = "decimate", factor = 2, taps = 63 }
//! out = { kind = "output" }
//!
//! [network.queues]
//! "low -> half" = { size = 8192, initial = 0 }
//! ```
//!
//! Nodes and edges follow the rules of the session's own (`text`), with the kinds of `session/catalogue.rs`. Reading is a
//! chain:
//!
//! ```text
//! text ──▶ graph::Graph ──▶ Network (actors, queues) ──▶ static check ──▶ NetworkSpec
//!       text's reader     session/reader.rs             checks
//! ```

mod actors;
mod catalogue;
mod reader;
mod schema;
mod spec;

pub use reader::{NetworkReading, read};
pub use schema::extend_schema;
pub use spec::NetworkSpec;

pub(crate) use actors::Placeholder;

/// The session's section that holds the network.
pub const SECTION: &str = "network";
/// Largest memory of all queues of a session's network, in bytes.
pub const MAX_MEMORY: usize = 1 << 30;
/// Largest number of nodes in a session's network.
pub const MAX_NODES: usize = 256;

#[cfg(all(test, not(loom)))]
mod tests;
