//! Sounds that a unit is made to play, and the plots that are drawn of its outputs.

use super::bench::{RATE, UNIT, UnitBench};
use super::error::UnitPictureError;
use super::spectrum::{level_db, peak_db, phase_between};
use divisi::draw::plot::{LinePlot, Scale};
use divisi::units::SplitMix64;
use std::f64::consts::TAU;

/// Length of an impulse response.
const RESPONSE_FRAMES: usize = 1 << 16;
/// Number of frequencies of a response.
const FREQUENCIES: usize = 400;
/// Value of a gauge in dB that stands for silence, or less.
const SILENT: f32 = -100.0;
/// Steps of a sweep, and frames after which a unit that does not change has settled.
const SWEEP: u32 = 40;
const SETTLED: usize = 64;

impl UnitBench {
    /// Level over frequency, for an impulse.
    pub(super) fn response(&self) -> Result<LinePlot, UnitPictureError> {
        let heard = self.play(RESPONSE_FRAMES, impulse)?;
        let is_silent = |samples: &Vec<f32>| samples.iter().all(|x| *x == 0.0);
        let is_all_silent = heard.iter().all(is_silent);
        let points = heard.iter().map(|samples| {
            // A send that is shut is no curve.
            if is_silent(samples) && !is_all_silent {
                return Vec::new();
            }
            let point = |i| (frequency(i), level_db(samples, frequency(i)));
            (0..FREQUENCIES).map(point).collect()
        });
        Ok(self.plot(("frequency", "Hz", Scale::Log), ("level", "dB"), points))
    }

    /// Outputs over time, without an input.
    pub(super) fn waveform(&self) -> Result<LinePlot, UnitPictureError> {
        // Some cycles, where there is a frequency.
        let seconds = self.freq.filter(|freq| *freq > 0.01);
        let seconds = seconds.map_or(0.02, |freq| 3.0 / freq).min(30.0);
        let heard = self.play((seconds * RATE) as usize, |_, _| 0.0)?;
        Ok(self.over_time(&heard))
    }

    /// Outputs over time: the first input is 1 from 50 to 250 ms, the second has pulses 30 ms apart.
    pub(super) fn step(&self) -> Result<LinePlot, UnitPictureError> {
        let at = |ms: usize| ms * RATE as usize / 1000;
        let stimulus = |port, frame: usize| match port {
            0 => f32::from(u8::from((at(50)..at(250)).contains(&frame))),
            _ => f32::from(u8::from(frame % at(30) < at(1))),
        };
        let heard = self.play(at(500), stimulus)?;
        Ok(self.over_time(&heard))
    }

    /// Outputs over time, for strokes of noise half a second apart; a point for each 10 ms.
    pub(super) fn strokes(&self) -> Result<LinePlot, UnitPictureError> {
        let stroke = |_: usize, frame: usize| {
            let since = frame % (RATE as usize / 2);
            let noise = SplitMix64(since as u64).sample();
            0.5 * noise * (-(since as f32) / 500.0).exp()
        };
        let heard = self.play(12 * RATE as usize, stroke)?;
        Ok(self.over_seconds(&heard))
    }

    /// Output over input, for a ramp from -2 to 2 in four seconds, after one second at its begin.
    pub(super) fn transfer(&self, (from, to): (i32, i32)) -> Result<LinePlot, UnitPictureError> {
        let (from, to) = (f64::from(from), f64::from(to));
        let share = |frame: usize| (frame as f64 / RATE / 4.0 - 0.25).clamp(0.0, 1.0);
        let ramp = |frame: usize| (from + (to - from) * share(frame)) as f32;
        let frames = (5.0 * RATE) as usize;
        let heard = self.play(
            frames,
            |port, frame| if port == 0 { ramp(frame) } else { 0.0 },
        )?;
        let points = heard.iter().map(|samples| {
            let shown = (RATE as usize..frames).step_by(96);
            shown
                .map(|i| (f64::from(ramp(i)), f64::from(samples[i])))
                .collect()
        });
        Ok(self.plot(("input", "", Scale::Linear), ("output", ""), points))
    }

