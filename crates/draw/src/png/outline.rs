//! Paths to loops of straight lines: curves flattened, strokes as the area that the pen covers.

use crate::picture::Verb;

pub(super) type Point = (f64, f64);

/// More dashes than this on one line are drawn as a solid one.
const MOST_DASHES: f64 = 20_000.0;

/// A flattened stroke of the pen.
#[derive(Clone, Debug, Default)]
pub(super) struct Polyline {
    pub(super) points: Vec<Point>,
    pub(super) is_closed: bool,
}

/// Straight pieces for a path, each point put in its place.
pub(super) fn flatten(verbs: &[Verb], place: impl Fn(Point) -> Point) -> Vec<Polyline> {
    let mut lines: Vec<Polyline> = Vec::new();
    let mut now = Polyline::default();
    for verb in verbs {
        match verb {
            Verb::Move(x, y) => {
                lines.push(std::mem::take(&mut now));
                now.add(place((*x, *y)));
            }
            Verb::Line(x, y) => now.add(place((*x, *y))),
            Verb::Curve(points) => now.curve(points.map(&place)),
            Verb::Close => {
                now.is_closed = true;
                lines.push(std::mem::take(&mut now));
            }
        }
    }
    lines.push(now);
    lines.retain(|line| !line.points.is_empty());
    for line in &mut lines {
        if line.is_closed
            && line.points.len() > 1
            && is_near(line.points[0], line.points[line.points.len() - 1])
        {
            line.points.pop();
        }
    }
    lines
}

impl Polyline {
    /// Adds a point that differs from the last.
    fn add(&mut self, point: Point) {
        if !self.points.last().is_some_and(|last| is_near(*last, point)) {
            self.points.push(point);
        }
    }

    fn curve(&mut self, [a, b, c]: [Point; 3]) {
        let Some(from) = self.points.last().copied() else {
            return;
        };
        let long = distance(from, a) + distance(a, b) + distance(b, c);
        let count = (long.sqrt() * 1.3).clamp(3.0, 96.0).ceil();
        for i in 1..=count as usize {
            let t = i as f64 / count;
            let u = 1.0 - t;
            let weights = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
            let points = [from, a, b, c];
            let sum = |part: fn(&Point) -> f64| -> f64 {
                points
                    .iter()
                    .zip(weights)
                    .map(|(point, weight)| part(point) * weight)
                    .sum()
            };
            self.add((sum(|p| p.0), sum(|p| p.1)));
        }
    }
}

/// The area that a pen of this width covers. Every loop turns the same way, so that where they overlap they add up.
pub(super) fn stroke(lines: &[Polyline], width: f64, dash: (f64, f64)) -> Vec<Vec<Point>> {
    let half = width / 2.0;
    let mut loops = Vec::new();
    for line in lines {
        if dash.0 > 0.0 || dash.1 > 0.0 {
            for piece in dashes(line, dash) {
                loops.push(along(&piece, half, false));
            }
        } else if line.is_closed && line.points.len() > 2 {
            let there = side(&line.points, half, true);
            let mut back: Vec<Point> = line.points.clone();
            back.reverse();
            loops.extend([there, side(&back, half, true)]);
        } else {
            loops.push(along(&line.points, half, true));
        }
    }
    loops.retain(|points| points.len() > 2);
    loops
}

/// There on one side and back on the other.
fn along(points: &[Point], half: f64, has_round_ends: bool) -> Vec<Point> {
    if points.len() < 2 {
        return match points.first() {
            Some(at) if has_round_ends => arc(*at, (half, 0.0), (half, 0.0), half),
            _ => Vec::new(),
        };
    }
    let mut back: Vec<Point> = points.to_vec();
    back.reverse();
    let mut covered = side(points, half, false);
    if has_round_ends {
        let normal = normal(points[points.len() - 2], points[points.len() - 1], half);
        covered.extend(arc(
            points[points.len() - 1],
            normal,
            (-normal.0, -normal.1),
            half,
        ));
    }
    covered.extend(side(&back, half, false));
    if has_round_ends {
        let normal = normal(points[1], points[0], half);
        covered.extend(arc(points[0], normal, (-normal.0, -normal.1), half));
    }
    covered
}

/// The points to one side of a line, as far as half the pen.
fn side(points: &[Point], half: f64, is_closed: bool) -> Vec<Point> {
    let count = points.len();
    let mut covered = Vec::with_capacity(count + 2);
    for (i, at) in points.iter().enumerate() {
        let before =
            (i > 0 || is_closed).then(|| normal(points[(i + count - 1) % count], *at, half));
        let after =
            (i + 1 < count || is_closed).then(|| normal(*at, points[(i + 1) % count], half));
        match (before, after) {
            (Some(before), Some(after)) => join(&mut covered, *at, before, after, half),
            (Some(only), None) | (None, Some(only)) => covered.push((at.0 + only.0, at.1 + only.1)),
            (None, None) => {}
        }
    }
    covered
}

