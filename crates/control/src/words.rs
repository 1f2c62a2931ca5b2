//! Commands as a shell has them: `set tone.freq 800`.

use crate::{Command, PositionUnit, Query, Topic};
use serde_json::Value;
use std::collections::BTreeMap;

/// Forms of all commands, for help texts.
const FORMS: &[(&str, &str)] = &[
    ("add", "add NODE KIND [KEY=VALUE ...]"),
    ("remove", "remove NODE"),
    ("replace", "replace NODE KIND [KEY=VALUE ...]"),
    ("connect", "connect NODE.PORT -> NODE.PORT"),
    ("disconnect", "disconnect NODE.PORT -> NODE.PORT"),
    ("set", "set NODE.PARAM VALUE [over MILLISECONDS] [at FRAME]"),
    ("enable", "enable NODE"),
    ("disable", "disable NODE"),
    ("bypass", "bypass NODE [on|off]"),
    ("rename", "rename NODE NAME"),
    ("value", "value NODE.INPUT NUMBER [at FRAME]"),
    ("midi", "midi NODE.INPUT BYTE BYTE BYTE [at FRAME]"),
    ("snapshot", "snapshot NAME [of PART]"),
    ("recall", "recall NAME [over MILLISECONDS] [at FRAME]"),
    ("remove_snapshot", "remove_snapshot NAME"),
    ("rename_snapshot", "rename_snapshot NAME NEW"),
    ("save_preset", "save_preset PART NAME"),
    (
        "load_preset",
        "load_preset PART NAME [over MILLISECONDS] [at FRAME]",
    ),
    ("start", "start [at FRAME]"),
    ("stop", "stop [at FRAME]"),
    (
        "locate",
        "locate POSITION [seconds|beats|frames] [at FRAME]",
    ),
    ("tempo", "tempo BPM [at FRAME]"),
    ("undo", "undo"),
    ("redo", "redo"),
    ("load", "load [FILE]"),
    ("save", "save [FILE]"),
    (
        "query",
        "query graph|kinds|load|dropouts|meters|schedule|transport|snapshots|presets",
    ),
    (
        "subscribe",
        "subscribe [meters] [loudness] [spectrum] [load] [misses] [changes] [of NODE.PORT ...] [every MILLISECONDS]",
    ),
];

/// Reason why words are no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WordsError(String);

/// Reads one command. A word with blanks is put in double quotes.
///
/// # Errors
///
/// A sentence that shows the form of the command.
pub fn read_words(line: &str) -> Result<Command, WordsError> {
    let words = split(line)?;
    let mut words = words.iter().map(String::as_str);
    let verb = words.next().unwrap_or_default();
    let known = FORMS.iter().find(|(name, _)| *name == verb);
    let Some((_, form)) = known else {
        let near = graph::nearest(verb, FORMS.iter().map(|(name, _)| *name));
        let help = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
                format!("; there are {}", names.join(", "))
            }
        };
        return Err(WordsError(format!("there is no command `{verb}`{help}")));
    };
    let rest: Vec<&str> = words.collect();
    command(verb, &rest).ok_or_else(|| WordsError(format!("it is written `{form}`")))
}

