//! [`PiecePosition`]: a place in a piece, as people write it: `12.5s`, `17.1`, or a number of frames.

use crate::TempoMap;
use crate::tempo::nearest_frame;
use std::fmt;
use std::str::FromStr;
use units::SampleRate;

/// A place in a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PiecePosition {
    /// Frames from its begin: `48000`.
    Frames(u64),
    /// Seconds from its begin, at the tempo of its map: `12.5s`.
    Seconds(f64),
    /// Bar and beat, both counted from 1; a beat is the metre's: `17.1`, `17.2.5`.
    Bar(u64, f64),
}

/// Words that are no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a position is seconds as 12.5s, bar.beat as 17.1, or frames as 48000")]
pub struct PositionError;

impl PiecePosition {
    /// Largest number of seconds and of bars.
    const MAX: f64 = TempoMap::MAX_BEAT;

    /// The frame at the tempo of `map`.
    ///
    /// Real-time: hot.
    pub fn frame(self, map: &TempoMap, rate: SampleRate) -> u64 {
        match self {
            Self::Frames(frames) => frames,
            Self::Seconds(seconds) => nearest_frame(seconds, rate),
            Self::Bar(bar, beat) => {
                let (begin, metre) = map.bar_begin(bar - 1);
                let unit = 4.0 / f64::from(metre.denominator);
                map.frame(begin + (beat - 1.0) * unit, rate)
            }
        }
    }
}

impl FromStr for PiecePosition {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let number = |text: &str, min: f64| {
            let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let number = text.parse::<f64>().ok().filter(|_| is_plain);
            number
                .filter(|number| (min..=Self::MAX).contains(number))
                .ok_or(PositionError)
        };
        if let Some(seconds) = text.strip_suffix('s') {
            return number(seconds, 0.0).map(Self::Seconds);
        }
        if let Some((bar, beat)) = text.split_once('.') {
            let bar: u64 = bar.parse().map_err(|_| PositionError)?;
            if !(1..=Self::MAX as u64).contains(&bar) {
                return Err(PositionError);
            }
            return number(beat, 1.0).map(|beat| Self::Bar(bar, beat));
        }
        let frames: u64 = text.parse().map_err(|_| PositionError)?;
        Some(frames)
            .filter(|frames| *frames <= 1 << 53)
            .map(Self::Frames)
            .ok_or(PositionError)
    }
}

impl fmt::Display for PiecePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frames(frames) => write!(f, "{frames}"),
            Self::Seconds(seconds) => write!(f, "{seconds}s"),
            Self::Bar(bar, beat) => write!(f, "{bar}.{beat}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MetrePoint, TempoPoint};

    #[test]
    fn seconds_bars_and_frames_are_told_apart() {
        for (text, position) in [
            ("12.5s", PiecePosition::Seconds(12.5)),
            ("0s", PiecePosition::Seconds(0.0)),
            ("17.1", PiecePosition::Bar(17, 1.0)),
            ("17.2.5", PiecePosition::Bar(17, 2.5)),
            ("48000", PiecePosition::Frames(48_000)),
        ] {
            assert_eq!(text.parse(), Ok(position));
            assert_eq!(position.to_string().parse(), Ok(position));
        }
        for wrong in [
            "",
            "s",
            "-1s",
            "0.1",
            "1.0",
            "1.",
            "1e3",
            "infs",
            "nan",
            "x",
            "1.2.3.4",
            "9999999999999999999",
        ] {
            assert_eq!(
                wrong.parse::<PiecePosition>(),
                Err(PositionError),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_bar_and_beat_come_back_from_their_frame() {
        let rate = SampleRate::new(48_000).unwrap();
        let metre = |beat, numerator, denominator| MetrePoint {
            beat,
            numerator,
            denominator,
        };
        let tempo = |beat, bpm, is_linear| TempoPoint {
            beat,
            bpm,
            is_linear,
        };
        let points = vec![tempo(0.0, 120.0, false), tempo(20.0, 90.0, true)];
        let metres = vec![metre(0.0, 4, 4), metre(8.0, 3, 4), metre(13.0, 7, 8)];
        let map = TempoMap::new(points, metres).unwrap();
        for bar in 1..60 {
            let begin = map.bar_begin(bar - 1);
            // The bar that a change of metre cuts short has two beats.
            let beats = if bar == 4 { 2 } else { begin.1.numerator };
            for beat in 1..=beats {
                let at = PiecePosition::Bar(bar, f64::from(beat));
                let beat_at = map.beat_at(at.frame(&map, rate), rate);
                let (found, since) = map.bar(beat_at + 1e-3);
                let unit = 4.0 / f64::from(begin.1.denominator);
                assert_eq!(found, bar - 1, "{at}");
                assert!(
                    (since / unit + 1.0 - f64::from(beat)).abs() < 1e-2,
                    "{at}: {since}"
                );
            }
        }
    }

    #[test]
    fn a_frame_comes_back_from_its_beat() {
        let rate = SampleRate::new(44_100).unwrap();
        let tempo = |beat, bpm, is_linear| TempoPoint {
            beat,
            bpm,
            is_linear,
        };
        let points = vec![
            tempo(0.0, 31.0, false),
            tempo(7.0, 290.0, true),
            tempo(50.0, 20.0, true),
        ];
        let map = TempoMap::new(points, Vec::new()).unwrap();
        for frame in (0..20_000_000).step_by(9973) {
            assert_eq!(map.frame(map.beat_at(frame, rate), rate), frame);
        }
    }
}
