//! Pictures: a graph in layers, and times as bars, both as SVG.
//!
//! Takes graphs and figures, gives text; the same text for the same input on every machine.
//! May: allocate and take its time. May not: open files, read a clock, know code that runs, use `unsafe`.
#![forbid(unsafe_code)]

mod layout;
mod measure;
mod paper;
mod patch;
mod plot;

/// Pictures as SVG: for light and dark backgrounds, with nothing that must be fetched.
pub mod svg {
    pub use crate::patch::graph;
    pub use crate::plot::{Bar, Line, histogram};
}
