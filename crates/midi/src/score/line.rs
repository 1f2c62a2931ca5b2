//! The text of a `score`, line by line.
//!
//! ```text
//! line  = time what                         (a `;` ends a line too; `#` begins a comment where a word would begin)
//! time  = beats | seconds "s"
//! what  = pitch { "," pitch } [ velocity [ length ] ]      velocity 0 to 1, by default 0.8; length a time, by default 1
//!       | "value" number
//!       | "text" ( "words in quotes, with \" \\ \n" | word )
//! pitch = key number with a fraction | name
//! ```

use super::timing::ScoreTime;
use std::fmt;
use units::Pitch;

/// Velocity of a note that states none.
pub(crate) const VELOCITY: f64 = 0.8;
/// Length of a note that states none, in beats.
pub(crate) const LENGTH: ScoreTime = ScoreTime::Beats(1.0);
/// Largest number of events of a score.
const MAX_EVENTS: usize = 1 << 20;

/// One event of a score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScoreEvent {
    pub(crate) at: ScoreTime,
    pub(crate) body: ScoreBody,
}

/// Content of an event of a score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScoreBody {
    Note {
        pitch: Pitch,
        velocity: f32,
        length: ScoreTime,
    },
    Value(f32),
    Text(String),
}

/// A wrong line, counted from 1, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads all lines of `text`; bounded by its length.
pub(crate) fn parse(text: &str) -> Result<Vec<ScoreEvent>, LineError> {
    let mut events = Vec::new();
    for (line, statement) in statements(text) {
        let added = statement_events(statement, &mut events);
        let too_many = || {
            (events.len() > MAX_EVENTS).then(|| "there are more than a million events".to_owned())
        };
        if let Some(message) = added.err().or_else(too_many) {
            return Err(LineError { line, message });
        }
    }
    Ok(events)
}

/// The statements of a text, each with the number of its line: ended by line ends and by `;` outside of quotes and comments.
fn statements(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(i, line)| {
        let (mut is_quoted, mut is_escaped, mut is_comment) = (false, false, false);
        let mut before = ' ';
        line.split(move |c: char| {
            is_comment |= c == '#' && !is_quoted && before.is_whitespace();
            is_quoted ^= c == '"' && !is_escaped && !is_comment;
            is_escaped = c == '\\' && !is_escaped;
            before = if c == ';' { ' ' } else { c };
            c == ';' && !is_quoted && !is_comment
        })
        .map(move |statement| (i + 1, statement))
    })
}

/// Adds the events of a statement; none for a blank one or a comment.
fn statement_events(statement: &str, events: &mut Vec<ScoreEvent>) -> Result<(), String> {
    let (time, rest) = word(statement);
    if time.is_empty() || time.starts_with('#') {
        return Ok(());
    }
    let at = ScoreTime::parse(time)
        .ok_or_else(|| format!("`{time}` is no time; write beats, or seconds as 2.5s"))?;
    let (what, rest) = word(rest);
    match what {
        "" => Err("a time is followed by a pitch, `value` or `text`".into()),
        "value" => {
            let (number, rest) = word(rest);
            let value = number.parse().ok().filter(|value: &f32| value.is_finite());
            let value = value.ok_or("`value` is followed by a number")?;
            let body = ScoreBody::Value(value);
            events.push(ScoreEvent { at, body });
            end(rest)
        }
        "text" => {
            let (words, rest) = quoted(rest.trim_start())?;
            let body = ScoreBody::Text(words);
            events.push(ScoreEvent { at, body });
            end(rest)
        }
        pitches => notes(at, pitches, rest, events),
    }
}

