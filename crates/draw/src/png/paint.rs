//! Areas to pixels: how much of each pixel is covered, exactly, and its colour blended by that.
//!
//! An edge adds to a row how much the covered part of every pixel to its right changes there; summed along the row that
//! is the cover. Nothing is larger than some rows: a tall shape is painted in bands.

use super::outline::Point;

/// Rows in a band.
const BAND: usize = 32;

/// Pixels in rows, as PNG wants them: a byte of its own before each row.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    rows: Vec<u8>,
    /// The changes of cover in a band, two columns more than pixels.
    changes: Vec<f32>,
    /// By row of the band, the first and the last column that changes.
    touched: [(usize, usize); BAND],
}

const UNTOUCHED: (usize, usize) = (usize::MAX, 0);

impl Canvas {
    pub(super) fn new(width: usize, height: usize, colour: u32) -> Self {
        let [_, r, g, b] = colour.to_be_bytes();
        let mut row = vec![0];
        row.extend([r, g, b].repeat(width));
        Self {
            width,
            height,
            rows: row.repeat(height),
            changes: vec![0.0; (width + 2) * BAND],
            touched: [UNTOUCHED; BAND],
        }
    }

    pub(super) fn into_rows(self) -> (usize, usize, Vec<u8>) {
        (self.width, self.height, self.rows)
    }

    /// Paints what the loops go around; where they overlap turning the same way it is painted once.
    pub(super) fn fill(&mut self, loops: &[Vec<Point>], colour: u32) {
        let edges: Vec<(Point, Point)> = loops
            .iter()
            .flat_map(|points| {
                points
                    .iter()
                    .copied()
                    .zip(points.iter().copied().cycle().skip(1))
            })
            .filter(|(a, b)| a.1 != b.1)
            .collect();
        let ends = edges.iter().flat_map(|(a, b)| [a.1, b.1]);
        let (top, bottom) = ends.fold((f64::MAX, f64::MIN), |(top, bottom), y| {
            (top.min(y), bottom.max(y))
        });
        if edges.is_empty() || bottom <= 0.0 || top >= self.height as f64 {
            return;
        }
        let first = top.max(0.0) as usize;
        let last = (bottom.ceil() as usize).min(self.height);
        for begin in (first..last).step_by(BAND) {
            let end = (begin + BAND).min(last);
            for (a, b) in &edges {
                if a.1.max(b.1) > begin as f64 && a.1.min(b.1) < end as f64 {
                    self.edge(*a, *b, begin, end);
                }
            }
            (begin..end).for_each(|y| self.blend(y, y - begin, colour));
        }
    }

    /// Adds one edge to the rows from `begin` to `end`.
    fn edge(&mut self, a: Point, b: Point, begin: usize, end: usize) {
        let (sign, a, b) = if a.1 < b.1 { (1.0, a, b) } else { (-1.0, b, a) };
        let slope = (b.0 - a.0) / (b.1 - a.1);
        let first = a.1.max(begin as f64) as usize;
        let last = (b.1.ceil() as usize).min(end);
        for y in first..last {
            let (top, bottom) = (a.1.max(y as f64), b.1.min((y + 1) as f64));
            let inside = |y: f64| (a.0 + (y - a.1) * slope).clamp(0.0, self.width as f64);
            let (x0, x1) = (inside(top), inside(bottom));
            self.piece(y - begin, x0.min(x1), x0.max(x1), (bottom - top) * sign);
        }
    }

    /// A piece of an edge inside one row, from `x0` to `x1`, over `high` of the row.
    fn piece(&mut self, row: usize, x0: f64, x1: f64, high: f64) {
        let (first, last) = (x0 as usize, x1 as usize);
        let touched = &mut self.touched[row];
        *touched = (touched.0.min(first), touched.1.max(last + 1));
        let changes = &mut self.changes[row * (self.width + 2)..][..self.width + 2];
        if first == last {
            // The part of the pixel to the right of the edge is covered now, and all of the next.
            let right = 1.0 - ((x0 + x1) / 2.0 - first as f64);
            changes[first] += (high * right) as f32;
            changes[last + 1] += (high * (1.0 - right)) as f32;
            return;
        }
        let run = high / (x1 - x0);
        let mut covered = 0.0;
        for (x, change) in changes.iter_mut().enumerate().take(last + 1).skip(first) {
            // What the edge has passed by the right side of this pixel, and the triangle it leaves in this one.
            let (from, to) = (x0.max(x as f64), x1.min((x + 1) as f64));
            let share = (to - from) * run;
            let own = share * (1.0 - ((from + to) / 2.0 - x as f64));
            *change += (own + covered) as f32;
            covered = share - own;
        }
        changes[last + 1] += covered as f32;
    }

    fn blend(&mut self, y: usize, row: usize, colour: u32) {
        let (first, last) = std::mem::replace(&mut self.touched[row], UNTOUCHED);
        if first > last {
            return;
        }
        let changes = &mut self.changes[row * (self.width + 2)..][..self.width + 2];
        let [_, r, g, b] = colour.to_be_bytes();
        let pixels = &mut self.rows[y * (1 + 3 * self.width) + 1..][..3 * self.width];
        let mut cover = 0.0f32;
        for (x, change) in changes.iter_mut().enumerate().take(last + 1).skip(first) {
            cover += std::mem::take(change);
            let share = cover.abs().min(1.0);
            if share < 0.002 || x >= self.width {
                continue;
            }
            for (old, new) in pixels[3 * x..3 * x + 3].iter_mut().zip([r, g, b]) {
                let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * share;
                *old = (mixed + 0.5) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_as_dark_as_much_of_it_is_covered() {
        let mut canvas = Canvas::new(4, 2, 0xffffff);
        let triangle = vec![(0.0, 0.0), (4.0, 0.0), (0.0, 2.0)];
        canvas.fill(&[triangle], 0);
        let (_, _, rows) = canvas.into_rows();
        let red = |x: usize, y: usize| f64::from(rows[y * 13 + 1 + 3 * x]) / 255.0;
        // The hypotenuse falls one for two.
        let light = [[0.0, 0.0, 0.25, 0.75], [0.25, 0.75, 1.0, 1.0]];
        for (y, row) in light.iter().enumerate() {
            for (x, expected) in row.iter().enumerate() {
                assert!(
                    (red(x, y) - expected).abs() < 0.01,
                    "{x} {y}: {}",
                    red(x, y)
                );
            }
        }
    }

    #[test]
    fn holes_stay_and_overlaps_are_painted_once() {
        let square = |low: f64, high: f64| vec![(low, low), (high, low), (high, high), (low, high)];
        let mut hole = square(10.0, 30.0);
        hole.reverse();
        let mut canvas = Canvas::new(80, 80, 0xffffff);
        canvas.fill(&[square(0.0, 40.0), hole, square(20.5, 70.0)], 0x102030);
        let (_, _, rows) = canvas.into_rows();
        let at = |x: usize, y: usize| rows[y * (1 + 3 * 80) + 1 + 3 * x];
        assert_eq!(
            [at(5, 5), at(15, 15), at(60, 60), at(35, 35), at(75, 75)],
            [16, 255, 16, 16, 255]
        );
        assert!(at(20, 50) > 100 && at(20, 50) < 180);
    }
}
