//! `fft~`, `ifft~`, `rfft~`, `rifft~`, `framp~` (`d_fft.c`): spectra of a block, not scaled, of blocks with a power of two of samples.
//!
//! The transform is real; a complex one is put together from those of the real and the imaginary part. Below 32 samples the sums are
//! written out.

use super::functions::RootTables;
use crate::control::{Making, Object};
use crate::signal::{Inlets, RowFormat, SignalWorld};
use crate::state::held;
use fft::{Kernels, Packing, RealFft};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "fft~" => Box::new(Complex::new(false)),
        "ifft~" => Box::new(Complex::new(true)),
        "rfft~" => Box::new(Forward::default()),
        "rifft~" => Box::new(Inverse::default()),
        "framp~" => Box::new(Peaks),
        _ => return None,
    })
}

/// Fewest samples of a transform that vectors do.
const MIN_FAST: usize = 2 * RealFft::MIN_BINS;

/// A real transform of one block length, and its memory.
#[derive(Default)]
pub(super) struct BlockFft {
    fft: Option<RealFft>,
    spectrum: Vec<f32>,
    scratch: Vec<f32>,
    /// Cosines of one period, for short blocks.
    cosines: Vec<f64>,
}

impl BlockFft {
    /// Prepares it for `frames` samples.
    pub(super) fn prepare(&mut self, frames: usize) {
        self.fft = None;
        self.cosines.clear();
        if !frames.is_power_of_two() || frames < 4 {
            return;
        }
        if frames < MIN_FAST {
            #[expect(clippy::cast_precision_loss, reason = "a short block")]
            let angle = |at: usize| std::f64::consts::TAU * at as f64 / frames as f64;
            self.cosines = (0..frames).map(|at| libm::cos(angle(at))).collect();
            return;
        }
        self.fft = RealFft::new(frames / 2, Packing::Mono, Kernels::best()).ok();
        if let Some(fft) = &self.fft {
            self.spectrum = vec![0.0; fft.buffer_len()];
            self.scratch = vec![0.0; fft.scratch_len()];
        }
    }

    /// Returns true if there is a transform of `frames` samples.
    fn has(&self, frames: usize) -> bool {
        let fast = self.fft.as_ref().map(|fft| 2 * fft.bins());
        fast == Some(frames) || (frames >= 4 && self.cosines.len() == frames)
    }

    /// Writes real and imaginary parts of the bins 0 to N/2. False if there is no transform of that length.
    pub(super) fn forward(&mut self, time: &[f32], re: &mut [f32], im: &mut [f32]) -> bool {
        if !self.has(time.len()) {
            return false;
        }
        let bins = time.len() / 2;
        let Some(fft) = &self.fft else {
            for bin in 0..=bins {
                (re[bin], im[bin]) = sum(&self.cosines, time, bin);
            }
            return true;
        };
        fft.forward(time, &mut self.spectrum, &mut self.scratch);
        for (block, from) in self.spectrum.chunks_exact(32).enumerate() {
            let at = block * 16;
            re[at..at + 16].copy_from_slice(&from[..16]);
            im[at..at + 16].copy_from_slice(&from[16..]);
        }
        re[bins] = im[0];
        (im[0], im[bins]) = (0.0, 0.0);
        true
    }

    /// Writes N times the samples whose bins 0 to N/2 these are. False if there is no transform of that length.
    fn inverse(&mut self, re: &[f32], im: &[f32], time: &mut [f32]) -> bool {
        if !self.has(time.len()) {
            return false;
        }
        let bins = time.len() / 2;
        let Some(fft) = &self.fft else {
            for (at, to) in time.iter_mut().enumerate() {
                *to = sample(&self.cosines, re, im, at);
            }
            return true;
        };
        for (block, to) in self.spectrum.chunks_exact_mut(32).enumerate() {
            let at = block * 16;
            to[..16].copy_from_slice(&re[at..at + 16]);
            to[16..].copy_from_slice(&im[at..at + 16]);
        }
        self.spectrum[16] = re[bins];
        fft.inverse(&mut self.spectrum, time, &mut self.scratch);
        true
    }
}

/// One bin of a short block.
#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn sum(cosines: &[f64], time: &[f32], bin: usize) -> (f32, f32) {
    let n = cosines.len();
    let (mut re, mut im) = (0.0, 0.0);
    for (at, x) in time.iter().enumerate() {
        let phase = at * bin;
        re += f64::from(*x) * cosines[phase % n];
        // The sine is the cosine three quarters of a period later.
        im -= f64::from(*x) * cosines[(phase + 3 * n / 4) % n];
    }
    (re as f32, im as f32)
}

/// One sample of a short block.
#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn sample(cosines: &[f64], re: &[f32], im: &[f32], at: usize) -> f32 {
    let n = cosines.len();
    let alternating = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut total = f64::from(re[0]) + alternating * f64::from(re[n / 2]);
    for bin in 1..n / 2 {
        let phase = at * bin;
        total += 2.0 * f64::from(re[bin]) * cosines[phase % n];
        total -= 2.0 * f64::from(im[bin]) * cosines[(phase + 3 * n / 4) % n];
    }
    total as f32
}

/// `fft~` and `ifft~`.
struct Complex {
    fft: BlockFft,
    /// Real and imaginary parts of two half spectra.
    halves: [Vec<f32>; 4],
    is_inverse: bool,
}

