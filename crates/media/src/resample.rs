//! [`Resampler`]: from one sample rate to another by a windowed sinc (Smith, "Digital Audio Resampling", CCRMA; polyphase
//! table as in Crochiere and Rabiner, "Multirate Digital Signal Processing", 1983).
//!
//! Output frame n is at input position n · from / to, which is kept as whole numbers. It is the sum of the input frames
//! around that position, each times a tap of a sinc with a Kaiser window:
//!
//! ```text
//!  input      ·   ·   ·   ·   ·   ·   ·   ·
//!             └────── half ──────┘└─ half ─┘      2 · half taps, row `phase` of the table
//!  output                      ↑ n · from / to, `phase` of the way from one input frame to the next
//! ```
//!
//! An output frame depends on nothing else: neither on the frame at which reading began nor on the portions. The taps
//! come from `libm`, not from the system, so that they have the same bits everywhere.
//!
//! 2026-11-21 Refused: `rubato`. It brings 14 crates with it and takes its taps from the system's sine.

use std::f64::consts::PI;
use units::{SampleRate, gcd};

/// Error: the ratio of two rates exceeds 64, which is taken for a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{from} and {to} are too far apart")]
pub struct RateRatioError {
    /// Rate of the input.
    pub from: SampleRate,
    /// Rate of the output.
    pub to: SampleRate,
}

/// Converts frames at one rate to frames at another.
#[derive(Clone, Debug)]
pub struct Resampler {
    /// Both rates, divided by their greatest common divisor.
    from: u64,
    to: u64,
    /// Taps on each side.
    half: usize,
    /// Rows of the table without the last, which is the first again, one frame later.
    phases: u64,
    table: Box<[f32]>,
}

/// Taps on each side if the rate does not fall.
const HALF: f64 = 48.0;
/// Parameter of the Kaiser window: 100 dB of attenuation in the stop band.
const BETA: f64 = 10.06;
/// Cutoff (-6 dB), as a share of the lower Nyquist frequency.
const CUTOFF: f64 = 0.95;
/// The most rows. Ratios that need more interpolate linearly between two rows.
const MAX_PHASES: u64 = 512;
/// The greatest ratio of two rates.
const MAX_RATIO: u32 = 64;

impl Resampler {
    /// Prepares the conversion from `from` to `to`.
    ///
    /// # Errors
    ///
    /// The ratio of the rates exceeds 64.
    ///
    /// Real-time: setup.
    pub fn new(from: SampleRate, to: SampleRate) -> Result<Self, RateRatioError> {
        let (low, high) = (from.hz().min(to.hz()), from.hz().max(to.hz()));
        if high / low > MAX_RATIO {
            return Err(RateRatioError { from, to });
        }
        let common = gcd(from.hz().into(), to.hz().into()) as u32;
        let (from, to) = (from.hz() / common, to.hz() / common);
        let cutoff_ratio = (f64::from(to) / f64::from(from)).min(1.0);
        let half = (HALF / cutoff_ratio) as usize + 1;
        let phases = u64::from(to).min(MAX_PHASES);
        let mut table = Vec::with_capacity((phases as usize + 1) * 2 * half);
        for phase in 0..=phases {
            row(phase as f64 / phases as f64, half, cutoff_ratio, &mut table);
        }
        Ok(Self {
            from: from.into(),
            to: to.into(),
            half,
            phases,
            table: table.into(),
        })
    }

    /// Number of output frames for `frames` input frames, at most `u64::MAX`.
    pub fn output_frames(&self, frames: u64) -> u64 {
        let exact = (u128::from(frames) * u128::from(self.to)).div_ceil(u128::from(self.from));
        u64::try_from(exact).unwrap_or(u64::MAX)
    }

    /// Number of input frames that an output frame depends on.
    pub fn taps(&self) -> usize {
        2 * self.half
    }

    /// First input frame that output frame `n` depends on. Negative frames are silence.
    pub fn first_input(&self, n: u64) -> i64 {
        let at = u128::from(n) * u128::from(self.from) / u128::from(self.to);
        i64::try_from(at).unwrap_or(i64::MAX) - (self.half as i64 - 1)
    }

