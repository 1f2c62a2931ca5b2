//! The looks by which series are told apart: colour, symbol, dashes, hatching.

use crate::picture::color::{self, Color};
use crate::picture::{PathSegment, Picture, Point, Stroke, Style};

/// Series beyond this number are not drawn.
pub(super) const MAX_SERIES: usize = 24;

/// The colours of Okabe and Ito, *Color Universal Design* (2008), but the yellow, which is too pale on white paper.
const COLORS: [Color; 7] = [
    Color::fixed("s0", 0x0072b2),
    Color::fixed("s1", 0xe69f00),
    Color::fixed("s2", 0x009e73),
    Color::fixed("s3", 0xcc79a7),
    Color::fixed("s4", 0x20242c),
    Color::fixed("s5", 0x56b4e9),
    Color::fixed("s6", 0xd55e00),
];

pub(super) fn color(series: usize) -> Color {
    COLORS[series % COLORS.len()]
}

/// The line of a series.
pub(super) fn stroke(series: usize) -> Stroke {
    let dash = [(0.0, 0.0), (7.0, 3.0), (2.0, 2.5), (11.0, 4.0)][series % 4];
    Stroke::dashed(color(series), 1.8, dash)
}

/// The symbol of a series' points, of radius `r`: filled for the first five series, hollow for the next five.
pub(super) fn symbol(picture: &mut Picture, (x, y): Point, series: usize, r: f64) {
    let color = color(series);
    let is_filled = (series / 5).is_multiple_of(2);
    let fill = if is_filled { color } else { color::BACKGROUND };
    let style = Style::both(fill, Stroke::solid(color, 1.2));
    let triangle = |r: f64| {
        [
            (x, y - r * 1.2),
            (x + r.abs() * 1.15, y + r * 0.8),
            (x - r.abs() * 1.15, y + r * 0.8),
        ]
    };
    match series % 5 {
        0 => picture.circle((x, y), r, style),
        1 => picture.rect((x - r * 0.9, y - r * 0.9), (r * 1.8, r * 1.8), 0.0, style),
        2 => picture.polyline(&triangle(r), style),
        3 => {
            let d = r * 1.3;
            picture.polyline(&[(x, y - d), (x + d, y), (x, y + d), (x - d, y)], style);
        }
        _ => picture.polyline(&triangle(-r), style),
    }
}

/// A bar of a series: its colour, and a hatching of its own.
pub(super) fn bar(picture: &mut Picture, at: Point, size: (f64, f64), series: usize) {
    let color = color(series);
    let (is_rising, is_falling) =
        [(false, false), (true, false), (false, true), (true, true)][series % 4];
    let is_solid = !is_rising && !is_falling;
    let fill = if is_solid { color } else { color::BACKGROUND };
    picture.rect(at, size, 0.0, Style::both(fill, Stroke::solid(color, 1.0)));
    if is_solid || size.0 < 2.0 || size.1 < 1.0 {
        return;
    }
    let mut lines = Vec::new();
    if is_rising {
        hatch(&mut lines, at, size, false);
    }
    if is_falling {
        hatch(&mut lines, at, size, true);
    }
    picture.path(lines, Style::stroke(Stroke::solid(color, 1.1)));
}

/// Diagonal lines inside a rectangle, from one side to another.
fn hatch(lines: &mut Vec<PathSegment>, (x, y): Point, (w, h): (f64, f64), is_falling: bool) {
    let gap = f64::max(5.0, (w + h) / 400.0);
    let mut sum = gap / 2.0;
    while sum < w + h {
        // The ends of the line on which right + down = sum, clipped to the rectangle.
        let ends = [
            (sum.min(w), (sum - w).max(0.0)),
            ((sum - h).max(0.0), sum.min(h)),
        ];
        let place =
            |(right, down): Point| (x + right, y + if is_falling { h - down } else { down });
        let [from, to] = ends.map(place);
        lines.push(PathSegment::Move(from.0, from.1));
        lines.push(PathSegment::Line(to.0, to.1));
        sum += gap;
    }
}

/// A cross at the maximum, and a dashed line to it from the point.
pub(super) fn max(picture: &mut Picture, (x, y): Point, max: f64, color: Color) {
    let line = Stroke::dashed(color, 0.9, (1.5, 2.5));
    picture.line((x, y), (x, max), line);
    picture.cross((x, max), 3.0, Stroke::solid(color, 1.3));
}