    /// Level of the output over that of the input, for sines of `hz`.
    pub(super) fn levels(&self, hz: u32) -> Result<LinePlot, UnitPictureError> {
        let cycles = f64::from(hz) / RATE;
        let mut all = vec![Vec::new(); self.outputs.len()];
        for db in (-72..=12).step_by(3) {
            let peak = 10f64.powf(f64::from(db) / 20.0);
            let sine = |_: usize, frame: usize| (peak * (TAU * cycles * frame as f64).sin()) as f32;
            let frames = (1.5 * RATE) as usize;
            for (points, samples) in all.iter_mut().zip(self.play(frames, sine)?) {
                points.push((f64::from(db), peak_db(&samples, frames - 4800..frames)));
            }
        }
        Ok(self.plot(("input", "dB", Scale::Linear), ("output", "dB"), all))
    }

    /// Phase over frequency, for an impulse: of the output beside the input, or of further outputs beside the first.
    pub(super) fn phase(&self) -> Result<LinePlot, UnitPictureError> {
        let mut heard = self.play(RESPONSE_FRAMES, impulse)?;
        let reference = match heard.len() {
            1 => vec![1.0],
            _ => std::mem::take(&mut heard[0]),
        };
        let points = heard.iter().map(|samples| {
            if samples.is_empty() {
                return Vec::new();
            }
            let phase = |hz| (hz, phase_between(samples, &reference, hz));
            unwrapped((0..FREQUENCIES).map(frequency).map(phase))
        });
        Ok(self.plot(
            ("frequency", "Hz", Scale::Log),
            ("phase", "degrees"),
            points,
        ))
    }

    /// Outputs over time, for a sine of 220 Hz that begins at once.
    pub(super) fn tone(&self) -> Result<LinePlot, UnitPictureError> {
        let sine = |_: usize, frame: usize| (TAU * 220.0 * frame as f64 / RATE).sin() as f32;
        let heard = self.play(RATE as usize / 10, sine)?;
        Ok(self.over_time(&heard))
    }

    /// Outputs over time, for a sine that rises from 100 to 700 Hz in four seconds; a point for each 10 ms.
    pub(super) fn glide(&self) -> Result<LinePlot, UnitPictureError> {
        let sine = |_: usize, frame: usize| {
            let seconds = frame as f64 / RATE;
            let cycles = seconds * (100.0 + 75.0 * seconds);
            (0.5 * (TAU * cycles).sin()) as f32
        };
        let heard = self.play(4 * RATE as usize, sine)?;
        Ok(self.over_seconds(&heard))
    }

    /// Outputs over two seconds, the smallest and the largest sample of each 4 ms; a note of one second comes at the begin.
    pub(super) fn note(&self) -> Result<LinePlot, UnitPictureError> {
        let heard = self.play(2 * RATE as usize, |_, _| 0.0)?;
        let points = heard.iter().map(|samples| {
            let pieces = samples.chunks(RATE as usize / 250).enumerate();
            let ends = pieces.flat_map(|(i, piece)| {
                let low = piece.iter().copied().fold(f32::MAX, f32::min);
                let high = piece.iter().copied().fold(f32::MIN, f32::max);
                [low, high].map(|end| (i as f64 / 250.0, f64::from(end)))
            });
            ends.collect()
        });
        Ok(self.plot(("time", "s", Scale::Linear), ("output", ""), points))
    }

