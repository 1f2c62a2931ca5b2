//! The frame of a plot: title, axes, legend; and the field between the axes.

use super::data::Axis;
use super::range::Range;
use crate::picture::color;
use crate::picture::{Picture, Point, Stroke, regular};

const WIDTH: f64 = 760.0;
/// Height of the field.
const HEIGHT: f64 = 300.0;
/// Margin right of the field.
const RIGHT: f64 = 24.0;
/// Room above the field, for title and note.
const TOP: f64 = 84.0;
/// Widest label of a tick, and widest name in the legend.
const MAX_TICK: f64 = 140.0;
const MAX_NAME: f64 = 260.0;
const LEGEND_ROW: f64 = 18.0;

/// The field between the axes, which turns values into positions.
pub(super) struct Field {
    pub(super) x: Range,
    pub(super) y: Range,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    top: f64,
}

/// The frame around a field.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    /// A line below the title.
    pub(super) note: String,
    /// The horizontal axis; `None` if the caller draws it.
    pub(super) x: Option<&'a Axis>,
    pub(super) y: &'a Axis,
    /// Height of the room between the field and the legend.
    pub(super) below: f64,
    /// The names in the legend.
    pub(super) names: Vec<String>,
}

impl Frame<'_> {
    /// Draws everything but the series. Returns the field, the picture, and for each name in the legend where its symbol
    /// goes.
    pub(super) fn draw(&self, x: Range, y: Range) -> (Field, Picture, Vec<Point>) {
        let y_ticks = y.ticks(8);
        let labels = y_ticks.iter().filter_map(|tick| tick.1.as_ref());
        let widest = labels
            .map(|label| regular(11.0).width(label))
            .fold(16.0, f64::max);
        let field = Field {
            x,
            y,
            left: 46.0 + widest.min(MAX_TICK),
            right: WIDTH - RIGHT,
            top: TOP,
            bottom: TOP + HEIGHT,
        };
        let legend_top = field.bottom + self.below + 22.0;
        let legend = self.legend_places(&field, legend_top);
        let rows_end = legend.last().map_or(legend_top, |at| at.1 + LEGEND_ROW);
        let mut picture = Picture::new(WIDTH, rows_end, self.title);
        picture.head(self.title, &self.note, WIDTH - 48.0);
        field.y_axis(&mut picture, self.y, &y_ticks);
        if let Some(axis) = self.x {
            field.x_axis(&mut picture, axis);
        }
        for (name, (x, y)) in self.names.iter().zip(&legend) {
            let name = regular(11.5).fit(name, MAX_NAME);
            let at = (x + 30.0, *y);
            picture.text(at, &name, regular(11.5).color(color::TEXT));
        }
        (field, picture, legend)
    }

    /// Positions of the legend's names, in rows as wide as the field.
    fn legend_places(&self, field: &Field, top: f64) -> Vec<Point> {
        let (mut x, mut y) = (field.left, top);
        let mut places = Vec::new();
        for name in &self.names {
            let font = regular(11.5);
            let width = 30.0 + font.width(&font.fit(name, MAX_NAME)) + 22.0;
            if x > field.left && x + width > field.right + 22.0 {
                (x, y) = (field.left, y + LEGEND_ROW);
            }
            places.push((x, y));
            x += width;
        }
        places
    }
}

impl Field {
    /// Horizontal position of a value.
    pub(super) fn px(&self, value: f64) -> f64 {
        self.left + self.x.position(value) * (self.right - self.left)
    }

    /// Vertical position of a value.
    pub(super) fn py(&self, value: f64) -> f64 {
        self.bottom - self.y.position(value) * (self.bottom - self.top)
    }

    /// The y from which bars start.
    pub(super) fn ground(&self) -> f64 {
        if self.y.is_log {
            self.bottom
        } else {
            self.py(0.0)
        }
    }

    /// The vertical axis, its grid lines, and the line at 0.
    fn y_axis(&self, picture: &mut Picture, axis: &Axis, ticks: &[(f64, Option<String>)]) {
        let line = Stroke::solid(color::AXIS, 1.0);
        let font = regular(11.0);
        for (value, label) in ticks {
            let y = self.py(*value);
            let Some(label) = label else {
                picture.line((self.left - 3.0, y), (self.left, y), line);
                continue;
            };
            let grid = Stroke::solid(color::GRID, 1.0);
            picture.line((self.left, y), (self.right, y), grid);
            let label = font.fit(label, MAX_TICK);
            let at = (self.left - 7.0, y + 4.0);
            picture.text(at, &label, font.color(color::TEXT_MUTED).end());
        }
        picture.line((self.left, self.top), (self.left, self.bottom), line);
        picture.line((self.left, self.bottom), (self.right, self.bottom), line);
        if !self.y.is_log && self.y.low < 0.0 && self.y.high > 0.0 {
            picture.line((self.left, self.py(0.0)), (self.right, self.py(0.0)), line);
        }
        let title = regular(12.0).fit(&axis.title(), HEIGHT);
        let at = (22.0, (self.top + self.bottom) / 2.0);
        picture.vertical_text(at, &title, regular(12.0).color(color::TEXT));
    }

    /// The horizontal axis; a label that would overlap the one before is left out.
    fn x_axis(&self, picture: &mut Picture, axis: &Axis) {
        let mut end = f64::NEG_INFINITY;
        let font = regular(11.0);
        for (value, label) in self.x.ticks(9) {
            let x = self.px(value);
            let length = if label.is_some() { 5.0 } else { 3.0 };
            let line = Stroke::solid(color::AXIS, 1.0);
            picture.line((x, self.bottom), (x, self.bottom + length), line);
            let Some(label) = label else { continue };
            let label = font.fit(&label, 120.0);
            let half = font.width(&label) / 2.0;
            if x - half > end {
                let at = (x, self.bottom + 18.0);
                picture.text(at, &label, font.color(color::TEXT_MUTED).middle());
                end = x + half + 4.0;
            }
        }
        let title = regular(12.0).fit(&axis.title(), self.right - self.left);
        let at = ((self.left + self.right) / 2.0, self.bottom + 36.0);
        picture.text(at, &title, regular(12.0).color(color::TEXT).middle());
    }
}
