//! FIR filters, computed directly, with a change of the sample rate by a whole factor N.
//!
//! ```text
//! Decimate     y[m] = Σk h[k] x[m N - k]                 every Nth output of the filter, and no other is computed
//! Interpolate  y[m N + p] = Σk h[p + k N] x[m - k]       the filter of a stream with N - 1 zeros behind each frame;
//!                                                         phase p of the polyphase form has the taps h[p + k N]
//! ```
//!
//! Crochiere and Rabiner, *Multirate Digital Signal Processing*, 1983, chapter 3. The input's history is the filter's memory, so
//! neither has latency of its own.

use super::{KindError, nonzero};
use crate::actor::{Actor, FireStatus, Windows};
use crate::topology::{InputPort, NodePorts, OutputPort};

/// A FIR filter of which every Nth output is kept; with N = 1, a FIR filter.
pub struct Decimate {
    /// Taps in reverse order: that for the newest frame is last.
    reversed: Box<[f32]>,
    factor: usize,
    channels: usize,
    piece: usize,
}

/// A FIR filter of a stream with N - 1 zeros behind each frame.
pub struct Interpolate {
    /// Taps of each of the N phases, in reverse order and padded to equal length.
    phases: Vec<Box<[f32]>>,
    channels: usize,
    piece: usize,
}

/// Taps of a low-pass: a sinc under a Blackman window (Blackman and Tukey, 1958), with its cut-off at `cutoff` times the sample
/// rate and a gain of 1 at 0 Hz.
pub fn low_pass(taps: usize, cutoff: f64) -> Vec<f32> {
    use std::f64::consts::PI;
    let middle = (taps.max(1) - 1) as f64 / 2.0;
    let tap = |i: usize| {
        let x = i as f64 - middle;
        let sinc = match x {
            0.0 => 2.0 * cutoff,
            x => libm::sin(2.0 * PI * cutoff * x) / (PI * x),
        };
        let phase = 2.0 * PI * (i as f64 + 0.5) / taps as f64;
        sinc * (0.42 - 0.5 * libm::cos(phase) + 0.08 * libm::cos(2.0 * phase))
    };
    let sum: f64 = (0..taps).map(tap).sum();
    (0..taps).map(|i| (tap(i) / sum) as f32).collect()
}

impl Decimate {
    /// An actor that produces `piece` frames a firing, and consumes `factor` times as many.
    ///
    /// # Errors
    ///
    /// A number is 0, or there are no taps.
    pub fn new(
        taps: &[f32],
        factor: usize,
        channels: usize,
        piece: usize,
    ) -> Result<Self, KindError> {
        nonzero(taps.len(), "taps")?;
        Ok(Self {
            reversed: taps.iter().rev().copied().collect(),
            factor: nonzero(factor, "factor")?,
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
        })
    }
}

impl Interpolate {
    /// An actor that consumes `piece` frames a firing, and produces `factor` times as many.
    ///
    /// # Errors
    ///
    /// A number is 0, or there are no taps.
    pub fn new(
        taps: &[f32],
        factor: usize,
        channels: usize,
        piece: usize,
    ) -> Result<Self, KindError> {
        nonzero(taps.len(), "taps")?;
        nonzero(factor, "factor")?;
        let length = taps.len().div_ceil(factor);
        let phase = |phase: usize| {
            let tap = |k: usize| taps.get(phase + k * factor).copied().unwrap_or(0.0);
            (0..length).rev().map(tap).collect()
        };
        Ok(Self {
            phases: (0..factor).map(phase).collect(),
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
        })
    }

    fn length(&self) -> usize {
        self.phases[0].len()
    }
}

/// Sum of products, in eight partial sums, which compile to vector instructions.
#[inline]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest: f32 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f32>() + rest
}

impl Actor for Decimate {
    fn ports(&self) -> NodePorts {
        let (consume, taps) = (self.piece * self.factor, self.reversed.len());
        let input = InputPort::new("in", consume + taps - 1, consume).history(taps - 1);
        let output = OutputPort::new("out", self.piece, self.piece);
        NodePorts::through(input, output).channels(self.channels)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let taps = self.reversed.len();
        windows.each_channel(self.channels, |input, output| {
            let starts = input.windows(taps).step_by(self.factor);
            let frames = output.iter_mut().zip(starts);
            frames.for_each(|(to, input)| *to = dot(input, &self.reversed));
        });
        FireStatus::Continue
    }
}

impl Actor for Interpolate {
    fn ports(&self) -> NodePorts {
        let (length, produce) = (self.length(), self.piece * self.phases.len());
        let input = InputPort::new("in", self.piece + length - 1, self.piece).history(length - 1);
        let output = OutputPort::new("out", produce, produce);
        NodePorts::through(input, output).channels(self.channels)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let length = self.length();
        windows.each_channel(self.channels, |input, output| {
            let groups = output.chunks_exact_mut(self.phases.len());
            for (to, input) in groups.zip(input.windows(length)) {
                let pairs = to.iter_mut().zip(&self.phases);
                pairs.for_each(|(to, phase)| *to = dot(input, phase));
            }
        });
        FireStatus::Continue
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Decimate, Interpolate, low_pass};
    use crate::kinds::fixtures::{convolved, is_near, noise, through};

    #[test]
    fn a_decimator_keeps_every_nth_frame_of_the_filter() {
        for (taps, factor, piece) in [(1, 1, 4), (7, 1, 16), (33, 4, 5), (5, 8, 3)] {
            let (sound, taps) = (noise(200, 1), noise(taps, 2));
            let node = Decimate::new(&taps, factor, 1, piece).unwrap();
            let got = through(node, vec![sound.clone()]);
            let expected: Vec<f64> = convolved(&sound, &taps)[..200]
                .iter()
                .step_by(factor)
                .copied()
                .collect();
            is_near(&got[0][..expected.len()], &expected, 1e-5);
        }
    }

    #[test]
    fn an_interpolator_is_the_filter_of_a_stream_with_zeros() {
        for (taps, factor, piece) in [(1, 1, 4), (7, 3, 16), (33, 4, 5), (5, 8, 3)] {
            let (sound, taps) = (noise(100, 1), noise(taps, 2));
            let node = Interpolate::new(&taps, factor, 2, piece).unwrap();
            let got = through(node, vec![sound.clone(), sound.clone()]);
            let mut gaps = vec![0.0; 100 * factor];
            gaps.iter_mut()
                .step_by(factor)
                .zip(&sound)
                .for_each(|(to, x)| *to = *x);
            let expected = &convolved(&gaps, &taps)[..100 * factor];
            is_near(&got[0][..expected.len()], expected, 1e-5);
            assert_eq!(got[0], got[1]);
        }
    }

    #[test]
    fn a_low_pass_passes_low_frequencies() {
        let taps = low_pass(101, 0.1);
        let gain = |freq: f64| {
            let turn = |i: usize| 2.0 * std::f64::consts::PI * freq * i as f64;
            let part = |f: fn(f64) -> f64| -> f64 {
                taps.iter()
                    .enumerate()
                    .map(|(i, tap)| f64::from(*tap) * f(turn(i)))
                    .sum()
            };
            part(f64::cos).hypot(part(f64::sin))
        };
        assert!((gain(0.0) - 1.0).abs() < 1e-6 && (gain(0.05) - 1.0).abs() < 1e-3);
        assert!(gain(0.2) < 1e-3 && gain(0.45) < 1e-3);
    }
}
