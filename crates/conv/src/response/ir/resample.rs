//! Impulse response at another rate, with the same gain.
//!
//! A response at twice the rate has twice the samples, and convolution adds them all: so the samples are multiplied by the ratio of
//! the rates, and the filter's gain stays the same.

use media::{RateRatioError, Resampler};
use units::SampleRate;

/// Resamples all channels to `to`; also gives the energy that would ring before the beginning and is left out, in dB of the whole.
///
/// Real-time: setup.
pub(super) fn resample(
    channels: &[Vec<f32>],
    from: SampleRate,
    to: SampleRate,
) -> Result<(Vec<Vec<f32>>, f64), RateRatioError> {
    let resampler = Resampler::new(from, to)?;
    let silence = LeadingSilence::new(&resampler, from, to);
    let scale = f64::from(from.hz()) / f64::from(to.hz());
    let (mut lost, mut kept) = (0.0, 0.0);
    let made = channels.iter().map(|channel| {
        let mut all = silence.resample(&resampler, channel);
        for sample in &mut all {
            *sample = (f64::from(*sample) * scale) as f32;
        }
        lost += energy(&all[..silence.output]);
        all.drain(..silence.output);
        kept += energy(&all);
        all
    });
    let made = made.collect();
    let share = lost / (lost + kept);
    let lost_db = if share > 0.0 {
        10.0 * libm::log10(share)
    } else {
        f64::NEG_INFINITY
    };
    Ok((made, lost_db))
}

/// Silence in front of the response, long enough for all pre-ringing.
struct LeadingSilence {
    /// Frames before resampling.
    input: usize,
    /// Frames after it: a whole number, so that the response keeps its phase.
    output: usize,
}

impl LeadingSilence {
    fn new(resampler: &Resampler, from: SampleRate, to: SampleRate) -> Self {
        let common = units::gcd(from.hz().into(), to.hz().into()) as u32;
        let (input, output) = (from.hz() / common, to.hz() / common);
        let times = resampler.taps().div_ceil(input as usize);
        Self {
            input: input as usize * times,
            output: output as usize * times,
        }
    }

    /// Resamples a channel, with its ringing before and behind.
    fn resample(&self, resampler: &Resampler, channel: &[f32]) -> Vec<f32> {
        let before = usize::try_from(-resampler.first_input(0)).unwrap_or(0);
        let rings = resampler.taps() / 2;
        let frames = resampler.output_frames((self.input + channel.len() + rings) as u64);
        let mut original = vec![0.0; before + self.input];
        original.extend_from_slice(channel);
        original.resize(original.len() + rings + resampler.taps() + 1, 0.0);
        let frame = |n| {
            let first = resampler.first_input(n) + before as i64;
            resampler.output_frame(n, &original[first as usize..])
        };
        (0..frames).map(frame).collect()
    }
}

fn energy(samples: &[f32]) -> f64 {
    samples.iter().map(|s| f64::from(*s) * f64::from(*s)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn rate(hz: u32) -> SampleRate {
        SampleRate::new(hz).unwrap()
    }

    /// Gain of the response for a sine of `hz`.
    fn gain(response: &[f32], hz: f64, rate_hz: f64) -> f64 {
        let turn = |n: usize| TAU * hz * n as f64 / rate_hz;
        let part = |of: fn(f64) -> f64| -> f64 {
            let samples = response.iter().enumerate();
            samples.map(|(n, s)| f64::from(*s) * of(turn(n))).sum()
        };
        part(libm::cos).hypot(part(libm::sin))
    }

    #[test]
    fn a_response_is_as_loud_at_every_rate() {
        let mut response = vec![0.0; 400];
        for (n, sample) in response[100..300].iter_mut().enumerate() {
            *sample = (0.98f32).powi(n as i32) * if n % 3 == 0 { 1.0 } else { -0.4 };
        }
        for (from, to) in [
            (44_100, 48_000),
            (48_000, 44_100),
            (48_000, 96_000),
            (96_000, 32_000),
        ] {
            let (made, lost) = resample(&[response.clone()], rate(from), rate(to)).unwrap();
            assert!(lost < -60.0, "{lost} dB from {from} to {to}");
            for hz in [50.0, 1000.0, 9000.0] {
                let before = gain(&response, hz, f64::from(from));
                let after = gain(&made[0], hz, f64::from(to));
                assert!(
                    (after / before - 1.0).abs() < 1e-3,
                    "{hz} Hz from {from} to {to}"
                );
            }
        }
    }

    #[test]
    fn ringing_before_the_beginning_is_reported() {
        let (made, lost) = resample(&[vec![1.0]], rate(44_100), rate(48_000)).unwrap();
        assert!((-40.0..-6.0).contains(&lost), "{lost}");
        assert!((0.8..0.95).contains(&made[0][0]));
        let mut late = vec![0.0; 100];
        late.push(1.0);
        assert!(resample(&[late], rate(44_100), rate(48_000)).unwrap().1 < -80.0);
    }

    #[test]
    fn silence_stays_silent_and_far_rates_are_refused() {
        let (made, lost) = resample(&[vec![0.0; 9]], rate(44_100), rate(48_000)).unwrap();
        assert!(made[0].iter().all(|s| *s == 0.0) && made[0].len() >= 10);
        assert_eq!(lost, f64::NEG_INFINITY);
        assert!(resample(&[vec![1.0]], rate(100), rate(48_000)).is_err());
    }
}
