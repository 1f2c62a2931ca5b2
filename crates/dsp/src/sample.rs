//! Arithmetic of single samples, and small things that makers share.

use graph::Node;

/// `x` held within what a sample can say, and -0.0 as +0.0. Not a number stays that.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn bounded(x: f32) -> f32 {
    x.clamp(-f32::MAX, f32::MAX) + 0.0
}

/// The sample nearest to `x`, with the same bounds.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn narrowed(x: f64) -> f32 {
    let most = f64::from(f32::MAX);
    x.clamp(-most, most) as f32 + 0.0
}

/// The factor that `db` decibels are; -120 dB and less is silence.
///
/// Real-time: hot.
pub(crate) fn from_db(db: f64) -> f64 {
    if db <= SILENT_DB {
        0.0
    } else {
        libm::exp10(db / 20.0)
    }
}

/// What counts as no sound at all.
pub(crate) const SILENT_DB: f64 = -120.0;

/// How many channels `node` has on the ports that follow it.
pub(crate) fn channels_of(node: &Node) -> usize {
    node.number("channels")
        .map_or(1, |n| (n as usize).clamp(1, 256))
}

/// The error and what is behind it, in one line.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", told(source)),
        None => error.to_string(),
    }
}
