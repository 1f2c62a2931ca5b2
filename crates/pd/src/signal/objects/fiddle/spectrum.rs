//! A window of samples to the peaks of its spectrum.
//!
//! The window is transformed with as many zeros behind it, so bins lie half a period of the window apart. Three bins make one under a
//! Hann window; what stands out among these is a peak, whose frequency three neighbouring bins estimate.

use super::super::fourier::BlockFft;

/// Lowest bin that is looked at.
const LOWEST: usize = 3;
/// Highest spread of the three estimates, as power against the power of the whole.
const MAX_SPREAD: f32 = 10.0;

/// A peak.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoudPeak {
    /// In bins.
    pub frequency: f32,
    /// Distance between the estimates of the frequency, in bins.
    pub width: f32,
    pub power: f32,
    /// Fourth root of the power.
    pub loudness: f32,
}

/// The analysis of one window length, and its memory.
#[derive(Default)]
pub(super) struct Spectrum {
    fft: BlockFft,
    time: Vec<f32>,
    re: Vec<f32>,
    im: Vec<f32>,
    powers: Vec<f32>,
    pub peaks: Vec<LoudPeak>,
    /// Power of all bins.
    pub total: f32,
}

impl Spectrum {
    /// Prepares it for windows of `points` samples and `max_peaks` peaks.
    pub(super) fn prepare(&mut self, points: usize, max_peaks: usize) {
        self.fft.prepare(2 * points);
        self.time = vec![0.0; 2 * points];
        self.re = vec![0.0; points + 1];
        self.im = vec![0.0; points + 1];
        self.powers = vec![0.0; points];
        self.peaks = Vec::with_capacity(max_peaks);
    }

    /// Samples of the windows for which it is prepared.
    pub(super) fn points(&self) -> usize {
        self.powers.len()
    }

    /// Analyses a window. Leaves at most as many peaks as there is room for, and the power.
    pub(super) fn run(&mut self, window: &[f32]) {
        self.peaks.clear();
        self.total = 0.0;
        let points = self.points();
        if window.len() != points {
            return;
        }
        self.time[..points].copy_from_slice(window);
        self.fft.forward(&self.time, &mut self.re, &mut self.im);
        for bin in LOWEST..points - 2 {
            let (x, y) = self.windowed(bin);
            self.powers[bin] = x * x + y * y;
            self.total += self.powers[bin];
        }
    }

    /// Finds the peaks, from the lowest.
    pub(super) fn find_peaks(&mut self) {
        for bin in LOWEST..self.powers.len().saturating_sub(3) {
            if self.peaks.len() == self.peaks.capacity() {
                return;
            }
            if let Some(peak) = self.peak_at(bin) {
                self.peaks.push(peak);
            }
        }
    }

    /// A bin under a Hann window of the height 2.
    fn windowed(&self, bin: usize) -> (f32, f32) {
        let of = |from: &[f32]| from[bin] - 0.5 * (from[bin - 2] + from[bin + 2]);
        (of(&self.re), of(&self.im))
    }

    fn peak_at(&self, bin: usize) -> Option<LoudPeak> {
        let (before, power, after) = (self.powers[bin - 1], self.powers[bin], self.powers[bin + 1]);
        let least = 0.00001 * self.total;
        if power < before || power < after || before < least || after < least {
            return None;
        }
        let estimates = [
            self.detune(bin - 1) - 1.0,
            self.detune(bin),
            self.detune(bin + 1) + 1.0,
        ];
        let mean = 0.333_333 * (estimates[1] + estimates[0] + estimates[2]);
        let spread = estimates.map(|x| (x - mean) * (x - mean));
        let spread = 0.5 * (spread[1] + spread[0] + spread[2]);
        if spread * self.total > MAX_SPREAD * power || spread < 1e-30 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let frequency = bin as f32 + mean;
        Some(LoudPeak {
            frequency: frequency.max(4.0),
            width: spread.sqrt(),
            power,
            loudness: power.sqrt().sqrt(),
        })
    }

    /// Distance of the sinusoid that a bin is of above it, in bins.
    fn detune(&self, bin: usize) -> f32 {
        let (x, y) = self.windowed(bin);
        let slope = |from: &[f32]| from[bin - 2] - from[bin + 2];
        (slope(&self.re) * x + slope(&self.im) * y) / self.powers[bin]
    }
}