impl Complex {
    fn new(is_inverse: bool) -> Self {
        Self {
            fft: BlockFft::default(),
            halves: Default::default(),
            is_inverse,
        }
    }
}

impl Object for Complex {
    held!(; not fft, halves, is_inverse);

    fn prepare(&mut self, format: &RowFormat) {
        self.fft.prepare(format.frames);
        for half in &mut self.halves {
            half.resize(format.frames / 2 + 1, 0.0);
        }
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let [a_re, a_im, b_re, b_im] = &mut self.halves;
        let [re, im] = outlets else {
            return;
        };
        let is_done = self.fft.forward(inlets.get(0), a_re, a_im)
            && self.fft.forward(inlets.get(1), b_re, b_im);
        if !is_done {
            re.copy_from_slice(inlets.get(0));
            im.copy_from_slice(inlets.get(1));
            return;
        }
        let middle = re.len() / 2;
        let (low_re, high_re) = re.split_at_mut(middle + 1);
        let (low_im, high_im) = im.split_at_mut(middle + 1);
        let all = [
            &a_re[..=middle],
            &a_im[..=middle],
            &b_re[..=middle],
            &b_im[..=middle],
        ];
        let bins = |at: usize| all.map(|part| part[at]);
        // Backward in time is backward in frequency.
        let (low_sign, high_sign) = if self.is_inverse {
            (-1.0, 1.0)
        } else {
            (1.0, -1.0)
        };
        for (at, (re, im)) in low_re.iter_mut().zip(low_im.iter_mut()).enumerate() {
            (*re, *im) = joined(bins(at), low_sign);
        }
        // The upper half of a real signal's spectrum mirrors the lower one.
        let high = high_re.iter_mut().zip(high_im);
        for (at, (re, im)) in (1..middle).rev().zip(high) {
            (*re, *im) = joined(bins(at), high_sign);
        }
        for at in [0, middle] {
            (low_re[at], low_im[at]) = joined(bins(at), 1.0);
        }
    }
}

/// A bin of a complex spectrum, of those of the real and the imaginary part, which is mirrored if `sign` is -1.
#[inline(always)]
fn joined([a_re, a_im, b_re, b_im]: [f32; 4], sign: f32) -> (f32, f32) {
    (a_re - sign * b_im, sign * a_im + b_re)
}

/// `rfft~`: bins above the half are 0.
#[derive(Default)]
struct Forward(BlockFft);

impl Object for Forward {
    held!(nothing);

    fn prepare(&mut self, format: &RowFormat) {
        self.0.prepare(format.frames);
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let [re, im] = outlets else {
            return;
        };
        let half = if self.0.forward(inlets.get(0), re, im) {
            re.len() / 2
        } else {
            im.fill(0.0);
            return re.fill(0.0);
        };
        re[half + 1..].fill(0.0);
        im[half..].fill(0.0);
    }
}

/// `rifft~`: bins above the half are not read.
#[derive(Default)]
struct Inverse(BlockFft);

impl Object for Inverse {
    held!(nothing);

    fn prepare(&mut self, format: &RowFormat) {
        self.0.prepare(format.frames);
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        if !self
            .0
            .inverse(inlets.get(0), inlets.get(1), &mut outlets[0])
        {
            outlets[0].fill(0.0);
        }
    }
}

/// `framp~`: frequency, in bins, and amplitude of each bin of a spectrum.
struct Peaks;

impl Object for Peaks {
    held!();

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (re, im) = (inlets.get(0), inlets.get(1));
        let [frequency, amplitude] = outlets else {
            return;
        };
        frequency.fill(0.0);
        amplitude.fill(0.0);
        let half = re.len() / 2;
        if half < 2 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let scale = 1.0 / (half as f32 * half as f32);
        let roots = RootTables::get();
        for bin in 1..half - 1 {
            // The spectrum of the block under a Hann window.
            let windowed = |x: &[f32]| x[bin] - 0.5 * (x[bin - 1] + x[bin + 1]);
            let (x, y) = (windowed(re), windowed(im));
            let power = x * x + y * y;
            if power <= 1e-19 {
                continue;
            }
            let difference = |x: &[f32]| x[bin - 1] - x[bin + 1];
            let detune = (difference(re) * x + difference(im) * y) / (2.0 * power);
            if (-2.0..=2.0).contains(&detune) {
                #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
                let whole = bin as f32;
                frequency[bin] = whole + detune;
                let power = scale * power;
                amplitude[bin] = power * roots.inverse_root(power);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_there_and_back_is_the_length_times_the_signal() {
        for frames in [4_usize, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] {
            let mut fft = BlockFft::default();
            fft.prepare(frames);
            let time: Vec<f32> = (0..frames)
                .map(|at| ((at * 37 + 11) % 64) as f32 / 32.0 - 1.0)
                .collect();
            let (mut re, mut im) = (vec![0.0; frames / 2 + 1], vec![0.0; frames / 2 + 1]);
            assert!(fft.forward(&time, &mut re, &mut im));
            let mut back = vec![0.0; frames];
            assert!(fft.inverse(&re, &im, &mut back));
            for (a, b) in time.iter().zip(&back) {
                assert!((a - b / frames as f32).abs() < 1e-5, "{frames}");
            }
        }
    }

    #[test]
    fn lengths_that_are_no_power_of_two_have_no_transform() {
        let mut fft = BlockFft::default();
        for frames in [0, 1, 2, 3, 100] {
            fft.prepare(frames);
            assert!(!fft.has(frames), "{frames}");
        }
    }
}