/// The corner between two pieces: sharp where it hardly turns, round on the outside where it turns more.
fn join(covered: &mut Vec<Point>, at: Point, before: Point, after: Point, half: f64) {
    let dot = (before.0 * after.0 + before.1 * after.1) / (half * half);
    let cross = before.0 * after.1 - before.1 * after.0;
    if dot > 0.7 {
        let stretch = 1.0 / (1.0 + dot);
        let middle = (
            (before.0 + after.0) * stretch,
            (before.1 + after.1) * stretch,
        );
        covered.push((at.0 + middle.0, at.1 + middle.1));
    } else if cross > 0.0 {
        covered.extend(arc(at, before, after, half));
    } else {
        covered.push((at.0 + before.0, at.1 + before.1));
        covered.push((at.0 + after.0, at.1 + after.1));
    }
}

/// Around `at` from one side to another, the way that the outside of a corner turns.
fn arc(at: Point, from: Point, to: Point, radius: f64) -> Vec<Point> {
    let begin = from.1.atan2(from.0);
    let mut turn = to.1.atan2(to.0) - begin;
    if turn <= 1e-9 {
        turn += std::f64::consts::TAU;
    }
    let count = (turn * radius.sqrt() * 1.5).ceil().clamp(2.0, 48.0);
    let point = |i: usize| {
        let angle = begin + turn * i as f64 / count;
        (at.0 + radius * angle.cos(), at.1 + radius * angle.sin())
    };
    (0..=count as usize).map(point).collect()
}

/// Half a pen to the side of a piece.
fn normal(from: Point, to: Point, half: f64) -> Point {
    let long = distance(from, to).max(1e-12);
    (
        (to.1 - from.1) / long * half,
        -(to.0 - from.0) / long * half,
    )
}

/// The dashes of a line; the whole of it where there would be very many.
fn dashes(line: &Polyline, (dash, gap): (f64, f64)) -> Vec<Vec<Point>> {
    let mut points = line.points.clone();
    if line.is_closed {
        points.extend(points.first().copied());
    }
    let long: f64 = points
        .windows(2)
        .map(|pair| distance(pair[0], pair[1]))
        .sum();
    if long / (dash + gap) > MOST_DASHES {
        return vec![points];
    }
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let (mut is_dash, mut left) = (true, dash);
    piece.extend(points.first().copied());
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let long = distance(from, to);
        let mut done = 0.0;
        while long - done > left {
            done += left;
            let share = done / long;
            let at = (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            );
            if is_dash {
                piece.push(at);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![at];
            }
            is_dash = !is_dash;
            left = if is_dash { dash } else { gap };
        }
        left -= long - done;
        if is_dash {
            piece.push(to);
        }
    }
    pieces.push(piece);
    pieces
}

fn distance(a: Point, b: Point) -> f64 {
    let (x, y) = (b.0 - a.0, b.1 - a.1);
    (x * x + y * y).sqrt()
}

fn is_near(a: Point, b: Point) -> bool {
    (a.0 - b.0).abs() < 1e-6 && (a.1 - b.1).abs() < 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the area of loops that turn the same way.
    fn area(loops: &[Vec<Point>]) -> f64 {
        let one = |points: &Vec<Point>| -> f64 {
            let next = points.iter().cycle().skip(1);
            points
                .iter()
                .zip(next)
                .map(|(a, b)| a.0 * b.1 - a.1 * b.0)
                .sum()
        };
        loops.iter().map(one).sum::<f64>() / 2.0
    }

    #[test]
    fn a_stroke_covers_its_length_times_its_width() {
        let verbs = [
            Verb::Move(0.0, 0.0),
            Verb::Line(30.0, 40.0),
            Verb::Line(60.0, 0.0),
        ];
        let lines = flatten(&verbs, |at| at);
        let covered = area(&stroke(&lines, 2.0, (0.0, 0.0)));
        assert!((covered - 200.0).abs() < 8.0, "{covered}");
        let dashed = area(&stroke(&lines, 2.0, (5.0, 5.0)));
        assert!((dashed - 100.0).abs() < 4.0, "{dashed}");
    }

    #[test]
    fn a_closed_stroke_is_a_ring() {
        let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        for turns in [false, true] {
            let mut points = square.to_vec();
            if turns {
                points.reverse();
            }
            let is_closed = true;
            let covered = area(&stroke(&[Polyline { points, is_closed }], 2.0, (0.0, 0.0)));
            assert!((covered - 80.0).abs() < 3.0, "{covered}");
        }
    }
}
