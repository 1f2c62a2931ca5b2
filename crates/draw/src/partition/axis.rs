//! The axis over the frames of the impulse response.

use super::chart::{PartitionChart, PartitionRow};
use super::sheet::{FIELD, LEFT, ROW, TOP};
use crate::picture::color;
use crate::picture::{Picture, Stroke, muted};
use crate::ticks;

/// Longest impulse response, in blocks, that is shown on a linear axis.
const MAX_LINEAR: u64 = 1024;

/// The horizontal axis: frames of the impulse response.
pub(super) struct Axis {
    end: f64,
    block: f64,
    /// True if it is logarithmic.
    is_log: bool,
    length: u64,
}

impl Axis {
    pub(super) fn of(chart: &PartitionChart, rows: &[PartitionRow]) -> Self {
        let levels = rows.iter().flat_map(|row| row.levels.iter());
        let last = levels.map(|level| level.end()).max().unwrap_or(0);
        let end = last.max(chart.length).max(1);
        let block = chart.block.max(1);
        Self {
            end: end as f64,
            block: block as f64,
            is_log: end / block > MAX_LINEAR,
            length: chart.length,
        }
    }

    /// Horizontal position of a frame.
    pub(super) fn x(&self, frame: u64) -> f64 {
        let frame = frame as f64;
        let position = if self.is_log {
            (1.0 + frame / self.block).log2() / (1.0 + self.end / self.block).log2()
        } else {
            frame / self.end
        };
        LEFT + position.clamp(0.0, 1.0) * FIELD
    }

    /// Frames to label, and how exact the labels are.
    fn values(&self) -> (Vec<f64>, f64) {
        if !self.is_log {
            return ticks::linear(0.0, self.end, 9);
        }
        let mut values = vec![0.0];
        let mut at = self.block;
        while at <= self.end && values.len() < 64 {
            values.push(at);
            at *= 4.0;
        }
        (values, 1.0)
    }

    /// Draws the grid lines, their labels, and the end of the impulse response.
    pub(super) fn draw(&self, picture: &mut Picture, rows: usize) {
        let bottom = TOP + rows as f64 * ROW + 4.0;
        let x = |value: f64| self.x(value as u64);
        let grid = Some((TOP - 4.0, bottom));
        picture.tick_labels(self.values(), x, bottom + 14.0, grid);
        let x = self.x(self.length);
        let stroke = Stroke::dashed(color::ALERT, 1.2, (5.0, 3.0));
        picture.line((x, TOP - 4.0), (x, bottom), stroke);
        let scale = if self.is_log { ", logarithmic" } else { "" };
        let title = format!("frames of the impulse response{scale}");
        let at = (LEFT + FIELD, bottom + 28.0);
        picture.text(at, &title, muted(11.0).end());
    }
}
