//! [`hadamard`]: the matrix that mixes the lines, eight frames at once.

use super::{LINES, Row};
use crate::filters::lanes::Number;
use crate::kernel::{FRAMES, Samples, line_sample};

/// A number of each line.
type Column<T> = [T; LINES];

/// Sign of row `row` and column `column` of the Hadamard matrix.
#[inline(always)]
pub(super) const fn sign(row: usize, column: usize) -> f64 {
    match (row & column).count_ones() % 2 {
        0 => 1.0,
        _ => -1.0,
    }
}

/// Multiplies by the Hadamard matrix: four stages of the same form. A stage takes neighbours, and moves each index by one bit
/// (Marshall Pease, *Journal of the ACM* 15 (1968)).
#[inline(always)]
fn hadamard<T: Number>(column: Column<T>) -> Column<T> {
    stage(stage(stage(stage(column))))
}

#[inline(always)]
fn stage<T: Number>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: Column<T>) -> Column<T> {
    let sums = [a + b, c + d, e + f, g + h, i + j, k + l, m + n, o + p];
    let [q, r, s, t, u, v, w, x] = [a - b, c - d, e - f, g - h, i - j, k - l, m - n, o - p];
    let [a, b, c, d, e, f, g, h] = sums;
    [a, b, c, d, e, f, g, h, q, r, s, t, u, v, w, x]
}

/// The rows of the matrix / 4 with which channels enter the lines: row c + 1 for channel c.
const ENTERS: [[f64; LINES]; LINES] = {
    let mut shares = [[0.25; LINES]; LINES];
    let mut at = 0;
    while at < LINES * LINES {
        let (channel, line) = (at / LINES, at % LINES);
        shares[channel][line] *= sign(channel + 1, line);
        at += 1;
    }
    shares
};

/// Mixes what leaves the lines with what comes in `late` on each channel, as samples that enter the lines. `late` becomes what is
/// heard on each channel: a row of the same product. The numbers of a frame stay in registers; the loop over frames runs in vectors.
#[inline(always)]
pub(super) fn mix_lines<const CHANNELS: usize>(
    heads: &[Row; LINES],
    late: &mut [Row; CHANNELS],
    lines: &mut [Samples; LINES],
) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = heads;
    for at in 0..FRAMES {
        let column = hadamard([
            a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at], i[at], j[at], k[at], l[at],
            m[at], n[at], o[at], p[at],
        ]);
        let mut into = [0.0; LINES];
        for (into, mixed) in into.iter_mut().zip(column) {
            *into = 0.25 * mixed;
        }
        for channel in 0..CHANNELS {
            let late = &mut late[channel][at];
            for (into, share) in into.iter_mut().zip(&ENTERS[channel]) {
                *into += share * *late;
            }
            *late = column[super::mixture(channel) % LINES];
        }
        for (line, into) in lines.iter_mut().zip(into) {
            line[at] = line_sample(into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_keeps_the_energy_and_is_its_own_inverse() {
        let start: [f64; LINES] = std::array::from_fn(|i| (i * i % 7) as f64 - 2.5);
        let apply = |values: [f64; LINES]| hadamard(values).map(|value| value / 4.0);
        let mut values = apply(start);
        let energy = |v: &[f64; LINES]| v.iter().map(|x| x * x).sum::<f64>();
        assert!((energy(&values) - energy(&start)).abs() < 1e-9);
        for (i, value) in values.iter().enumerate() {
            let sum: f64 = (0..LINES).map(|k| sign(i, k) * start[k]).sum();
            assert!((value - sum / 4.0).abs() < 1e-12);
        }
        values = apply(values);
        assert!(values.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
