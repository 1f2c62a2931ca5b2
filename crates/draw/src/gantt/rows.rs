//! The bars of a row, with their labels; bars that are too narrow are merged.
//!
//! ```text
//!   worker 0 │▇▇ osc ▇▇│▒▒▒▒│▇▇▇▇ mix ▇▇▇▇│      72 % busy
//!                        └ bars narrower than a pixel, as one
//! ```
//!
//! A plan of 10,000 tasks has bars of a hundredth of a pixel. Drawn one by one they would make a large file that looks the same.

use super::chart::{GanttBar, GanttRow};
use super::sheet::{LegendItem, LegendItems, Sheet, last_ns, name};
use crate::picture::color;
use crate::picture::{Picture, Point, Stroke, Style, muted, regular};
use units::Nanos;

/// Bars narrower than this are merged with their neighbours.
const NARROW: f64 = 0.8;

impl Sheet<'_> {
    /// A row with its bars, and at its right the share of time in which it is busy.
    pub(super) fn row(
        &self,
        picture: &mut Picture,
        i: usize,
        row: &GanttRow,
        legend_items: &mut LegendItems,
    ) {
        let (y, height) = (self.y(i), self.row_height);
        let size = (self.right - self.left, height);
        picture.rect((self.left, y), size, 3.0, Style::fill(color::IDLE));
        let font = regular(if height > 20.0 { 12.0 } else { 9.0 });
        let middle = y + height / 2.0 + font.size * 0.35;
        let at = (self.left - 12.0, middle);
        picture.text(at, &name(row), font.color(color::TEXT).end());
        let mut bars: Vec<&GanttBar> = row.bars.iter().collect();
        bars.sort_by_key(|bar| (bar.start_ns, bar.end_ns));
        let busy = busy_ns(&bars) / last_ns(self.chart) * 100.0;
        let label = format!("{busy:.0} % busy");
        let at = (self.right + 12.0, middle);
        picture.text(at, &label, muted(font.size.min(11.0)));
        let mut rest = bars.as_slice();
        while let Some(first) = rest.first() {
            let narrow = self.count_narrow(rest);
            if narrow > 1 {
                self.merged(picture, y, &rest[..narrow]);
                legend_items.insert(LegendItem::Merged);
            } else {
                self.bar(picture, y, first);
                legend_items.extend(first.critical.then_some(LegendItem::Critical));
                legend_items.extend(first.copy.then_some(LegendItem::Copy));
            }
            rest = &rest[narrow.max(1)..];
        }
    }

    /// Number of bars at the head of `bars` that are too narrow to be drawn one by one.
    fn count_narrow(&self, bars: &[&GanttBar]) -> usize {
        let begin = self.x(bars[0].start_ns);
        let is_narrow = |bar: &&&GanttBar| {
            let (x0, x1) = (self.x(bar.start_ns), self.x(bar.end_ns));
            x1 - x0 < NARROW && x0 - begin < NARROW
        };
        bars.iter().take_while(is_narrow).count()
    }

    fn merged(&self, picture: &mut Picture, y: f64, bars: &[&GanttBar]) {
        let x = self.x(bars[0].start_ns);
        let end = bars.iter().map(|bar| bar.end_ns).max().unwrap_or(0);
        let width = (self.x(end) - x).max(NARROW);
        let color = match bars.iter().any(|bar| bar.critical) {
            true => color::ALERT,
            false => color::EDGE,
        };
        picture.begin_group(format!("{} tasks", bars.len()));
        picture.rect((x, y), (width, self.row_height), 0.0, Style::fill(color));
        picture.end_group();
    }

    fn bar(&self, picture: &mut Picture, y: f64, bar: &GanttBar) {
        let (x, end) = (self.x(bar.start_ns), self.x(bar.end_ns));
        let width = (end - x).max(NARROW);
        let colors = bar.class.colors();
        let border = match (bar.critical, bar.copy) {
            (true, true) => Stroke::dashed(color::ALERT, 2.0, (4.0, 3.0)),
            (true, false) => Stroke::solid(color::ALERT, 2.0),
            (false, true) => Stroke::dashed(colors.border, 1.25, (4.0, 3.0)),
            (false, false) => Stroke::solid(colors.border, 1.0),
        };
        picture.begin_group(tooltip(bar));
        if width < 4.0 {
            // There is no room for a border and a fill.
            let fill = if bar.critical {
                color::ALERT
            } else {
                colors.border
            };
            let size = ((width - 0.3).max(0.5), self.row_height);
            picture.rect((x, y), size, 0.0, Style::fill(fill));
        } else {
            let inset = border.width / 2.0;
            let size = (width - 2.0 * inset, self.row_height - 2.0 * inset);
            let style = Style::both(colors.fill, border);
            picture.rect((x + inset, y + inset), size, 2.5, style);
            self.label(picture, (x + width / 2.0, y), width - 8.0, bar);
        }
        picture.end_group();
    }

    /// The label of a bar and, if there is room, how long it takes; `(x, y)` is the middle of the upper edge.
    fn label(&self, picture: &mut Picture, (x, y): Point, room: f64, bar: &GanttBar) {
        let font = regular(if self.row_height > 20.0 { 11.0 } else { 8.5 });
        let label = font.fit(&bar.label, room);
        if label.chars().count() < 3 && label != bar.label {
            return;
        }
        let middle = y + self.row_height / 2.0;
        let time = Nanos(bar.end_ns.saturating_sub(bar.start_ns)).to_string();
        let has_time = self.row_height > 36.0 && regular(9.0).width(&time) < room;
        let base = if has_time {
            middle - 1.5
        } else {
            middle + font.size * 0.35
        };
        picture.text((x, base), &label, font.color(color::TEXT).middle());
        if has_time {
            picture.text((x, middle + 11.0), &time, muted(9.0).middle());
        }
    }
}

fn tooltip(bar: &GanttBar) -> String {
    let times = [bar.start_ns, bar.end_ns].map(Nanos);
    let span = Nanos(bar.end_ns.saturating_sub(bar.start_ns));
    let mut tooltip = format!("{}\n{span}: {} to {}", bar.label, times[0], times[1]);
    if bar.critical {
        tooltip += "\non the critical path";
    }
    if bar.copy {
        tooltip += "\na copy";
    }
    tooltip
}

/// Time in which at least one of `bars` runs; they are sorted by their start.
fn busy_ns(bars: &[&GanttBar]) -> f64 {
    let (mut sum, mut until) = (0, 0);
    for bar in bars {
        let begin = bar.start_ns.max(until);
        sum += bar.end_ns.saturating_sub(begin);
        until = until.max(bar.end_ns);
    }
    sum as f64
}
