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
//! | `search` | folders in which abstractions are looked for |
//! | `loader` | files to instances |
//! | `connections` | which connections hold |
//! | `signal_loops` | loops of signals, which nothing computes |

mod arguments;
mod connections;
mod instance;
mod loader;
mod search;
mod signal_loops;
#[cfg(test)]
mod tests;

pub use instance::{Instance, LoadedObject, LoadedPatch, ObjectBody, SourceFile};
pub use loader::{MAX_INSTANCES, load_patch};
pub use search::SearchPath;
