//! [`TempoMap`]: beats to seconds and frames, and back.
//!
//! A beat is a quarter note, whatever the metre. Between two points of the map the tempo is constant, or changes in a
//! straight line over the beats:
//!
//! ```text
//! tempo(b) = T + s b                       b: beats since the segment's begin, T: its first tempo in beats a minute
//! seconds  = 60 / s · ln(1 + s b / T)      60 b / T where s is 0
//! b        = T / s · (exp(s seconds / 60) - 1)
//! ```
//!
//! Everything is computed in `f64` by `libm`, so that it has the same bits on every machine. A time falls on the nearest frame.

use std::sync::Arc;
use units::SampleRate;

/// Tempo from a beat on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TempoPoint {
    /// The beat, from 0.
    pub beat: f64,
    /// Beats a minute.
    pub bpm: f64,
    /// True if the tempo moves here in a straight line from the point before; else it changes at once.
    pub is_linear: bool,
}

/// Metre from a beat on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetrePoint {
    /// The beat, from 0.
    pub beat: f64,
    /// Notes in a bar.
    pub numerator: u8,
    /// Value of these notes: 4 for quarters; a power of two up to 64.
    pub denominator: u8,
}

/// Tempo and metre of a piece; 120 beats a minute and 4/4 by default. A clone shares the data.
#[derive(Clone, Debug, PartialEq)]
pub struct TempoMap {
    segments: Arc<[TempoSegment]>,
    points: Arc<[TempoPoint]>,
    metres: Arc<[MetrePoint]>,
}

/// Reason why a list of points is no tempo map.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TempoError {
    /// There is no point. Give one at beat 0.
    #[error("there is no tempo")]
    Empty,
    /// The first point is not at beat 0.
    #[error("the first point must be at beat 0")]
    FirstNotAtZero,
    /// A point is not behind the one before, or its beat is above [`TempoMap::MAX_BEAT`].
    #[error("the beats of the points must grow, up to {}", TempoMap::MAX_BEAT)]
    BeatOutOfOrder,
    /// A tempo is outside [`TempoMap::BPM`].
    #[error("a tempo is from 1 to 6000 beats a minute")]
    TempoOutOfRange,
    /// A metre is not 1 to 64 notes of 1, 2, 4, 8, 16, 32 or 64.
    #[error("a metre is such as 4/4 or 7/8: 1 to 64 notes, of 1, 2, 4, 8, 16, 32 or 64")]
    BadMetre,
    /// There are more than [`TempoMap::MAX_POINTS`] points.
    #[error("there are more than {} points", TempoMap::MAX_POINTS)]
    TooManyPoints,
}

/// The time between two points, ready for conversions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TempoSegment {
    beat: f64,
    seconds: f64,
    bpm: f64,
    /// Change of the tempo in each beat.
    slope: f64,
}

impl TempoSegment {
    /// Seconds from the segment's begin to `beats` later.
    fn seconds(&self, beats: f64) -> f64 {
        if self.slope == 0.0 {
            return beats * 60.0 / self.bpm;
        }
        libm::log1p(self.slope * beats / self.bpm) * 60.0 / self.slope
    }

    /// Beats from the segment's begin to `seconds` later.
    fn beats(&self, seconds: f64) -> f64 {
        if self.slope == 0.0 {
            return seconds * self.bpm / 60.0;
        }
        libm::expm1(self.slope * seconds / 60.0) * self.bpm / self.slope
    }
}

impl Default for TempoMap {
    fn default() -> Self {
        Self::constant(120.0).expect("120 is a tempo")
    }
}

impl TempoMap {
    /// Valid tempos, in beats a minute.
    pub const BPM: std::ops::RangeInclusive<f64> = 1.0..=6000.0;
    /// Last beat that a point may have.
    pub const MAX_BEAT: f64 = 1e9;
    /// Largest number of points of tempo, and of metre.
    pub const MAX_POINTS: usize = 1 << 20;

