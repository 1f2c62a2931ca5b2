//! Pictures: graphs as layered diagrams, schedules as Gantt charts, measured values as plots; each as SVG, PDF or PNG.
//!
//! Takes graphs, schedules and measured values, gives bytes; the same bytes for the same input on every machine.
//! May: allocate and take its time. May not: open files, read a clock, know code that runs, use `unsafe`.
//!
//! A picture is made in two steps that know nothing of each other. A chart turns what it shows into a [`Picture`]: a list
//! of shapes and texts with colours and coordinates. A writer turns that into a file.
//!
//! ```text
//!  Graph ──▶ diagram ──▶ layout                                 ┌▶ format::svg
//!  GanttChart ─────────▶ gantt      ──▶ Picture (shapes, texts) ├▶ format::pdf
//!  PartitionChart ─────▶ partition                              └▶ format::png
//!  PatchWindow ────────▶ patch
//!  LinePlot, BarPlot ──▶ plot
//! ```
//!
//! ```
//! use divisi_draw::plot::{Axis, LinePlot, Series, lines};
//!
//! let series = Series { name: "etf".into(), points: vec![(16.0, 1.2.into()), (64.0, 1.9.into())] };
//! let y = Axis { label: "speed-up".into(), ..Axis::default() };
//! let picture = lines(&LinePlot { y, series: vec![series], ..LinePlot::default() });
//! assert!(picture.svg().starts_with("<svg"));
//! ```
#![forbid(unsafe_code)]

mod class;
mod diagram;
mod format;
mod gantt;
mod layout;
mod partition;
mod patch;
mod picture;
pub mod plot;
mod ticks;

pub use class::NodeClass;
pub use diagram::{GraphTooLarge, graph, graph_with_labels};
pub use format::png::PngError;
pub use gantt::{GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, gantt};
pub use partition::{PartitionChart, PartitionLevel, PartitionRow, partitions};
pub use patch::{
    PatchBoxShape, PatchCord, PatchDrawing, PatchDrawingForm, PatchFont, PatchShape, PatchWindow,
    patch,
};
pub use picture::Picture;
