//! Signals side by side and apart again: four signals of four samples at a time, which the compiler turns into shuffles.

use super::FRAMES;
use crate::filters::lanes::LANES;
use rt::vectors::{four, turned};

/// A sample of each lane, for each frame of a step.
pub(crate) type LaneFrames = [[f32; LANES]; FRAMES];

/// Puts the first `count` samples of signals side by side.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn side_by_side(from: [&[f32]; LANES], to: &mut LaneFrames, count: usize) {
    let from = from.map(|signal| &signal[..count]);
    let whole = count / 4 * 4;
    for at in (0..whole).step_by(4) {
        for lane in [0, 4] {
            let rows = turned([
                four(from[lane], at),
                four(from[lane + 1], at),
                four(from[lane + 2], at),
                four(from[lane + 3], at),
            ]);
            for (row, to) in rows.iter().zip(&mut to[at..at + 4]) {
                to[lane..lane + 4].copy_from_slice(row);
            }
        }
    }
    for at in whole..count {
        for (to, from) in to[at].iter_mut().zip(from) {
            *to = from[at];
        }
    }
}

/// Takes the first samples of signals apart: as many as each of `to` has, or none where it is empty.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn apart(from: &LaneFrames, to: [&mut [f32]; LANES], count: usize) {
    let [a, b, c, d, e, f, g, h] = to;
    four_apart(from, 0, [a, b, c, d], count);
    four_apart(from, 4, [e, f, g, h], count);
}

#[inline(always)]
fn four_apart(from: &LaneFrames, lane: usize, mut to: [&mut [f32]; 4], count: usize) {
    if to.iter().all(|signal| signal.len() == count) {
        let whole = count / 4 * 4;
        for at in (0..whole).step_by(4) {
            let columns = turned([
                four(&from[at], lane),
                four(&from[at + 1], lane),
                four(&from[at + 2], lane),
                four(&from[at + 3], lane),
            ]);
            for (column, to) in columns.iter().zip(&mut to) {
                to[at..at + 4].copy_from_slice(column);
            }
        }
        for (signal, lane) in to.iter_mut().zip(lane..) {
            for (y, row) in signal[whole..].iter_mut().zip(&from[whole..]) {
                *y = row[lane];
            }
        }
        return;
    }
    for (signal, lane) in to.iter_mut().zip(lane..) {
        for (y, row) in signal.iter_mut().zip(from) {
            *y = row[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_side_by_side_come_apart_as_they_were() {
        let signals: [[f32; FRAMES]; LANES] =
            std::array::from_fn(|lane| std::array::from_fn(|at| (100 * lane + at) as f32));
        for count in [0, 1, 3, 4, 62, FRAMES] {
            for used in [1, 3, 5, LANES] {
                let mut lanes = [[-1.0; LANES]; FRAMES];
                side_by_side(signals.each_ref().map(|it| &it[..]), &mut lanes, count);
                for (at, lanes) in lanes.iter().enumerate().take(count) {
                    assert_eq!(*lanes, std::array::from_fn(|lane| signals[lane][at]));
                }
                let mut back = [[-1.0; FRAMES]; LANES];
                let mut lane = 0;
                let to = back.each_mut().map(|it| {
                    lane += 1;
                    if lane <= used {
                        &mut it[..count]
                    } else {
                        &mut it[..0]
                    }
                });
                apart(&lanes, to, count);
                for (lane, back) in back.iter().enumerate() {
                    let there = if lane < used { count } else { 0 };
                    assert_eq!(back[..there], signals[lane][..there]);
                    assert!(back[there..].iter().all(|x| *x == -1.0));
                }
            }
        }
    }
}