    /// One tempo throughout, in 4/4.
    ///
    /// # Errors
    ///
    /// The tempo is out of range.
    pub fn constant(bpm: f64) -> Result<Self, TempoError> {
        let point = TempoPoint {
            beat: 0.0,
            bpm,
            is_linear: false,
        };
        Self::new(vec![point], Vec::new()).map_err(|(_, error)| error)
    }

    /// The map of these points, each list in the order of its beats; without metres it is in 4/4.
    ///
    /// # Errors
    ///
    /// The index of the first wrong point in its list, and the reason.
    pub fn new(
        points: Vec<TempoPoint>,
        metres: Vec<MetrePoint>,
    ) -> Result<Self, (usize, TempoError)> {
        if points.is_empty() {
            return Err((0, TempoError::Empty));
        }
        check_beats(points.iter().map(|point| point.beat))?;
        check_beats(metres.iter().map(|metre| metre.beat))?;
        if let Some(i) = points.iter().position(|p| !Self::BPM.contains(&p.bpm)) {
            return Err((i, TempoError::TempoOutOfRange));
        }
        let is_wrong = |m: &MetrePoint| {
            let is_note = m.denominator.is_power_of_two() && m.denominator <= 64;
            !(1..=64).contains(&m.numerator) || !is_note
        };
        if let Some(i) = metres.iter().position(is_wrong) {
            return Err((i, TempoError::BadMetre));
        }
        Ok(Self {
            segments: segments(&points).into(),
            points: points.into(),
            metres: metres.into(),
        })
    }

    /// The points of tempo, in order.
    pub fn points(&self) -> &[TempoPoint] {
        &self.points
    }

    /// The points of metre, in order; none for 4/4 throughout.
    pub fn metres(&self) -> &[MetrePoint] {
        &self.metres
    }

    /// Seconds from the start to `beat`; 0 for a beat before it.
    ///
    /// Real-time: hot.
    pub fn seconds(&self, beat: f64) -> f64 {
        let beat = beat.max(0.0);
        let next = self.segments.partition_point(|s| s.beat <= beat);
        let at = &self.segments[next - 1];
        let seconds = at.seconds + at.seconds(beat - at.beat);
        // Rounding may not carry a beat beyond the begin of the next segment.
        self.segments
            .get(next)
            .map_or(seconds, |s| seconds.min(s.seconds))
    }

    /// The beat at `seconds` from the start; 0 for a time before it.
    ///
    /// Real-time: hot.
    pub fn beat(&self, seconds: f64) -> f64 {
        let seconds = seconds.max(0.0);
        let next = self.segments.partition_point(|s| s.seconds <= seconds);
        let at = &self.segments[next.max(1) - 1];
        let beat = at.beat + at.beats(seconds - at.seconds);
        self.segments.get(next).map_or(beat, |s| beat.min(s.beat))
    }

    /// The frame nearest to `beat`. A later beat never has an earlier frame.
    ///
    /// Real-time: hot.
    pub fn frame(&self, beat: f64, rate: SampleRate) -> u64 {
        nearest_frame(self.seconds(beat), rate)
    }

    /// The beat at `frame`.
    ///
    /// Real-time: hot.
    pub fn beat_at(&self, frame: u64, rate: SampleRate) -> f64 {
        self.beat(frame as f64 / f64::from(rate.hz()))
    }

    /// Tempo at `beat`, in beats a minute.
    ///
    /// Real-time: hot.
    pub fn bpm(&self, beat: f64) -> f64 {
        let beat = beat.max(0.0);
        let next = self.segments.partition_point(|s| s.beat <= beat);
        let at = &self.segments[next - 1];
        at.bpm + at.slope * (beat - at.beat)
    }

    /// The bar in which `beat` is, counted from 0, and the beats from the bar's begin. A bar that a change of metre cuts
    /// short counts as one.
    ///
    /// Real-time: hot.
    pub fn bar(&self, beat: f64) -> (u64, f64) {
        let mut bars = 0;
        let metres = self.metres_or_common();
        let last = metres.partition_point(|m| m.beat <= beat).max(1) - 1;
        for pair in metres[..=last].windows(2) {
            bars += libm::ceil((pair[1].beat - pair[0].beat) / pair[0].bar_beats()) as u64;
        }
        let metre = &metres[last];
        let since = (beat - metre.beat).max(0.0);
        let whole = libm::floor(since / metre.bar_beats());
        (bars + whole as u64, since - whole * metre.bar_beats())
    }