    /// Output frame `n`, from the [`taps`](Self::taps) input frames that begin at [`first_input`](Self::first_input).
    ///
    /// # Panics
    ///
    /// `input` has fewer frames than taps.
    pub fn output_frame(&self, n: u64, input: &[f32]) -> f32 {
        let part = (u128::from(n) * u128::from(self.from) % u128::from(self.to)) as u64;
        let (row, rest) = (part * self.phases / self.to, part * self.phases % self.to);
        let here = dot(self.row(row), input);
        if rest == 0 {
            return here;
        }
        let next = dot(self.row(row + 1), input);
        here + (next - here) * (rest as f32 / self.to as f32)
    }

    fn row(&self, phase: u64) -> &[f32] {
        &self.table[phase as usize * self.taps()..][..self.taps()]
    }
}

/// Appends the taps of an output frame that is `part` of an input frame later than the input frame before it.
fn row(part: f64, half: usize, cutoff_ratio: f64, table: &mut Vec<f32>) {
    let begin = table.len();
    let taps: Vec<f64> = (0..2 * half)
        .map(|tap| tap as f64 - (half as f64 - 1.0) - part)
        .map(|t| sinc(t * cutoff_ratio * CUTOFF) * kaiser(t * cutoff_ratio / HALF))
        .collect();
    let sum: f64 = taps.iter().sum();
    table.extend(taps.iter().map(|tap| (tap / sum) as f32));
    debug_assert_eq!(table.len() - begin, 2 * half);
}

fn sinc(t: f64) -> f64 {
    if t == 0.0 {
        1.0
    } else {
        libm::sin(PI * t) / (PI * t)
    }
}

fn kaiser(t: f64) -> f64 {
    if t.abs() >= 1.0 {
        return 0.0;
    }
    bessel(BETA * (1.0 - t * t).sqrt()) / bessel(BETA)
}

/// The modified Bessel function of the first kind and order 0, by its power series (Abramowitz and Stegun, 9.6.12).
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..60 {
        let factor = x / (2.0 * f64::from(k));
        term *= factor * factor;
        sum += term;
    }
    sum
}

/// The dot product in eight sums, so that the compiler can use vectors. The order of additions is fixed.
fn dot(taps: &[f32], input: &[f32]) -> f32 {
    let input = &input[..taps.len()];
    let mut sums = [0.0_f32; 8];
    let (a, b) = (taps.chunks_exact(8), input.chunks_exact(8));
    let rest: f32 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a.zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(hz: u32) -> SampleRate {
        SampleRate::new(hz).unwrap()
    }

    fn resampled(from: u32, to: u32, hz: f64) -> Vec<f64> {
        let resampler = Resampler::new(rate(from), rate(to)).unwrap();
        (0..400)
            .map(|i| {
                let n = 1000 + i;
                let first = resampler.first_input(n);
                let original: Vec<f32> = (0..resampler.taps() as i64)
                    .map(|k| libm::sin(2.0 * PI * hz * (first + k) as f64 / f64::from(from)) as f32)
                    .collect();
                f64::from(resampler.output_frame(n, &original))
            })
            .collect()
    }

    #[test]
    fn a_sine_keeps_its_frequency_and_level() {
        for (from, to) in [
            (44_100, 48_000),
            (48_000, 44_100),
            (32_000, 48_000),
            (47_999, 48_000),
        ] {
            for hz in [100.0, 1000.0, 9000.0] {
                for (i, got) in resampled(from, to, hz).into_iter().enumerate() {
                    let n = 1000.0 + i as f64;
                    let want = libm::sin(2.0 * PI * hz * n / f64::from(to));
                    assert!(
                        (got - want).abs() < 3e-5,
                        "{from} to {to}, {hz} Hz: {got} {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn frequencies_above_the_new_nyquist_are_removed() {
        let loudest = resampled(48_000, 16_000, 10_000.0)
            .into_iter()
            .fold(0.0, |max: f64, x| max.max(x.abs()));
        assert!(loudest < 1e-4, "{loudest}");
    }

    #[test]
    fn lengths_are_rounded_up_and_extreme_ratios_refused() {
        let resampler = Resampler::new(rate(44_100), rate(48_000)).unwrap();
        assert_eq!(resampler.output_frames(44_100), 48_000);
        assert_eq!(resampler.output_frames(1), 2);
        assert_eq!(resampler.output_frames(0), 0);
        assert!(Resampler::new(rate(1), rate(48_000)).is_err());
    }
}