/// Adds the notes `pitches`, with what follows them.
fn notes(
    at: ScoreTime,
    pitches: &str,
    rest: &str,
    events: &mut Vec<ScoreEvent>,
) -> Result<(), String> {
    let (velocity, rest) = optional(rest);
    let (length, rest) = optional(rest);
    let velocity = match velocity {
        None => VELOCITY as f32,
        Some(word) => (word.parse().ok().filter(|v| (0.0..=1.0).contains(v)))
            .ok_or_else(|| format!("the velocity `{word}` is not a number from 0 to 1"))?,
    };
    let length = match length {
        None => LENGTH,
        Some(word) => ScoreTime::parse(word)
            .ok_or_else(|| format!("`{word}` is no length; write beats, or seconds as 2.5s"))?,
    };
    for pitch in pitches.split(',') {
        let pitch: Pitch = pitch
            .parse()
            .map_err(|error| format!("`{pitch}`: {error}"))?;
        let body = ScoreBody::Note {
            pitch,
            velocity,
            length,
        };
        events.push(ScoreEvent { at, body });
    }
    end(rest)
}

/// The first word of `text`, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The first word, unless it begins a comment.
fn optional(text: &str) -> (Option<&str>, &str) {
    let (found, rest) = word(text);
    match found.is_empty() || found.starts_with('#') {
        true => (None, text),
        false => (Some(found), rest),
    }
}

/// Checks that only a comment follows.
fn end(rest: &str) -> Result<(), String> {
    match optional(rest) {
        (None, _) => Ok(()),
        (Some(word), _) => Err(format!("`{word}` is one word too many")),
    }
}

/// A text in quotes, or one word; and what follows it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let Some(inside) = text.strip_prefix('"') else {
        return match optional(text) {
            (Some(found), rest) => Ok((found.into(), rest)),
            (None, _) => Err("`text` is followed by a text".into()),
        };
    };
    let mut words = String::new();
    let mut all = inside.char_indices();
    while let Some((i, c)) = all.next() {
        match c {
            '"' => return Ok((words, &inside[i + 1..])),
            '\\' => match all.next() {
                Some((_, 'n')) => words.push('\n'),
                Some((_, c @ ('"' | '\\'))) => words.push(c),
                _ => return Err("after `\\` comes `n`, `\"` or `\\`".into()),
            },
            c => words.push(c),
        }
    }
    Err("the text has no closing quote".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScoreTime::{Beats, Seconds};

    fn note(at: ScoreTime, pitch: f32, velocity: f32, length: ScoreTime) -> ScoreEvent {
        let pitch = Pitch::new(pitch).unwrap();
        let body = ScoreBody::Note {
            pitch,
            velocity,
            length,
        };
        ScoreEvent { at, body }
    }

    #[test]
    fn lines_are_notes_chords_values_and_texts() {
        let text = "# a comment; all of it\n0 C4 0.5 2 # F#3\n\n1.5 F#3,60.5; 2s 69 1 0.25s\n\
                    3 value -1.5\n4 text \"a; \\\"b\\\"\"; 5 text chorus";
        let text_event = |at, words: &str| ScoreEvent {
            at: Beats(at),
            body: ScoreBody::Text(words.into()),
        };
        let value = ScoreEvent {
            at: Beats(3.0),
            body: ScoreBody::Value(-1.5),
        };
        let expected = [
            note(Beats(0.0), 60.0, 0.5, Beats(2.0)),
            note(Beats(1.5), 54.0, VELOCITY as f32, LENGTH),
            note(Beats(1.5), 60.5, VELOCITY as f32, LENGTH),
            note(Seconds(2.0), 69.0, 1.0, Seconds(0.25)),
            value,
            text_event(4.0, "a; \"b\""),
            text_event(5.0, "chorus"),
        ];
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, says) in [
            ("0 C4\nx C4", "line 2: `x` is no time"),
            ("0", "line 1: a time is followed by"),
            ("0 H4", "line 1: `H4`: a pitch is a key number or a name"),
            ("0 C12", "line 1: `C12`: a pitch is from 0"),
            ("0 C4 2", "the velocity `2` is not"),
            ("0 C4 1 -1", "`-1` is no length"),
            ("0 C4 1 1 1", "`1` is one word too many"),
            ("0 value", "`value` is followed"),
            ("0 text \"a", "no closing quote"),
            ("-1 C4", "`-1` is no time"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
