//! Reading between points by Pd's cubic (`d_array.c`, `d_delay.c`).
//!
//! First all places of a run, then all points, then all cubics: places and cubics run in vectors.

use rt::vectors::{WideWork, widest};

pub(super) use crate::signal::loops::RUN;

/// What is added to a positive number up to 2^51 leaves it without a fraction, rounded to the nearest.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Places from which a run is read.
pub(super) struct CubicRun {
    /// Index of the first of four points.
    pub first: [u32; RUN],
    /// Fraction of the way between the two points in the middle.
    pub fractions: [f32; RUN],
}

impl CubicRun {
    /// Places that are still to be written.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            first: [0; RUN],
            fractions: [0.0; RUN],
        }
    }

    /// The places, to be written: index and fraction.
    #[inline(always)]
    pub(super) fn places(&mut self) -> impl Iterator<Item = (&mut u32, &mut f32)> {
        self.first.iter_mut().zip(&mut self.fractions)
    }

    /// Reads the first samples of a run from `points`, which come in their order, or against it.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn read<const REVERSED: bool>(&self, points: &[f32], to: &mut [f32]) {
        match to.try_into() {
            Ok(to) => self.read_run::<REVERSED>(points, to),
            Err(_) => self.read_part::<REVERSED>(points, to),
        }
    }

    /// As [`read`](Self::read), in a loop that is already compiled for wide vectors.
    #[inline(always)]
    pub(super) fn read_wide<const REVERSED: bool>(&self, points: &[f32], to: &mut [f32]) {
        match to.try_into() {
            Ok(to) => Reading::<REVERSED>(self, points, to).run(),
            Err(_) => self.read_part::<REVERSED>(points, to),
        }
    }

    /// A run that is shorter.
    #[inline(never)]
    fn read_part<const REVERSED: bool>(&self, points: &[f32], to: &mut [f32]) {
        let mut all = [0.0; RUN];
        self.read_run::<REVERSED>(points, &mut all);
        to.copy_from_slice(&all[..to.len()]);
    }

    fn read_run<const REVERSED: bool>(&self, points: &[f32], to: &mut [f32; RUN]) {
        widest(Reading::<REVERSED>(self, points, to));
    }
}

/// The loops of [`CubicRun::read`].
struct Reading<'r, const REVERSED: bool>(&'r CubicRun, &'r [f32], &'r mut [f32; RUN]);

impl<const REVERSED: bool> WideWork for Reading<'_, REVERSED> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(run, points, to) = self;
        let mut fours = [[0.0; 4]; RUN];
        // In fours, and silence is there already: so each takes a comparison, a load and a store.
        let (groups, firsts) = (fours.as_chunks_mut::<4>().0, run.first.as_chunks::<4>().0);
        for (group, firsts) in groups.iter_mut().zip(firsts) {
            for (four, first) in group.iter_mut().zip(firsts) {
                let first = *first as usize;
                if let Some(found) = points.get(first..first + 4) {
                    four.copy_from_slice(found);
                }
            }
        }
        for ((to, four), fraction) in to.iter_mut().zip(&fours).zip(&run.fractions) {
            let [p, q, r, s] = *four;
            let four = if REVERSED { [s, r, q, p] } else { [p, q, r, s] };
            *to = cubic(four, *fraction);
        }
    }
}

/// The whole number below a positive `x` up to 2^51.
#[inline(always)]
pub(super) fn floor(x: f64) -> f64 {
    let nearest = (x + WHOLE) - WHOLE;
    if nearest > x { nearest - 1.0 } else { nearest }
}

/// A whole number from 0 as an index.
#[expect(
    clippy::cast_possible_truncation,
    reason = "its low bits are the number"
)]
#[inline(always)]
pub(super) fn index(whole: f64) -> u32 {
    (whole + WHOLE).to_bits() as u32
}

/// Between `b` and `c` by the cubic of Pd, in which `1 - fraction` is a double.
#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
#[inline(always)]
fn cubic([a, b, c, d]: [f32; 4], fraction: f32) -> f32 {
    let slope = c - b;
    let inner = (d - a - 3.0 * slope) * fraction + (d + 2.0 * a - 3.0 * b);
    let bent = f64::from(0.166_666_7_f32) * (1.0 - f64::from(fraction)) * f64::from(inner);
    (f64::from(b) + f64::from(fraction) * (f64::from(slope) - bent)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_whole_numbers_is_themselves() {
        for (x, expected) in [
            (1.0, 1),
            (1.5, 1),
            (2.5, 2),
            (3.999_999, 3),
            (268_435_456.75, 268_435_456),
        ] {
            assert_eq!((floor(x), index(floor(x))), (f64::from(expected), expected));
        }
    }

    #[test]
    fn points_are_read_in_both_directions_and_a_place_behind_them_is_silent() {
        let mut run = CubicRun::new();
        run.first[..3].copy_from_slice(&[0, 1, 9]);
        run.fractions[..3].copy_from_slice(&[0.0, 0.5, 0.5]);
        let points = [1.0, 2.0, 3.0, 4.0, 5.0];
        let mut to = [7.0; 3];
        run.read::<false>(&points, &mut to);
        assert_eq!(to, [2.0, 3.5, 0.0]);
        run.read::<true>(&points, &mut to);
        assert_eq!(to, [3.0, 3.5, 0.0]);
    }
}
