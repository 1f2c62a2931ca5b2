//! The static checks: what can be known of a network before it runs. Pure functions of its
//! [`Topology`](crate::Topology).
//!
//! A node that reads a window and consumes less of it counts as one that consumes as much as it reads, on a queue that
//! *owes* the difference. So the theory of synchronous dataflow applies (Lee and Messerschmitt, 1987), with negative
//! numbers of initial tokens for overlaps.
//!
//! ```text
//! repetition_vector ──▶ parts ──▶ each: formula (one queue), else simulation, else even schedule ──▶ sizes
//!    balance.rs      biconnected.rs     sizes.rs               simulate.rs     even_schedule.rs
//! ```

mod balance;
mod biconnected;
mod error;
mod even_schedule;
mod lag;
mod simulate;
mod sizes;

pub use balance::repetition_vector;
pub use error::CheckError;
pub(crate) use error::waiting_nodes;
pub use lag::{LagRange, lag_range};
pub use sizes::{CheckResult, check, sufficient_sizes, verify_sizes};

#[cfg(all(test, not(loom)))]
mod tests;
