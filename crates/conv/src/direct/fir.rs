//! A finite impulse response filter, and the input that it needs (seed 000, eq. 1).
//!
//! Each output frame is a sum of products, added in an order that depends only on the number of frames and taps: blocks of
//! 16 frames side by side go tap by tap, 64 taps at a time; fewer frames have 16 taps side by side.

use fft::Kernels;

/// Frames, or taps, side by side.
const WIDE: usize = 16;
/// Taps that are summed before the sum is added to the rest: a long sum of small numbers then loses less.
const RUN: usize = 64;

/// Last input frames of one channel, in one piece of memory.
///
/// ```text
///   frames │ ...... past ......│ newest block │ free │      when it is full, the past moves to the front
///                                             end
/// ```
pub(super) struct InputHistory {
    frames: Vec<f32>,
    /// Frames before the newest block that are kept.
    past: usize,
    /// End of the newest block.
    end: usize,
}

impl InputHistory {
    /// Makes a history of silence that keeps `past` frames before each block of `block` frames.
    ///
    /// Real-time: setup.
    pub(super) fn new(past: usize, block: usize) -> Self {
        Self {
            frames: vec![0.0; 2 * past + block.max(1024)],
            past,
            end: past,
        }
    }

    /// Appends a block.
    ///
    /// Real-time: hot.
    pub(super) fn write(&mut self, block: &[f32]) {
        if self.end + block.len() > self.frames.len() {
            self.frames.copy_within(self.end - self.past..self.end, 0);
            self.end = self.past;
        }
        self.frames[self.end..][..block.len()].copy_from_slice(block);
        self.end += block.len();
    }

    /// The block of `block` frames that ended `delay` frames ago, with `before` frames before it.
    ///
    /// Real-time: hot.
    pub(super) fn last(&self, before: usize, block: usize, delay: usize) -> &[f32] {
        let end = self.end - delay;
        &self.frames[end - block - before..end]
    }

    /// Forgets all input.
    ///
    /// Real-time: hot.
    pub(super) fn clear(&mut self) {
        self.frames.fill(0.0);
        self.end = self.past;
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        4 * self.frames.len()
    }
}

/// Adds `frames` filtered by `taps` to `out`. `frames` begins `taps.len() - 1` frames before the frame of `out[0]`.
///
/// Real-time: hot.
pub(super) fn add(kernels: Kernels, taps: &[f32], frames: &[f32], out: &mut [f32]) {
    debug_assert_eq!(frames.len() + 1, taps.len() + out.len());
    #[cfg(target_arch = "x86_64")]
    match kernels.name() {
        // SAFETY: there are kernels of that name only where the machine has AVX-512F.
        "avx512" => return unsafe { add_avx512(taps, frames, out) },
        // SAFETY: there are kernels of that name only where the machine has AVX2.
        "avx2" => return unsafe { add_avx2(taps, frames, out) },
        _ => {}
    }
    let _ = kernels;
    add_plain(taps, frames, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512(taps: &[f32], frames: &[f32], out: &mut [f32]) {
    add_plain(taps, frames, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(taps: &[f32], frames: &[f32], out: &mut [f32]) {
    add_plain(taps, frames, out);
}

#[inline(always)]
fn add_plain(taps: &[f32], frames: &[f32], out: &mut [f32]) {
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    for (out, at) in wide.iter_mut().zip((0..).step_by(WIDE)) {
        let frames = &frames[at..at + taps.len() - 1 + WIDE];
        frames_at_once(taps, frames, out);
    }
    let at = wide.len() * WIDE;
    for (out, frames) in rest.iter_mut().zip(frames[at..].windows(taps.len())) {
        *out += taps_at_once(taps, frames);
    }
}

/// Computes sixteen frames of output, tap by tap.
#[inline(always)]
fn frames_at_once(taps: &[f32], frames: &[f32], out: &mut [f32; WIDE]) {
    let newest = taps.len() - 1;
    for (run, from) in taps.chunks(RUN).zip((0..).step_by(RUN)) {
        let mut sum = [0.0; WIDE];
        for (tap, age) in run.iter().zip(from..) {
            let input = &frames[newest - age..newest - age + WIDE];
            for (sum, x) in sum.iter_mut().zip(input) {
                *sum += tap * x;
            }
        }
        for (out, sum) in out.iter_mut().zip(&sum) {
            *out += sum;
        }
    }
}

/// Computes one frame of output, sixteen taps side by side; `frames` ends with the newest.
#[inline(always)]
fn taps_at_once(taps: &[f32], frames: &[f32]) -> f32 {
    let mut sum = [0.0; WIDE];
    let (wide, rest) = taps.as_chunks::<WIDE>();
    let (_, backwards) = frames.as_rchunks::<WIDE>();
    for (taps, frames) in wide.iter().zip(backwards.iter().rev()) {
        for ((sum, tap), x) in sum.iter_mut().zip(taps).zip(frames.iter().rev()) {
            *sum += tap * x;
        }
    }
    let oldest = &frames[..rest.len()];
    for ((sum, tap), x) in sum.iter_mut().zip(rest).zip(oldest.iter().rev()) {
        *sum += tap * x;
    }
    let mut width = WIDE;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sum[lane] += sum[lane + width];
        }
    }
    sum[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_taps_and_frames_gives_the_sum_of_products_on_all_kernels() {
        let value = |i: usize| ((i * 7919 % 2003) as f32 - 1000.0) / 1000.0;
        for taps in [1, 2, 15, 16, 17, 31, 64, 65, 200] {
            for frames in [1, 2, 8, 16, 17, 64] {
                let h: Vec<f32> = (0..taps).map(value).collect();
                let x: Vec<f32> = (0..taps + frames - 1).map(|i| value(i + 5)).collect();
                let mut out = vec![1.0; frames];
                add(Kernels::best(), &h, &x, &mut out);
                for (n, y) in out.iter().enumerate() {
                    let product = |k: usize| f64::from(h[k]) * f64::from(x[taps - 1 + n - k]);
                    let truth = 1.0 + (0..taps).map(product).sum::<f64>();
                    assert!((truth - f64::from(*y)).abs() < 2e-5, "{taps} {frames} {n}");
                }
                for kernels in Kernels::available() {
                    let mut again = vec![1.0; frames];
                    add(kernels, &h, &x, &mut again);
                    assert_eq!(again, out, "{kernels:?}");
                }
            }
        }
    }

    #[test]
    fn a_history_keeps_what_was_before_the_block() {
        let mut history = InputHistory::new(40, 16);
        let all: Vec<f32> = (0..4000).map(|i| i as f32).collect();
        for (block, end) in all.chunks_exact(16).zip((16..).step_by(16)) {
            history.write(block);
            if end >= 56 {
                assert_eq!(history.last(40, 16, 0), &all[end - 56..end]);
                assert_eq!(history.last(8, 16, 16), &all[end - 40..end - 16]);
            }
        }
        history.clear();
        assert_eq!(history.last(40, 0, 0), [0.0; 40]);
    }
}
