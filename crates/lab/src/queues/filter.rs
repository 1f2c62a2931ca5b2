//! One block of an FFT filter: overlap-save, from one slice to another.

use divisi::fft::{AlignedBuffer, Kernels, Packing, RealFft};

/// A filter from a window of a whole FFT to another, of which the first frames are valid.
pub(super) struct OverlapSave {
    fft: RealFft,
    kernels: Kernels,
    response: AlignedBuffer,
    spectrum: AlignedBuffer,
    product: AlignedBuffer,
    scratch: AlignedBuffer,
    hop: usize,
}

impl OverlapSave {
    /// A filter of `overlap + 1` taps on windows of `size` frames, a power of two, which share `overlap` frames.
    pub(super) fn new(size: usize, overlap: usize) -> Self {
        let kernels = Kernels::best();
        let fft = RealFft::new(size / 2, Packing::Mono, kernels);
        let fft = fft.expect("the experiment's sizes are sizes of it");
        let [mut time, mut response, spectrum, product] =
            [(); 4].map(|()| AlignedBuffer::new(fft.buffer_len()));
        let mut scratch = AlignedBuffer::new(fft.scratch_len());
        // Rotated back by the overlap, so that the valid frames come first; scaled by the transforms' gain.
        for tap in 0..=overlap {
            let place = (size + tap - overlap) % size;
            time[place] = tap_of(tap, overlap) / size as f32;
        }
        fft.forward(&time, &mut response, &mut scratch);
        Self {
            fft,
            kernels,
            response,
            spectrum,
            product,
            scratch,
            hop: size - overlap,
        }
    }

    /// Number of frames that a window gives.
    pub(super) fn hop(&self) -> usize {
        self.hop
    }

    /// Filters a window: the first [`OverlapSave::hop`] frames of `to` become the filtered last ones of `from`; those behind are
    /// not valid.
    pub(super) fn process_window(&mut self, from: &[f32], to: &mut [f32]) {
        self.fft
            .forward(from, &mut self.spectrum, &mut self.scratch);
        self.product.fill(0.0);
        self.kernels.multiply_add(
            &mut self.product,
            &self.spectrum,
            &self.response,
            Packing::Mono,
        );
        self.fft.inverse(&mut self.product, to, &mut self.scratch);
    }
}

/// Tap of a short decay.
fn tap_of(tap: usize, overlap: usize) -> f32 {
    let along = tap as f32 / (overlap + 1) as f32;
    (1.0 - along) * if tap.is_multiple_of(3) { 1.0 } else { -0.5 }
}

/// Floating-point operations of a block, as is usual for real signals: half of two complex transforms of length N at
/// 5 N log2 N and a complex product at 6 N.
pub(super) fn operations(size: usize) -> f64 {
    let n = size as f64;
    (2.0 * 5.0 * n * n.log2() + 6.0 * n) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_put_together_are_the_convolution() {
        for (size, overlap) in [(64, 6), (64, 57), (256, 128)] {
            let mut filter = OverlapSave::new(size, overlap);
            let signal: Vec<f32> = (0..4 * size).map(|i| ((i * i) % 17) as f32 - 8.0).collect();
            let mut out = vec![0.0; size];
            for begin in (0..=3 * size).step_by(filter.hop()) {
                filter.process_window(&signal[begin..begin + size], &mut out);
                for (i, got) in out[..filter.hop()].iter().enumerate() {
                    let at = begin + overlap + i;
                    let taps = (0..=overlap).map(|tap| tap_of(tap, overlap) * signal[at - tap]);
                    let wanted: f32 = taps.sum();
                    assert!(
                        (got - wanted).abs() < 1e-3,
                        "{size} {overlap} {at}: {got} {wanted}"
                    );
                }
            }
        }
    }
}
