//! The frame around the rows: title, axis, deadline, legend.

use super::chart::MarkerKind;
use super::markers::{MAX_ARROWS, MAX_MARKERS, symbol};
use super::sheet::{LegendItem, LegendItems, Sheet, TOP, is_near, last_ns};
use crate::picture::color;
use crate::picture::{Picture, Point, Stroke, Style, muted, regular};
use crate::ticks;
use units::Nanos;

impl Sheet<'_> {
    /// Title, note, and the number of items that are not drawn.
    pub(super) fn head(&self, picture: &mut Picture) {
        let mut notes = vec![self.chart.note.clone()];
        if let Some(deadline) = self.chart.deadline_ns
            && !is_near(deadline, last_ns(self.chart))
        {
            notes.push(format!("deadline after {}", Nanos(deadline)));
        }
        let arrows = Some(self.chart.arrows.len()).filter(|count| *count > MAX_ARROWS);
        let markers = self.chart.markers.len().saturating_sub(MAX_MARKERS);
        notes.push(ticks::omissions(&[
            (
                self.chart.rows.len() - self.rows.len(),
                "more rows are not drawn",
            ),
            (arrows.unwrap_or(0), "messages between rows are not drawn"),
            (markers, "more marks are not drawn"),
        ]));
        notes.retain(|note| !note.is_empty());
        picture.head(&self.chart.title, &notes.join(" · "), self.width - 48.0);
    }

    /// Vertical lines at round times, and the times below them.
    pub(super) fn axis(&self, picture: &mut Picture) {
        let bottom = self.bottom() + 8.0;
        let end_us = self.end_ns / 1e3;
        let ticks = ticks::linear(0.0, end_us, 10);
        let x = |value: f64| self.left + value / end_us * (self.right - self.left);
        picture.tick_labels(ticks, x, bottom + 15.0, Some((TOP - 6.0, bottom)));
        let ends = ((self.left, bottom), (self.right, bottom));
        picture.line(ends.0, ends.1, Stroke::solid(color::AXIS, 1.0));
        let unit = (self.right + 12.0, bottom + 15.0);
        picture.text(unit, "µs", muted(11.0));
    }

    pub(super) fn deadline(&self, picture: &mut Picture) {
        let Some(deadline) = self.chart.deadline_ns else {
            return;
        };
        if !is_near(deadline, last_ns(self.chart)) {
            return;
        }
        let x = self.x(deadline);
        let stroke = Stroke::dashed(color::ALERT, 1.5, (5.0, 3.0));
        picture.line((x, TOP - 8.0), (x, self.bottom() + 8.0), stroke);
        let label = format!("deadline {}", Nanos(deadline));
        let half = regular(11.0).width(&label) / 2.0;
        let x = x.clamp(half + 4.0, self.width - half - 4.0);
        let style = regular(11.0).color(color::ALERT).middle();
        picture.text((x, TOP - 12.0), &label, style);
    }

    pub(super) fn legend(&self, picture: &mut Picture, legend_items: &LegendItems) {
        let y = self.height - 16.0;
        let mut x = self.left;
        for item in legend_items {
            let label = item.draw(picture, (x, y));
            picture.text((x + 20.0, y), label, muted(11.0));
            x += 20.0 + regular(11.0).width(label) + 20.0;
        }
    }
}

impl LegendItem {
    /// Draws a sample from `x` on, with its lower edge near `y`. Returns its label.
    fn draw(self, picture: &mut Picture, (x, y): Point) -> &'static str {
        let mut sample = |radius, style| {
            picture.rect((x, y - 9.0), (14.0, 11.0), radius, style);
        };
        match self {
            Self::Critical => {
                sample(
                    2.0,
                    Style::both(color::BLUE.fill, Stroke::solid(color::ALERT, 2.0)),
                );
                "critical path"
            }
            Self::Copy => {
                let border = Stroke::dashed(color::BLUE.border, 1.25, (4.0, 3.0));
                sample(2.0, Style::both(color::BLUE.fill, border));
                "copy"
            }
            Self::Merged => {
                sample(0.0, Style::fill(color::EDGE));
                "many short tasks"
            }
            Self::Arrow => {
                let line = Stroke::solid(color::TEXT_MUTED, 0.8);
                picture.line((x, y - 9.0), (x + 13.0, y), line);
                picture.circle((x + 13.0, y), 1.8, Style::fill(color::TEXT_MUTED));
                "message"
            }
            Self::Marker(kind) => {
                symbol(picture, (x + 7.0, y - 4.0), kind);
                match kind {
                    MarkerKind::Wake => "wakes",
                    MarkerKind::Sleep => "sleeps",
                    MarkerKind::Miss => "misses",
                    MarkerKind::Note => "note",
                }
            }
        }
    }
}
