//! A patch as nodes of the graph: the kind `pd`, and the kind of its steps.
//!
//! ```text
//!   messages ──▶ osc~ ──▶ *~ ──▶ dac~ ──▶ out
//!      ├───────▶ phasor~ ─▶┘      ▲
//!      └───────▶ throw~ ─order─▶ catch~
//! ```
//!
//! The messages of a block come first, in one node. The steps of Pd's order are nodes behind it, cheap ones together, with an edge of sound for each signal.
//! Two steps that touch one thing, of which one changes it, keep Pd's order by an edge without channels. So every executor gives the
//! bits of one thread.
//!
//! | file | holds |
//! |---|---|
//! | `groups` | which steps share a node |
//! | `bundles` | equal groups that share a node, for their filters to run side by side |
//! | `wiring` | where each step finds its signals |
//! | `expansion` | the groups as nodes and edges |
//! | `processors` | what runs in them |
//! | `child_nodes` | sub-patches of `pd~` as nodes |
//! | `playing_names` | names of the patches that play |
//! | `outside` | the ways between a patch and the outside |
//! | `own_params` | what the node has as parameters: names that are received, and boxes |
//! | `names` | which patches of a session share names |
//! | `joined` | patches that share names, as nodes |
//! | `mailbox` | what the node of such a patch gets |
//! | `midi` | MIDI between events and bytes |
//! | `lines` | lines of text between the audio thread and others |
//! | `whole` | a patch as one processor, for those who take no nodes |
//! | `inbox` | messages in words, and what has become of them |
//! | `job_server` | files and memory for a patch that plays live |
//! | `editor` | changes of a patch that plays live |
//! | `net_server` | sockets for a patch that plays live |
//! | `printer` | what a patch prints, to the terminal |
//! | `class_kinds`, `class_unit` | signal classes as kinds of their own |
//! | `kind` | the kinds, and the patch that a node names |

mod bundles;
mod child_nodes;
mod class_kinds;
mod class_unit;
mod editor;
mod expansion;
mod groups;
mod inbox;
mod job_server;
mod joined;
mod kind;
mod lines;
mod mailbox;
mod midi;
mod names;
mod net_server;
mod outside;
mod own_params;
mod playing_names;
mod printer;
mod processors;
mod small_patch;
mod whole;
mod wiring;

pub(crate) use job_server::{JobClient, live_services};
pub use kind::{has_own_names, load_node, register};
pub use names::sharing_patches;
