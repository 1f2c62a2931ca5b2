//! The frame around the rows: title, axis, deadline, legend.

use super::chart::MarkerKind;
use super::markers::{MAX_ARROWS, MAX_MARKERS, symbol};
use super::sheet::{LegendItems, Sheet, TOP, is_near, last_ns};
use crate::picture::color;
use crate::picture::{Picture, Stroke, Style, regular};
use crate::ticks;
use units::Nanos;

impl Sheet<'_> {
    /// Title, note, and the number of items that are not drawn.
    pub(super) fn head(&self, picture: &mut Picture) {
        let mut notes: Vec<String> = vec![self.chart.note.clone()];
        if let Some(deadline) = self.chart.deadline_ns
            && !is_near(deadline, last_ns(self.chart))
        {
            notes.push(format!("deadline after {}", Nanos(deadline)));
        }
        let hidden = self.chart.rows.len() - self.rows.len();
        if hidden > 0 {
            notes.push(format!("{hidden} more rows are not drawn"));
        }
        if self.chart.arrows.len() > MAX_ARROWS {
            let count = self.chart.arrows.len();
            notes.push(format!("{count} messages between rows are not drawn"));
        }
        if self.chart.markers.len() > MAX_MARKERS {
            let hidden = self.chart.markers.len() - MAX_MARKERS;
            notes.push(format!("{hidden} more marks are not drawn"));
        }
        notes.retain(|note| !note.is_empty());
        picture.head(&self.chart.title, &notes.join(" · "), self.width - 48.0);
    }

    /// Vertical lines at round times, and the times below them.
    pub(super) fn axis(&self, picture: &mut Picture) {
        let bottom = self.bottom() + 8.0;
        let end_us = self.end_ns / 1e3;
        let (values, step) = ticks::linear(0.0, end_us, 10);
        for value in values {
            let x = self.left + value / end_us * (self.right - self.left);
            picture.line((x, TOP - 6.0), (x, bottom), Stroke::solid(color::GRID, 1.0));
            let label = ticks::number(value, step);
            picture.text(
                (x, bottom + 15.0),
                &label,
                regular(11.0).color(color::TEXT_MUTED).middle(),
            );
        }
        let ends = ((self.left, bottom), (self.right, bottom));
        picture.line(ends.0, ends.1, Stroke::solid(color::AXIS, 1.0));
        let unit = (self.right + 12.0, bottom + 15.0);
        picture.text(unit, "µs", regular(11.0).color(color::TEXT_MUTED));
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
        picture.text(
            (x, TOP - 12.0),
            &label,
            regular(11.0).color(color::ALERT).middle(),
        );
    }

    pub(super) fn legend(&self, picture: &mut Picture, legend_items: &LegendItems) {
        let y = self.height - 16.0;
        let mut x = self.left;
        let mut entry = |label: &str, draw: &dyn Fn(&mut Picture, f64)| {
            draw(picture, x);
            picture.text((x + 20.0, y), label, regular(11.0).color(color::TEXT_MUTED));
            x += 20.0 + regular(11.0).width(label) + 20.0;
        };
        let sample = |border: Stroke| {
            move |picture: &mut Picture, x: f64| {
                let style = Style::both(color::BLUE.fill, border);
                picture.rect((x, y - 9.0), (14.0, 11.0), 2.0, style);
            }
        };
        if legend_items.critical {
            entry("critical path", &sample(Stroke::solid(color::ALERT, 2.0)));
        }
        if legend_items.copy {
            entry(
                "copy",
                &sample(Stroke::dashed(color::BLUE.border, 1.25, (4.0, 3.0))),
            );
        }
        if legend_items.merged {
            entry("many short tasks", &|picture, x| {
                picture.rect((x, y - 9.0), (14.0, 11.0), 0.0, Style::fill(color::EDGE));
            });
        }
        if legend_items.arrow {
            entry("message", &|picture, x| {
                picture.line(
                    (x, y - 9.0),
                    (x + 13.0, y),
                    Stroke::solid(color::TEXT_MUTED, 0.8),
                );
                picture.circle((x + 13.0, y), 1.8, Style::fill(color::TEXT_MUTED));
            });
        }
        let markers = [
            (legend_items.wake, MarkerKind::Wake, "wakes"),
            (legend_items.sleep, MarkerKind::Sleep, "sleeps"),
            (legend_items.miss, MarkerKind::Miss, "misses"),
            (legend_items.note, MarkerKind::Note, "note"),
        ];
        for (_, kind, label) in markers.into_iter().filter(|marker| marker.0) {
            entry(label, &|picture, x| {
                symbol(picture, (x + 7.0, y - 4.0), kind);
            });
        }
    }
}
