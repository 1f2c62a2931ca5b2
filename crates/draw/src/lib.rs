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

pub use lanes::{
    GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass, gantt,
};
pub use partition::{PartitionChart, PartitionLevel, PartitionRow, partitions};
pub use patch::{GraphTooLarge, graph, graph_with_labels};
pub use picture::Picture;
pub use png::PngError;
