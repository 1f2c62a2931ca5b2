//! `curve`: values over time, to drive parameters.
//!
//! ```text
//! 0 200; 4 2000 exponential; 8 500 s-curve; 8.5s 1000 step
//! ```
//!
//! Points end with `;` or with their line: a time, in beats or in seconds, a value, and how the value is reached from the point
//! before. Between points `x` goes from 0 to 1 over the beats:
//!
//! | word | value between `a` and `b` |
//! |---|---|
//! | `linear`, or none | `a + (b - a) x` |
//! | `exponential` | `a (b / a)^x`; both above or both below 0 |
//! | `s-curve` | `a + (b - a) x² (3 - 2 x)` |
//! | `step` | `a`, and `b` at its time |
//!
//! Before the first point the value is the first, after the last one the last. With `loop` the curve begins again after so many
//! beats. It follows the transport: where that is stopped the value stands still, and where it jumps the value does too.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, one channel |
//! | parameters | `points`; `loop` in beats, 0 for none |
//! | latency | none |
//! | length | up to the last point; endless with `loop` |

use super::timing::ScoreTime;
use graph::{Kind, Param, PortSpec, TempoMap};
use processor::{
    Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, Tail, Transport,
    TransportSegment,
};
use std::sync::Arc;
use units::SampleRate;

/// Largest number of points.
const MAX_POINTS: usize = 1 << 20;
/// Largest value, and smallest below zero.
const MAX_VALUE: f32 = 1e9;

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            Param::text("points").doc(
                "A line for each point: time in beats (or seconds: 2.5s), value, and linear, \
                 exponential, s-curve or step.",
            ),
            Param::number("loop", (0.0, 1e6), 0.0)
                .unit("beats")
                .doc("Length after which it begins again; 0: it runs once."),
        ],
        typical_ns: 700,
        ..Kind::new("curve", "Values over time, to drive parameters.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let wrong = |message: String| MakeError::param("points", message);
    let text = creation.node.text("points").unwrap_or_default();
    let points = parse(text, creation.tempo).map_err(wrong)?;
    let loop_beats = Some(creation.number("loop")?).filter(|beats| *beats > 0.0);
    if let (Some(end), Some(last)) = (loop_beats, points.last())
        && last.beat > end
    {
        return Err(wrong("the last point is behind the end of `loop`".into()));
    }
    Ok(Box::new(Curve {
        tempo: creation.tempo.clone(),
        rate: SampleRate::default(),
        loop_beats,
        points,
        transport: Arc::default(),
    }))
}

/// Form of the curve from the point before to this one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CurveShape {
    Linear,
    Exponential,
    SCurve,
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CurvePoint {
    beat: f64,
    value: f32,
    shape: CurveShape,
}

/// Reads the points.
fn parse(text: &str, tempo: &TempoMap) -> Result<Vec<CurvePoint>, String> {
    let mut points: Vec<CurvePoint> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for written in text.split(';') {
            let words: Vec<&str> = written
                .split_whitespace()
                .take_while(|word| !word.starts_with('#'))
                .collect();
            if words.is_empty() {
                continue;
            }
            let point = point(&words, tempo).and_then(|point| {
                check(points.last(), point)?;
                Ok(point)
            });
            points.push(point.map_err(|message| format!("`points`, line {line}: {message}"))?);
            if points.len() > MAX_POINTS {
                return Err("there are more than a million points".into());
            }
        }
    }
    Ok(points)
}

fn point(words: &[&str], tempo: &TempoMap) -> Result<CurvePoint, String> {
    let [time, value, rest @ ..] = words else {
        return Err("a point is a time and a value".into());
    };
    let at = ScoreTime::parse(time)
        .ok_or_else(|| format!("`{time}` is no time; write beats, or seconds as 2.5s"))?;
    let number = value.parse::<f32>().ok();
    let number = number.filter(|value| value.abs() <= MAX_VALUE);
    let shape = match rest {
        [] | ["linear"] => CurveShape::Linear,
        ["exponential"] => CurveShape::Exponential,
        ["s-curve"] => CurveShape::SCurve,
        ["step"] => CurveShape::Step,
        [word, ..] => {
            return Err(format!(
                "`{word}` is none of linear, exponential, s-curve and step"
            ));
        }
    };
    Ok(CurvePoint {
        beat: match at {
            ScoreTime::Beats(beat) => beat,
            ScoreTime::Seconds(seconds) => tempo.beat(seconds),
        },
        value: number.ok_or_else(|| format!("`{value}` is no number from -10^9 to 10^9"))? + 0.0,
        shape,
    })
}

/// Checks a point with the one before it.
fn check(before: Option<&CurvePoint>, point: CurvePoint) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    if point.beat < before.beat {
        return Err("its time is before that of the point before".into());
    }
    if point.shape != CurveShape::Exponential {
        return Ok(());
    }
    let has_zero = before.value == 0.0 || point.value == 0.0;
    if has_zero || before.value.is_sign_negative() != point.value.is_sign_negative() {
        return Err("an exponential line goes between two values above 0, or two below".into());
    }
    // What the value is computed from.
    let ratio = point.value / before.value;
    match ratio.is_finite() && ratio > 0.0 {
        true => Ok(()),
        false => Err("an exponential line goes between values with a ratio of up to 10^38".into()),
    }
}

struct Curve {
    tempo: TempoMap,
    rate: SampleRate,
    loop_beats: Option<f64>,
    points: Vec<CurvePoint>,
    transport: Arc<Transport>,
}

