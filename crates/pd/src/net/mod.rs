//! Sockets of `netsend` and `netreceive`.
//!
//! ```text
//!  object ── NetCommand ──▶ NetHub, which owns the sockets ── NetEvent ──▶ object, before a block
//! ```
//!
//! In a render the hub is asked before each block and never waits. While a patch plays live another thread has it, and both ways are
//! rings of bytes. What comes from outside is hostile: messages, connections and what waits have limits, and without leave of the
//! user only addresses of this machine are spoken to.
//!
//! | file | holds |
//! |---|---|
//! | `address` | which addresses a patch may use |
//! | `frame` | commands and events as bytes |
//! | `split` | a stream of bytes as messages |
//! | `stream` | one connection |
//! | `hub` | all sockets of a patch |

mod address;
mod frame;
mod hub;
mod split;
mod stream;

pub use address::allow_network;
pub(crate) use frame::{CommandReader, CommandWriter, EventWriter};
pub(crate) use frame::{EventReader, NetCommand, NetEvent, SocketFormat, SocketId, ring};
pub(crate) use hub::{NetHub, Served};
pub use split::Splitter;

/// Bytes of a message, at most, in both directions.
pub(crate) const MAX_MESSAGE: usize = 8000;
