//! [`ScoreTime`]: a time of a score, in beats or in seconds.

use graph::{TempoMap, nearest_frame};
use units::SampleRate;

/// A time from the start, or a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScoreTime {
    /// In beats.
    Beats(f64),
    /// In seconds.
    Seconds(f64),
}

impl ScoreTime {
    /// Largest number of beats or seconds.
    const MAX: f64 = TempoMap::MAX_BEAT;

    /// Reads `3.5` as beats and `3.5s` as seconds. `None` if it is neither, negative, or above 10^9.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok()?;
            (0.0..=Self::MAX).contains(&number).then_some(number)
        };
        match text.strip_suffix('s') {
            Some(seconds) => number(seconds).map(Self::Seconds),
            None => number(text).map(Self::Beats),
        }
    }

    /// The time `length` after this one.
    pub(crate) fn plus(self, length: Self, tempo: &TempoMap) -> Self {
        match (self, length) {
            (Self::Beats(at), Self::Beats(length)) => Self::Beats(at + length),
            _ => Self::Seconds(self.seconds(tempo) + length.after(self, tempo)),
        }
    }

    /// Seconds from the start.
    fn seconds(self, tempo: &TempoMap) -> f64 {
        match self {
            Self::Beats(beat) => tempo.seconds(beat),
            Self::Seconds(seconds) => seconds,
        }
    }

    /// Seconds that this length takes from `start` on.
    fn after(self, start: Self, tempo: &TempoMap) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Beats(beats) => {
                let from = start.seconds(tempo);
                tempo.seconds(tempo.beat(from) + beats) - from
            }
        }
    }

    /// The nearest frame.
    pub(crate) fn frame(self, tempo: &TempoMap, rate: SampleRate) -> u64 {
        nearest_frame(self.seconds(tempo), rate)
    }

    /// The beats, if it is in beats.
    pub(crate) fn beats(self) -> Option<f64> {
        match self {
            Self::Beats(beats) => Some(beats),
            Self::Seconds(_) => None,
        }
    }
}
