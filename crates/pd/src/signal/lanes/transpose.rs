//! Signals to lanes and back: four signals of four samples at a time.

use super::kernel::Lane;
use rt::vectors::{four, turned};

/// Puts the samples of signals side by side.
#[inline(always)]
pub(super) fn side_by_side<const L: usize, const P: usize>(
    from: [&[f32; P]; L],
    to: &mut [Lane<L>; P],
) {
    if L < 4 {
        for at in 0..P {
            for lane in 0..L {
                to[at][lane] = from[lane][at];
            }
        }
        return;
    }
    for at in (0..P).step_by(4) {
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
pub(super) fn apart<const L: usize, const P: usize>(from: &[Lane<L>; P], to: &mut [[f32; P]; L]) {
    if L < 4 {
        for at in 0..P {
            for lane in 0..L {
                to[lane][at] = from[at][lane];
            }
        }
        return;
    }
    for at in (0..P).step_by(4) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: usize = 16;

    #[test]
    fn signals_side_by_side_come_apart_as_they_were() {
        let mut number = 0.0;
        let signals: [[f32; FRAMES]; 8] = std::array::from_fn(|_| {
            std::array::from_fn(|_| {
                number += 1.0;
                number
            })
        });
        let mut lanes = [[0.0; 8]; FRAMES];
        side_by_side(signals.each_ref(), &mut lanes);
        for (at, lane) in lanes.iter().enumerate() {
            assert_eq!(*lane, std::array::from_fn(|signal| signals[signal][at]));
        }
        let mut back = [[0.0; FRAMES]; 8];
        apart(&lanes, &mut back);
        assert_eq!(back, signals);
    }
}
