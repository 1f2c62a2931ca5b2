//! The head, convolved directly: what is too short or too near for a transform.
//!
//! Each output frame is a sum of products, added in an order that hangs only on the number of frames and taps: blocks of
//! 16 frames side by side go tap by tap, 64 of them at a time; fewer frames have 16 taps side by side.

use fft::Kernels;

/// Frames, or taps, side by side.
const WIDE: usize = 16;
/// So many taps are summed before the sum is added to the rest: long sums of small things lose less.
const RUN: usize = 64;

/// The last input frames of one channel, in one piece of memory.
pub(crate) struct History {
    frames: Vec<f32>,
    /// How many frames before the newest block are kept.
    past: usize,
    /// Where the newest block ends.
    end: usize,
}

impl History {
    /// Silence, `past` frames of it before each block of `block`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(past: usize, block: usize) -> Self {
        Self {
            frames: vec![0.0; 2 * past + block.max(1024)],
            past,
            end: past,
        }
    }

    /// Real-time: hot.
    pub(crate) fn write(&mut self, block: &[f32]) {
        if self.end + block.len() > self.frames.len() {
            self.frames.copy_within(self.end - self.past..self.end, 0);
            self.end = self.past;
        }
        self.frames[self.end..][..block.len()].copy_from_slice(block);
        self.end += block.len();
    }

    /// The newest block of `block` frames, `late` frames ago, and `before` frames before it.
    ///
    /// Real-time: hot.
    pub(crate) fn last(&self, before: usize, block: usize, late: usize) -> &[f32] {
        let end = self.end - late;
        &self.frames[end - block - before..end]
    }

    /// Real-time: hot.
    pub(crate) fn forget(&mut self) {
        self.frames.fill(0.0);
        self.end = self.past;
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.frames.len()
    }
}

/// Adds `taps` times `frames` to `out`. Before the frame of `out[0]` there are `taps.len() - 1` in `frames`.
///
/// Real-time: hot.
pub(crate) fn add(kernels: Kernels, taps: &[f32], frames: &[f32], out: &mut [f32]) {
    debug_assert_eq!(frames.len() + 1, taps.len() + out.len());
    #[cfg(target_arch = "x86_64")]
    match kernels.name() {
        // SAFETY: there are kernels of that name only where the machine has the instructions.
        "avx512" => return unsafe { add_avx512(taps, frames, out) },
        // SAFETY: as above.
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

/// Sixteen frames of output.
#[inline(always)]
fn frames_at_once(taps: &[f32], frames: &[f32], out: &mut [f32; WIDE]) {
    let newest = taps.len() - 1;
    for (run, from) in taps.chunks(RUN).zip((0..).step_by(RUN)) {
        let mut sum = [0.0; WIDE];
        for (tap, age) in run.iter().zip(from..) {
            let heard = &frames[newest - age..newest - age + WIDE];
            for (sum, x) in sum.iter_mut().zip(heard) {
                *sum += tap * x;
            }
        }
        for (out, sum) in out.iter_mut().zip(&sum) {
            *out += sum;
        }
    }
}

/// One frame of output; `frames` ends with the newest.
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
        let mut history = History::new(40, 16);
        let all: Vec<f32> = (0..4000).map(|i| i as f32).collect();
        for (block, end) in all.chunks_exact(16).zip((16..).step_by(16)) {
            history.write(block);
            if end >= 56 {
                assert_eq!(history.last(40, 16, 0), &all[end - 56..end]);
                assert_eq!(history.last(8, 16, 16), &all[end - 40..end - 16]);
            }
        }
        history.forget();
        assert_eq!(history.last(40, 0, 0), [0.0; 40]);
    }
}
