//! `pd~`: a patch that another patch starts, and that computes beside it.
//!
//! In Pd it is another process, to which a pipe leads, and from which another one comes back. Here the pipes are rings, and the
//! sub-patch is a node of the plan (or, where nobody takes nodes, computed behind the signals of its patch). In block `k` of the
//! parent the sub-patch computes its block `k + 1`, for which everything has come with `fifo` 2 and more, while the parent
//! computes:
//!
//! ```text
//!            parent, block k                       sub-patch, block k
//!   messages of block k to its outlet  ◀── k     ┌─────────────────────────┐
//!   messages, sound of block k  ── k + fifo ──▶  │ computes its block k + 1│
//!   sound of block k to its outlets    ◀── k     └─────────────────────────┘
//! ```
//!
//! So nothing of the same block leads from one to the other, and the bits are those of Pd, on any number of workers. With `fifo` 1
//! the sub-patch waits for the sound of the same block.
//!
//! | file | holds |
//! |---|---|
//! | `frames` | messages as bytes |
//! | `pipe` | the rings, with an end for each side |
//! | `border` | what parent and sub-patch tell each other between blocks: start, stop, how far they are |
//! | `opening` | a sub-patch that is opened, and who opens it |
//! | `children` | all sub-patches of a machine |
//! | `pd_object` | the box `pd~` |
//! | `player` | a sub-patch that plays |

mod border;
mod children;
mod frames;
mod opening;
mod pd_object;
mod pipe;
mod player;

use crate::signal::BLOCK;
use processor::Block;

pub(crate) use border::{Border, ChildPatch, ChildRunner};
pub(crate) use children::Children;
pub(crate) use opening::{ChildRequest, Opened};
pub(crate) use pd_object::make;
pub(crate) use player::{allow_children, prepare_named};

/// Number of a block, from 1: the same in all nodes, also behind a cycle in which some were not computed.
///
/// Real-time: hot.
pub(crate) fn block_number(block: &Block<'_>) -> u64 {
    block.position() / BLOCK as u64 + 1
}
