//! Pure Data patches: files to canvases, abstractions found and put in, every box with its inlets and outlets.
//!
//! Takes the path of a `.pd` file, gives a [`LoadedPatch`] *and* a diagnostic with its place for each mistake.
//! May: allocate, read patch files. May not: link libpd, use `unsafe`, trust a number that it has read.
//!
//! | folder | holds |
//! |---|---|
//! | `file` | one file: words, boxes, connections |
//! | `class` | Pd's classes with their inlets and outlets |
//! | `load` | a patch with everything that it names |
//! | `control` | messages and clocks |
//! | `disk` | files that a patch reads and writes while it plays |
//! | `net` | sockets of a patch |
//! | `expression` | the language of `expr` |
//! | `signal` | signals, in Pd's order |
//! | `state` | what a patch holds, as bytes |
//! | `child` | `pd~`: patches that patches start |
//! | `drawing` | data structures as lines and areas |
//! | `node` | a patch as nodes of the graph, for every executor |
#![forbid(unsafe_code)]

mod child;
mod class;
mod constants;
mod control;
mod disk;
mod drawing;
mod expression;
mod file;
mod load;
mod net;
mod node;
mod signal;
mod state;
mod whole_number;

pub use class::{PortKind, Ports, class_names};
pub use control::{DRAWING_CLASSES, Machine, NotYet, SILENT_CLASSES};
pub use disk::{allow_writing, lost_writes, protect_from_writing};
pub use drawing::{Drawn, DrawnForm, drawn_data};
pub use file::*;
pub use load::*;
pub use net::{Splitter, allow_network};
pub use node::{has_own_names, load_node, register, sharing_patches};
pub use signal::PatchPlayer;
