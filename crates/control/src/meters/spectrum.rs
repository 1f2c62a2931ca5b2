//! [`Spectrum`]: the levels of bands of a third of an octave, from 25 Hz to 20 kHz.

use super::{BandLevel, decibels};
use fft::{AlignedBuffer, Kernels, Packing, RealFft};
use std::f64::consts::TAU;

/// Frames of a transform.
const FRAMES: usize = 8192;
/// Frames between two frequencies of a transform: bins.
const BINS: usize = FRAMES / 2;
/// Number of bands, and the middle of the first one in Hz.
const BANDS: usize = 30;
const FIRST_HZ: f64 = 25.0;

/// The last frames of a port, and what their transform needs: made when it is first asked for.
pub(super) struct Spectrum {
    channels: usize,
    rate_hz: f64,
    /// The last frames, channels side by side, written in a circle.
    last: Vec<f32>,
    at: usize,
    transform: Option<Transform>,
}

struct Transform {
    fft: RealFft,
    window: Vec<f32>,
    time: AlignedBuffer,
    bins: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl Spectrum {
    pub(super) fn new(channels: usize, rate_hz: f64) -> Self {
        Self {
            channels,
            rate_hz,
            last: vec![0.0; FRAMES * channels],
            at: 0,
            transform: None,
        }
    }

    /// Takes frames.
    pub(super) fn write(&mut self, samples: &[f32]) {
        for sample in samples {
            self.last[self.at] = *sample;
            self.at = (self.at + 1) % self.last.len();
        }
    }

    /// Middle frequencies and levels of the bands, in dB; the mean power of the channels.
    pub(super) fn bands(&mut self) -> Vec<BandLevel> {
        if self.transform.is_none() {
            self.transform = Transform::new();
        }
        let mut powers = vec![0.0; BINS];
        if let Some(transform) = &mut self.transform {
            for channel in 0..self.channels {
                let frames = (0..FRAMES).map(|i| {
                    let i = (self.at + i * self.channels + channel) % self.last.len();
                    Some(self.last[i]).filter(|x| x.is_finite()).unwrap_or(0.0)
                });
                transform.add_powers(frames, &mut powers);
            }
        }
        let middle = |band: usize| FIRST_HZ * 2_f64.powf(band as f64 / 3.0);
        let level = |band: usize| {
            let half = 2_f64.powf(1.0 / 6.0);
            let bin = |hz: f64| ((hz / self.rate_hz * FRAMES as f64).round() as usize).min(BINS);
            let (from, to) = (bin(middle(band) / half), bin(middle(band) * half));
            // A low band is narrower than a bin: it has the one in its middle.
            let to = to.max(from + 1).min(BINS);
            let sum: f64 = powers[from.min(to)..to].iter().sum();
            decibels(sum / self.channels as f64)
        };
        let band = |band| BandLevel {
            hz: middle(band),
            db: level(band),
        };
        (0..BANDS).map(band).collect()
    }
}

impl Transform {
    fn new() -> Option<Self> {
        let fft = RealFft::new(BINS, Packing::Mono, Kernels::best()).ok()?;
        let hann = |i: usize| 0.5 - 0.5 * (TAU * i as f64 / FRAMES as f64).cos();
        Some(Self {
            window: (0..FRAMES).map(|i| hann(i) as f32).collect(),
            time: AlignedBuffer::new(fft.buffer_len()),
            bins: AlignedBuffer::new(fft.buffer_len()),
            scratch: AlignedBuffer::new(fft.scratch_len()),
            fft,
        })
    }

    /// Adds the power of each bin, so that the sum over a sine of amplitude 1 is a half.
    fn add_powers(&mut self, frames: impl Iterator<Item = f32>, powers: &mut [f64]) {
        for ((to, x), window) in self.time.iter_mut().zip(frames).zip(&self.window) {
            *to = x * window;
        }
        self.fft
            .forward(&self.time, &mut self.bins, &mut self.scratch);
        // By Parseval: the mean of the squared window is 3/8, and each bin stands for two.
        let scale = 2.0 / (0.375 * (FRAMES as f64).powi(2));
        for (bin, power) in powers.iter_mut().enumerate().skip(1) {
            let at = bin / fft::LANES * 2 * fft::LANES + bin % fft::LANES;
            let (re, im) = (
                f64::from(self.bins[at]),
                f64::from(self.bins[at + fft::LANES]),
            );
            *power += scale * (re * re + im * im);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sine;
    use super::*;

    #[test]
    fn a_sine_is_in_its_band_with_its_level() {
        for (hz, band) in [(100.0, 6), (1600.0, 18), (12_800.0, 27)] {
            let mut spectrum = Spectrum::new(2, 48_000.0);
            spectrum.write(&sine(hz, -20.0, 1.0, 2));
            let bands = spectrum.bands();
            let level = bands[band].db.unwrap();
            assert!((level + 23.01).abs() < 0.2, "{hz}: {bands:?}");
            let others = (0..BANDS).filter(|it| it.abs_diff(band) > 1);
            let others = others.filter_map(|it| bands[it].db);
            assert!(others.fold(f64::MIN, f64::max) < -60.0, "{hz}: {bands:?}");
        }
    }
}
