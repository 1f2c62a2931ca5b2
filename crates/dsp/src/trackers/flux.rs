//! [`FluxJob`]: how much louder the bands of a sound have become within a hop.
//!
//! ```text
//! Y(b) = log10(1 + 1000 Σ |X(k)|), k in band b        flux = mean over b of max(0, Y(b) - Y'(b)), Y' a hop before
//! ```
//!
//! The logarithmic spectral flux of S. Böck, F. Krebs, M. Schedl, "Evaluating the online capabilities of onset detection
//! methods", ISMIR 2012. A window has 21 ms (Hann); |X| is the amplitude of a sine. A band is a sixth of an octave, or one bin
//! where that is wider. Both windows are parts of one, so that the work keeps nothing from one time to the next.

use super::window_tracker::{WindowJob, hop};
use super::words::{put_numbers, put_samples, read_numbers, read_samples};
use fft::{AlignedBuffer, Kernels, LANES, Packing, RealFft};
use processor::WordJob;
use rt::deferred::PiecewiseJob;
use std::f64::consts::TAU;
use std::ops::Range;

/// Length of a window.
const WINDOW_S: f64 = 1024.0 / 48_000.0;
/// Lowest and highest frequency.
const RANGE_HZ: (f64, f64) = (60.0, 16_000.0);
/// Bands of an octave.
const BANDS_PER_OCTAVE: f64 = 6.0;
/// Largest flux that is believed: that of the largest samples is half of it.
const MAX_FLUX: f64 = 100.0;
/// Words of a flux.
pub(super) const FLUX_WORDS: usize = 2;
/// Weight of an amplitude before the logarithm.
const COMPRESSION: f64 = 1000.0;

/// The work on one window and a hop.
pub(super) struct FluxJob {
    fft: RealFft,
    /// Hann window, scaled so that a sine of amplitude 1 has a bin of 1.
    shape: Vec<f32>,
    window: Vec<f32>,
    time: AlignedBuffer,
    spectrum: AlignedBuffer,
    scratch: AlignedBuffer,
    /// Bins of each band.
    bands: Vec<Range<usize>>,
    /// Levels of the bands in the window that ends a hop earlier.
    before: Vec<f64>,
    is_second: bool,
    pub(super) flux: f64,
}

impl FluxJob {
    /// For sounds at a rate in Hz.
    ///
    /// Real-time: setup.
    pub(super) fn new(rate: f64) -> Self {
        let width = ((WINDOW_S * rate) as usize).max(2);
        // Below 256 bins another library would transform, with the instructions of the machine.
        let bins = (width.next_power_of_two() / 2).clamp(256, RealFft::MAX_BINS);
        let fft = RealFft::new(bins, Packing::Mono, portable_kernels())
            .expect("a power of two in the range");
        let hann = |i: usize| {
            (1.0 - libm::cos(TAU * (i as f64 + 0.5) / width as f64)) / width as f64 * 2.0
        };
        let bands = bands(rate, bins);
        Self {
            shape: (0..width).map(|i| hann(i) as f32).collect(),
            window: vec![0.0; width + hop(rate)],
            time: AlignedBuffer::new(fft.buffer_len()),
            spectrum: AlignedBuffer::new(fft.buffer_len()),
            scratch: AlignedBuffer::new(fft.scratch_len()),
            before: vec![0.0; bands.len()],
            bands,
            is_second: false,
            flux: 0.0,
            fft,
        }
    }

    /// Transforms the frames of the window from `first` on.
    fn transform(&mut self, first: usize) {
        let frames = &self.window[first..];
        for ((to, x), weight) in self.time.iter_mut().zip(frames).zip(&self.shape) {
            *to = x * weight;
        }
        self.fft
            .forward(&self.time, &mut self.spectrum, &mut self.scratch);
    }

    /// Level of a band in the spectrum.
    fn level(&self, band: Range<usize>) -> f64 {
        let amplitude = |bin: usize| {
            let at = bin / LANES * 2 * LANES + bin % LANES;
            let (re, im) = (self.spectrum[at], self.spectrum[at + LANES]);
            (f64::from(re) * f64::from(re) + f64::from(im) * f64::from(im)).sqrt()
        };
        let sum: f64 = band.map(amplitude).sum();
        libm::log10(1.0 + COMPRESSION * sum)
    }
}

