//! Coordinates of all parts of a Gantt chart.

use super::chart::{GanttChart, GanttRow, MarkerKind};
use crate::picture::regular;
use std::collections::BTreeSet;

/// More rows than this are not drawn.
const MAX_ROWS: usize = 256;
/// Room for the title, above the rows.
pub(super) const TOP: f64 = 64.0;
/// Room for the percentages, right of the rows.
const RIGHT: f64 = 74.0;
const LEGEND: f64 = 30.0;

/// A kind of item that the legend explains, in its order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LegendItem {
    Critical,
    Copy,
    Merged,
    Arrow,
    Marker(MarkerKind),
}

/// The kinds of items that were drawn.
pub(super) type LegendItems = BTreeSet<LegendItem>;

/// Coordinates of rows and times, in pixels.
pub(super) struct Sheet<'a> {
    pub(super) chart: &'a GanttChart,
    /// The rows that are drawn.
    pub(super) rows: &'a [GanttRow],
    /// x of time 0.
    pub(super) left: f64,
    /// x of [`end_ns`](Self::end_ns).
    pub(super) right: f64,
    pub(super) end_ns: f64,
    pub(super) row_height: f64,
    /// Distance of neighbouring rows.
    pub(super) pitch: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl<'a> Sheet<'a> {
    pub(super) fn of(chart: &'a GanttChart) -> Self {
        let rows = &chart.rows[..chart.rows.len().min(MAX_ROWS)];
        let names = rows.iter().map(|row| regular(12.0).width(&name(row)));
        let left = 24.0 + names.fold(24.0, f64::max) + 12.0;
        let last = last_ns(chart);
        let end_ns = match chart.deadline_ns {
            Some(deadline) if is_near(deadline, last) => last.max(deadline as f64) * 1.02,
            _ => last,
        };
        let bars = rows.iter().map(|row| row.bars.len()).max().unwrap_or(0);
        let field = (bars as f64 * 22.0).clamp(760.0, 2400.0);
        let (row_height, pitch) = match rows.len() {
            0..=16 => (40.0, 56.0),
            17..=48 => (22.0, 30.0),
            _ => (12.0, 16.0),
        };
        let rows_height = rows.len().max(1) as f64 * pitch;
        Self {
            chart,
            rows,
            left,
            right: left + field,
            end_ns: end_ns.max(1.0),
            row_height,
            pitch,
            width: left + field + RIGHT,
            height: TOP + rows_height + 40.0 + LEGEND,
        }
    }

    pub(super) fn x(&self, ns: u64) -> f64 {
        self.left + (ns as f64 / self.end_ns).min(1.0) * (self.right - self.left)
    }

    /// The upper edge of a row.
    pub(super) fn y(&self, row: usize) -> f64 {
        TOP + row as f64 * self.pitch
    }

    /// The lower edge of the last row.
    pub(super) fn bottom(&self) -> f64 {
        self.y(self.rows.len().max(1)) - (self.pitch - self.row_height)
    }
}

/// The name of a row, shortened.
pub(super) fn name(row: &GanttRow) -> String {
    regular(12.0).fit(&row.name, 150.0)
}

/// Time of the last end or event; at least 1.
pub(super) fn last_ns(chart: &GanttChart) -> f64 {
    let bars = chart.rows.iter().flat_map(|row| &row.bars);
    let ends = bars.map(|bar| bar.end_ns.max(bar.start_ns));
    let markers = chart.markers.iter().map(|marker| marker.time_ns);
    ends.chain(markers).max().unwrap_or(1).max(1) as f64
}

/// Returns true if the deadline can be drawn without making the rest small.
pub(super) fn is_near(deadline_ns: u64, last_ns: f64) -> bool {
    deadline_ns as f64 <= last_ns * 1.6
}
