//! Arithmetic of single samples, and what makers of units share.

use crate::kernel::Samples;
use graph::Node;

/// `x` held within the range of finite samples, with -0.0 as +0.0; NaN stays NaN. So the sum of two samples of
/// the largest magnitude stays finite, and silence is always +0.0.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn clamp_sample(x: f32) -> f32 {
    x.clamp(-f32::MAX, f32::MAX) + 0.0
}

/// The sample nearest to `x`, within the same range.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn to_sample(x: f64) -> f32 {
    // What is beyond is infinite as a narrow number, of which a vector has twice as many.
    clamp_sample(x as f32)
}

/// The larger of two numbers; `y` where one is none. As `max`, which asks for that, so that it takes one instruction.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn larger<T: PartialOrd>(x: T, y: T) -> T {
    if x > y { x } else { y }
}

/// Copies samples, those of a whole step in one piece: a length that the compiler knows takes a few vectors and no call.
///
/// # Panics
///
/// `to` is not as long as `from`.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn copy_samples(from: &[f32], to: &mut [f32]) {
    let whole = <&mut Samples>::try_from(&mut *to);
    if let (Ok(from), Ok(to)) = (<&Samples>::try_from(from), whole) {
        // In four pieces: as one it would be made one call with what follows.
        let (from, to) = (from.as_chunks::<16>().0, to.as_chunks_mut::<16>().0);
        if let ([a, b, c, d], [to_a, to_b, to_c, to_d]) = (from, to) {
            *to_a = *a;
            *to_b = *b;
            *to_c = *c;
            *to_d = *d;
        }
    } else if !(from.is_empty() && to.is_empty()) {
        to.copy_from_slice(from);
    }
}

/// 10^(`db` / 20), the gain as a factor; 0 from [`SILENT_DB`] down.
///
/// Real-time: hot.
pub(crate) fn db_to_gain(db: f64) -> f64 {
    if db <= SILENT_DB {
        0.0
    } else {
        libm::exp10(db / 20.0)
    }
}

/// Level that counts as silence, in dB.
pub(crate) const SILENT_DB: f64 = -120.0;

/// Number of channels of the ports that follow `node`: 1 to 256.
pub(crate) fn channel_count(node: &Node) -> usize {
    node.channels.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_samples_are_copied_as_there_are() {
        let from: Vec<f32> = (0..100u8).map(f32::from).collect();
        for count in [0, 1, 63, 64, 65, 100] {
            let mut to = vec![-1.0; 100];
            copy_samples(&from[..count], &mut to[..count]);
            assert_eq!(to[..count], from[..count]);
            assert!(to[count..].iter().all(|x| *x == -1.0), "{count}");
        }
    }
}
