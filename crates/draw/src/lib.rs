//! Pictures: graphs in layers, schedules and traces as lanes, figures as plots; each as SVG, PDF or PNG.
//!
//! Takes graphs, schedules and figures, gives bytes; the same bytes for the same input on every machine.
//! May: allocate and take its time. May not: open files, read a clock, know code that runs, use `unsafe`.
#![forbid(unsafe_code)]

mod font;
mod ink;
mod lanes;
mod layout;
mod partition;
mod patch;
mod pdf;
mod picture;
pub mod plot;
mod png;
mod svg;
mod ticks;

pub use lanes::{Crossing, Hue, Lane, LaneBox, Lanes, Mark, MarkKind, schedule};
pub use partition::{Cut, Cutting, Partitions, partitions};
pub use patch::{TooLarge, graph, labelled};
pub use picture::Picture;
pub use png::PngError;
