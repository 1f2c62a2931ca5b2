//! Data of a patch: lines, areas and words that its scalars are drawn with.

use super::{PatchDrawing, PatchDrawingForm, PatchFont};
use crate::picture::color::{self, Color};
use crate::picture::{PathSegment, Picture, Point, Stroke, Style, regular};

impl PatchDrawing {
    /// Draws it, with `origin` at the picture's top left corner.
    pub(super) fn draw(&self, picture: &mut Picture, origin: Point, font: PatchFont) {
        let points = self.points.iter();
        let points = points.map(|at| (at.0 - origin.0, at.1 - origin.1));
        let points: Vec<Point> = points.collect();
        let line = |width| Stroke::solid(shade(self.color), width);
        match &self.form {
            PatchDrawingForm::Line { width, is_curve } => {
                let style = Style::stroke(line(*width));
                picture.path(outline(&points, *is_curve, false), style);
            }
            PatchDrawingForm::Area {
                fill,
                width,
                is_curve,
            } => {
                let fill = shade(*fill);
                let style = match *width > 0.0 {
                    true => Style::both(fill, line(*width)),
                    false => Style::fill(fill),
                };
                picture.path(outline(&points, *is_curve, true), style);
            }
            PatchDrawingForm::Words(text) => {
                let Some((x, y)) = points.first().copied() else {
                    return;
                };
                let size = (font.width * 1.6).clamp(6.0, 36.0);
                let letters = regular(size).color(shade(self.color));
                for (at, line) in text.split('\n').enumerate() {
                    let y = y + font.height * (at as f64 + 0.5) + 0.35 * size;
                    picture.text((x, y), line, letters);
                }
            }
        }
    }
}

/// The colour itself; black and white follow the theme.
fn shade([red, green, blue]: [u8; 3]) -> Color {
    match [red, green, blue] {
        [0, 0, 0] => color::TEXT,
        [255, 255, 255] => color::BACKGROUND,
        _ => Color::fixed("", u32::from_be_bytes([0, red, green, blue])),
    }
}

/// A line along the points; a curve goes from middle to middle, as in Tk, and reaches both ends if it is open.
fn outline(points: &[Point], is_curve: bool, is_closed: bool) -> Vec<PathSegment> {
    let [first, rest @ ..] = points else {
        return Vec::new();
    };
    let mut path = Vec::new();
    match (is_curve && points.len() > 2, is_closed) {
        (false, _) => {
            path.push(PathSegment::Move(first.0, first.1));
            path.extend(rest.iter().map(|at| PathSegment::Line(at.0, at.1)));
        }
        (true, true) => {
            let count = points.len();
            let begin = middle(points[count - 1], *first);
            path.push(PathSegment::Move(begin.0, begin.1));
            let mut from = begin;
            for (at, point) in points.iter().enumerate() {
                let to = middle(*point, points[(at + 1) % count]);
                path.push(bent(from, *point, to));
                from = to;
            }
        }
        (true, false) => {
            path.push(PathSegment::Move(first.0, first.1));
            let mut from = *first;
            for (at, point) in points.iter().enumerate().take(points.len() - 1).skip(1) {
                let to = match at + 2 == points.len() {
                    true => points[at + 1],
                    false => middle(*point, points[at + 1]),
                };
                path.push(bent(from, *point, to));
                from = to;
            }
        }
    }
    path.extend(is_closed.then_some(PathSegment::Close));
    path
}

fn middle(a: Point, b: Point) -> Point {
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

/// A parabola from `from` to `to`, which leaves and arrives in the direction of `control`.
fn bent(from: Point, control: Point, to: Point) -> PathSegment {
    let near = |end: Point| {
        let part = |end: f64, control: f64| end + (control - end) * (2.0 / 3.0);
        (part(end.0, control.0), part(end.1, control.1))
    };
    PathSegment::Curve([near(from), near(to), to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_middle_to_middle_and_a_closed_one_returns() {
        let points = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        let ends = |path: &[PathSegment]| {
            let end = |it: &PathSegment| match it {
                PathSegment::Move(x, y) | PathSegment::Line(x, y) => Some((*x, *y)),
                PathSegment::Curve([_, _, to]) => Some(*to),
                PathSegment::Close => None,
            };
            path.iter().filter_map(end).collect::<Vec<_>>()
        };
        let open = outline(&points, true, false);
        assert_eq!(ends(&open), [(0.0, 0.0), (10.0, 5.0), (0.0, 10.0)]);
        let closed = outline(&points, true, true);
        let middles = [(0.0, 5.0), (5.0, 0.0), (10.0, 5.0), (5.0, 10.0), (0.0, 5.0)];
        assert_eq!(ends(&closed), middles);
        assert_eq!(closed.last(), Some(&PathSegment::Close));
        assert_eq!(outline(&[], true, true), []);
        assert_eq!(outline(&points[..1], true, true).len(), 2);
    }
}