/// The kernels that every machine has: the same bits everywhere.
fn portable_kernels() -> Kernels {
    Kernels::from_name("scalar").unwrap_or_else(|_| Kernels::best())
}

/// The bins of each band: those of the transform that lie in the range, each in one band.
fn bands(rate: f64, bins: usize) -> Vec<Range<usize>> {
    let bin = |hz: f64| (hz * 2.0 * bins as f64 / rate) as usize;
    let (mut first, end) = (bin(RANGE_HZ.0).max(1), bin(RANGE_HZ.1).min(bins));
    let ratio = libm::exp2(1.0 / BANDS_PER_OCTAVE);
    let mut bands = Vec::new();
    while first < end {
        let next = ((first as f64 * ratio) as usize).clamp(first + 1, end);
        bands.push(first..next);
        first = next;
    }
    bands
}

impl WindowJob for FluxJob {
    fn window(&mut self) -> &mut [f32] {
        &mut self.window
    }

    fn begin(&mut self) {
        (self.is_second, self.flux) = (false, 0.0);
    }
}

impl WordJob for FluxJob {
    fn words(&self) -> (usize, usize) {
        (self.window.len(), FLUX_WORDS)
    }

    fn write_request(&self, words: &mut [u32]) {
        put_samples(words, &self.window);
    }

    fn read_request(&mut self, words: &[u32]) {
        read_samples(words, &mut self.window);
        self.begin();
    }

    fn write_reply(&self, words: &mut [u32]) {
        put_numbers(words, &[self.flux]);
    }

    fn read_reply(&mut self, words: &[u32]) -> bool {
        match read_numbers(words) {
            Some([flux]) if (0.0..=MAX_FLUX).contains(&flux) => {
                self.flux = flux;
                true
            }
            _ => false,
        }
    }
}

impl PiecewiseJob for FluxJob {
    fn run_piece(&mut self) -> bool {
        if !std::mem::replace(&mut self.is_second, true) {
            self.transform(0);
            for index in 0..self.bands.len() {
                self.before[index] = self.level(self.bands[index].clone());
            }
            return false;
        }
        self.transform(self.window.len() - self.shape.len());
        let rise = |(band, before): (&Range<usize>, &f64)| {
            // A sum of largest samples may be infinite, and the difference of two such is no number.
            let rise = self.level(band.clone()) - before;
            if rise.is_finite() { rise.max(0.0) } else { 0.0 }
        };
        let sum: f64 = self.bands.iter().zip(&self.before).map(rise).sum();
        self.flux = sum / self.bands.len().max(1) as f64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flux(rate: f64, sound: impl Fn(usize) -> f64) -> f64 {
        let mut job = FluxJob::new(rate);
        for (n, x) in job.window.iter_mut().enumerate() {
            *x = sound(n) as f32;
        }
        job.begin();
        while !job.run_piece() {}
        job.flux
    }

    #[test]
    fn what_begins_rises_and_what_stays_or_ends_does_not() {
        for rate in [8000.0, 44_100.0, 48_000.0, 192_000.0] {
            let turn = TAU * 440.0 / rate;
            let middle = (0.02 * rate) as usize;
            let tone = |n: usize| (turn * n as f64).sin();
            let begins = flux(rate, |n| if n > middle { tone(n) } else { 0.0 });
            // It fades: cut off, it would be a stroke of its own.
            let left = |n: usize| (-(n.saturating_sub(middle) as f64) / (0.005 * rate)).exp();
            let ends = flux(rate, |n| left(n) * tone(n));
            let stays = flux(rate, tone);
            assert!(begins > 0.3, "{rate}: {begins}");
            assert!(
                stays < 0.02 && ends < 0.5 * begins,
                "{rate}: {stays} {ends}"
            );
            assert_eq!(flux(rate, |_| 0.0), 0.0);
        }
    }

    #[test]
    fn the_largest_samples_have_a_finite_flux() {
        let largest = |n: usize| f64::from(f32::MAX) * if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        assert!(flux(48_000.0, largest).is_finite());
    }

    #[test]
    fn bands_lie_side_by_side() {
        for rate in [8000.0, 48_000.0, 384_000.0] {
            let bands = bands(rate, 512);
            assert!(bands.windows(2).all(|two| two[0].end == two[1].start));
            assert!(bands.iter().all(|band| !band.is_empty() && band.end <= 512));
        }
    }
}
