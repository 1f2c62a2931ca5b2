//! Signals: the objects that compute them, and their order, which is Pd's own.
//!
//! | file | holds |
//! |---|---|
//! | `world` | what an object sees while it computes: inlets, arrays, delay lines, named buses |
//! | `order` | a canvas to the row of its objects, sorted as Pd sorts them |
//! | `claimed`, `shared` | what several objects share, and who may touch it |
//! | `steps` | a patch as its messages and a row of steps |
//! | `message_step` | the messages of a patch |
//! | `message_blocks`, `message_changes` | those of several blocks at once, and signals that they have changed |
//! | `touched` | things that signals touch beside their own |
//! | `bind`, `bound_step` | ordered steps to steps with all that they touch |
//! | `place` | where an object lies; those of one row lie together |
//! | `arithmetic`, `chain` | sums, products and the like, which a row computes by itself, one behind the other |
//! | `moves`, `planned_row` | a row that is made while the one before computes, and the objects that move into it |
//! | `row`, `row_step`, `row_blocks` | such steps, run one after the other, and the blocks between them |
//! | `row_builder` | steps to those of a row |
//! | `joined_blocks` | several short blocks of a row as one |
//! | `batch` | several blocks of a row at once, all of a step before the next one |
//! | `order_edges` | which steps wait for which, beside sound |
//! | `schedule` | an order of a row's steps that brings equal recursions together |
//! | `together` | which steps a row computes together |
//! | `traits` | what a row must know of an object before it computes |
//! | `recursion` | what a filter computes from the samples before |
//! | `lanes` | equal recursions of several objects, computed side by side |
//! | `loops` | loops over blocks |
//! | `format`, `reblock` | canvases with blocks and rates of their own |
//! | `state` | what a patch holds, for a process that goes on |
//! | `player` | a patch that plays in one thread: messages, then signals, 64 frames at a time |
//! | `objects` | the classes |

mod arithmetic;
mod batch;
mod bind;
mod bound_step;
mod chain;
mod claimed;
mod format;
mod joined_blocks;
mod lanes;
mod loops;
mod message_blocks;
mod message_changes;
mod message_step;
mod moves;
mod objects;
mod order;
mod order_edges;
mod place;
mod planned_row;
mod player;
mod reblock;
mod recursion;
mod row;
mod row_blocks;
mod row_builder;
mod row_step;
mod schedule;
mod shared;
mod state;
mod steps;
mod together;
mod touched;
mod traits;
mod world;

pub(crate) use arithmetic::{Arithmetic, Operation};
pub(crate) use bound_step::BoundStep;
pub(crate) use claimed::Claimed;
pub(crate) use format::RowFormat;
pub(crate) use message_step::MessageStep;
pub(crate) use objects::{initial_number, make};
pub(crate) use order::Step;
pub(crate) use order_edges::OrderEdges;
pub(crate) use place::{ObjectGroup, ObjectPlace};
pub(crate) use planned_row::ChangedRow;
pub use player::PatchPlayer;
pub(crate) use recursion::{LANES, Recursion, RecursionKind};
pub(crate) use row::Row;
pub(crate) use shared::SharedCell;
pub(crate) use shared::{Accesses, SharedName, SharedSamples};
pub(crate) use steps::{JoinedSteps, PatchSteps};
pub(crate) use world::{BlockTimer, BufferId};
pub(crate) use world::{Inlets, SignalWorld};

/// Frames of a block.
pub(crate) const BLOCK: usize = 64;

/// Blocks of a batch, at most.
pub(crate) const MAX_BATCH: usize = 8;

/// Blocks of a batch that are worth it.
pub(crate) const LEAST_BATCH: usize = 2;

/// Logical times at the ends of the blocks of a batch.
pub(crate) type BatchTimes = [f64; MAX_BATCH];