fn command(verb: &str, words: &[&str]) -> Option<Command> {
    Some(match (verb, words) {
        ("add", [node, kind, params @ ..]) => Command::Add {
            node: (*node).into(),
            kind: (*kind).into(),
            params: pairs(params)?,
        },
        ("replace", [node, kind, params @ ..]) => Command::Replace {
            node: (*node).into(),
            kind: (*kind).into(),
            params: pairs(params)?,
        },
        ("remove", [node]) => Command::Remove {
            node: (*node).into(),
        },
        ("enable", [node]) => Command::Enable {
            node: (*node).into(),
        },
        ("disable", [node]) => Command::Disable {
            node: (*node).into(),
        },
        ("bypass", [node, rest @ ..]) => Command::Bypass {
            node: (*node).into(),
            on: match rest {
                [] | ["on"] => true,
                ["off"] => false,
                _ => return None,
            },
        },
        ("rename", [node, to]) => Command::Rename {
            node: (*node).into(),
            to: (*to).into(),
        },
        ("connect", [from, "->", to]) => Command::Connect {
            from: (*from).into(),
            to: (*to).into(),
        },
        ("disconnect", [from, "->", to]) => Command::Disconnect {
            from: (*from).into(),
            to: (*to).into(),
        },
        ("set", [target, value, rest @ ..]) => {
            let (over_ms, at) = timing(rest)?;
            Command::Set {
                target: (*target).into(),
                value: self::value(value),
                over_ms,
                at,
            }
        }
        ("value", [to, number, rest @ ..]) => {
            let (at, []) = option(rest, "at", 0)? else {
                return None;
            };
            let value = number.parse().ok()?;
            Command::Value {
                to: (*to).into(),
                value,
                at,
            }
        }
        ("midi", [to, a, b, c, rest @ ..]) => {
            let (at, []) = option(rest, "at", 0)? else {
                return None;
            };
            let bytes = [byte(a)?, byte(b)?, byte(c)?];
            Command::Midi {
                to: (*to).into(),
                bytes,
                at,
            }
        }
        ("snapshot", [name]) => Command::Snapshot {
            name: (*name).into(),
            part: None,
        },
        ("snapshot", [name, "of", part]) => Command::Snapshot {
            name: (*name).into(),
            part: Some((*part).into()),
        },
        ("recall", [name, rest @ ..]) => {
            let (over_ms, at) = timing(rest)?;
            Command::Recall {
                name: (*name).into(),
                over_ms,
                at,
            }
        }
        ("remove_snapshot", [name]) => Command::RemoveSnapshot {
            name: (*name).into(),
        },
        ("rename_snapshot", [name, to]) => Command::RenameSnapshot {
            name: (*name).into(),
            to: (*to).into(),
        },
        ("save_preset", [part, name]) => Command::SavePreset {
            part: (*part).into(),
            name: (*name).into(),
        },
        ("load_preset", [part, name, rest @ ..]) => {
            let (over_ms, at) = timing(rest)?;
            Command::LoadPreset {
                part: (*part).into(),
                name: (*name).into(),
                over_ms,
                at,
            }
        }
        ("start", rest) => Command::Start { at: at(rest)? },
        ("stop", rest) => Command::Stop { at: at(rest)? },
        ("locate", [to, rest @ ..]) => {
            let unit = rest.first().and_then(|word| named::<PositionUnit>(word));
            Command::Locate {
                to: to.parse().ok()?,
                unit: unit.unwrap_or_default(),
                at: at(&rest[usize::from(unit.is_some())..])?,
            }
        }
        ("tempo", [bpm, rest @ ..]) => Command::Tempo {
            bpm: bpm.parse().ok()?,
            at: at(rest)?,
        },
        ("undo", []) => Command::Undo,
        ("redo", []) => Command::Redo,
        ("load", []) => Command::Load { file: None },
        ("load", [file]) => Command::Load {
            file: Some(file.into()),
        },
        ("save", []) => Command::Save { file: None },
        ("save", [file]) => Command::Save {
            file: Some(file.into()),
        },
        ("query", [what]) => Command::Query {
            what: named::<Query>(what)?,
        },
        ("subscribe", words) => {
            let end = words.iter().position(|word| *word == "every");
            let (words, rest) = words.split_at(end.unwrap_or(words.len()));
            let of = words.iter().position(|word| *word == "of");
            let (topics, ports) = words.split_at(of.unwrap_or(words.len()));
            let (every_ms, []) = option(rest, "every", 100)? else {
                return None;
            };
            let topics = topics.iter().map(|word| named::<Topic>(word));
            Command::Subscribe {
                topics: topics.collect::<Option<_>>()?,
                ports: ports.iter().skip(1).map(|it| (*it).into()).collect(),
                every_ms,
            }
        }
        _ => return None,
    })
}

