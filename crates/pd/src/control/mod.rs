//! Messages: Pd's control objects, run as Pd runs them.
//!
//! A message goes depth first: before an outlet sends to its second connection, everything that the first one caused has ended.
//! Pd does this by recursion. Here a stack of entries does it, so that no patch can use up the thread's own stack, and so that an
//! object may receive a message while it is sending one (a counter does):
//!
//! ```text
//!   deliver ──▶ Object::float … ──▶ outputs, in the order in which they were sent
//!      ▲                                 │ pushed in reverse
//!      └────────── stack ◀───────────────┘
//! ```
//!
//! An object whose next output depends on what the one before has caused sends it in a step of its own ([`Context::resume`]).
//!
//! | file | holds |
//! |---|---|
//! | `symbol` | texts as numbers |
//! | `value` | what messages consist of |
//! | `object`, `context` | the contract of an object, and what it may do |
//! | `clocks` | logical time, and what is due when |
//! | `arrays` | arrays by name |
//! | `receivers` | objects by the names under which they receive |
//! | `console` | what was printed |
//! | `data`, `pointer` | data structures, and the values that lead to them |
//! | `open_files` | files that boxes have open |
//! | `text` | texts by name |
//! | `jobs`, `job_queue` | files and memory that objects ask for |
//! | `sums` | waves in arrays |
//! | `globals` | what all objects share |
//! | `wire`, `work` | where messages go, and what waits |
//! | `slot` | the place of an object |
//! | `state` | what objects hold, for a process that goes on |
//! | `midi` | MIDI into a patch and out of it |
//! | `net` | sockets of objects |
//! | `machine` | objects, wires, and one tick |
//! | `delivery` | the stack of messages |
//! | `early`, `early_message` | messages of blocks whose signals wait |
//! | `rules` | messages that a class has no method for |
//! | `outside` | what comes from outside, and what goes there |
//! | `results` | results of what objects have asked for |
//! | `signal_objects` | objects of signals, which steps share |
//! | `build`, `built` | a loaded patch to objects and wires |
//! | `placed_box` | names of the boxes that faces show |
//! | `patches` | several patches that share their names |
//! | `canvases`, `edit` | canvases, and messages that change them |
//! | `selection`, `select` | boxes that are selected; messages that select and cut them |
//! | `live_edits`, `chains` | such changes while a patch plays live, and messages that wait for them |
//! | `layout` | boxes and connections of a patch whose messages may change its signals |
//! | `objects` | the classes |

mod arrays;
mod build;
mod built;
mod canvases;
mod chains;
mod clipboard;
mod clocks;
mod console;
mod context;
mod copied;
mod data;
mod delivery;
mod early;
mod early_message;
mod edit;
mod globals;
mod job_queue;
mod jobs;
mod layout;
mod live_edits;
mod machine;
mod midi;
mod net;
mod object;
mod objects;
mod open_files;
mod outside;
mod patches;
mod placed_box;
mod pointer;
mod receivers;
mod results;
mod rules;
mod select;
mod selection;
mod signal_objects;
mod slot;
mod state;
mod sums;
mod symbol;
mod text;
mod value;
mod wire;
mod work;

pub(crate) use arrays::{ArrayId, Arrays, MAX_SAMPLES, SampleBudget};
pub(crate) use build::CHANNELS_OF_PATCH;
pub use build::NotYet;
pub(crate) use built::{Built, BuiltBox};
pub(crate) use clocks::{UNITS_PER_MS, is_now};
pub(crate) use context::Context;
pub(crate) use data::{Beside, Data, Datum, FieldKind, Place, fields_of};
pub(crate) use early::EarlyTick;
pub(crate) use early_message::{EarlyMessage, EarlyWords};
pub(crate) use job_queue::{Jobs, MAX_JOBS};
pub(crate) use jobs::{Job, JobResult};
pub use machine::Machine;
pub(crate) use net::NetService;
pub(crate) use object::{Handled, Object};
pub use objects::{DRAWING_CLASSES, SILENT_CLASSES};
pub(crate) use objects::{Making, expr, unary};
pub(crate) use placed_box::PlacedBox;
pub(crate) use pointer::Pointer;
pub(crate) use symbol::{Symbol, Symbols, words};
pub(crate) use text::{TextWord, Texts};
pub(crate) use value::{Message, Value};
pub(crate) use wire::ObjectId;
