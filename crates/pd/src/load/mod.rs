//! A patch with everything that it names: abstractions found and put in, arguments in place, every box with its ports.
//!
//! ```text
//!  PatchFile ──arguments──▶ words of each box ──class──▶ ports
//!      ▲                          │ not a class
//!      └──────── search ──────────┘ an abstraction: its file, read once
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `instance` | what a loaded patch consists of |
//! | `arguments` | `$1` and `$0` in words |
//! | `scope` | what a canvas sees of those around it |
//! | `search` | folders in which abstractions are looked for |
//! | `loader` | files to instances |
//! | `ports` | inlets and outlets of boxes that show values, and of canvases |
//! | `parsed` | files as they were read |
//! | `box_loader` | boxes that messages make |
//! | `connections` | which connections hold |
//! | `signal_loops` | loops of signals, which nothing computes |
//! | `start_words` | the words behind `pd~ start` |
//! | `sub_patches` | patches that `pd~` starts |

mod arguments;
mod box_loader;
mod connections;
mod copied;
mod instance;
mod loader;
mod parsed;
mod ports;
mod scope;
mod search;
mod signal_loops;
mod start_words;
mod sub_patches;
#[cfg(test)]
mod tests;

pub(crate) use box_loader::BoxLoader;
pub(crate) use copied::{CopySize, box_of, sets_blocks};
pub use instance::{Instance, LoadedObject, LoadedPatch, ObjectBody, SourceFile, SubPatch};
pub(crate) use loader::load_text;
pub(crate) use loader::{MAX_INSTANCES as MAX_PATCH_CANVASES, MAX_PATCH_BOXES, load_inner};
pub use loader::{MAX_INSTANCES, load_patch, load_patch_with};
pub(crate) use ports::ports_of_canvas;
pub(crate) use scope::Scope;
pub use search::SearchPath;
pub(crate) use start_words::{StartWord, StartWords};
pub(crate) use sub_patches::{connected_starts, find_sub_patch, longer_chain};
