//! The sums of a direct convolution: many frames side by side, each in one fixed order.
//!
//! A frame's sum goes from its oldest frame to its newest, in runs of 256 that are added one after the other. How many
//! frames are computed together (32, 8 or 1) changes no bit; a run's short sum loses less than one long one would.

use crate::sample::bounded;

/// Coefficients of a run.
const RUN: usize = 256;

/// Frames `from ..` of a block into `to`: `history` holds `taps.len() - 1` frames and then the block; the last
/// coefficient is for the newest frame.
///
/// Real-time: hot.
pub(crate) fn sums(taps: &[f32], history: &[f32], from: usize, to: &mut [f32]) {
    let mut at = from;
    let (wide, rest) = to.as_chunks_mut::<32>();
    for to in wide {
        *to = side_by_side(taps, &history[at..]);
        at += 32;
    }
    let (narrow, rest) = rest.as_chunks_mut::<8>();
    for to in narrow {
        *to = side_by_side(taps, &history[at..]);
        at += 8;
    }
    for to in rest {
        [*to] = side_by_side(taps, &history[at..]);
        at += 1;
    }
}

/// The sums of `N` frames, the first of which begins with `history`.
#[inline(always)]
fn side_by_side<const N: usize>(taps: &[f32], history: &[f32]) -> [f32; N] {
    let history = &history[..taps.len() + N - 1];
    let mut sums = [0.0_f32; N];
    let mut begin = 0;
    for run in taps.chunks(RUN) {
        let mut part = [0.0_f32; N];
        for (tap, heard) in run.iter().zip(history[begin..].windows(N)) {
            for (y, x) in part.iter_mut().zip(heard) {
                *y += tap * x;
            }
        }
        for (y, x) in sums.iter_mut().zip(part) {
            *y += x;
        }
        begin += run.len();
    }
    sums.map(bounded)
}

#[cfg(test)]
mod tests {
    use super::sums;

    #[test]
    fn together_or_alone_each_frame_has_the_same_bits() {
        let noise = |seed: u32| {
            move |i: u32| ((i + seed).wrapping_mul(2_654_435_761) as i32) as f32 * 1e-10
        };
        for taps in [1, 2, 255, 256, 257, 700] {
            let coefs: Vec<f32> = (0..taps).map(noise(1)).collect();
            let history: Vec<f32> = (0..taps - 1 + 100).map(noise(77)).collect();
            let mut together = [0.0; 100];
            sums(&coefs, &history, 0, &mut together);
            for (frame, y) in together.iter().enumerate() {
                let mut alone = [0.0];
                sums(&coefs, &history, frame, &mut alone);
                assert_eq!(alone[0].to_bits(), y.to_bits(), "{taps} {frame}");
                let pairs = coefs.iter().zip(&history[frame..]);
                let truth: f64 = pairs.map(|(h, x)| f64::from(*h) * f64::from(*x)).sum();
                assert!((truth - f64::from(*y)).abs() < 1e-4, "{truth} {y}");
            }
        }
    }
}