    /// Beat at which a bar begins, counted from 0, and its metre.
    ///
    /// Real-time: hot.
    pub fn bar_begin(&self, bar: u64) -> (f64, MetrePoint) {
        let metres = self.metres_or_common();
        let mut before = 0;
        for pair in metres.windows(2) {
            let bars = libm::ceil((pair[1].beat - pair[0].beat) / pair[0].bar_beats()) as u64;
            if bar < before + bars {
                return (
                    pair[0].beat + (bar - before) as f64 * pair[0].bar_beats(),
                    pair[0],
                );
            }
            before += bars;
        }
        let last = metres[metres.len() - 1];
        (last.beat + (bar - before) as f64 * last.bar_beats(), last)
    }

    /// The factor by which all tempos of `other` differ from those of this map, if that is all that differs.
    ///
    /// Real-time: setup.
    pub fn ratio_to(&self, other: &Self) -> Option<f64> {
        let ratio = other.points[0].bpm / self.points[0].bpm;
        let is_scaled = |(a, b): (&TempoPoint, &TempoPoint)| {
            let is_same_place = (a.beat, a.is_linear) == (b.beat, b.is_linear);
            is_same_place && (b.bpm - a.bpm * ratio).abs() <= 1e-9 * b.bpm
        };
        let pairs = self.points.iter().zip(other.points.iter());
        let is_same = self.metres == other.metres && self.points.len() == other.points.len();
        (is_same && pairs.into_iter().all(is_scaled)).then_some(ratio)
    }

    /// The metres; 4/4 where there is none.
    fn metres_or_common(&self) -> &[MetrePoint] {
        match &*self.metres {
            [] => &[MetrePoint::COMMON],
            metres => metres,
        }
    }
}

impl MetrePoint {
    /// 4/4 from the begin on.
    const COMMON: Self = Self {
        beat: 0.0,
        numerator: 4,
        denominator: 4,
    };

    /// Beats in a bar.
    pub fn bar_beats(&self) -> f64 {
        f64::from(self.numerator) * 4.0 / f64::from(self.denominator)
    }
}

/// The frame nearest to a time in seconds.
///
/// Real-time: hot.
pub fn nearest_frame(seconds: f64, rate: SampleRate) -> u64 {
    // Negative and infinite times saturate.
    libm::round(seconds * f64::from(rate.hz())) as u64
}

/// Checks that beats begin at 0 and grow.
fn check_beats(beats: impl ExactSizeIterator<Item = f64>) -> Result<(), (usize, TempoError)> {
    if beats.len() > TempoMap::MAX_POINTS {
        return Err((TempoMap::MAX_POINTS, TempoError::TooManyPoints));
    }
    let mut last = None;
    for (i, beat) in beats.enumerate() {
        match last {
            None if beat != 0.0 => return Err((i, TempoError::FirstNotAtZero)),
            Some(last) if !(beat > last && beat <= TempoMap::MAX_BEAT) => {
                return Err((i, TempoError::BeatOutOfOrder));
            }
            _ => last = Some(beat),
        }
    }
    Ok(())
}

