//! Events at one time, and messages from row to row.

use super::chart::{GanttArrow, MarkerKind};
use super::sheet::{LegendItem, LegendItems, Sheet};
use crate::picture::color;
use crate::picture::{Picture, Point, Stroke, Style};
use units::Nanos;

/// With more messages than this none is drawn.
pub(super) const MAX_ARROWS: usize = 200;
/// Events beyond this number are not drawn.
pub(super) const MAX_MARKERS: usize = 4000;

impl Sheet<'_> {
    pub(super) fn arrows(&self, picture: &mut Picture, legend_items: &mut LegendItems) {
        if self.chart.arrows.len() > MAX_ARROWS {
            return;
        }
        let is_drawn =
            |a: &&GanttArrow| a.from.0.max(a.to.0) < self.rows.len() && a.from.0 != a.to.0;
        for arrow in self.chart.arrows.iter().filter(is_drawn) {
            let is_down = arrow.from.0 < arrow.to.0;
            let edge = |row: usize, is_lower: bool| {
                self.y(row) + if is_lower { self.row_height } else { 0.0 }
            };
            let from = (self.x(arrow.from.1), edge(arrow.from.0, is_down));
            let to = (self.x(arrow.to.1), edge(arrow.to.0, !is_down));
            picture.line(from, to, Stroke::solid(color::TEXT_MUTED, 0.8));
            picture.circle(to, 1.8, Style::fill(color::TEXT_MUTED));
            legend_items.insert(LegendItem::Arrow);
        }
    }

    pub(super) fn markers(&self, picture: &mut Picture, legend_items: &mut LegendItems) {
        for marker in self.chart.markers.iter().take(MAX_MARKERS) {
            let x = self.x(marker.time_ns);
            let y = match marker.row {
                Some(row) if row < self.rows.len() => self.y(row) + self.row_height,
                Some(_) => continue,
                None => self.bottom() + 8.0,
            };
            legend_items.insert(LegendItem::Marker(marker.kind));
            picture.begin_group(format!("{} at {}", marker.label, Nanos(marker.time_ns)));
            symbol(picture, (x, y), marker.kind);
            picture.end_group();
        }
    }
}

/// Draws the symbol of an event with its middle at `(x, y)`.
pub(super) fn symbol(picture: &mut Picture, (x, y): Point, kind: MarkerKind) {
    let triangle = |tip: f64| [(x - 4.0, y - tip), (x + 4.0, y - tip), (x, y + tip)];
    match kind {
        MarkerKind::Wake => {
            let style = Style::both(color::GREEN.border, Stroke::solid(color::GREEN.border, 1.0));
            picture.polyline(&triangle(-4.0), style);
        }
        MarkerKind::Sleep => {
            let style = Style::both(color::BACKGROUND, Stroke::solid(color::VIOLET.border, 1.2));
            picture.polyline(&triangle(4.0), style);
        }
        MarkerKind::Miss => {
            picture.cross((x, y), 4.0, Stroke::solid(color::ALERT, 2.2));
        }
        MarkerKind::Note => picture.circle((x, y), 3.0, Style::fill(color::AMBER.border)),
    }
}
