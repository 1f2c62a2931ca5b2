//! The items of a picture: shapes, lines of text, groups; and their styles.
//!
//! Lengths are in pixels of 1/96 inch. x grows to the right, y grows downwards.

use super::color::{self, Color};
use super::font::{self, Face};

/// A point, as (x, y).
pub(crate) type Point = (f64, f64);

/// One item of a picture. Items are drawn in order, so later ones cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A shape: filled first, then outlined.
    Shape(Geometry, Style),
    Text(Text),
    /// Start of a group that has this tooltip. Only SVG shows tooltips.
    GroupStart(String),
    /// End of the group that the last open `GroupStart` began.
    GroupEnd,
}

/// The outline of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Geometry {
    /// Upper left corner, width and height, corner radius.
    Rect(Point, (f64, f64), f64),
    /// Centre and radius.
    Circle(Point, f64),
    Path(Vec<PathSegment>),
}

/// One segment of a path, as in SVG, PDF and PostScript.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathSegment {
    Move(f64, f64),
    Line(f64, f64),
    /// A cubic Bézier curve: two control points and the end point.
    Curve([Point; 3]),
    Close,
}

impl PathSegment {
    /// The segment with all its points moved by `place`.
    pub(crate) fn map(self, place: impl Fn(Point) -> Point) -> Self {
        match self {
            Self::Move(x, y) => {
                let (x, y) = place((x, y));
                Self::Move(x, y)
            }
            Self::Line(x, y) => {
                let (x, y) = place((x, y));
                Self::Line(x, y)
            }
            Self::Curve(points) => Self::Curve(points.map(place)),
            Self::Close => Self::Close,
        }
    }
}

/// Fill and stroke of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Style {
    pub(crate) fill: Option<Color>,
    pub(crate) stroke: Option<Stroke>,
}

/// Colour, width and dashes of a line. Joins are round; ends are round on solid lines and flat on dashed ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Color,
    pub(crate) width: f64,
    /// Length of a dash and of a gap; both 0 for a solid line.
    pub(crate) dash: (f64, f64),
}

/// The point of a text that is placed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Font, colour and anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextStyle {
    pub(crate) font: Font,
    pub(crate) color: Color,
    pub(crate) anchor: Anchor,
}

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    /// The anchor on the baseline.
    pub(crate) at: Point,
    pub(crate) content: String,
    pub(crate) style: TextStyle,
    /// Turned by 90° counterclockwise: it reads from bottom to top.
    pub(crate) is_vertical: bool,
}

/// A face at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Font {
    pub(crate) face: Face,
    pub(crate) size: f64,
}

/// The regular face at `size`.
pub(crate) const fn regular(size: f64) -> Font {
    let face = Face::Regular;
    Font { face, size }
}

/// The bold face at `size`.
pub(crate) const fn bold(size: f64) -> Font {
    let face = Face::Bold;
    Font { face, size }
}

/// A style for labels, notes and legends: the regular face at `size`.
pub(crate) const fn muted(size: f64) -> TextStyle {
    regular(size).color(color::TEXT_MUTED)
}

impl Font {
    /// A style with this font, anchored at the start.
    pub(crate) const fn color(self, color: Color) -> TextStyle {
        let (font, anchor) = (self, Anchor::Start);
        TextStyle {
            font,
            color,
            anchor,
        }
    }

    /// Width of `text`.
    pub(crate) fn width(self, text: &str) -> f64 {
        font::width(self.face, text) * self.size
    }

    /// `text`, shortened with an ellipsis if it is wider than `room`.
    pub(crate) fn fit(self, text: &str, room: f64) -> String {
        font::fit(self.face, text, room / self.size)
    }
}

impl TextStyle {
    pub(crate) const fn middle(self) -> Self {
        let anchor = Anchor::Middle;
        Self { anchor, ..self }
    }

    pub(crate) const fn end(self) -> Self {
        let anchor = Anchor::End;
        Self { anchor, ..self }
    }
}

impl Text {
    pub(crate) fn width(&self) -> f64 {
        self.style.font.width(&self.content)
    }

    /// Origin of the first glyph.
    pub(crate) fn start(&self) -> Point {
        let back = match self.style.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        };
        let (x, y) = self.at;
        if self.is_vertical {
            (x, y + back)
        } else {
            (x - back, y)
        }
    }
}

impl Stroke {
    pub(crate) const fn solid(color: Color, width: f64) -> Self {
        Self::dashed(color, width, (0.0, 0.0))
    }

    pub(crate) const fn dashed(color: Color, width: f64, dash: (f64, f64)) -> Self {
        Self { color, width, dash }
    }

    pub(crate) fn is_solid(&self) -> bool {
        self.dash == (0.0, 0.0)
    }
}

impl Style {
    pub(crate) const fn fill(color: Color) -> Self {
        let (fill, stroke) = (Some(color), None);
        Self { fill, stroke }
    }

    pub(crate) const fn stroke(stroke: Stroke) -> Self {
        let (fill, stroke) = (None, Some(stroke));
        Self { fill, stroke }
    }

    pub(crate) const fn both(color: Color, stroke: Stroke) -> Self {
        let (fill, stroke) = (Some(color), Some(stroke));
        Self { fill, stroke }
    }
}

impl Geometry {
    /// The same outline as path segments.
    pub(crate) fn segments(&self) -> Vec<PathSegment> {
        match self {
            Self::Path(segments) => segments.clone(),
            Self::Circle((x, y), r) => rounded((x - r, y - r), (2.0 * r, 2.0 * r), *r),
            Self::Rect(at, size, radius) => rounded(*at, *size, *radius),
        }
    }
}

/// A rectangle with round corners as path segments, clockwise from the upper left corner.
fn rounded((x, y): Point, (w, h): (f64, f64), radius: f64) -> Vec<PathSegment> {
    let r = radius.min(w / 2.0).min(h / 2.0);
    let (right, bottom) = (x + w, y + h);
    if r <= 0.0 {
        return vec![
            PathSegment::Move(x, y),
            PathSegment::Line(right, y),
            PathSegment::Line(right, bottom),
            PathSegment::Line(x, bottom),
            PathSegment::Close,
        ];
    }
    // A cubic Bézier curve comes within 0.03 % of a quarter circle of radius r if each control point is
    // 4/3·(√2 − 1)·r ≈ 0.5523·r away from its end point; `k` is what is left to the corner.
    let k = r * (1.0 - 0.552_284_75);
    let corner = |a, b, c| PathSegment::Curve([a, b, c]);
    vec![
        PathSegment::Move(x + r, y),
        PathSegment::Line(right - r, y),
        corner((right - k, y), (right, y + k), (right, y + r)),
        PathSegment::Line(right, bottom - r),
        corner(
            (right, bottom - k),
            (right - k, bottom),
            (right - r, bottom),
        ),
        PathSegment::Line(x + r, bottom),
        corner((x + k, bottom), (x, bottom - k), (x, bottom - r)),
        PathSegment::Line(x, y + r),
        corner((x, y + k), (x + k, y), (x + r, y)),
        PathSegment::Close,
    ]
}
