//! How series are told apart: by colour, by the form of their points, by dashes and hatching.

use crate::ink::{self, Ink};
use crate::picture::{Look, Pen, Picture, Verb};

/// More series than this are not drawn.
pub(super) const MOST: usize = 24;

const fn ink(name: &'static str, day: u32) -> Ink {
    Ink {
        name,
        day,
        night: day,
    }
}

/// Okabe and Ito's colours but the yellow, which white paper swallows.
const INKS: [Ink; 7] = [
    ink("s0", 0x0072b2),
    ink("s1", 0xe69f00),
    ink("s2", 0x009e73),
    ink("s3", 0xcc79a7),
    ink("s4", 0x20242c),
    ink("s5", 0x56b4e9),
    ink("s6", 0xd55e00),
];

pub(super) fn ink_of(series: usize) -> Ink {
    INKS[series % INKS.len()]
}

pub(super) fn pen(series: usize) -> Pen {
    let dash = [(0.0, 0.0), (7.0, 3.0), (2.0, 2.5), (11.0, 4.0)][series % 4];
    Pen {
        ink: ink_of(series),
        width: 1.8,
        dash,
    }
}

/// The point of a series: full at first, hollow in the second round.
pub(super) fn point(picture: &mut Picture, (x, y): (f64, f64), series: usize, r: f64) {
    let ink = ink_of(series);
    let fill = if (series / 5).is_multiple_of(2) {
        ink
    } else {
        ink::SHEET
    };
    let look = Look::both(fill, Pen::solid(ink, 1.2));
    match series % 5 {
        0 => picture.circle((x, y), r, look),
        1 => picture.rect((x - r * 0.9, y - r * 0.9), (r * 1.8, r * 1.8), 0.0, look),
        2 => {
            let corners = [
                (x, y - r * 1.2),
                (x + r * 1.15, y + r * 0.8),
                (x - r * 1.15, y + r * 0.8),
            ];
            picture.polyline(&corners, look);
        }
        3 => {
            let d = r * 1.3;
            picture.polyline(&[(x, y - d), (x + d, y), (x, y + d), (x - d, y)], look);
        }
        _ => {
            let corners = [
                (x, y + r * 1.2),
                (x + r * 1.15, y - r * 0.8),
                (x - r * 1.15, y - r * 0.8),
            ];
            picture.polyline(&corners, look);
        }
    }
}

/// A bar of a series: its colour, and a hatching of its own.
pub(super) fn bar(picture: &mut Picture, at: (f64, f64), size: (f64, f64), series: usize) {
    let ink = ink_of(series);
    let pen = Pen::solid(ink, 1.0);
    let kind = series % 4;
    let fill = if kind == 0 { ink } else { ink::SHEET };
    picture.rect(at, size, 0.0, Look::both(fill, pen));
    if kind == 0 || size.0 < 2.0 || size.1 < 1.0 {
        return;
    }
    let mut lines = Vec::new();
    if kind == 1 || kind == 3 {
        hatch(&mut lines, at, size, false);
    }
    if kind == 2 || kind == 3 {
        hatch(&mut lines, at, size, true);
    }
    picture.path(lines, Look::drawn(Pen::solid(ink, 1.1)));
}

/// Slanting lines inside a rectangle.
fn hatch(lines: &mut Vec<Verb>, (x, y): (f64, f64), (w, h): (f64, f64), is_falling: bool) {
    let gap = f64::max(5.0, (w + h) / 400.0);
    let mut along = gap / 2.0;
    while along < w + h {
        // The line on which the way right and the way down add up to `along`.
        let (a, b) = (
            (along.min(w), (along - w).max(0.0)),
            ((along - h).max(0.0), along.min(h)),
        );
        let turn =
            |(right, down): (f64, f64)| (x + right, y + if is_falling { h - down } else { down });
        let (from, to) = (turn(a), turn(b));
        lines.push(Verb::Move(from.0, from.1));
        lines.push(Verb::Line(to.0, to.1));
        along += gap;
    }
}

/// From the lower to the upper end of a spread, with caps; and a mark at the worst.
pub(super) fn whisker(
    picture: &mut Picture,
    x: f64,
    (low, high): (f64, f64),
    worst: Option<f64>,
    ink: Ink,
) {
    let pen = Pen::solid(ink, 1.3);
    if (low - high).abs() > 0.3 {
        picture.line((x, low), (x, high), pen);
        for y in [low, high] {
            picture.line((x - 3.5, y), (x + 3.5, y), pen);
        }
    }
    if let Some(worst) = worst {
        picture.line((x, high), (x, worst), Pen::dashed(ink, 0.9, (1.5, 2.5)));
        let cross = vec![
            Verb::Move(x - 3.0, worst - 3.0),
            Verb::Line(x + 3.0, worst + 3.0),
            Verb::Move(x - 3.0, worst + 3.0),
            Verb::Line(x + 3.0, worst - 3.0),
        ];
        picture.path(cross, Look::drawn(pen));
    }
}
