//! [`SegmentPlan`]: the segments of an `mseg`, read from the lines of `points`.

/// Most segments.
const MAX_SEGMENTS: usize = 256;
/// Longest segment, in seconds.
const MAX_SECONDS: f64 = 3600.0;
/// Largest level, and smallest below zero.
pub(super) const MAX_LEVEL: f64 = 1e9;
/// Strongest curvature.
const MAX_CURVATURE: f64 = 20.0;

/// Way of a level from 0 to 1 over a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SegmentShape {
    Linear,
    SCurve,
    Step,
    /// Never 0.
    Curvature(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlannedSegment {
    pub(super) seconds: f64,
    pub(super) level: f64,
    pub(super) shape: SegmentShape,
}

/// Segments, and those at which it waits and to which it returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SegmentPlan {
    pub(super) segments: Vec<PlannedSegment>,
    /// The first segment behind `hold`.
    pub(super) hold: Option<usize>,
    /// The first segment behind `loop`.
    pub(super) repeat: Option<usize>,
}

/// Reads the segments.
pub(super) fn parse(text: &str) -> Result<SegmentPlan, String> {
    let mut plan = SegmentPlan::default();
    for (line, text) in (1..).zip(text.lines()) {
        for written in text.split(';') {
            let words = written.split_whitespace();
            let words: Vec<&str> = words.take_while(|word| !word.starts_with('#')).collect();
            let read = match words.as_slice() {
                [] => Ok(()),
                words => plan.add(words),
            };
            read.map_err(|message| format!("`points`, line {line}: {message}"))?;
        }
    }
    plan.check()
        .map_err(|message| format!("`points`: {message}"))?;
    Ok(plan)
}

impl SegmentPlan {
    fn add(&mut self, words: &[&str]) -> Result<(), String> {
        let here = self.segments.len();
        match words {
            ["hold"] => match self.hold.replace(here) {
                Some(_) => Err("there is a second `hold`".into()),
                None => Ok(()),
            },
            ["loop"] => match self.repeat.replace(here) {
                Some(_) => Err("there is a second `loop`".into()),
                None => Ok(()),
            },
            _ if here == MAX_SEGMENTS => {
                Err(format!("there are more than {MAX_SEGMENTS} segments"))
            }
            words => {
                self.segments.push(segment(words)?);
                Ok(())
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.segments.is_empty() {
            return Err("there is no segment; write seconds and a level, as in `0.1 1`".into());
        }
        let Some(repeat) = self.repeat else {
            return Ok(());
        };
        let Some(hold) = self.hold.filter(|hold| repeat <= *hold) else {
            return Err("`loop` needs a `hold` behind it, up to which it repeats".into());
        };
        let seconds: f64 = self.segments[repeat..hold]
            .iter()
            .map(|it| it.seconds)
            .sum();
        if seconds < 1e-3 {
            return Err("what `loop` repeats takes less than a millisecond".into());
        }
        Ok(())
    }
}

fn segment(words: &[&str]) -> Result<PlannedSegment, String> {
    let [seconds, level, rest @ ..] = words else {
        return Err("a segment is seconds and a level".into());
    };
    let number = |word: &str, max: f64| word.parse::<f64>().ok().filter(|x| x.abs() <= max);
    let duration = number(seconds, MAX_SECONDS).filter(|seconds| *seconds >= 0.0);
    Ok(PlannedSegment {
        seconds: duration.ok_or_else(|| {
            format!("`{seconds}` is no duration; write seconds from 0 to {MAX_SECONDS}")
        })?,
        level: number(level, MAX_LEVEL).ok_or_else(|| format!("`{level}` is no level"))?,
        shape: match rest {
            [] | ["linear"] => SegmentShape::Linear,
            ["s-curve"] => SegmentShape::SCurve,
            ["step"] => SegmentShape::Step,
            [word] if number(word, MAX_CURVATURE).is_some() => {
                // A curvature that is almost 0 is a straight line: 1 - e^c would have no digits left.
                match number(word, MAX_CURVATURE).filter(|c| c.abs() >= 1e-3) {
                    Some(curvature) => SegmentShape::Curvature(curvature),
                    None => SegmentShape::Linear,
                }
            }
            [word, ..] => {
                return Err(format!(
                    "`{word}` is none of linear, s-curve, step and a number from -20 to 20"
                ));
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_read_and_mistakes_have_their_line() {
        let plan = parse("0.5 1; loop # up\n0.1 0.2 s-curve; 0.1 1 -4\nhold\n1 0 step").unwrap();
        assert_eq!(
            (plan.segments.len(), plan.repeat, plan.hold),
            (4, Some(1), Some(3))
        );
        assert_eq!(plan.segments[2].shape, SegmentShape::Curvature(-4.0));
        assert_eq!(
            parse("1 1 0").unwrap().segments[0].shape,
            SegmentShape::Linear
        );
        for (text, message) in [
            ("", "`points`: there is no segment"),
            ("1 1\n-1 0", "line 2: `-1` is no duration"),
            ("1 inf", "line 1: `inf` is no level"),
            ("1 nan", "`nan` is no level"),
            ("1", "a segment is seconds and a level"),
            ("1 1 up", "`up` is none of"),
            ("1 1 21", "`21` is none of"),
            ("1 1; hold; hold", "a second `hold`"),
            ("1 1; loop; 1 0", "`loop` needs a `hold`"),
            ("hold; 1 1; loop; 1 0", "`loop` needs a `hold`"),
            ("1 1; loop; hold; 1 0", "less than a millisecond"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let many = "1 1;".repeat(MAX_SEGMENTS + 1);
        assert!(parse(&many).unwrap_err().contains("more than 256"));
    }
}
