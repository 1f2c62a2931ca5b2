//! A Gantt chart: a row for each core or worker, a bar for each task, time from left to right. It shows schedules and
//! traced cycles.
//!
//! ```text
//!  title                                                   frame
//!  note                                              deadline
//!            |         |         |         |           :
//!  core 0    [ osc    ][ mix            ]              :     62 % busy    rows
//!  core 1      [ filter   ]\                           :     27 % busy
//!            |         |    o    |         |           :
//!            0         2         4         6           8 µs
//!  legend
//! ```
//!
//! [`chart`] has the data, [`sheet`] computes all coordinates; [`frame`] draws title, axis, deadline and legend,
//! [`rows`] the bars, [`markers`] events and messages.

mod chart;
mod frame;
mod markers;
mod rows;
mod sheet;
#[cfg(test)]
mod tests;

pub use chart::{GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind};

use crate::picture::Picture;
use sheet::{LegendItems, Sheet};

/// A Gantt chart over a time axis in µs. Idle time stays empty; bars on the critical path have a heavy border, copies a
/// dashed one; bars that are too narrow are merged.
pub fn gantt(chart: &GanttChart) -> Picture {
    let sheet = Sheet::of(chart);
    let description = format!("{}: {} rows", chart.title, chart.rows.len());
    let mut picture = Picture::new(sheet.width, sheet.height, &description);
    picture.has_dark_theme = true;
    sheet.head(&mut picture);
    sheet.axis(&mut picture);
    let mut legend_items = LegendItems::default();
    for (i, row) in sheet.rows.iter().enumerate() {
        sheet.row(&mut picture, i, row, &mut legend_items);
    }
    sheet.arrows(&mut picture, &mut legend_items);
    sheet.deadline(&mut picture);
    sheet.markers(&mut picture, &mut legend_items);
    sheet.legend(&mut picture, &legend_items);
    picture
}
