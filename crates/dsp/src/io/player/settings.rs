//! [`PlayerSettings`]: what a `player` is told once.

use super::timeline::Timeline;
use std::path::PathBuf;
use units::SampleRate;

/// The node's parameters that are fixed for its life.
#[derive(Clone)]
pub(super) struct PlayerSettings {
    pub(super) path: PathBuf,
    pub(super) max_held: u64,
    pub(super) start: f64,
    pub(super) length: f64,
    pub(super) at: f64,
    pub(super) period: f64,
    pub(super) fades: (f64, f64),
    pub(super) is_looped: bool,
}

impl PlayerSettings {
    /// The timeline in frames at `rate`, for a file of `frames` frames.
    pub(super) fn timeline(&self, rate: SampleRate, frames: u64) -> Timeline {
        // A day at 768 kHz does not fit into `Frames`.
        let count = |seconds: f64| (seconds * f64::from(rate.hz())).round() as u64;
        let from = count(self.start).min(frames);
        let rest = frames - from;
        let asked = match count(self.length) {
            0 => rest,
            length => length.min(rest),
        };
        let period = match (self.is_looped, count(self.period)) {
            (false, _) => 0,
            (true, 0) => asked,
            (true, period) => period,
        };
        Timeline {
            at: count(self.at),
            from,
            length: if period > 0 { asked.min(period) } else { asked },
            period,
            fade_in: count(self.fades.0),
            fade_out: count(self.fades.1),
        }
    }
}
