//! Where everything is.

use super::{GanttChart, GanttRow};
use crate::picture::plain;

/// More lanes than this are not drawn.
const MOST_LANES: usize = 256;
pub(super) const TOP: f64 = 64.0;
const RIGHT: f64 = 74.0;
const LEGEND: f64 = 30.0;

/// What there is of each sort, for the legend.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) critical: bool,
    pub(super) copy: bool,
    pub(super) crossing: bool,
    pub(super) together: bool,
    pub(super) wake: bool,
    pub(super) sleep: bool,
    pub(super) miss: bool,
    pub(super) note: bool,
}

/// Where everything is.
pub(super) struct Sheet<'a> {
    pub(super) all: &'a GanttChart,
    pub(super) lanes: &'a [GanttRow],
    /// Where time 0 is.
    pub(super) left: f64,
    /// Where the last moment is.
    pub(super) right: f64,
    pub(super) end_ns: f64,
    pub(super) lane_height: f64,
    pub(super) pitch: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl<'a> Sheet<'a> {
    pub(super) fn of(all: &'a GanttChart) -> Self {
        let lanes = &all.rows[..all.rows.len().min(MOST_LANES)];
        let names = lanes.iter().map(|lane| plain(12.0).width(&name(lane)));
        let left = 24.0 + names.fold(24.0, f64::max) + 12.0;
        let last = last_ns(all);
        let end_ns = match all.deadline_ns {
            Some(deadline) if is_near(deadline, last) => last.max(deadline as f64) * 1.02,
            _ => last,
        };
        let most = lanes.iter().map(|lane| lane.bars.len()).max().unwrap_or(0);
        let field = (most as f64 * 22.0).clamp(760.0, 2400.0);
        let (lane_height, pitch) = match lanes.len() {
            0..=16 => (40.0, 56.0),
            17..=48 => (22.0, 30.0),
            _ => (12.0, 16.0),
        };
        let lanes_height = lanes.len().max(1) as f64 * pitch;
        Self {
            all,
            lanes,
            left,
            right: left + field,
            end_ns: end_ns.max(1.0),
            lane_height,
            pitch,
            width: left + field + RIGHT,
            height: TOP + lanes_height + 40.0 + LEGEND,
        }
    }

    pub(super) fn x(&self, ns: u64) -> f64 {
        self.left + (ns as f64 / self.end_ns).min(1.0) * (self.right - self.left)
    }

    pub(super) fn y(&self, lane: usize) -> f64 {
        TOP + lane as f64 * self.pitch
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y(self.lanes.len().max(1)) - (self.pitch - self.lane_height)
    }
}

pub(super) fn name(lane: &GanttRow) -> String {
    plain(12.0).fit(&lane.name, 150.0)
}

/// When the last box is done; at least 1.
pub(super) fn last_ns(all: &GanttChart) -> f64 {
    let boxes = all.rows.iter().flat_map(|lane| &lane.bars);
    let ends = boxes.map(|item| item.end_ns.max(item.start_ns));
    let marks = all.markers.iter().map(|mark| mark.time_ns);
    ends.chain(marks).max().unwrap_or(1).max(1) as f64
}

/// Whether a deadline can be drawn without making the rest small.
pub(super) fn is_near(deadline_ns: u64, last_ns: f64) -> bool {
    deadline_ns as f64 <= last_ns * 1.6
}
