//! Arithmetic of single samples, and what makers of units share.

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
