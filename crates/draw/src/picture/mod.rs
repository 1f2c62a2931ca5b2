//! A picture: a sheet and the items on it, in drawing order. Every format is written from the same items.
//!
//! This is a retained scene, as small as can be: the charts in [`diagram`](crate::diagram), [`gantt`](crate::gantt),
//! [`partition`](crate::partition) and [`plot`](crate::plot) add items and know no format; the writers in
//! [`format`](crate::format) walk over the items and know no chart. [`item`] has the types, [`color`] the colours, [`font`]
//! the two faces and their metrics: text is measured here, once, so that it takes the same room in every format.

pub(crate) mod color;
pub(crate) mod font;
pub(crate) mod item;

use crate::ticks;
use item::Text;
pub(crate) use item::{
    Anchor, Geometry, Item, PathSegment, Point, Stroke, Style, TextStyle, bold, muted, regular,
};

/// Coordinates are clamped to this many pixels from the origin, so that every format can hold them.
const MAX_COORDINATE: f64 = 4.0e6;

/// A finished picture, ready to be written as SVG, PDF or PNG. Lengths are in pixels of 1/96 inch.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) description: String,
    pub(crate) items: Vec<Item>,
    /// True if the SVG brings dark colours for viewers that ask for them.
    pub(crate) has_dark_theme: bool,
}

impl Picture {
    /// An empty sheet of this size; `description` is its title for screen readers.
    pub(crate) fn new(width: f64, height: f64, description: &str) -> Self {
        let whole = |length: f64| clamp(length).max(1.0).ceil();
        Self {
            width: whole(width),
            height: whole(height),
            description: font::printable(description),
            items: Vec::new(),
            has_dark_theme: false,
        }
    }

    /// Begins a group with a tooltip; it lasts until [`end_group`](Self::end_group).
    pub(crate) fn begin_group(&mut self, tooltip: impl Into<String>) {
        self.items.push(Item::GroupStart(tooltip.into()));
    }

    pub(crate) fn end_group(&mut self) {
        self.items.push(Item::GroupEnd);
    }

    /// Adds one line of text with its anchor at `at`.
    pub(crate) fn text(&mut self, at: Point, content: &str, style: TextStyle) {
        self.items.push(Item::Text(Text {
            at: clamp_point(at),
            content: font::printable(content),
            style,
            is_vertical: false,
        }));
    }

    /// Adds a line of text that reads from bottom to top, with its middle at `at`.
    pub(crate) fn vertical_text(&mut self, at: Point, content: &str, style: TextStyle) {
        self.text(at, content, style.middle());
        if let Some(Item::Text(text)) = self.items.last_mut() {
            text.is_vertical = true;
        }
    }

    /// Adds the title of a chart and the note below it, shortened to `room`.
    pub(crate) fn head(&mut self, title: &str, note: &str, room: f64) {
        let (bold, muted) = (bold(15.0), muted(11.5));
        let title = bold.fit(title, room);
        self.text((24.0, 28.0), &title, bold.color(color::TEXT));
        self.text((24.0, 46.0), &muted.font.fit(note, room), muted);
    }

    /// Adds a rectangle with its upper left corner at `at`.
    pub(crate) fn rect(&mut self, at: Point, size: (f64, f64), radius: f64, style: Style) {
        let size = clamp_point((size.0.max(0.0), size.1.max(0.0)));
        let rect = Geometry::Rect(clamp_point(at), size, radius);
        self.items.push(Item::Shape(rect, style));
    }

    pub(crate) fn circle(&mut self, center: Point, radius: f64, style: Style) {
        let circle = Geometry::Circle(clamp_point(center), radius);
        self.items.push(Item::Shape(circle, style));
    }

    /// Adds a straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.polyline(&[from, to], Style::stroke(stroke));
    }

    /// Adds straight lines from point to point; closed if it is filled.
    pub(crate) fn polyline(&mut self, points: &[Point], style: Style) {
        let segment = |(i, at): (usize, &Point)| match i {
            0 => PathSegment::Move(at.0, at.1),
            _ => PathSegment::Line(at.0, at.1),
        };
        let mut segments: Vec<PathSegment> = points.iter().enumerate().map(segment).collect();
        if style.fill.is_some() {
            segments.push(PathSegment::Close);
        }
        self.path(segments, style);
    }

    /// Adds an upright cross of two diagonals, `radius` to each side of `center`.
    pub(crate) fn cross(&mut self, (x, y): Point, radius: f64, stroke: Stroke) {
        let diagonals = vec![
            PathSegment::Move(x - radius, y - radius),
            PathSegment::Line(x + radius, y + radius),
            PathSegment::Move(x - radius, y + radius),
            PathSegment::Line(x + radius, y - radius),
        ];
        self.path(diagonals, Style::stroke(stroke));
    }

    pub(crate) fn path(&mut self, segments: Vec<PathSegment>, style: Style) {
        let clamped = segments.into_iter().map(|segment| segment.map(clamp_point));
        let path = Geometry::Path(clamped.collect());
        if path != Geometry::Path(Vec::new()) {
            self.items.push(Item::Shape(path, style));
        }
    }

    /// Adds a label for each value, which are a step apart, with its middle at its `x` on the baseline `y`; and a vertical
    /// line at each if `grid` has its ends.
    pub(crate) fn tick_labels(
        &mut self,
        (values, step): (Vec<f64>, f64),
        x: impl Fn(f64) -> f64,
        y: f64,
        grid: Option<(f64, f64)>,
    ) {
        for value in values {
            let x = x(value);
            if let Some((top, bottom)) = grid {
                self.line((x, top), (x, bottom), Stroke::solid(color::GRID, 1.0));
            }
            let label = ticks::number(value, step);
            self.text((x, y), &label, muted(11.0).middle());
        }
    }
}

fn clamp_point((x, y): Point) -> Point {
    (clamp(x), clamp(y))
}

/// `length` within the bounds of a sheet; 0 if it is not a number.
fn clamp(length: f64) -> f64 {
    if length.is_nan() {
        0.0
    } else {
        length.clamp(-MAX_COORDINATE, MAX_COORDINATE)
    }
}
