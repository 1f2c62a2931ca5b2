//! Signals to lanes and back: four signals of four samples at a time, which the compiler turns into shuffles.

use super::super::loops::RUN;
use super::kernels::Lane;

/// Columns as rows.
#[inline(always)]
fn turned([a, b, c, d]: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    let (low, high) = ([a[0], b[0], a[1], b[1]], [a[2], b[2], a[3], b[3]]);
    let (next_low, next_high) = ([c[0], d[0], c[1], d[1]], [c[2], d[2], c[3], d[3]]);
    [
        [low[0], low[1], next_low[0], next_low[1]],
        [low[2], low[3], next_low[2], next_low[3]],
        [high[0], high[1], next_high[0], next_high[1]],
        [high[2], high[3], next_high[2], next_high[3]],
    ]
}

/// Puts the samples of signals side by side.
#[inline(always)]
pub(super) fn side_by_side<const L: usize>(from: [&[f32; RUN]; L], to: &mut [Lane<L>; RUN]) {
    if L < 4 {
        for at in 0..RUN {
            for lane in 0..L {
                to[at][lane] = from[lane][at];
            }
        }
        return;
    }
    for at in (0..RUN).step_by(4) {
        for lane in (0..L).step_by(4) {
            let four = turned([
                four(from[lane], at),
                four(from[lane + 1], at),
                four(from[lane + 2], at),
                four(from[lane + 3], at),
            ]);
            for row in 0..4 {
                to[at + row][lane..lane + 4].copy_from_slice(&four[row]);
            }
        }
    }
}

/// Takes signals apart again.
#[inline(always)]
pub(super) fn apart<const L: usize>(from: &[Lane<L>; RUN], to: &mut [[f32; RUN]; L]) {
    if L < 4 {
        for at in 0..RUN {
            for lane in 0..L {
                to[lane][at] = from[at][lane];
            }
        }
        return;
    }
    for at in (0..RUN).step_by(4) {
        for lane in (0..L).step_by(4) {
            let four = turned([
                four(&from[at], lane),
                four(&from[at + 1], lane),
                four(&from[at + 2], lane),
                four(&from[at + 3], lane),
            ]);
            for row in 0..4 {
                to[lane + row][at..at + 4].copy_from_slice(&four[row]);
            }
        }
    }
}

/// Four samples from `at` on.
#[inline(always)]
fn four(from: &[f32], at: usize) -> [f32; 4] {
    [from[at], from[at + 1], from[at + 2], from[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_side_by_side_come_apart_as_they_were() {
        let mut number = 0.0;
        let signals: [[f32; RUN]; 8] = std::array::from_fn(|_| {
            std::array::from_fn(|_| {
                number += 1.0;
                number
            })
        });
        let mut lanes = [[0.0; 8]; RUN];
        side_by_side(signals.each_ref(), &mut lanes);
        for (at, lane) in lanes.iter().enumerate() {
            assert_eq!(*lane, std::array::from_fn(|signal| signals[signal][at]));
        }
        let mut back = [[0.0; RUN]; 8];
        apart(&lanes, &mut back);
        assert_eq!(back, signals);
    }
}