fn segments(points: &[TempoPoint]) -> Vec<TempoSegment> {
    let mut segments: Vec<TempoSegment> = Vec::with_capacity(points.len());
    let mut seconds = 0.0;
    for (i, point) in points.iter().enumerate() {
        let next = points.get(i + 1).filter(|next| next.is_linear);
        let slope = next.map_or(0.0, |next| {
            (next.bpm - point.bpm) / (next.beat - point.beat)
        });
        let segment = TempoSegment {
            beat: point.beat,
            seconds,
            bpm: point.bpm,
            slope,
        };
        if let Some(next) = points.get(i + 1) {
            seconds += segment.seconds(next.beat - point.beat);
        }
        segments.push(segment);
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(points: &[(f64, f64, bool)]) -> TempoMap {
        let point = |&(beat, bpm, is_linear): &(f64, f64, bool)| TempoPoint {
            beat,
            bpm,
            is_linear,
        };
        TempoMap::new(points.iter().map(point).collect(), Vec::new()).unwrap()
    }

    #[test]
    fn beats_become_the_frames_that_one_computes_by_hand() {
        let rate = SampleRate::new(48_000).unwrap();
        let constant = TempoMap::constant(90.0).unwrap();
        assert_eq!(constant.frame(3.0, rate), 96_000);
        let two = map(&[(0.0, 120.0, false), (4.0, 60.0, false)]);
        assert_eq!(two.frame(4.0, rate), 96_000);
        assert_eq!(two.frame(6.0, rate), 192_000);
        // From 60 to 120 over 8 beats: 60 / 7.5 ln 2 seconds.
        let ramp = map(&[(0.0, 60.0, false), (8.0, 120.0, true)]);
        let seconds = 8.0 * 2_f64.ln();
        assert!((ramp.seconds(8.0) - seconds).abs() < 1e-12);
        assert!((ramp.seconds(10.0) - seconds - 1.0).abs() < 1e-12);
        assert_eq!(ramp.bpm(4.0), 90.0);
    }

    #[test]
    fn a_beat_comes_back_from_its_seconds_and_later_beats_are_never_earlier() {
        let steep = map(&[
            (0.0, 120.0, false),
            (1.0, 6000.0, true),
            (1.5, 1.0, true),
            (1.6, 300.0, false),
            (100.0, 300.000_001, true),
        ]);
        let rate = SampleRate::new(44_100).unwrap();
        let (mut seconds, mut frame) = (-1.0, 0);
        for i in 0..200_000 {
            let beat = f64::from(i) / 1000.0;
            let now = steep.seconds(beat);
            assert!(now >= seconds && steep.frame(beat, rate) >= frame);
            (seconds, frame) = (now, steep.frame(beat, rate));
            assert!((steep.beat(now) - beat).abs() < 1e-9, "{beat}");
        }
    }

    #[test]
    fn bars_follow_the_metre() {
        let metre = |beat, numerator, denominator| MetrePoint {
            beat,
            numerator,
            denominator,
        };
        let metres = vec![metre(0.0, 4, 4), metre(8.0, 3, 4), metre(13.0, 7, 8)];
        let points = TempoMap::default().points().to_vec();
        let map = TempoMap::new(points, metres).unwrap();
        assert_eq!(map.bar(7.5), (1, 3.5));
        assert_eq!(map.bar(8.0), (2, 0.0));
        // A bar of three and one cut short after two, then bars of 3.5 quarters.
        assert_eq!(map.bar(17.0), (5, 0.5));
        assert_eq!(TempoMap::default().bar(9.0), (2, 1.0));
    }

    #[test]
    fn a_wrong_point_is_refused_with_its_index() {
        let new = |points: &[(f64, f64)]| {
            let point = |&(beat, bpm)| TempoPoint {
                beat,
                bpm,
                is_linear: false,
            };
            TempoMap::new(points.iter().map(point).collect(), Vec::new()).unwrap_err()
        };
        assert_eq!(new(&[]), (0, TempoError::Empty));
        assert_eq!(new(&[(1.0, 120.0)]), (0, TempoError::FirstNotAtZero));
        assert_eq!(
            new(&[(0.0, 120.0), (0.0, 60.0)]),
            (1, TempoError::BeatOutOfOrder)
        );
        assert_eq!(
            new(&[(0.0, 120.0), (f64::NAN, 60.0)]),
            (1, TempoError::BeatOutOfOrder)
        );
        assert_eq!(
            new(&[(0.0, 120.0), (1.0, 0.0)]),
            (1, TempoError::TempoOutOfRange)
        );
    }
}
