//! Direct convolution: the sums of many frames side by side, each in one fixed order.
//!
//! A frame's sum goes from its oldest input to its newest, in runs of 256 taps that are added one after another. Computing 32,
//! 8 or 1 frames together changes no bit, since each frame keeps its own order of additions. A run's short sum loses less
//! precision than one long sum.

use crate::sample::clamp_sample;

/// Taps of a run.
const RUN: usize = 256;

/// Computes frames `from ..` of a block into `to`. `history` holds `taps.len() - 1` frames and then the block; the last tap
/// is for the newest frame.
///
/// Real-time: hot.
pub(crate) fn convolve(taps: &[f32], history: &[f32], from: usize, to: &mut [f32]) {
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

/// The sums of `N` frames, the first of which begins at `history[0]`.
#[inline(always)]
fn side_by_side<const N: usize>(taps: &[f32], history: &[f32]) -> [f32; N] {
    let history = &history[..taps.len() + N - 1];
    let mut sums = [0.0_f32; N];
    let mut begin = 0;
    for run in taps.chunks(RUN) {
        let mut part = [0.0_f32; N];
        for (tap, input) in run.iter().zip(history[begin..].windows(N)) {
            for (y, x) in part.iter_mut().zip(input) {
                *y += tap * x;
            }
        }
        for (y, x) in sums.iter_mut().zip(part) {
            *y += x;
        }
        begin += run.len();
    }
    sums.map(clamp_sample)
}

#[cfg(test)]
mod tests {
    use super::convolve;

    #[test]
    fn together_or_alone_each_frame_has_the_same_bits() {
        let noise = |seed: u32| {
            move |i: u32| ((i + seed).wrapping_mul(2_654_435_761) as i32) as f32 * 1e-10
        };
        for taps in [1, 2, 255, 256, 257, 700] {
            let coefs: Vec<f32> = (0..taps).map(noise(1)).collect();
            let history: Vec<f32> = (0..taps - 1 + 100).map(noise(77)).collect();
            let mut together = [0.0; 100];
            convolve(&coefs, &history, 0, &mut together);
            for (frame, y) in together.iter().enumerate() {
                let mut alone = [0.0];
                convolve(&coefs, &history, frame, &mut alone);
                assert_eq!(alone[0].to_bits(), y.to_bits(), "{taps} {frame}");
                let pairs = coefs.iter().zip(&history[frame..]);
                let truth: f64 = pairs.map(|(h, x)| f64::from(*h) * f64::from(*x)).sum();
                assert!((truth - f64::from(*y)).abs() < 1e-4, "{truth} {y}");
            }
        }
    }
}