    /// Outputs over the first of some parameters that changes them, for each input at 1 while the others are silent.
    pub(super) fn sweep(&self, params: &[&str]) -> Result<LinePlot, UnitPictureError> {
        let names = self.inputs.iter().flat_map(|input| {
            let to = move |output| match self.inputs.len() {
                1 => String::clone(output),
                _ => format!("{input} to {output}"),
            };
            self.outputs.iter().map(to)
        });
        let names: Vec<String> = names.collect();
        let (mut over, mut curves) = ("", Vec::new());
        for param in params {
            (over, curves) = (*param, self.curves_over(param)?);
            let moves = |curve: &Vec<(f64, f64)>| curve.iter().any(|point| point.1 != curve[0].1);
            if curves.iter().any(moves) {
                break;
            }
        }
        let x = (over, "", Scale::Linear);
        Ok(self.plot_named(x, ("gain", ""), (&names, curves)))
    }

    /// For each input at 1 alone, each output over a parameter.
    fn curves_over(&self, param: &str) -> Result<Vec<Vec<(f64, f64)>>, UnitPictureError> {
        let (min, max) = self.range_of(param);
        let mut curves = vec![Vec::new(); self.inputs.len() * self.outputs.len()];
        for i in 0..=SWEEP {
            let value = min + (max - min) * f64::from(i) / f64::from(SWEEP);
            let unit = self.with_param(param, value)?;
            let mut curves = curves.iter_mut();
            for input in 0..self.inputs.len() {
                let one = |port: usize, _: usize| f32::from(u8::from(port == input));
                for (samples, curve) in unit.play(SETTLED, one)?.iter().zip(&mut curves) {
                    let last = samples.last().copied().unwrap_or_default();
                    curve.push((value, f64::from(last)));
                }
            }
        }
        Ok(curves)
    }

    /// A stimulus for gauges: a sine of 1 kHz: at -26 dB up to 2 s, at -20 dB up to 6 s, then at -32 dB.
    pub(super) fn gauges(&self, names: &[&str]) -> Result<LinePlot, UnitPictureError> {
        let sine = |_: usize, frame: usize| {
            let db = match frame as f64 / RATE {
                ..2.0 => -26.0,
                ..6.0 => -20.0,
                _ => -32.0,
            };
            (10f64.powf(db / 20.0) * (TAU * frame as f64 / 48.0).sin()) as f32
        };
        let mut all = vec![Vec::new(); names.len()];
        self.play_watched(10 * RATE as usize, sine, |engine, frame| {
            if !frame.is_multiple_of(RATE as usize / 25) {
                return;
            }
            let shown = engine.gauges();
            for (points, name) in all.iter_mut().zip(names) {
                // Nothing was measured yet, or it was silence: that is no line.
                let value = shown.get(&format!("{UNIT}.{name}"));
                if let Some(value) = value.filter(|value| **value > SILENT) {
                    points.push((frame as f64 / RATE, f64::from(*value)));
                }
            }
        })?;
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let x = ("time", "s", Scale::Linear);
        Ok(self.plot_named(x, ("shown", ""), (&names, all)))
    }

    /// Outputs over seconds, a point for each 10 ms.
    fn over_seconds(&self, heard: &[Vec<f32>]) -> LinePlot {
        let points = heard.iter().map(|samples| {
            let shown = samples.iter().enumerate().step_by(RATE as usize / 100);
            shown
                .map(|(i, x)| (i as f64 / RATE, f64::from(*x)))
                .collect()
        });
        self.plot(("time", "s", Scale::Linear), ("output", ""), points)
    }
}

/// The same phases in degrees without jumps by 360.
fn unwrapped(phases: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let near = |(hz, degrees): (f64, f64)| {
        before = degrees - 360.0 * ((degrees - before) / 360.0).round();
        (hz, before)
    };
    phases.map(near).collect()
}

/// 1 at the first frame of the first input, else 0.
fn impulse(port: usize, frame: usize) -> f32 {
    f32::from(u8::from(port == 0 && frame == 0))
}

/// The frequencies of a response, in equal steps from 20 Hz to half the rate.
fn frequency(i: usize) -> f64 {
    let octaves = (RATE * 0.4999 / 20.0).log2();
    20.0 * (octaves * i as f64 / (FREQUENCIES - 1) as f64).exp2()
}
