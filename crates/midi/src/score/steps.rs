//! `steps`: a step sequencer.
//!
//! ```text
//! C4 . E4 - G4 C4,E4 x X:0.5      words, one for each step
//! ```
//!
//! | word | step |
//! |---|---|
//! | a pitch, or several with commas | a note or a chord |
//! | `x` | a note of the parameter `pitch`; `X` with velocity 1 |
//! | `.` | a rest |
//! | `-` | the note before goes on |
//! | `\|` | none: a mark for the eye |
//!
//! A velocity may follow behind a colon. The pattern repeats for ever, from the start of playback on. Each second step is
//! late by `swing` of a step. A note ends after `gate` of its last step.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, events |
//! | parameters | `pattern`; `rate`, steps a beat; `gate`; `swing`; `pitch`, `velocity` of notes that state none |
//! | latency | none |
//! | length | endless |

use super::events::player;
use super::line::{ScoreBody, ScoreEvent, VELOCITY};
use super::timing::ScoreTime;
use graph::{Kind, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor};
use units::Pitch;

/// Largest number of steps.
const MAX_STEPS: usize = 1 << 16;

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::text("pattern").doc(
                "A word for each step: a pitch, x for the parameter `pitch`, X for a loud one, . \
                 for a rest, - for a longer note; a velocity may follow behind a colon.",
            ),
            Param::number("rate", (1.0 / 64.0, 64.0), 4.0)
                .unit("1/beat")
                .doc("Steps in a beat."),
            Param::number("gate", (0.01, 1.0), 0.5)
                .doc("Share of its last step for which a note is held."),
            Param::number("swing", (0.0, 0.9), 0.0).doc("Delay of each second step, in steps."),
            Param::number("pitch", (0.0, 127.0), 60.0).doc("Key number of the steps `x` and `X`."),
            Param::number("velocity", (0.0, 1.0), VELOCITY)
                .doc("Velocity of notes that state none."),
        ],
        typical_ns: 40,
        ..Kind::new("steps", "A step sequencer.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let pattern = Pattern {
        rate: creation.number("rate")?,
        gate: creation.number("gate")?,
        swing: creation.number("swing")?,
        pitch: creation.number("pitch")? as f32,
        velocity: creation.number("velocity")? as f32,
    };
    let wrong = |message: String| MakeError::param("pattern", message);
    let text = creation.node.text("pattern").unwrap_or_default();
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "|")
        .collect();
    if words.len() > MAX_STEPS {
        return Err(wrong(format!("a pattern has at most {MAX_STEPS} steps")));
    }
    let events = pattern.events(&words).map_err(wrong)?;
    let beats = words.len() as f64 / pattern.rate;
    player(creation, &events, Some(beats).filter(|beats| *beats > 0.0)).map_err(wrong)
}

struct Pattern {
    rate: f64,
    gate: f64,
    swing: f64,
    pitch: f32,
    velocity: f32,
}

impl Pattern {
    /// The notes of a pattern.
    fn events(&self, words: &[&str]) -> Result<Vec<ScoreEvent>, String> {
        let mut events = Vec::new();
        for (k, word) in words.iter().enumerate() {
            if matches!(*word, "." | "-") {
                continue;
            }
            let ties = words[k + 1..]
                .iter()
                .take_while(|next| **next == "-")
                .count();
            let last = k + ties;
            let at = self.beat(k);
            let end = self.beat(last) + self.gate * (self.beat(last + 1) - self.beat(last));
            let wrong = |message: String| format!("`pattern`, step {}: {message}", k + 1);
            let (pitches, velocity) = self.notes(word).map_err(wrong)?;
            events.extend(pitches.into_iter().map(|pitch| ScoreEvent {
                at: ScoreTime::Beats(at),
                body: ScoreBody::Note {
                    pitch,
                    velocity,
                    length: ScoreTime::Beats(end - at),
                },
            }));
        }
        Ok(events)
    }

    /// Beat at which step `k` begins.
    fn beat(&self, k: usize) -> f64 {
        let late = if k % 2 == 1 { self.swing } else { 0.0 };
        (k as f64 + late) / self.rate
    }

    /// Pitches and velocity of a word.
    fn notes(&self, word: &str) -> Result<(Vec<Pitch>, f32), String> {
        let (notes, velocity) = match word.split_once(':') {
            None => (word, None),
            Some((notes, velocity)) => {
                let number = velocity.parse().ok().filter(|v| (0.0..=1.0).contains(v));
                let wrong = || format!("the velocity `{velocity}` is not a number from 0 to 1");
                (notes, Some(number.ok_or_else(wrong)?))
            }
        };
        let default = if notes == "X" { 1.0 } else { self.velocity };
        let pitch = |name: &str| match name {
            "x" | "X" => Pitch::new(self.pitch).ok_or_else(|| "`pitch` is out of range".to_owned()),
            name => name.parse().map_err(|error| format!("`{name}`: {error}")),
        };
        let pitches: Result<Vec<Pitch>, String> = notes.split(',').map(pitch).collect();
        Ok((pitches?, velocity.unwrap_or(default)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(swing: f64) -> Pattern {
        Pattern {
            rate: 4.0,
            gate: 0.5,
            swing,
            pitch: 36.0,
            velocity: 0.8,
        }
    }

    #[test]
    fn a_word_is_a_step() {
        let words = ["x", "X", ".", "C4,E4:0.25", "-", "-"];
        let events = pattern(0.0).events(&words).unwrap();
        let notes: Vec<(f64, f32, f32, f64)> = events
            .iter()
            .map(|event| match event.body {
                ScoreBody::Note {
                    pitch,
                    velocity,
                    length,
                } => (
                    event.at.beats().unwrap(),
                    pitch.key(),
                    velocity,
                    length.beats().unwrap(),
                ),
                _ => panic!("a step is a note"),
            })
            .collect();
        let expected = [
            (0.0, 36.0, 0.8, 0.125),
            (0.25, 36.0, 1.0, 0.125),
            (0.75, 60.0, 0.25, 0.625),
            (0.75, 64.0, 0.25, 0.625),
        ];
        assert_eq!(notes, expected);
        let late = pattern(0.5).events(&["x", "x"]).unwrap();
        assert_eq!(late[1].at, ScoreTime::Beats(0.375));
    }

    #[test]
    fn a_wrong_step_is_named() {
        let error = pattern(0.0).events(&["x", "H4"]).unwrap_err();
        assert!(error.starts_with("`pattern`, step 2: `H4`"), "{error}");
        assert!(pattern(0.0).events(&["x:2"]).is_err());
    }
}
