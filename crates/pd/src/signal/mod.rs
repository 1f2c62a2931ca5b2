//! Signals: the objects that compute them, and their order, which is Pd's own.
//!
//! | file | holds |
//! |---|---|
//! | `world` | what an object sees while it computes: inlets, arrays, delay lines, named buses |
//! | `order` | a canvas to the row of its objects, sorted as Pd sorts them |
//! | `player` | a patch that plays: messages, then signals, 64 frames at a time |
//! | `objects` | the classes |

mod objects;
mod order;
mod player;
mod world;

pub(crate) use objects::{initial_number, make};
pub use player::PatchPlayer;
pub(crate) use world::{Inlets, SignalState, SignalWorld};

/// Frames of a block.
pub(crate) const BLOCK: usize = 64;
