//! Levels in dB, the curve of a compressor, and the parameters that dynamics share.

use crate::kernel::Samples;
use crate::param::ParamSpec;
use processor::exp2;

/// Level that stands for silence, in dB.
pub(super) const SILENCE_DB: f64 = -200.0;

/// Time in which a level rises or falls.
pub(crate) const fn seconds(
    index: u16,
    name: &'static str,
    max: f64,
    default: f64,
    doc: &'static str,
) -> ParamSpec {
    ParamSpec::new(index, name, (0.0, max), default)
        .unit("s")
        .doc(doc)
        .audio_rate()
}

/// A level or a gain.
pub(crate) const fn decibels(
    index: u16,
    name: &'static str,
    range: (f64, f64),
    default: f64,
    doc: &'static str,
) -> ParamSpec {
    ParamSpec::new(index, name, range, default)
        .unit("dB")
        .doc(doc)
        .audio_rate()
}

/// Largest magnitude of frame `i` on all channels.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn loudest(channels: &[Samples], i: usize) -> f64 {
    let peak = channels.iter().fold(0f32, |peak, x| peak.max(x[i].abs()));
    f64::from(peak)
}

/// 20 log10 of a level, at least [`SILENCE_DB`], within 1e-6 dB: the exponent, and the series of the inverse hyperbolic tangent for the
/// rest.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn level_db(level: f64) -> f64 {
    if level <= 1e-10 {
        return SILENCE_DB;
    }
    // A number from 1/√2 to √2 times a power of two.
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = level.min(1e300).to_bits();
    let exponent = (bits.wrapping_sub(ROOT_OF_HALF) as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent << 52) as u64));
    mantissa_db(m, exponent as f64)
}

/// [`level_db`] of a sample's magnitude, with whole numbers of 32 bits only, so that it runs in vectors.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn sample_db(level: f32) -> f64 {
    // The first narrow number that is not below 1/√2.
    const ROOT_OF_HALF: u32 = 0x3f35_04f4;
    let bits = level.to_bits();
    let exponent = (bits.wrapping_sub(ROOT_OF_HALF) as i32) >> 23;
    let m = f64::from(f32::from_bits(bits.wrapping_sub((exponent as u32) << 23)));
    let db = mantissa_db(m, f64::from(exponent));
    if f64::from(level) <= 1e-10 {
        SILENCE_DB
    } else {
        db
    }
}

/// 20 log10 of `m` × 2^`exponent`, for `m` from 1/√2 to √2.
#[inline(always)]
fn mantissa_db(m: f64, exponent: f64) -> f64 {
    let t = (m - 1.0) / (m + 1.0);
    let s = t * t;
    let series = 1.0 + s * (1.0 / 3.0 + s * (0.2 + s * (1.0 / 7.0 + s * (1.0 / 9.0))));
    // 20 log10 2, and 40 / ln 10.
    6.020_599_913_279_624 * exponent + 17.371_779_276_130_07 * t * series
}

/// 10^(dB / 20).
///
/// Real-time: hot.
pub(super) fn gain_of(db: f64) -> f64 {
    libm::exp10(db / 20.0)
}

/// 10^(dB / 20) within a millionth: for a gain that moves in each frame. 1 for 0 dB.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn moving_gain(db: f64) -> f64 {
    match db == 0.0 {
        true => 1.0,
        false => f64::from(exp2((db * (std::f64::consts::LOG2_10 / 20.0)) as f32)),
    }
}

/// One step towards `target`: with `up` where that is higher, with `down` where it is lower. Both are factors of what is left.
///
/// Real-time: hot.
#[inline(always)]
pub(super) fn follow(state: f64, target: f64, up: f64, down: f64) -> f64 {
    let left = if target > state { up } else { down };
    target + (state - target) * left
}

/// A curve that bends at a threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GainCurve {
    pub(crate) threshold_db: f64,
    /// 1 - 1 / ratio: dB of reduction for each dB above the threshold.
    pub(crate) slope: f64,
    pub(crate) knee_db: f64,
}

impl GainCurve {
    /// Reduction for a level, in dB, 0 or more.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn reduction_db(self, level_db: f64) -> f64 {
        let (over, half) = (level_db - self.threshold_db, self.knee_db / 2.0);
        if over <= -half {
            return 0.0;
        }
        match over < half {
            // The quotient is one number for all frames.
            true => self.slope / (2.0 * self.knee_db) * ((over + half) * (over + half)),
            false => self.slope * over,
        }
    }
}

/// The delay lines of a look-ahead, one for each channel, at the begin of a memory's line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookAhead {
    /// In frames.
    pub(super) frames: usize,
    pub(super) channels: usize,
}

impl LookAhead {
    /// Samples of all lines.
    pub(super) fn samples(self) -> usize {
        self.frames * self.channels
    }

    /// Replaces the sample of a channel by the one that entered so many frames ago; `at` counts frames.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn delay(
        self,
        memory: &mut crate::kernel::Memory,
        at: u64,
        channel: usize,
        x: f64,
    ) -> f64 {
        if self.frames == 0 {
            return x;
        }
        let index = channel * self.frames + (at % self.frames as u64) as usize;
        let delayed = memory.read(index);
        memory.write(index, x);
        delayed
    }

    /// As [`delay`](Self::delay) for frames in a row from `at` on, no more than the delay has. Each sample that enters is from
    /// [`line_sample`](crate::kernel::line_sample).
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn pass_run(
        self,
        memory: &mut crate::kernel::Memory,
        (at, channel): (u64, usize),
        entering: &[f32],
        late: &mut [f32],
    ) {
        let ring = crate::kernel::DelayLoop {
            first: channel * self.frames,
            length: self.frames,
        };
        ring.read_run(memory, at, late);
        ring.write_run(memory, at, entering);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_samples_have_the_bits_of_levels() {
        let near_root = [0x3f35_04f2u32, 0x3f35_04f3, 0x3f35_04f4, 0x3f35_04f5];
        let others = (0..200_000u32).map(|i| i.wrapping_mul(10_687) & 0x7f7f_ffff);
        for bits in near_root.into_iter().chain(others).chain([0, 1]) {
            let level = f32::from_bits(bits);
            let wanted = level_db(f64::from(level));
            assert_eq!(sample_db(level).to_bits(), wanted.to_bits(), "{level}");
        }
    }

    #[test]
    fn levels_and_gains_are_those_of_their_definitions() {
        for i in -1900..600 {
            let db = f64::from(i) / 10.0;
            let level = libm::exp10(db / 20.0);
            assert!(
                (level_db(level) - db).abs() < 1e-6,
                "{db} {}",
                level_db(level)
            );
            assert!((moving_gain(db) / level - 1.0).abs() < 2e-6, "{db}");
        }
        assert_eq!(level_db(0.0), SILENCE_DB);
        assert_eq!(moving_gain(0.0), 1.0);
    }
}
