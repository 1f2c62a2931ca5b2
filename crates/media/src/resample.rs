//! From one sample rate to another: a windowed sinc.
//!
//! Frame n of the result lies at n * from / to of the original, which is kept as whole numbers, and depends on nothing
//! else: not on where reading began or in which portions. The taps come from `libm`, not from the system, so they are
//! the same bits everywhere.
//!
//! 2026-11: `rubato` was looked at. It brings 14 crates with it and takes its taps from the system's sine.

use std::f64::consts::PI;
use std::fmt;
use units::SampleRate;

/// Two rates with a ratio beyond 64, which nobody means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRatioError {
    /// The original's.
    pub from: SampleRate,
    /// The one asked for.
    pub to: SampleRate,
}

impl fmt::Display for RateRatioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} are too far apart", self.from, self.to)
    }
}

impl std::error::Error for RateRatioError {}

/// What turns frames at one rate into frames at another.
#[derive(Clone, Debug)]
pub struct Resampler {
    /// From and to without their common divisor.
    from: u64,
    to: u64,
    /// Taps on each side.
    half: usize,
    /// Rows of the table but for the last, which is the first again, one frame on.
    phases: u64,
    table: Box<[f32]>,
}

/// Taps on each side where nothing is thinned out.
const HALF: f64 = 48.0;
/// The Kaiser window's shape: 100 dB down outside.
const BETA: f64 = 10.06;
/// Where the filter is half down, of the lower Nyquist frequency.
const CUTOFF: f64 = 0.95;
/// The most rows; ratios that need more go in between them on straight lines.
const MOST_PHASES: u64 = 512;
const MOST_RATIO: u32 = 64;

impl Resampler {
    /// From `from` to `to`.
    ///
    /// # Errors
    ///
    /// They are too far apart.
    ///
    /// Real-time: setup.
    pub fn new(from: SampleRate, to: SampleRate) -> Result<Self, RateRatioError> {
        let (low, high) = (from.hz().min(to.hz()), from.hz().max(to.hz()));
        if high / low > MOST_RATIO {
            return Err(RateRatioError { from, to });
        }
        let common = units::gcd(from.hz().into(), to.hz().into()) as u32;
        let (from, to) = (from.hz() / common, to.hz() / common);
        let thinning = (f64::from(to) / f64::from(from)).min(1.0);
        let half = (HALF / thinning) as usize + 1;
        let phases = u64::from(to).min(MOST_PHASES);
        let mut table = Vec::with_capacity((phases as usize + 1) * 2 * half);
        for phase in 0..=phases {
            row(phase as f64 / phases as f64, half, thinning, &mut table);
        }
        Ok(Self {
            from: from.into(),
            to: to.into(),
            half,
            phases,
            table: table.into(),
        })
    }

    /// How many frames come of `frames` frames; what does not fit becomes `u64::MAX`.
    pub fn output_frames(&self, frames: u64) -> u64 {
        let exact = (u128::from(frames) * u128::from(self.to)).div_ceil(u128::from(self.from));
        u64::try_from(exact).unwrap_or(u64::MAX)
    }

    /// How many frames of the original one frame of the result looks at.
    pub fn taps(&self) -> usize {
        2 * self.half
    }

    /// The first frame of the original that frame `n` of the result looks at; before the beginning there is silence.
    pub fn first_input(&self, n: u64) -> i64 {
        let at = u128::from(n) * u128::from(self.from) / u128::from(self.to);
        i64::try_from(at).unwrap_or(i64::MAX) - (self.half as i64 - 1)
    }

    /// Frame `n` of the result, from the [`taps`](Self::taps) frames of the original that begin at
    /// [`first`](Self::first).
    ///
    /// # Panics
    ///
    /// There are fewer.
    pub fn output_frame(&self, n: u64, original: &[f32]) -> f32 {
        let part = (u128::from(n) * u128::from(self.from) % u128::from(self.to)) as u64;
        let (row, rest) = (part * self.phases / self.to, part * self.phases % self.to);
        let here = dot(self.row(row), original);
        if rest == 0 {
            return here;
        }
        let next = dot(self.row(row + 1), original);
        here + (next - here) * (rest as f32 / self.to as f32)
    }

    fn row(&self, phase: u64) -> &[f32] {
        &self.table[phase as usize * self.taps()..][..self.taps()]
    }
}

/// The taps for a frame that lies `part` of a frame behind the last one on the left.
fn row(part: f64, half: usize, thinning: f64, table: &mut Vec<f32>) {
    let begin = table.len();
    let taps: Vec<f64> = (0..2 * half)
        .map(|tap| tap as f64 - (half as f64 - 1.0) - part)
        .map(|t| sinc(t * thinning * CUTOFF) * kaiser(t * thinning / HALF))
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

/// The modified Bessel function of order 0, by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..60 {
        let factor = x / (2.0 * f64::from(k));
        term *= factor * factor;
        sum += term;
    }
    sum
}

/// In eight sums, so that a compiler may do them side by side; always in this order.
fn dot(taps: &[f32], original: &[f32]) -> f32 {
    let original = &original[..taps.len()];
    let mut sums = [0.0_f32; 8];
    let (a, b) = (taps.chunks_exact(8), original.chunks_exact(8));
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
    fn a_sine_comes_out_as_the_same_sine() {
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
    fn what_the_new_rate_cannot_carry_is_gone() {
        let loudest = resampled(48_000, 16_000, 10_000.0)
            .into_iter()
            .fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(loudest < 1e-4, "{loudest}");
    }

    #[test]
    fn lengths_are_rounded_up_and_far_rates_refused() {
        let resampler = Resampler::new(rate(44_100), rate(48_000)).unwrap();
        assert_eq!(resampler.output_frames(44_100), 48_000);
        assert_eq!(resampler.output_frames(1), 2);
        assert_eq!(resampler.output_frames(0), 0);
        assert!(Resampler::new(rate(1), rate(48_000)).is_err());
    }
}