impl Curve {
    /// The beat in the middle of the frame at `position`: so a point takes effect at the frame nearest to it.
    fn beat(&self, position: f64) -> f64 {
        let seconds = (position + 0.5) / f64::from(self.rate.hz());
        let beat = self.tempo.beat(seconds);
        self.loop_beats.map_or(beat, |round| beat % round)
    }

    /// Value at `beat`; `next` is the first point behind it.
    fn value(&self, beat: f64, next: usize) -> f32 {
        let Some(to) = self.points.get(next) else {
            return self.points.last().map_or(0.0, |last| last.value);
        };
        let Some(from) = next.checked_sub(1).map(|i| self.points[i]) else {
            return to.value;
        };
        let x = ((beat - from.beat) / (to.beat - from.beat)) as f32;
        let line = |x: f32| from.value + (to.value - from.value) * x;
        match to.shape {
            CurveShape::Step => from.value,
            CurveShape::Linear => line(x),
            CurveShape::SCurve => line(x * x * (3.0 - 2.0 * x)),
            CurveShape::Exponential => from.value * libm::powf(to.value / from.value, x),
        }
    }

    /// The value of all frames of a segment, if that is plain to see.
    fn constant(&self, segment: &TransportSegment) -> Option<f32> {
        let positions = segment.positions();
        if !segment.state.is_rolling {
            let beat = self.beat(positions.start);
            let next = self.points.partition_point(|point| point.beat <= beat);
            return Some(self.value(beat, next));
        }
        if self.loop_beats.is_some() {
            return None;
        }
        match (self.points.first(), self.points.last()) {
            (Some(first), _) if self.beat(positions.end) < first.beat => Some(first.value),
            (_, Some(last)) if self.beat(positions.start) < last.beat => None,
            (_, last) => Some(last.map_or(0.0, |last| last.value)),
        }
    }

    /// Writes the values of a segment.
    fn fill(&self, samples: &mut [f32], segment: &TransportSegment) {
        if let Some(value) = self.constant(segment) {
            return samples.fill(value);
        }
        let (mut next, mut last) = (0, f64::INFINITY);
        for (y, frame) in samples.iter_mut().zip(segment.frames.clone()) {
            let beat = self.beat(segment.state.position_at(frame));
            if beat < last {
                next = self.points.partition_point(|point| point.beat <= beat);
            }
            while self
                .points
                .get(next)
                .is_some_and(|point| point.beat <= beat)
            {
                next += 1;
            }
            last = beat;
            *y = self.value(beat, next);
        }
    }

    /// Returns true if no point is behind `position`.
    fn is_over(&self, position: f64) -> bool {
        let beat = self.beat(position);
        self.points.last().is_none_or(|last| last.beat <= beat)
    }
}

impl Processor for Curve {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = setup.rate;
        self.transport = setup.services.transport();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let from = block.position();
        let to = from + block.frames() as u64;
        let mut output = block.output(0);
        let (mut constant, mut is_over) = (None, false);
        for (number, segment) in self.transport.segments(from, to).enumerate() {
            let range =
                (segment.frames.start - from) as usize..(segment.frames.end - from) as usize;
            is_over = !segment.state.is_rolling || self.is_over(segment.positions().start);
            constant = self.constant(&segment).filter(|_| number == 0);
            if constant.is_none() || segment.frames.end < to {
                self.fill(&mut output.channel(0)[range], &segment);
            }
        }
        let Some(value) = constant else {
            return ProcessStatus::Continue;
        };
        if value != 0.0 {
            output.fill_constant(0, value);
            return ProcessStatus::Continue;
        }
        output.silence();
        match is_over {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn length(&self) -> Option<u64> {
        let last = self.points.last().map_or(0.0, |last| last.beat);
        let frames = self.tempo.frame(last, self.rate) + 1;
        let frames = self.transport.frames_until(frames);
        self.loop_beats.is_none().then_some(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(text: &str) -> Curve {
        let tempo = TempoMap::constant(60.0).unwrap();
        Curve {
            points: parse(text, &tempo).unwrap(),
            tempo,
            rate: SampleRate::new(1000).unwrap(),
            loop_beats: None,
            transport: Arc::default(),
        }
    }

    fn at(curve: &Curve, beat: f64) -> f32 {
        let next = curve.points.partition_point(|point| point.beat <= beat);
        curve.value(beat, next)
    }

    #[test]
    fn each_shape_meets_its_points_and_has_its_middle() {
        let curve = curve("1 100; 2 400 exponential; 3 0\n4s 1 s-curve; 5 7 step");
        for (beat, value) in [
            (0.0, 100.0),
            (1.0, 100.0),
            (1.5, 200.0),
            (2.0, 400.0),
            (2.5, 200.0),
            (3.5, 0.5),
            (3.25, 0.15625),
            (4.9, 1.0),
            (5.0, 7.0),
            (9.0, 7.0),
        ] {
            let found = at(&curve, beat);
            assert!((found - value).abs() < 1e-3, "{beat}: {found}");
        }
    }

    #[test]
    fn a_wrong_point_is_named() {
        for (text, says) in [
            ("0 1; 2", "line 1: a point is a time and a value"),
            ("0 1\n1 x", "line 2: `x` is no number"),
            ("0 1\n1 2 loud", "`loud` is none of"),
            ("1 1; 0 2", "its time is before"),
            ("0 0; 1 2 exponential", "an exponential line"),
            ("0 -1; 1 2 exponential", "two values above 0, or two below"),
            ("0 1e-40; 1 1e9 exponential", "a ratio of up to 10^38"),
            ("0 1e9; 1 1e-40 exponential", "a ratio of up to 10^38"),
        ] {
            let error = parse(text, &TempoMap::default()).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
