//! [`PortMeter`]: levels, loudness and spectrum of an output port, computed off the audio thread.
//!
//! | file | holds |
//! |---|---|
//! | `loudness` | loudness after ITU-R BS.1770 and EBU R 128 |
//! | `spectrum` | levels in bands of a third of an octave |

mod loudness;
mod spectrum;

use loudness::LoudnessMeter;
use serde_json::{Value, json};
use spectrum::Spectrum;
use std::collections::VecDeque;

/// Pieces of 100 ms over which the root mean square and the peak are taken.
const HOPS: usize = 3;

/// Measures one port. Levels are those of the last 300 ms.
pub(crate) struct PortMeter {
    channels: usize,
    hop_frames: usize,
    /// Frames of the piece that is not complete.
    frames: usize,
    /// Peak and sum of squares of each channel, of the last pieces; the last one is not complete.
    hops: VecDeque<Vec<(f32, f64)>>,
    loudness: LoudnessMeter,
    spectrum: Spectrum,
}

impl PortMeter {
    pub(crate) fn new(channels: usize, rate_hz: f64) -> Self {
        Self {
            channels,
            hop_frames: ((rate_hz / 10.0) as usize).max(1),
            frames: 0,
            hops: VecDeque::from([vec![(0.0, 0.0); channels]]),
            loudness: LoudnessMeter::new(channels, rate_hz),
            spectrum: Spectrum::new(channels, rate_hz),
        }
    }

    /// Takes frames, channels side by side.
    pub(crate) fn write(&mut self, samples: &[f32]) {
        self.spectrum.write(samples);
        for frame in samples.chunks_exact(self.channels) {
            if let Some(hop) = self.hops.back_mut() {
                for ((peak, sum), x) in hop.iter_mut().zip(frame) {
                    *peak = peak.max(x.abs());
                    *sum += f64::from(*x) * f64::from(*x);
                }
            }
            self.loudness.write(frame);
            self.frames += 1;
            if self.frames == self.hop_frames {
                self.frames = 0;
                self.loudness.end_hop(self.hop_frames);
                self.hops.push_back(vec![(0.0, 0.0); self.channels]);
                if self.hops.len() > HOPS + 1 {
                    self.hops.pop_front();
                }
            }
        }
    }

    /// Peak and root mean square of each channel, in dB of full scale; null for silence.
    pub(crate) fn levels(&self) -> Value {
        let frames = (self.hops.len() - 1) * self.hop_frames + self.frames;
        let channel = |c: usize| {
            let hops = self.hops.iter().map(|hop| hop[c]);
            let peak = hops.clone().map(|(peak, _)| peak).fold(0.0, f32::max);
            let sum: f64 = hops.map(|(_, sum)| sum).sum();
            (
                decibels(f64::from(peak).powi(2)),
                decibels(sum / frames.max(1) as f64),
            )
        };
        let (peak, rms): (Vec<_>, Vec<_>) = (0..self.channels).map(channel).unzip();
        json!({ "peak_db": peak, "rms_db": rms })
    }

    /// Loudness in LUFS; null for silence, or as long as too little has come.
    pub(crate) fn loudness(&self) -> Value {
        self.loudness.values()
    }

    /// Levels of bands, in dB of full scale: a sine of full scale has -3.01.
    pub(crate) fn spectrum(&mut self) -> Value {
        self.spectrum.values()
    }
}

/// A power in dB, to a hundredth; `None` for none.
fn decibels(power: f64) -> Option<f64> {
    let level = 10.0 * power.log10();
    level.is_finite().then(|| (level * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `seconds` of a sine of `hz` with the peak `level_db`, on `channels` channels.
    pub(super) fn sine(hz: f64, level_db: f64, seconds: f64, channels: usize) -> Vec<f32> {
        let peak = 10_f64.powf(level_db / 20.0);
        let frames = 0..(seconds * 48_000.0) as usize;
        let x = |i: usize| (peak * (std::f64::consts::TAU * hz * i as f64 / 48_000.0).sin()) as f32;
        frames.flat_map(|i| vec![x(i); channels]).collect()
    }

    #[test]
    fn a_sine_has_its_peak_and_its_root_mean_square() {
        let mut meter = PortMeter::new(2, 48_000.0);
        meter.write(&sine(1000.0, -6.0, 1.0, 2));
        let levels = meter.levels();
        let near = |value: &Value, level: f64| (value.as_f64().unwrap() - level).abs() < 0.05;
        assert!(
            near(&levels["peak_db"][1], -6.0) && near(&levels["rms_db"][0], -9.01),
            "{levels}"
        );
        assert!(PortMeter::new(1, 48_000.0).levels()["peak_db"][0].is_null());
    }
}