/// `at FRAME`, or nothing.
fn at(words: &[&str]) -> Option<u64> {
    match option(words, "at", 0)? {
        (at, []) => Some(at),
        _ => None,
    }
}

/// `over MS` and `at FRAME`, each of which may be missing.
fn timing(words: &[&str]) -> Option<(f64, u64)> {
    let (over_ms, rest) = option(words, "over", 0.0)?;
    match option(rest, "at", 0)? {
        (at, []) => Some((over_ms, at)),
        _ => None,
    }
}

/// The number behind `key`, if `words` begin with it, and the words behind that.
fn option<'w, 't, T: std::str::FromStr>(
    words: &'w [&'t str],
    key: &str,
    default: T,
) -> Option<(T, &'w [&'t str])> {
    match words {
        [word, number, rest @ ..] if *word == key => Some((number.parse().ok()?, rest)),
        _ => Some((default, words)),
    }
}

/// A byte in decimal, or in hexadecimal behind `0x`.
fn byte(word: &str) -> Option<u8> {
    match word.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn pairs(words: &[&str]) -> Option<BTreeMap<String, Value>> {
    let pair = |word: &&str| {
        let (key, value) = word.split_once('=')?;
        Some((key.to_owned(), self::value(value)))
    };
    words.iter().map(pair).collect()
}

/// A number, `true`, `false`, or else a text.
fn value(word: &str) -> Value {
    match word {
        "true" => true.into(),
        "false" => false.into(),
        _ => match word.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => word.into(),
        },
    }
}

/// The variant that serde calls `word`.
fn named<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// The words of a line: separated by blanks, or in double quotes, where `\"` is a quote.
fn split(line: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let mut word = String::new();
        let mut chars = rest.char_indices();
        let mut in_quotes = false;
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => in_quotes = !in_quotes,
                '\\' if in_quotes => word.extend(chars.next().map(|(_, c)| c)),
                c if c.is_whitespace() && !in_quotes => {
                    end = at;
                    break;
                }
                c => word.push(c),
            }
        }
        if in_quotes {
            return Err(WordsError("a quote has no end".into()));
        }
        words.push(word);
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_as_the_command_of_its_name() {
        let lines = [
            "add tone osc freq=440 wave=saw",
            "remove tone",
            "replace tone noise",
            "connect tone.out -> out",
            "disconnect tone.out -> out",
            "set tone.freq 800 over 20 at 48000",
            "enable tone",
            "disable tone",
            "bypass tone off",
            "rename tone high",
            "value env.notes 1",
            "midi env.notes 0x90 60 100 at 64",
            "snapshot verse of voice",
            "recall verse over 2000 at 96000",
            "remove_snapshot verse",
            "rename_snapshot verse chorus",
            "save_preset voice bright",
            "load_preset voice bright over 100",
            "start at 48000",
            "stop",
            "locate 16 beats",
            "tempo 96.5 at 64",
            "undo",
            "redo",
            "load",
            "save \"my song.toml\"",
            "query graph",
            "subscribe meters load of tone.out every 50",
        ];
        for ((verb, form), line) in FORMS.iter().zip(lines) {
            let command = read_words(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let json = serde_json::to_value(&command).unwrap();
            assert_eq!(json["do"], *verb);
            assert!(form.starts_with(verb));
            assert_eq!(serde_json::from_value::<Command>(json).unwrap(), command);
        }
    }

    #[test]
    fn a_wrong_line_shows_the_form_or_the_nearest_command() {
        let error = |line| read_words(line).unwrap_err().to_string();
        assert_eq!(
            error("sett a.b 1"),
            "there is no command `sett`; did you mean `set`?"
        );
        assert!(error("set a.b").contains("set NODE.PARAM VALUE"));
        assert!(error("midi a 300 0 0").contains("midi NODE.INPUT"));
        assert!(error("add \"a").contains("quote"));
        assert!(error("").contains("there are add"));
    }
}
