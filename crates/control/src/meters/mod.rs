//! [`PortMeter`]: levels, loudness, spectrum and waveform of an output port, computed off the audio thread.
//!
//! | file | holds |
//! |---|---|
//! | `loudness` | loudness after ITU-R BS.1770 and EBU R 128 |
//! | `scope` | the last waveform |
//! | `spectrum` | levels in bands of a third of an octave |

mod loudness;
mod scope;
mod spectrum;

use loudness::LoudnessMeter;
use scope::Scope;
use serde_json::{Value, json};
use spectrum::Spectrum;
use std::collections::VecDeque;

/// Pieces of 100 ms over which the root mean square and the peak are taken.
const HOPS: usize = 3;

/// Measures one output port, of which [`Engine::add_tap`](engine::Engine::add_tap) gives the samples. Levels are those of the last
/// 300 ms.
pub struct PortMeter {
    channels: usize,
    rate_hz: f64,
    hop_frames: usize,
    /// Frames of the piece that is not complete.
    frames: usize,
    /// Peak and sum of squares of each channel, of the last pieces; the last one is not complete.
    hops: VecDeque<Vec<(f32, f64)>>,
    loudness: LoudnessMeter,
    spectrum: Spectrum,
    scope: Scope,
}

/// A band of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandLevel {
    /// Its middle, in Hz.
    pub hz: f64,
    /// In dB of full scale: a sine of full scale has -3.01. `None` for silence.
    pub db: Option<f64>,
}

impl PortMeter {
    /// A meter of a port with `channels` channels, at a rate in Hz.
    ///
    /// Real-time: setup.
    pub fn new(channels: usize, rate_hz: f64) -> Self {
        let channels = channels.max(1);
        Self {
            channels,
            rate_hz,
            hop_frames: ((rate_hz / 10.0) as usize).max(1),
            frames: 0,
            hops: VecDeque::from([vec![(0.0, 0.0); channels]]),
            loudness: LoudnessMeter::new(channels, rate_hz),
            spectrum: Spectrum::new(channels, rate_hz),
            scope: Scope::new(channels),
        }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Takes frames, channels side by side.
    ///
    /// Real-time: setup.
    pub fn write(&mut self, samples: &[f32]) {
        self.spectrum.write(samples);
        self.scope.write(samples);
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

    /// Levels of bands of a third of an octave, from 25 Hz to 20 kHz: the mean power of the channels.
    ///
    /// Real-time: setup.
    pub fn bands(&mut self) -> Vec<BandLevel> {
        self.spectrum.bands()
    }

    /// The last 1024 frames of each channel that begin where the first one rises through zero.
    ///
    /// Real-time: setup.
    pub fn waves(&self) -> Vec<Vec<f32>> {
        self.scope.waves()
    }

    /// [`Self::bands`] as a message has them.
    pub(crate) fn spectrum(&mut self) -> Value {
        let bands = self.bands();
        let hz: Vec<f64> = bands.iter().map(|band| band.hz.round()).collect();
        let db: Vec<Option<f64>> = bands.iter().map(|band| band.db).collect();
        json!({ "hz": hz, "db": db })
    }

    /// [`Self::waves`] as a message has them, to four decimals.
    pub(crate) fn scope(&mut self) -> Value {
        let rounded = |x: f32| (f64::from(x) * 1e4).round() / 1e4;
        let wave = |wave: Vec<f32>| -> Vec<f64> { wave.into_iter().map(rounded).collect() };
        let waves: Vec<Vec<f64>> = self.waves().into_iter().map(wave).collect();
        json!({ "rate": self.rate_hz, "channels": waves })
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
